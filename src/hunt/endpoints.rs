//! Measures both endpoints in turn: G B | B G. Two runs of each are enough if values repeat bit for
//! bit. Otherwise runs go on until the levels differ clearly, or until more runs would not help.

mod advice;
mod behind_base;
pub(crate) mod checks;
mod denial;
mod earlier_runs;
mod empty_home;
pub(crate) mod failure_hunt;
mod failure_rate;
mod first_runs;
pub(crate) mod guard_check;
mod installed_copies;
mod lfs_pointers;
mod local_files;
mod merge_bases;
pub(crate) mod missing_metrics;
mod new_builds;
pub(crate) mod noise;
mod noisy_guard;
pub(crate) mod nothing_ran;
mod one_ruler;
mod other_places;
mod overwritten;
pub(crate) mod places_behind;
mod plan;
mod put_back;
pub(crate) mod rates;
mod same_program;
pub(crate) mod same_text;
mod same_units;
mod stray_failures;
pub(crate) mod targets;
mod uneven_builds;
pub(crate) mod unread;

use crate::evaluation::{
    CommitId, Finding, Guard, GuardForm, Judgement, Outcome, Phase, Target, Verdict,
};
use crate::hunt::begin::descend::matches_outer_hunt;
use crate::oracle::{ControlSlot, Observation, OracleError, Request, Sample, guarded_measures};
use crate::search::{endpoint_order, steps_of};
use crate::store::journal::Event;

use super::HuntError;
use super::driver::Driver;
use super::terms::SearchTerms;
use super::verdict::{VerdictContext, write_down};
use failure_rate::{RUNS_TO_TELL, failed_runs, judge_failure_rate};
use guard_check::GuardCheck;
use missing_metrics::not_yielded;
use noise::EndpointPolicy;
use targets::{Chosen, choose, look, unmeasurable};

/// Runs of each endpoint if all values repeat.
pub(crate) const RUNS_STEADY: usize = 2;
/// Runs of each endpoint before the finding `no-regression`: two equal runs do not prove much.
pub(crate) const RUNS_TO_DENY: usize = 4;

/// The runs of both endpoints, and the targets chosen from them.
pub(crate) struct Endpoints {
    pub(crate) good: Observation,
    pub(crate) bad: Observation,
    pub(crate) chosen: Chosen,
}

impl Endpoints {
    /// The older and the newer endpoint.
    pub(crate) fn ends(&self, terms: SearchTerms) -> [&Observation; 2] {
        terms.older_and_newer([&self.good, &self.bad])
    }
}

impl Driver<'_> {
    /// Measures the endpoints and chooses the targets, or ends the hunt with a finding.
    pub(crate) fn endpoints(&mut self) -> Result<Result<Endpoints, Box<Finding>>, HuntError> {
        let good = self.begun.good.commit.clone();
        let bad = self.begun.bad.commit.clone();
        let measures = self.oracle.recipes.config.search_measures();
        self.oracle.control = None;
        let doubted = self.doubted_measures(&measures)?;
        self.measure_beside(&[good.clone(), bad.clone()], &measures, Phase::Endpoint, RUNS_STEADY)?;
        let mut at_good = self.measure_endpoint(&good, &measures, 1)?;
        if let Some(what) = not_yielded(&at_good, &self.guards(), "the good endpoint") {
            return Ok(Err(unmeasurable(what)));
        }
        if let Some(change) = self.compare_with_earlier_runs(&mut at_good, &doubted)? {
            return Ok(Err(Box::new(self.begin_after_change(change)?)));
        }
        self.keep_control(&good)?;
        let mut at_bad = self.measure_endpoint(&bad, &measures, 1)?;
        if let Some(change) = self.compare_with_earlier_runs(&mut at_bad, &doubted)? {
            return Ok(Err(Box::new(self.begin_after_change(change)?)));
        }
        let policy = self.policy();
        for runs in RUNS_STEADY.. {
            let mut wanting = self.wanting(&at_good, &at_bad, runs, &policy);
            if wanting.is_empty() && runs <= RUNS_TO_DENY {
                wanting = self.to_deny(&at_good, &at_bad, &policy);
            }
            if wanting.is_empty() {
                let rare = self.to_deny_rare_failures(&at_good, &at_bad, &policy)?;
                if rare.is_empty() {
                    break;
                }
                merge(&mut at_bad, self.measure_endpoint(&bad, &rare, runs)?);
                continue;
            }
            // In turn, so that machine drift moves both endpoints equally.
            for is_good in endpoint_order(runs - 1) {
                let commit = if is_good { &good } else { &bad };
                let seen = self.measure_endpoint(commit, &wanting, runs)?;
                merge(if is_good { &mut at_good } else { &mut at_bad }, seen);
            }
        }
        if self.warm_up_after_odd_first_runs(&at_good, &at_bad)?
            || self.leave_out_chance_checks([&at_good, &at_bad])?
        {
            self.oracle.pool.free_all_but(&good);
            // From then on each measure is warmed up, or fewer checks can vary, so this ends.
            return self.endpoints();
        }
        let strays = self.stray_failures(&at_good, &at_bad)?;
        self.leave_out_stray_failures(&mut at_good, None)?;
        if !self.fails_at_a_rate(&at_good, &at_bad, &policy) {
            self.leave_out_stray_failures(&mut at_bad, strays.as_ref())?;
        }
        self.oracle.pool.free_all_but(&good);
        if let Some(finding) = self.begin_in_one_slot(&at_good, &at_bad, &measures)? {
            return Ok(Err(Box::new(finding)));
        }
        if let Some(finding) = self.nothing_ran(&at_good, &at_bad)? {
            return Ok(Err(finding));
        }
        if let Some(finding) = self.installed_copies(&at_good, &at_bad)? {
            return Ok(Err(finding));
        }
        let chosen = match choose(&at_good, &at_bad, &self.guards(), &policy) {
            Ok(chosen) => chosen,
            Err(finding) if finding.outcome == Outcome::NoRegression => {
                if let Some(finding) = self.deny_in_one_slot(&at_good, &at_bad)? {
                    return Ok(Err(Box::new(finding)));
                }
                return self.denied(finding, &at_good, &at_bad, &policy, strays.as_ref()).map(Err);
            }
            Err(finding) => return Ok(Err(finding)),
        };
        if let Some(within) = &self.begun.within
            && !matches_outer_hunt(within, &chosen.targets)
        {
            return Ok(Err(unmeasurable(format!(
                "with {} at {}, {} fails differently than in hunt {}",
                within.path,
                bad.short(),
                within.commit.commit.short(),
                within.hunt
            ))));
        }
        if let Some(finding) = self.refuse_failure_hunt(&chosen.targets)? {
            return Ok(Err(finding));
        }
        self.oracle.recorder.event(Event::Targets {
            targets: chosen.targets.clone(),
            steadiness: chosen.steadiness,
            others: chosen.others.clone(),
        })?;
        self.note_failure_rates(&chosen.targets)?;
        self.write_verdicts(&at_good, &at_bad)?;
        self.note_local_files(&at_good, &at_bad)?;
        match self.check_merge_bases(&chosen)? {
            Ok(None) => Ok(Ok(Endpoints { good: at_good, bad: at_bad, chosen })),
            Ok(Some(start)) => {
                // The new older end is an ancestor of the newer one, so this happens once.
                self.begin_at(&start)?;
                self.endpoints()
            }
            Err(finding) => Ok(Err(finding)),
        }
    }

    /// Writes the verdicts of both endpoints to the journal.
    fn write_verdicts(&mut self, good: &Observation, bad: &Observation) -> Result<(), HuntError> {
        for (seen, verdict) in [(good, Verdict::Good), (bad, Verdict::Bad)] {
            let judgement = Judgement {
                verdict,
                skip: None,
                reason: format!("the {verdict} endpoint"),
                broken: Vec::new(),
            };
            let place = VerdictContext { search_number: 0, phase: Phase::Endpoint, left: None };
            write_down(&mut self.oracle, seen, &judgement, place)?;
        }
        Ok(())
    }

    fn measure_endpoint(
        &mut self,
        commit: &CommitId,
        measures: &[String],
        runs: usize,
    ) -> Result<Observation, HuntError> {
        let look = Request::look(commit, measures, Phase::Endpoint);
        let mut seen = self.oracle.evaluate(Request { runs, ..look })?;
        // Retry failures of earlier hunts: their cause may be gone.
        let old: Vec<String> = {
            let names = seen.samples.keys();
            names.filter(|name| self.is_old_failure(&seen, name)).cloned().collect()
        };
        if !old.is_empty() {
            let runs = old.iter().map(|name| seen.of(name).len()).max().unwrap_or(0) + 1;
            merge(&mut seen, self.oracle.evaluate(Request { runs, measures: &old, ..look })?);
        }
        Ok(seen)
    }

    /// Whether all runs of a measure failed and all were made by other hunts.
    fn is_old_failure(&self, seen: &Observation, measure: &str) -> bool {
        let hunt = self.oracle.recorder.hunt();
        let samples = seen.of(measure);
        let is_old = |sample: &Sample| sample.result.is_err() && sample.hunt.as_deref() != hunt;
        !samples.is_empty() && samples.iter().all(is_old)
    }

    /// The guards of this hunt: the configured ones, or `unchanged` for the metric of `spread_of`.
    pub(crate) fn guards(&self) -> Vec<Guard> {
        match &self.begun.options.spread_of {
            Some(metric) => vec![Guard { metric: metric.clone(), form: GuardForm::Unchanged }],
            None => self.oracle.recipes.config.guards.clone(),
        }
    }

    /// How this hunt judges in noise.
    pub(crate) fn policy(&self) -> EndpointPolicy {
        let config = &self.oracle.recipes.config;
        let metrics = config.guards.iter().map(|guard| &guard.metric);
        let steps = steps_of(self.begun.commits).max(1) as f64;
        EndpointPolicy {
            pass_fail: metrics.filter(|m| config.passes_or_fails(m)).cloned().collect(),
            by: self.begun.options.search,
            is_spread: self.begun.options.spread_of.is_some(),
            same_checks: config.same_checks(),
            error: (1.0 - config.statistics.confidence) / steps,
        }
    }

    /// The measures that need this many runs. All need two. A measure needs more if a guard on it
    /// cannot be judged yet, and up to five if only some of its runs failed.
    fn wanting(
        &self,
        good: &Observation,
        bad: &Observation,
        runs: usize,
        policy: &EndpointPolicy,
    ) -> Vec<String> {
        let (config, guards) = (&self.oracle.recipes.config, self.guards());
        let wanted = |name: &str| {
            if good.build_failure.is_some() || bad.build_failure.is_some() {
                return false;
            }
            let fails = |seen: &Observation| seen.of(name).iter().all(|s| s.result.is_err());
            let is_mixed = |seen: &Observation| {
                let failed = failed_runs(seen.of(name));
                failed > 0 && failed < seen.of(name).len()
            };
            if runs <= RUNS_TO_TELL && (is_mixed(good) || is_mixed(bad)) {
                return true;
            }
            let mut guards = guards.iter().filter(|guard| guard.metric.measure == name);
            let is_open = |guard| matches!(look(good, bad, guard, policy), GuardCheck::More);
            runs <= RUNS_STEADY || (guards.any(is_open) && !fails(good) && !fails(bad))
        };
        config.search_measures().into_iter().filter(|name| wanted(name)).collect()
    }

    /// Whether a guard is judged by how often runs of the bad endpoint fail. Then these runs are no
    /// strays, even if later runs failed seldom.
    fn fails_at_a_rate(
        &self,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
    ) -> bool {
        let mut guards = self.guards().into_iter();
        guards.any(|guard| judge_failure_rate(good, bad, &guard, policy).is_some())
    }

    /// Notes which failures are searched by their rates.
    fn note_failure_rates(&mut self, targets: &[Target]) -> Result<(), HuntError> {
        for text in targets.iter().filter_map(|target| failure_rate::in_words(target.guard()?)) {
            self.oracle.recorder.event(Event::Note { text })?;
        }
        Ok(())
    }

    /// The measures that need another run before the finding `no-regression`.
    fn to_deny(
        &self,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
    ) -> Vec<String> {
        if self.shows_none(good, bad, policy) {
            guarded_measures(&self.guards())
        } else {
            Vec::new()
        }
    }

    /// Whether the runs so far show no regression.
    fn shows_none(&self, good: &Observation, bad: &Observation, policy: &EndpointPolicy) -> bool {
        choose(good, bad, &self.guards(), policy)
            .is_err_and(|finding| finding.outcome == Outcome::NoRegression)
    }

    /// Makes the good endpoint's build the control, kept for the whole hunt.
    fn keep_control(&mut self, good: &CommitId) -> Result<(), HuntError> {
        let build = self.oracle.pool.first();
        // Needed even if the endpoints come from the store: the driver and its oracles must build
        // at one path.
        let slot = Some(self.oracle.pool.reserve().map_err(OracleError::from)?);
        let control = ControlSlot { commit: good.clone(), build, slot };
        control.publish(self.hunt)?;
        self.oracle.control = Some(control);
        Ok(())
    }
}

/// Copies the measures of `seen` into `whole`; a build failure replaces everything.
fn merge(whole: &mut Observation, seen: Observation) {
    if seen.build_failure.is_some() {
        *whole = seen;
    } else {
        whole.samples.extend(seen.samples);
    }
}

/// A sentence for each measure whose output names checks that pass at the good end and fail at the
/// bad end: their number may be the same, because others were repaired.
fn newly_failed(good: &Observation, bad: &Observation) -> Vec<String> {
    let new = |measure: &String| {
        let new = bad.failed_checks(measure).without(&good.failed_checks(measure));
        (!new.is_empty()).then(|| {
            format!(
                "{measure} has checks that pass at the good end and fail at the bad end ({}): to \
                 hunt one of them, let the command run it alone",
                new.names()
            )
        })
    };
    bad.samples.keys().filter_map(new).collect()
}

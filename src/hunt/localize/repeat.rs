//! Repeats the tests that the answer rests on. A fault that comes and goes can spoil a single run,
//! and the answer would then name a part at random.

use crate::config::Config;
use crate::evaluation::{CauseEnd, CommitId, Judgement, Phase, SkipReason, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::run_verdicts::{judged, verdict_of_run};
use crate::oracle::{Observation, Request, measures_of};

use super::change::Part;
use super::isolation::{IsolationResult, Localization};
use super::step;

/// Runs of a test that decides, of parts or of an endpoint.
const RUNS: usize = 2;
/// Runs of a test of an endpoint if runs of one commit were seen to differ: two strays in a row are
/// no rare accident then.
const RUNS_IF_MIXED: usize = 8;

impl Localization<'_, '_> {
    /// Repeats the deciding tests of a search that ended with `end`. Returns `end`, or another end
    /// if a test does not repeat. Targets with noise need no repetition: each test has several
    /// runs.
    pub(super) fn repeated(
        &mut self,
        known: &IsolationResult,
        end: CauseEnd,
    ) -> Result<CauseEnd, HuntError> {
        let is_over = matches!(end, CauseEnd::Budget | CauseEnd::Stopped(_));
        if is_over || !Driver::is_judged_by_one_run(&self.targets) {
            return Ok(end);
        }
        for parts in deciding(known) {
            // The commit itself is no trial: its confirmation has several runs.
            let Some(place) = self.tested(&parts)? else { continue };
            match self.repeats(&parts, place) {
                Err(HuntError::Limit(limit)) => {
                    self.driver.limit = Some(limit);
                    self.is_spent = true;
                    return Ok(CauseEnd::Budget);
                }
                Err(error) => return Err(error),
                Ok(false) => return Ok(CauseEnd::Unsteady(place)),
                Ok(true) => {}
            }
        }
        Ok(end)
    }

    /// Whether each run of the parent with these parts shows the same as their trial. `place`: the
    /// index of the trial.
    fn repeats(&mut self, parts: &[Part], place: usize) -> Result<bool, HuntError> {
        let (recipe, _) = self.recipe(parts)?;
        let terms = self.driver.terms();
        let (judgements, seen) =
            self.driver.judgements(&self.culprit.parent, &recipe, &self.targets, RUNS)?;
        let trial = &mut self.trials[place];
        if !seen.samples.is_empty() {
            trial.attempts = seen.attempts();
        }
        let shown = |one: &Judgement| step::shows(one, &seen, self.culprit, &self.targets, terms);
        let is_same = |one: &Judgement| shown(one) == trial.shows;
        Ok(judgements.iter().all(is_same))
    }
}

impl Driver<'_> {
    /// Whether one run may decide: no target is judged with its noise.
    fn is_judged_by_one_run(targets: &[Target]) -> bool {
        !targets.iter().any(Target::is_noisy)
    }

    /// The verdict of each run of a commit with a recipe. `runs`: the fewest runs.
    fn judgements(
        &mut self,
        commit: &CommitId,
        recipe: &Config,
        targets: &[Target],
        runs: usize,
    ) -> Result<(Vec<Judgement>, Observation), HuntError> {
        let measures = measures_of(targets);
        let look = Request::look(commit, &measures, Phase::Localize);
        let request = Request { runs, recipe: Some(recipe), ..look };
        let seen = self.oracle.evaluate(request)?;
        // A build that fails has no runs.
        let runs = seen.fewest_runs().max(1);
        let of_run = |run| verdict_of_run(&seen, run, targets, recipe);
        Ok(((0..runs).map(of_run).collect(), seen))
    }

    /// The judgement of an endpoint with a patch, unless its runs contradict it. If a failure of a
    /// run is sought, it takes as many runs as tell whether the failure is gone, and its rate
    /// decides if it comes and goes. If runs of one commit were seen to differ, four of five of
    /// [`RUNS_IF_MIXED`] runs decide.
    pub(super) fn unless_unsteady(
        &mut self,
        end: &CommitId,
        recipe: &Config,
        targets: &[Target],
        (judgement, seen): (Judgement, Observation),
    ) -> Result<(Judgement, Observation), HuntError> {
        let without_failure = self.runs_without_failure(targets)?;
        if judgement.skip.is_some() {
            let judgement = self.bad_if_it_fails_at_times(judgement, &seen, recipe, targets);
            return Ok((judgement, seen));
        }
        if without_failure.is_none() && !Self::is_judged_by_one_run(targets) {
            return Ok((judgement, seen));
        }
        if without_failure.is_none() && self.was_seen_to_differ(targets)? {
            let (_, seen) = self.judgements(end, recipe, targets, RUNS_IF_MIXED)?;
            return Ok((judged(&seen, targets, recipe, false), seen));
        }
        let runs = match (judgement.verdict, without_failure) {
            (Verdict::Good, Some(runs)) => runs.max(RUNS),
            _ => RUNS,
        };
        let (all, seen) = self.judgements(end, recipe, targets, runs)?;
        if all.iter().all(|one| one.verdict == judgement.verdict) {
            return Ok((judgement, seen));
        }
        let is_told = |one: &Judgement| matches!(one.verdict, Verdict::Good | Verdict::Bad);
        if without_failure.is_some() && all.iter().all(is_told) {
            let (judgement, seen) =
                self.oracle.judge_as(end, recipe, targets, Phase::Localize, None)?;
            let judgement = self.bad_if_it_fails_at_times(judgement, &seen, recipe, targets);
            return Ok((judgement, seen));
        }
        let reason = format!("its {} runs contradict each other", all.len());
        let skip = Some(SkipReason::Unsteady);
        let judgement = Judgement { verdict: Verdict::Skip, skip, reason, broken: Vec::new() };
        let judgement = self.bad_if_it_fails_at_times(judgement, &seen, recipe, targets);
        Ok((judgement, seen))
    }
}

/// The sets whose tests decide the answer: each found set with its context, each context alone, and
/// the rest of the change. Empty sets are left out.
fn deciding(known: &IsolationResult) -> Vec<Vec<Part>> {
    let mut sets = Vec::new();
    for one in &known.found {
        let mut whole = [one.context.as_slice(), one.parts.as_slice()].concat();
        whole.sort_unstable();
        sets.extend([whole, one.context.clone()]);
    }
    sets.push(known.rest.clone());
    sets.retain(|set| !set.is_empty());
    sets.dedup();
    sets
}

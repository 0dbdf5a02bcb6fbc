//! Compares a commit with its parents by fresh builds and runs, for one target. The comparison is
//! that of a confirmation, with the levels that are measured on this machine.

use std::collections::BTreeMap;

use crate::evaluation::{
    CommitId, Effect, GuardTarget, Noise, NoiseKind, Orientation, Phase, Target, Value,
};
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::confirm::chance::reported_confidence;
use crate::hunt::confirm::confirmation_runs::ConfirmationRuns;
use crate::hunt::confirm::effect::is_large;
use crate::hunt::confirm::reason_to_reject;
use crate::hunt::driver::Driver;
use crate::hunt::samples::samples;
use crate::hunt::strategy::SearchStrategy;
use crate::hunt::terms::SearchTerms;
use crate::oracle::{Observation, Request, measures_of};
use crate::search::{Rates, Step};
use crate::ui::text;

use super::here;
use super::result::{Conclusion, Sides};

/// Runs of each commit that show whether values repeat here.
const FIRST_LOOK: usize = 2;
/// Runs of each commit that show the noise here.
const NOISE_RUNS: usize = 4;

/// A commit and what it is compared with.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) commit: &'a CommitId,
    /// At least one.
    pub(super) parents: &'a [CommitId],
    /// Whether the commit is the worse side or the better one.
    pub(super) terms: SearchTerms,
}

/// What fresh runs say about one target.
pub(super) struct Compared {
    /// Whether the step from the parents to the commit shows.
    pub(super) verdict: Conclusion,
    /// Why, in words.
    pub(super) reason: String,
    pub(super) here: Sides,
    /// The tolerance here, in the metric's unit.
    pub(super) limit: Option<f64>,
    pub(super) confidence: Option<f64>,
    /// Runs of each commit.
    pub(super) runs: usize,
    /// How the commit failed, if it did and its parents did not.
    pub(super) fails: Option<String>,
}

/// A target with the levels of this machine, and the step to look for in noise.
struct Local {
    /// The target with half its tolerance. Its verdict decides.
    judged: Target,
    /// The target with its whole tolerance, for people.
    whole: Target,
    step: Option<Step>,
}

impl Driver<'_> {
    /// Measures the pair until it is decided whether the step shows. `reported`: the levels of the
    /// good and of the bad side in the report.
    pub(super) fn compare_afresh(
        &mut self,
        pair: Pair<'_>,
        target: &Target,
        reported: Option<[&Value; 2]>,
    ) -> Result<Compared, HuntError> {
        let Local { judged, whole, step } = match target {
            Target::Guard(target) => self.local(pair, target, reported)?,
            failure @ Target::Failure { .. } => {
                Local { judged: failure.clone(), whole: failure.clone(), step: None }
            }
        };
        let targets = [judged];
        let strategy = SearchStrategy::of(&targets, self.begun.options.search);
        let claim = Claim {
            commit: pair.commit,
            targets: &targets,
            strategy: &strategy,
            step,
            search_number: 0,
            ends: [&pair.parents[0], pair.commit],
            terms: pair.terms,
            aside: &[],
        };
        let fresh = self.measure_afresh(claim, pair.parents)?;
        let config = &self.oracle.recipes.config;
        let verdicts = fresh.verdicts(&strategy, config);
        let refused = reason_to_reject(pair.commit, pair.parents, &verdicts, pair.terms);
        let all = [whole];
        let (effects, worst) = fresh.effects(&all, config);
        let effect = effects.into_iter().next();
        let confidence =
            fresh.confidence().unwrap_or_else(|| reported_confidence(fresh.chance_of_error));
        let (verdict, reason) = match refused {
            None => self.verdict_if_shown(&fresh, worst, &all, effect.as_ref(), confidence)?,
            Some(outcome) => verdict_if_refused(&outcome, &fresh, step.is_some(), effect.as_ref()),
        };
        let failed = |seen: &Observation| seen.first_failure().cloned();
        let fails = failed(&fresh.commit)
            .filter(|_| fresh.parents.iter().all(|parent| failed(parent).is_none()));
        let level = |seen: &Observation| seen.level(&target.guard()?.guard.metric);
        Ok(Compared {
            verdict,
            reason,
            limit: effect.as_ref().map(|effect| effect.limit),
            here: Sides {
                parent: effect
                    .as_ref()
                    .map(|effect| effect.parent.clone())
                    .or_else(|| level(&fresh.parents[worst])),
                commit: effect
                    .as_ref()
                    .map(|effect| effect.commit.clone())
                    .or_else(|| level(&fresh.commit)),
                own_step: effect.and_then(|effect| effect.own_step).map(Value::Number),
            },
            confidence: (verdict == Conclusion::Holds).then_some(confidence),
            runs: fresh.commit.samples.values().map(Vec::len).max().unwrap_or(0),
            fails: fails.map(|failure| failure.detail),
        })
    }

    /// The verdict if the runs show the step. The claim holds only if the step is large and certain
    /// enough, and if the two sides ran different programs.
    fn verdict_if_shown(
        &self,
        fresh: &ConfirmationRuns,
        worst: usize,
        targets: &[Target],
        effect: Option<&Effect>,
        confidence: f64,
    ) -> Result<(Conclusion, String), HuntError> {
        if let Some(effect) = effect.filter(|effect| !is_large(effect)) {
            return Ok((Conclusion::DoesNotHold, too_small(effect)));
        }
        let ran = self.compare_loaded_files(&fresh.parents[worst], &fresh.commit, targets)?;
        if let Some(ran) = ran.filter(crate::evaluation::LoadedFilesComparison::is_same) {
            let files = text::plural(ran.alike, "identical file");
            let why = format!("it and its parent ran {files}");
            return Ok((Conclusion::Undecided, why));
        }
        let wanted = self.oracle.recipes.config.statistics.confidence;
        if confidence < wanted {
            let why = format!(
                "the runs differ with a confidence of {confidence:.3} only, below {wanted}"
            );
            return Ok((Conclusion::Undecided, why));
        }
        Ok((Conclusion::Holds, String::new()))
    }

    /// The target with the good side's level and the noise of this machine.
    fn local(
        &mut self,
        pair: Pair<'_>,
        target: &GuardTarget,
        reported: Option<[&Value; 2]>,
    ) -> Result<Local, HuntError> {
        if let Some(noise) = target.noise.filter(|noise| noise.kind.is_rate()) {
            let rates = Rates { good: noise.good, bad: noise.bad };
            let rates = pair.terms.orientation(target).rates(rates);
            let own = Target::Guard(target.clone());
            return Ok(Local { judged: own.clone(), whole: own, step: Some(Step::Rates(rates)) });
        }
        let metric = &target.guard.metric;
        let measures = measures_of(&[Target::Guard(target.clone())]);
        let mut seen = self.in_turn(pair, &measures, FIRST_LOOK)?;
        let [good, bad] = sides(pair, target, &seen);
        let baseline = seen[good].level(metric).unwrap_or_else(|| target.baseline.clone());
        let whole = here::whole(target, baseline);
        let steady = || Local {
            judged: Target::Guard(here::half(&GuardTarget { noise: None, ..whole.clone() })),
            whole: Target::Guard(GuardTarget { noise: None, ..whole.clone() }),
            step: None,
        };
        let repeats = |seen: &Observation| {
            seen.build_failure.is_some()
                || seen.first_failure().is_some()
                || seen.repeats(metric)
                || seen.numbers(metric).len() < seen.of(&metric.measure).len()
        };
        if target.noise.is_none() && seen.values().all(repeats) {
            return Ok(steady());
        }
        let kind = target.noise.map_or_else(|| here::kind(target), |noise| noise.kind);
        let step = noisy_step(&whole, kind, reported);
        let Some(step) = step else { return Ok(steady()) };
        seen = self.in_turn(pair, &measures, NOISE_RUNS)?;
        let config = &self.oracle.recipes.config;
        let scaled = scaled(&whole, kind);
        let of = |one: &CommitId| samples(&seen[one], &scaled, config);
        let (Ok(healthy), Ok(other)) = (of(good), of(bad)) else { return Ok(steady()) };
        let fresh = here::Fresh { good: &healthy, bad: &other };
        let (noisy, step) = here::with_noise(&whole, step, target.noise, &fresh);
        Ok(Local {
            judged: Target::Guard(here::half(&noisy)),
            whole: Target::Guard(noisy),
            step: Some(step),
        })
    }

    /// Makes `runs` fresh runs of each commit. The commits take turns.
    fn in_turn(
        &mut self,
        pair: Pair<'_>,
        measures: &[String],
        runs: usize,
    ) -> Result<BTreeMap<CommitId, Observation>, HuntError> {
        let mut seen = BTreeMap::new();
        for run in 1..=runs {
            for one in pair.parents.iter().chain([pair.commit]) {
                let look = Request::look(one, measures, Phase::Confirm);
                seen.insert(one.clone(), self.oracle.evaluate(Request { runs: run, ..look })?);
            }
        }
        Ok(seen)
    }
}

/// The good and the bad side of the step from the nearest parent to the commit.
fn sides<'a>(
    pair: Pair<'a>,
    target: &GuardTarget,
    seen: &BTreeMap<CommitId, Observation>,
) -> [&'a CommitId; 2] {
    let baseline = target.baseline.number().unwrap_or(0.0);
    let badness = |one: &CommitId| {
        let level = seen[one].level(&target.guard.metric)?.number()?;
        Some(target.guard.worsening(baseline, level))
    };
    let step = pair.terms.nearest_step(pair.parents, pair.commit, badness);
    let step = step.expect("a claim has a parent");
    [step.good, step.bad]
}

/// The step to look for: the reported one, else the tolerance.
fn noisy_step(target: &GuardTarget, kind: NoiseKind, reported: Option<[&Value; 2]>) -> Option<f64> {
    let scale = Orientation::of(target.guard.direction(), kind);
    let step = reported.and_then(|[good, bad]| here::reported_step(scale, good, bad));
    let limit = || scaled(target, kind).oriented_limit();
    step.or_else(|| Some(limit()).filter(|limit| limit.is_finite() && *limit > 0.0))
}

/// The target for samples of this kind. Its levels are not known yet.
fn scaled(target: &GuardTarget, kind: NoiseKind) -> GuardTarget {
    let noise = Noise { kind, good: 0.0, bad: 0.0, sd: 0.0, runs: 0, paired: false, error: 0.005 };
    GuardTarget { noise: Some(noise), ..target.clone() }
}

/// The verdict if the runs do not show the step.
fn verdict_if_refused(
    outcome: &ConfirmationOutcome,
    fresh: &ConfirmationRuns,
    is_noisy: bool,
    effect: Option<&Effect>,
) -> (Conclusion, String) {
    let small = |why: &str| match effect {
        Some(effect) if !is_large(effect) => too_small(effect),
        _ => why.to_owned(),
    };
    match outcome {
        ConfirmationOutcome::NotReproduced(why) | ConfirmationOutcome::ParentAlready(_, why) => {
            if is_noisy && !fresh.rejects() {
                (Conclusion::Undecided, "the fresh runs do not decide".to_owned())
            } else {
                (Conclusion::DoesNotHold, small(why))
            }
        }
        ConfirmationOutcome::Undecided(_) | ConfirmationOutcome::Undecidable(..)
            if fresh.rejects() =>
        {
            (Conclusion::DoesNotHold, small("the fresh runs show no step"))
        }
        ConfirmationOutcome::Undecided(why) => (Conclusion::Undecided, why.clone()),
        ConfirmationOutcome::Undecidable(_, why) => (Conclusion::Undecided, why.to_string()),
        ConfirmationOutcome::Culprit(..)
        | ConfirmationOutcome::Small(..)
        | ConfirmationOutcome::HomeMatters(_) => {
            unreachable!("`reason_to_reject` returns none of these")
        }
    }
}

fn too_small(effect: &Effect) -> String {
    let Some(step) = effect.own_step else { return "nothing changes here".to_owned() };
    let (step, least) = (text::difference(step), text::figure(effect.limit.max(0.0) / 2.0));
    format!("the step here is {step}; it must be larger than {least}, half the tolerance")
}

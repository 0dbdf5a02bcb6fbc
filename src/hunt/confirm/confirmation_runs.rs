//! The fresh runs of a commit and its parents, and the verdicts, steps and broken guards that
//! follow from them alone. Pure.

use crate::config::Config;
use crate::evaluation::{Effect, GuardTarget, Judgement, Metric, SkipReason, Target, Verdict};
use crate::hunt::run_verdicts::judged;
use crate::hunt::samples::samples;
use crate::hunt::strategy::SearchStrategy;
use crate::hunt::terms::SearchTerms;
use crate::oracle::Observation;
use crate::search::{self, FreshPairs};
use crate::stats;
use crate::ui::text;

use super::effect::{bad_side, effects, is_large, is_surely_large};

/// The fresh runs of a commit and its parents, and what they say about the claim.
pub(crate) struct ConfirmationRuns {
    pub(crate) commit: Observation,
    pub(crate) parents: Vec<Observation>,
    /// All known runs of each commit are bit-identical.
    pub(crate) is_exact: bool,
    /// In noise: the test of the claim against each parent.
    pub(super) claims: Vec<FreshPairs>,
    /// In noise: builds of one commit differ by as much as the step.
    pub(super) builds_differ: bool,
    /// Without noise: the probability that the claim is due to chance.
    pub(crate) chance_of_error: f64,
    /// The confidence that the claim needs.
    pub(crate) wanted: f64,
    /// Which of good and bad is older.
    pub(super) terms: SearchTerms,
}

impl ConfirmationRuns {
    /// In noise: the probability of the step from the pairs alone, 1/(1 + e^−Σl) of the weakest
    /// parent. Σl is the evidence of the pairs in nats.
    pub(crate) fn confidence(&self) -> Option<f64> {
        let weakest = self.claims.iter().map(FreshPairs::evidence).reduce(f64::min)?;
        Some(1.0 / (1.0 + (-weakest).exp()))
    }

    /// In noise: whether the test rejects the step from a parent to the commit.
    pub(crate) fn rejects(&self) -> bool {
        self.claims.iter().any(|claim| claim.verdict() == Some(search::Side::Good))
    }

    /// In noise: whether the step from each parent is surely large enough to blame the commit. True
    /// without noise.
    pub(super) fn are_surely_large(&self, strategy: &SearchStrategy) -> bool {
        let Some(target) = strategy.noisy() else { return true };
        self.claims.iter().all(|claim| is_surely_large(claim, target) == Some(true))
    }

    /// The verdicts on the parents and the commit (last), from fresh runs alone.
    pub(crate) fn verdicts(&self, strategy: &SearchStrategy, config: &Config) -> Vec<Judgement> {
        let all = self.parents.iter().chain([&self.commit]);
        let Some(target) = strategy.noisy() else {
            return all
                .map(|seen| judged(seen, &strategy.targets, config, self.is_exact))
                .collect();
        };
        let last = self.parents.len();
        let step_is_supported = !self.claims.is_empty()
            && !self.builds_differ
            && self.claims.iter().all(|claim| claim.verdict() == Some(search::Side::Bad));
        let verdict = |(index, seen): (usize, &Observation)| {
            let is_commit = index == last;
            let samples = match samples(seen, target, config) {
                Ok(samples) => samples,
                Err((why, reason)) => return judgement(Verdict::Skip, Some(why), reason, target),
            };
            let told = in_words(seen, target, &samples);
            let mean = stats::winsorised_mean(&samples).unwrap_or(f64::NAN);
            let (is_drifting, middle) = target.noise.map_or((false, mean), |noise| {
                (noise.paired, f64::midpoint(noise.good, noise.bad))
            });
            let is_bad = if step_is_supported {
                is_commit == self.terms.is_newer(Verdict::Bad)
            } else {
                mean > middle
            };
            let (verdict, skip) = match is_bad {
                // On a drifting machine, levels cannot be compared.
                _ if is_drifting && !step_is_supported => {
                    (Verdict::Skip, Some(SkipReason::Unsteady))
                }
                true => (Verdict::Bad, None),
                false => (Verdict::Good, None),
            };
            judgement(verdict, skip, told, target)
        };
        let mut verdicts: Vec<Judgement> = all.enumerate().map(verdict).collect();
        let is_plain = verdicts.iter().all(|v| v.verdict != Verdict::Skip);
        let (own, theirs) = verdicts.split_last_mut().expect("the commit is the last of them");
        if !step_is_supported
            && is_plain
            && self.terms.is_newer(own.verdict)
            && theirs.iter().all(|parent| self.terms.is_older(parent.verdict))
        {
            // The commit and its parents differ, but the test is undecided: name no commit.
            own.verdict = Verdict::Skip;
            own.skip = Some(SkipReason::Unsteady);
            let why = if self.builds_differ {
                "builds of one commit differ by as much as its step"
            } else {
                "its fresh runs do not decide whether it makes a step"
            };
            own.reason = format!("{why}: {}", own.reason);
        }
        verdicts
    }

    /// The own steps of the commit, and the index of the parent for the largest.
    pub(crate) fn effects(&self, targets: &[Target], config: &Config) -> (Vec<Effect>, usize) {
        effects(&self.commit, &self.parents, targets, config, self.terms)
    }

    /// The runs on the bad side of the step from this parent: the commit's runs, or for a fix the
    /// parent's.
    pub(crate) fn bad_side(&self, parent: usize) -> &Observation {
        let [_, bad] = self.good_and_bad(&self.parents[parent]);
        bad
    }

    /// The good and the bad side of the step from this parent.
    fn good_and_bad<'a>(&'a self, parent: &'a Observation) -> [&'a Observation; 2] {
        self.terms.good_and_bad([parent, &self.commit])
    }

    /// The metrics whose guards the commit breaks; for a fix, those that all its parents break.
    pub(crate) fn broken(
        &self,
        targets: &[Target],
        strategy: &SearchStrategy,
        config: &Config,
    ) -> Vec<Metric> {
        let is_broken = |target: &&GuardTarget| {
            let metric = &target.guard.metric;
            if strategy.noisy().is_some_and(|strategy| strategy.guard == target.guard) {
                return true;
            }
            let alone = [Target::Guard((*target).clone())];
            if target.noise.is_none() {
                let is_bad = |seen: &Observation| {
                    judged(seen, &alone, config, self.is_exact).verdict == Verdict::Bad
                };
                return self.parents.iter().all(|parent| is_bad(self.good_and_bad(parent)[1]));
            }
            let parted = self.parents.iter().all(|parent| {
                let [good, bad] = self.good_and_bad(parent);
                let apart = stats::separation(&good.numbers(metric), &bad.numbers(metric));
                apart.is_some_and(|apart| apart.bad == bad_side(target.guard.direction()))
            });
            parted && self.effects(&alone, config).0.iter().any(is_large)
        };
        let guards = targets.iter().filter_map(Target::guard);
        guards.filter(is_broken).map(|target| target.guard.metric.clone()).collect()
    }
}

fn judgement(
    verdict: Verdict,
    skip: Option<SkipReason>,
    reason: String,
    target: &GuardTarget,
) -> Judgement {
    let broken = match verdict {
        Verdict::Bad => vec![target.guard.metric.clone()],
        _ => Vec::new(),
    };
    Judgement { verdict, skip, reason, broken }
}

/// "speed.tg 183.2 in 6 fresh runs".
fn in_words(seen: &Observation, target: &GuardTarget, samples: &[f64]) -> String {
    let metric = &target.guard.metric;
    if target.is_rate() {
        let failed: f64 = samples.iter().sum();
        let does = target.counted_run();
        return format!("{metric} {does} in {failed} of {} fresh runs", samples.len());
    }
    let level =
        seen.level(metric).map_or_else(|| "nothing".to_owned(), |level| text::value(&level));
    format!("{metric} {level} in {} fresh runs", samples.len())
}

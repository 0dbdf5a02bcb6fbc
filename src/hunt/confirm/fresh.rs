//! Fresh runs of a commit and its parents in turn, as many as the claim needs, and the verdicts
//! from them.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, GuardTarget, Phase, SkipReason, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::hunt::run_verdicts::{ALIKE, ROUNDS, RunCounts, is_lost, verdict_of_run};
use crate::hunt::samples::samples;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::{Observation, Request, Sample, measures_of};
use crate::search::{self, BuildComparison, FreshPairs};
use crate::stats;
use crate::store::journal::SearchMethod;

use super::confirmation_runs::ConfirmationRuns;
use super::effect::is_surely_large;

/// Maximum number of rounds to rule out a result by chance.
const MOST_ROUNDS: usize = 9;
/// The same if runs of one commit, or the files of its builds, were seen to differ.
pub(crate) const MOST_ROUNDS_UNSTEADY: usize = 24;
/// The same if the probability of chance is then at most [`NEAR`] times the allowed one.
const MOST_ROUNDS_NEAR: usize = 60;
/// A claim gets more than [`MOST_ROUNDS_UNSTEADY`] rounds only if its probability of chance is at
/// most this many times the allowed one. In two claims, 60 rounds in place of 24 lowered it to a
/// tenth and to a 27th.
const NEAR: f64 = 20.0;
/// Number of rounds after which most claims are decided.
const USUAL_ROUNDS: usize = 4;

impl Driver<'_> {
    /// Measures the commit and its parents in turn, as often as the claim needs.
    pub(crate) fn measure_afresh(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
    ) -> Result<ConfirmationRuns, HuntError> {
        self.measure_in_rounds(claim, parents, false)
    }

    /// Measures the commit and its parents once in each round. Each round reverses the order.
    /// `rebuild`: the first round builds them anew, even if they were just built.
    pub(super) fn measure_in_rounds(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
        mut rebuild: bool,
    ) -> Result<ConfirmationRuns, HuntError> {
        let Claim { commit, targets, strategy, .. } = claim;
        let measures = measures_of(targets);
        let mut order: Vec<&CommitId> = parents.iter().chain([commit]).collect();
        let is_steady = strategy.noisy().is_none() && !rebuild;
        let uses_slots = is_steady
            && self.excluded_runs.is_empty()
            && self.slots_agree(&measures)? == Some(true)
            && !self.has_earlier_confirmation_of(&order, &measures)?;
        // Always in this order: so each side stays in its slot.
        let sides: Vec<CommitId> = [commit].into_iter().chain(parents).cloned().collect();
        if uses_slots {
            self.measure_beside(&sides, &measures, Phase::Confirm, USUAL_ROUNDS)?;
        }
        let mut seen: BTreeMap<&CommitId, Observation> = BTreeMap::new();
        let mut is_exact = strategy.method == SearchMethod::BitIdentical;
        let mut claims = Vec::new();
        let mut chance_of_error = 1.0;
        let mut builds_differ = false;
        let mut wanted =
            self.wanted_confidence(strategy.noisy().is_some_and(GuardTarget::is_rate))?;
        for round in 1.. {
            if uses_slots && rebuild && round > USUAL_ROUNDS {
                self.rebuild_beside(&sides, &measures, round)?;
            }
            for &one in &order {
                let observation =
                    self.measure_values_once_more(one, &measures, strategy, round, rebuild)?;
                seen.insert(one, observation);
            }
            if let Some(target) = strategy.noisy() {
                claims = self.claims(claim, parents, &seen, target, wanted);
                let is_over = |claim: &FreshPairs| {
                    claim.verdict() == Some(search::Side::Good) || claim.is_exhausted()
                };
                let step_is_supported =
                    |claim: &FreshPairs| claim.verdict() == Some(search::Side::Bad);
                if claims.iter().any(is_over) {
                    break;
                }
                let is_decided = claims.iter().all(step_is_supported);
                let builds = self.builds_so_far(claim, parents, &seen, target)?;
                // If builds are not known to repeat, all runs of one build count as one vote.
                let votes = target.is_rate() && !self.builds_are_alike(&order, strategy)?;
                rebuild = builds == BuildComparison::More || votes;
                if is_decided && builds == BuildComparison::Differ {
                    builds_differ = true;
                }
                // The runs must also tell whether each step is large enough to blame the commit.
                let is_sized = |claim: &FreshPairs| is_surely_large(claim, target).is_some();
                let are_sized = round >= MOST_ROUNDS_UNSTEADY || claims.iter().all(is_sized);
                if is_decided && are_sized && builds != BuildComparison::More {
                    break;
                }
            } else {
                is_exact = is_exact && self.all_repeat(&order, &strategy.targets)?;
                let strays = self.strays(claim, &seen)?;
                let may_tell = strays.lack_values && round < MOST_ROUNDS;
                if !may_tell && strays.share > allowed_strays(round) {
                    break;
                }
                if may_tell || (strays.share > 0.0 && round < ROUNDS) {
                    order.reverse();
                    continue;
                }
                let doubt = self.chance_odds(claim, &seen)?;
                chance_of_error = doubt.chance();
                wanted = self.wanted_confidence(doubt.is_unsteady)?;
                let allowed = 1.0 - wanted;
                let most = most_rounds(doubt.is_unsteady, chance_of_error / allowed);
                if chance_of_error <= allowed || round >= most {
                    break;
                }
                if round == MOST_ROUNDS && doubt.is_about_flaky_commits() {
                    self.measure_flaky_commits(&strategy.targets, round)?;
                }
                rebuild = !measures.is_empty() && doubt.is_about_builds();
            }
            order.reverse();
        }
        let mut take = |one: &CommitId| seen.remove(one).expect("every one was measured");
        let parents: Vec<Observation> = parents.iter().map(&mut take).collect();
        let commit = take(commit);
        let terms = claim.terms;
        Ok(ConfirmationRuns {
            commit,
            parents,
            is_exact,
            claims,
            builds_differ,
            chance_of_error,
            wanted,
            terms,
        })
    }

    /// The fresh runs that contradict the claim.
    fn strays(
        &self,
        claim: Claim<'_>,
        seen: &BTreeMap<&CommitId, Observation>,
    ) -> Result<Strays, HuntError> {
        let targets = &claim.strategy.targets;
        let mut of_commits = Vec::new();
        for (commit, observation) in seen {
            let recipe = self.oracle.recipes.at(commit)?;
            let runs = observation.samples.values().map(Vec::len).max().unwrap_or(1).max(1);
            let is_commit = *commit == claim.commit;
            let wanted = if is_commit { claim.terms.newer() } else { claim.terms.older() };
            let mut counts = RunCounts { runs, ..RunCounts::default() };
            for run in 0..runs {
                let judgement = verdict_of_run(observation, run, targets, &recipe);
                match judgement.verdict {
                    verdict if verdict == wanted => {}
                    Verdict::Skip if observation.samples.is_empty() => {
                        return Ok(Strays { share: f64::INFINITY, lack_values: false });
                    }
                    _ if is_lost(&judgement, targets) => counts.lost += 1,
                    _ => counts.strays += 1,
                }
            }
            of_commits.push(counts);
        }
        Ok(Strays::of(&of_commits))
    }

    /// One more run of a commit; runs of rejected claims are left out.
    pub(super) fn measure_once_more(
        &mut self,
        commit: &CommitId,
        measures: &[String],
        runs: usize,
        rebuild: bool,
    ) -> Result<Observation, HuntError> {
        let request = Request { rebuild, ..Request::look(commit, measures, Phase::Confirm) };
        let is_spent = |sample: &Sample| self.excluded_runs.contains(&sample.attempt);
        let spent = if self.excluded_runs.is_empty() {
            0
        } else {
            let known = self.oracle.evaluate(request)?;
            let of = |name: &String| known.of(name).iter().filter(|s| is_spent(s)).count();
            measures.iter().map(of).max().unwrap_or(0)
        };
        let mut seen = self.oracle.evaluate(Request { runs: spent + runs, ..request })?;
        for samples in seen.samples.values_mut() {
            samples.retain(|sample| !self.excluded_runs.contains(&sample.attempt));
        }
        Ok(seen)
    }

    /// Whether all known runs of these commits, fresh or not, are bit-identical.
    fn all_repeat(&mut self, commits: &[&CommitId], targets: &[Target]) -> Result<bool, HuntError> {
        let measures = measures_of(targets);
        for commit in commits {
            let known = self.known_runs(commit, &measures)?;
            let repeats = |target: &Target| match target {
                // Pass or fail repeats too easily by chance.
                Target::Guard(target)
                    if self.oracle.recipes.config.passes_or_fails(&target.guard.metric) =>
                {
                    false
                }
                Target::Guard(target) => {
                    known.build_failure.is_some() || known.repeats(&target.guard.metric)
                }
                // Failed runs have no values to compare, and their failure may come and go. Only a
                // failed build counts as exact.
                Target::Failure { measure, .. } => measure.is_none(),
            };
            if !targets.iter().all(repeats) || !self.has_same_prefix(commit, &known)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the step is larger than the differences between the builds of the fresh runs. One
    /// build of each side is enough if builds are known to repeat.
    fn builds_so_far(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
        seen: &BTreeMap<&CommitId, Observation>,
        target: &GuardTarget,
    ) -> Result<BuildComparison, HuntError> {
        let commits: Vec<CommitId> = seen.keys().map(|commit| (*commit).clone()).collect();
        let is_level = target.levels().is_some();
        if !is_level || self.known_to_repeat(&claim.strategy.targets, commits)? == Some(true) {
            return Ok(BuildComparison::StepIsLarger);
        }
        let orientation = claim.terms.orientation(target);
        let config = &self.oracle.recipes.config;
        let means = |one: &CommitId| -> Vec<f64> {
            let Ok(samples) = samples(&seen[one], target, config) else { return Vec::new() };
            let runs = seen[one].of(&target.guard.metric.measure);
            let mut builds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for (run, x) in runs.iter().zip(samples) {
                builds.entry(&run.built).or_default().push(orientation.sample(x));
            }
            builds.values().filter_map(|runs| stats::mean(runs)).collect()
        };
        let own = means(claim.commit);
        let said =
            parents.iter().map(|parent| search::step_exceeds_build_noise(&means(parent), &own));
        let said: Vec<BuildComparison> = said.collect();
        Ok(match () {
            () if said.contains(&BuildComparison::More) => BuildComparison::More,
            () if said.contains(&BuildComparison::Differ) => BuildComparison::Differ,
            () => BuildComparison::StepIsLarger,
        })
    }

    /// Whether builds of these commits are known to give the same files.
    fn builds_are_alike(
        &mut self,
        commits: &[&CommitId],
        strategy: &SearchStrategy,
    ) -> Result<bool, HuntError> {
        let commits = commits.iter().map(|commit| (*commit).clone());
        Ok(self.known_to_repeat(&strategy.targets, commits)? == Some(true))
    }

    /// The test of the claim against each parent, from the pairs so far, up to the wanted
    /// confidence. Empty if a run cannot be judged; the verdicts say why.
    fn claims(
        &self,
        claim: Claim<'_>,
        parents: &[CommitId],
        seen: &BTreeMap<&CommitId, Observation>,
        target: &GuardTarget,
        wanted: f64,
    ) -> Vec<FreshPairs> {
        let Some(step) = claim.step else { return Vec::new() };
        let config = &self.oracle.recipes.config;
        let empty = FreshPairs::new(step, wanted).with_smallest_step(target.oriented_limit());
        let orientation = claim.terms.orientation(target);
        let of = |one: &CommitId| samples(&seen[one], target, config);
        let Ok(own) = of(claim.commit) else { return Vec::new() };
        let against = |parent: &CommitId| {
            let mut told = empty.clone();
            of(parent)?.iter().zip(&own).for_each(|(parent, commit)| {
                told.add(orientation.sample(*parent), orientation.sample(*commit));
            });
            Ok::<_, (SkipReason, String)>(told)
        };
        parents.iter().map(against).collect::<Result<_, _>>().unwrap_or_default()
    }
}

/// The fresh runs of a commit and its parents that contradict a claim.
struct Strays {
    /// The largest share of one commit's runs. Infinite if a commit does not build: more runs would
    /// not change that.
    share: f64,
    /// Runs crashed or timed out, so that too few gave a value, and no run contradicts the claim.
    lack_values: bool,
}

impl Strays {
    fn of(commits: &[RunCounts]) -> Self {
        let is_open = |counts: &RunCounts| counts.lacks_values() || counts.share_of_strays() <= 0.0;
        Self {
            share: commits.iter().map(|counts| counts.share_of_strays()).fold(0.0, f64::max),
            lack_values: commits.iter().all(is_open)
                && commits.iter().any(|counts| counts.lacks_values()),
        }
    }
}

/// The share of strays above which more rounds cannot confirm a claim. A single stray may be a
/// disturbed run.
pub(super) fn allowed_strays(round: usize) -> f64 {
    match round {
        1..3 => 1.0,
        3..ROUNDS => 0.5,
        _ => (ROUNDS - ALIKE) as f64 / ROUNDS as f64,
    }
}

/// The maximum number of rounds. `excess`: the probability of chance, divided by the allowed one.
/// More rounds than [`MOST_ROUNDS_UNSTEADY`] follow only if they may decide.
pub(super) fn most_rounds(is_unsteady: bool, excess: f64) -> usize {
    if !is_unsteady {
        MOST_ROUNDS
    } else if excess > NEAR {
        MOST_ROUNDS_UNSTEADY
    } else {
        MOST_ROUNDS_NEAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unsteady_claim_that_is_nearly_certain_gets_more_rounds() {
        assert_eq!(most_rounds(true, 1.5), MOST_ROUNDS_NEAR);
        assert_eq!(most_rounds(true, 2.0 * NEAR), MOST_ROUNDS_UNSTEADY);
        assert_eq!(most_rounds(true, f64::INFINITY), MOST_ROUNDS_UNSTEADY);
        assert_eq!(most_rounds(false, 1.5), MOST_ROUNDS);
    }

    #[test]
    fn crashes_ask_for_more_rounds_only_if_nothing_contradicts_the_claim() {
        let counts = |strays, lost| RunCounts { runs: 5, strays, lost };
        let strays = Strays::of(&[counts(0, 0), counts(0, 2)]);
        assert!(strays.lack_values && strays.share > allowed_strays(ROUNDS));
        assert!(!Strays::of(&[counts(1, 0), counts(0, 2)]).lack_values);
        assert!(!Strays::of(&[counts(0, 5), counts(0, 2)]).lack_values);
        assert!(!Strays::of(&[counts(0, 0), counts(0, 0)]).lack_values);
    }
}

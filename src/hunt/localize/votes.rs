//! Whether the newer end needs a named commit if runs or builds of one commit were seen to differ
//! during the search. Each run of a test is then one vote, as in the search; each vote gets a build
//! of its own, unless builds are known to repeat.

use std::collections::BTreeSet;

use crate::evaluation::{
    Culprit, Direction, Effect, Guard, GuardForm, GuardTarget, Noise, Phase, Target, Value,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::samples::samples;
use crate::hunt::search::flaky::rated;
use crate::search::Rates;

/// The least share of votes for the wrong side that is assumed if the runs of each end agree: they
/// do not tell how often the runs of other builds flake.
const LEAST_FLAKES: f64 = 0.2;
/// Minimum difference of the rates that a test assumes. Nearer rates need more runs than a test may
/// take.
const LEAST_DIFFERENCE: f64 = 0.1;
/// By how many standard errors the assumed rates are nearer to each other than those of the runs: a
/// few runs often show rates that are too far apart. With 1.5, less than 0.1 % of the simulated
/// tests of an idle commit say that the end needs it (flakes of up to 45 %; 0.6 % without this).
const CAUTION: f64 = 1.5;

/// Runs of both ends as votes: 1 if a run breaks the guard, else 0.
#[derive(Clone, Debug)]
pub(super) struct EndVotes {
    good: Vec<f64>,
    bad: Vec<f64>,
}

impl EndVotes {
    /// The rates that a test of the newer end assumes. `fresh`: further votes of that end. `None`
    /// while the runs do not show that the rates differ.
    pub(super) fn cautious_rates(&self, fresh: &[f64]) -> Option<Rates> {
        let fresh = fresh.iter().copied().filter(|vote| !vote.is_nan());
        let bad: Vec<f64> = self.bad.iter().copied().chain(fresh).collect();
        let seen = Rates::of(&self.good, &bad);
        let rates = if differ(&self.good) || differ(&bad) {
            // An end whose runs agree flakes at most about as often as one run more would show.
            let [of_good, of_bad] = [&self.good, &bad].map(|votes| votes.len() as f64 + 2.0);
            let error = |rate: f64, runs: f64| CAUTION * (rate * (1.0 - rate) / runs).sqrt();
            let good = seen.good.max(1.0 / of_good);
            let bad = seen.bad.min(1.0 - 1.0 / of_bad);
            Rates { good: good + error(good, of_good), bad: bad - error(bad, of_bad) }
        } else {
            Rates { good: seen.good.max(LEAST_FLAKES), bad: seen.bad.min(1.0 - LEAST_FLAKES) }
        };
        (rates.bad - rates.good >= LEAST_DIFFERENCE).then_some(rates)
    }
}

fn differ(votes: &[f64]) -> bool {
    votes.windows(2).any(|two| (two[0] - two[1]).abs() > 0.5)
}

impl Driver<'_> {
    /// The targets of a commit's effects, as shares of runs that break the guard. If another one of
    /// the `named` commits moves the same metric, as shares of runs that keep the commit's own step.
    /// Empty if one of them cannot be judged by votes, because runs of the bad end do not show it
    /// more often, or because the own step gives no target.
    pub(super) fn voted_targets(
        &mut self,
        culprit: &Culprit,
        named: &[Culprit],
        targets: &[Target],
    ) -> Result<Vec<Target>, HuntError> {
        let mut voted = Vec::new();
        for effect in &culprit.effects {
            let own = Target::on(targets, &effect.metric);
            let Some(target) = own.and_then(rated) else { return Ok(Vec::new()) };
            let mut others = named.iter().filter(|one| one.info.commit != culprit.info.commit);
            let is_shared = others.any(|one| one.effect_on(&effect.metric).is_some());
            let target = if is_shared { by_own_step(target, effect) } else { Some(target) };
            let Some(target) = target else { return Ok(Vec::new()) };
            let of_ends = self.end_votes(&target)?;
            let rates = of_ends.map(|votes| Rates::of(&votes.good, &votes.bad));
            let Some(rates) = rates.filter(|rates| rates.bad > rates.good) else {
                return Ok(Vec::new());
            };
            let noise = target.noise;
            let noise = noise.map(|noise| Noise { good: rates.good, bad: rates.bad, ..noise });
            voted.push(Target::Guard(GuardTarget { noise, ..target }));
        }
        Ok(voted)
    }

    /// The votes of both ends, without those of tests of an end. If builds differ, one for each
    /// build. `None` if a run cannot be judged.
    pub(super) fn end_votes(
        &mut self,
        target: &GuardTarget,
    ) -> Result<Option<EndVotes>, HuntError> {
        let measures = [target.guard.metric.measure.clone()];
        let is_for_builds = self.builds_differ(&[Target::Guard(target.clone())])?;
        let ends = [&self.begun.good, &self.begun.bad].map(|end| end.commit.clone());
        let mut votes = Vec::new();
        for end in &ends {
            let mut seen = self.known_runs(end, &measures)?;
            let mut builds = BTreeSet::new();
            for runs in seen.samples.values_mut() {
                runs.retain(|run| {
                    run.phase != Phase::Localize
                        && (!is_for_builds || builds.insert(run.built.clone()))
                });
            }
            let recipe = self.oracle.recipes.at(end)?;
            let Ok(mut own) = samples(&seen, target, &recipe) else { return Ok(None) };
            own.retain(|vote| !vote.is_nan());
            votes.push(own);
        }
        let votes = <[Vec<f64>; 2]>::try_from(votes).ok();
        Ok(votes.map(|[good, bad]| EndVotes { good, bad }))
    }
}

/// The target, broken by the runs that keep more than half of a commit's own step: without one of
/// several commits, the metric stays worse than at the good end by the steps of the others. `None`
/// if the step or the bad end's level has no number, or if a change in any direction breaks the
/// guard.
fn by_own_step(target: GuardTarget, effect: &Effect) -> Option<GuardTarget> {
    let (bad, step) = target.bad.number().zip(effect.own_step)?;
    let (edge, form) = match target.guard.direction() {
        Direction::Up => (bad - step / 2.0, GuardForm::MaxIncrease(0.0)),
        Direction::Down => (bad + step / 2.0, GuardForm::MaxDecrease(0.0)),
        Direction::Any => return None,
    };
    let edge = Value::Number(edge);
    // Nearer to the good end than its tolerance, the guard itself separates the two.
    if !target.guard.is_broken(&target.baseline, &edge) {
        return Some(target);
    }
    let guard = Guard { metric: target.guard.metric.clone(), form };
    Some(GuardTarget { guard, baseline: edge, ..target })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::{effect, target};
    use crate::search::{FreshPairs, Side, Step};

    /// Whether runs with these levels break the target by which a commit's step is voted on.
    fn breaks<const N: usize>(voted: &GuardTarget, levels: [f64; N]) -> [bool; N] {
        levels.map(|x| voted.guard.is_broken(&voted.baseline, &Value::Number(x)))
    }

    #[test]
    fn beside_other_steps_a_vote_is_about_the_own_step() {
        // Another commit makes 0.75 of the 1.25; without this one, the bad end is at 7.75.
        let up = target(GuardForm::MaxIncrease(0.1), 7.0, 8.25);
        let voted = by_own_step(up.clone(), &effect(7.75, 8.25, 0.1)).unwrap();
        assert_eq!(breaks(&voted, [7.0, 7.75, 8.25]), [false, false, true]);
        let down = target(GuardForm::MaxDecreasePercent(5.0), 100.0, 60.0);
        let step = Effect { own_step: Some(20.0), ..effect(80.0, 60.0, 5.0) };
        let voted = by_own_step(down, &step).unwrap();
        assert_eq!(breaks(&voted, [100.0, 80.0, 60.0]), [false, false, true]);
        // Something else got better: half of the step is more than the whole change.
        let voted = by_own_step(up.clone(), &effect(7.0, 10.0, 0.1)).unwrap();
        assert_eq!(breaks(&voted, [7.05, 8.25]), [false, true]);
        let rate = Effect { own_step: None, ..effect(7.0, 8.25, 0.1) };
        assert!(by_own_step(up, &rate).is_none());
    }

    /// Votes of ends with this many runs that break the guard, of so many runs.
    fn votes([good, bad]: [usize; 2], runs: usize) -> EndVotes {
        let of = |broken| (0..runs).map(|run| if run < broken { 1.0 } else { 0.0 }).collect();
        EndVotes { good: of(good), bad: of(bad) }
    }

    #[test]
    fn runs_of_ends_that_repeat_do_not_exclude_flakes() {
        let least = Rates { good: LEAST_FLAKES, bad: 1.0 - LEAST_FLAKES };
        assert_eq!(votes([0, 6], 6).cautious_rates(&[]), Some(least));
        assert_eq!(votes([0, 60], 60).cautious_rates(&[]), Some(least));
        // The first vote that differs ends this: the bad end tells its own rate.
        let told = votes([0, 60], 60).cautious_rates(&[1.0, 0.0]).unwrap();
        assert!(told.good < LEAST_FLAKES && told.bad > 1.0 - LEAST_FLAKES, "{told:?}");
    }

    #[test]
    fn an_end_that_flakes_tells_its_own_rate() {
        let half = votes([0, 9], 18);
        let told = half.cautious_rates(&[]).unwrap();
        assert!(told.good < 0.15 && told.bad > 0.3 && told.bad < 0.5, "{told:?}");
        // More votes of the bad end make its rate surer.
        let more = half.cautious_rates(&[1.0, 0.0].repeat(9)).unwrap();
        assert!(more.bad > told.bad && more.bad < 0.5, "{more:?}");
        assert_eq!(votes([9, 9], 18).cautious_rates(&[]), None);
        assert_eq!(votes([0, 2], 6).cautious_rates(&[]), None);
    }

    #[test]
    fn good_runs_without_an_idle_commit_seldom_look_as_if_the_end_needed_it() {
        // The bad end flakes more than its 18 runs showed.
        for (bad, flakes) in [(9, 0.55), (12, 0.45), (14, 0.4), (16, 0.3)] {
            let rates = votes([0, bad], 18).cautious_rates(&[]).unwrap();
            let mut pairs = FreshPairs::new(Step::Rates(rates), 0.999);
            while pairs.verdict() != Some(Side::Bad) {
                pairs.add(0.0, 1.0);
            }
            let rounds = i32::try_from(pairs.pairs()).unwrap();
            let chance = f64::powi(flakes, rounds);
            assert!(chance < 0.001 && rounds < 40, "{bad} of 18: {rounds} rounds");
        }
    }
}

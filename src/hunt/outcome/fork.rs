//! The commit where a side branch forks off from the way to a range's older end. If the older end
//! got its level only after that, the branch begins at another level and did not cause the
//! difference.

use crate::evaluation::{CommitId, GuardTarget, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::terms::SearchTerms;

use super::mean_level::{MeanLevel, Rest, SURE};
use super::rest::{exceeds, is_beyond_noise};

/// How often a fork was run at least.
const RUNS_AT_FORK: usize = 1;

/// How much worse a commit is than another one, in the metric's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Excess {
    pub(super) size: f64,
    /// [`SURE`] standard errors of the size.
    pub(super) error: f64,
}

impl Driver<'_> {
    /// These ranges, each with an older end that its newer end contains. A range whose newer end
    /// does not contain the older one begins where the two fork, with the level there: no later
    /// commit made that level. A range is dropped if it has no commit after the fork, or if its
    /// newer end is within the tolerance of the fork. A range with several forks is dropped too:
    /// what its ends share is not one level.
    pub(crate) fn begin_at_forks(
        &mut self,
        parts: Vec<SearchRange>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let mut next = Vec::new();
        for part in parts {
            let [older, newer] = part.ends();
            let history = &self.oracle.history;
            if history.is_ancestor(older, newer)? {
                next.push(part);
                continue;
            }
            let bases = history.merge_bases(older, newer)?;
            if bases.contains(newer) {
                continue;
            }
            if let [base] = bases.as_slice() {
                next.extend(self.after_fork(part, base)?);
            }
        }
        Ok(next)
    }

    /// The part of a range after the commit where its ends fork. See [`Self::begin_at_forks`].
    fn after_fork(
        &mut self,
        part: SearchRange,
        fork: &CommitId,
    ) -> Result<Option<SearchRange>, HuntError> {
        let judgement = self.judge(fork, &part.targets)?;
        let is_older = part.is_older(judgement.verdict);
        let mut targets = Vec::new();
        for target in &part.targets {
            match target {
                Target::Guard(guard) if has_numbers(guard) => {
                    let level = self.level_at(fork, guard)?.value;
                    targets.extend(from_level(guard, level, part.terms).map(Target::Guard));
                }
                // A failure or a fact is there or not.
                _ if is_older => targets.push(target.clone()),
                _ => {}
            }
        }
        if targets.is_empty() {
            return Ok(None);
        }
        Ok(Some(SearchRange { older: fork.clone(), targets, aside: Vec::new(), ..part }))
    }

    /// In noise: how much worse than the older end the fork is, the commit where the branch of
    /// `commit` begins. 0 unless the fork is surely worse by more than the tolerance: then the
    /// older end got better after the fork. The newer end has this improvement and `commit` lacks
    /// it, so a comparison of these two leaves the excess out. 0 also if `commit` contains the
    /// older end, if there are several forks, or if the fork has no runs. Makes no runs.
    pub(super) fn excess_at_fork(
        &mut self,
        commit: &CommitId,
        whole: &SearchRange,
        target: &GuardTarget,
    ) -> Result<Excess, HuntError> {
        let [older, _] = whole.ends();
        let history = &self.oracle.history;
        if history.is_ancestor(older, commit)? {
            return Ok(Excess::default());
        }
        let bases = history.merge_bases(older, commit)?;
        let [fork] = bases.as_slice() else { return Ok(Excess::default()) };
        let metric = &target.guard.metric;
        let at_end = self.mean_level(older, metric, 0)?;
        let at_fork = self.mean_level(fork, metric, 0)?;
        let levels = at_end.zip(at_fork);
        Ok(levels.map(|(end, fork)| excess(target, [end, fork])).unwrap_or_default())
    }
}

/// How much worse the second level is than the first one. 0 unless it is surely worse by more than
/// the tolerance.
fn excess(target: &GuardTarget, levels: [MeanLevel; 2]) -> Excess {
    if Rest::of(MeanLevel::beyond_tolerance(target, levels)) != Rest::Beyond {
        return Excess::default();
    }
    let [from, to] = levels;
    let size = target.guard.worsening(from.value, to.value);
    Excess { size, error: MeanLevel::error(target, levels, SURE) }
}

fn has_numbers(target: &GuardTarget) -> bool {
    target.baseline.number().is_some() && target.bad.number().is_some()
}

/// The target of the part after a fork with this level; `None` if what is left there is not more
/// than the tolerance, beyond noise. A fork that is further from the newer end's level than the
/// older end is does not count: the older end's level is what the hunt compares with.
fn from_level(target: &GuardTarget, fork: f64, terms: SearchTerms) -> Option<GuardTarget> {
    let ends = terms.older_and_newer([&target.baseline, &target.bad]);
    let [older, newer] = ends.map(Value::number);
    let (older, newer) = (older?, newer?);
    let step = |from: f64| terms.step(&target.guard, from, newer);
    let level = if step(fork) < step(older) { fork } else { older };
    let [baseline, bad] = terms.good_and_bad([level, newer]).map(Value::Number);
    let left = GuardTarget { baseline, bad, ..target.clone() };
    let runs = target.noise.map_or(RUNS_AT_FORK, |noise| noise.runs);
    (exceeds(&left) && is_beyond_noise(&left, RUNS_AT_FORK, runs)).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, GuardForm};
    use crate::oracle::fixture::{noisy, target};

    const UP: GuardForm = GuardForm::MaxIncrease(0.1);

    /// The baseline and the bad level of what is left after a fork with this level.
    fn left(target: &GuardTarget, fork: f64, aim: Aim) -> Option<[f64; 2]> {
        let left = from_level(target, fork, SearchTerms::of(aim))?;
        Some([left.baseline.number().unwrap(), left.bad.number().unwrap()])
    }

    #[test]
    fn what_the_fork_shows_already_is_not_searched_after_it() {
        // The good end got better after the fork: 7.5 there, 7 at the good end.
        let rest = target(UP, 7.0, 7.8);
        assert_eq!(left(&rest, 7.5, Aim::Regression), Some([7.5, 7.8]));
        assert_eq!(left(&rest, 7.75, Aim::Regression), None);
        assert_eq!(left(&rest, 8.0, Aim::Regression), None);
        // A fork without a number is as bad as can be.
        assert_eq!(left(&rest, f64::INFINITY, Aim::Regression), None);
        // A fork that is better than the good end: only what is worse than the good end counts.
        assert_eq!(left(&rest, 6.5, Aim::Regression), Some([7.0, 7.8]));
    }

    #[test]
    fn in_a_hunt_for_a_fix_the_older_end_is_the_bad_one() {
        let rest = target(UP, 7.0, 8.0);
        assert_eq!(left(&rest, 7.5, Aim::Fix), Some([7.0, 7.5]));
        assert_eq!(left(&rest, 7.05, Aim::Fix), None);
        assert_eq!(left(&rest, 8.5, Aim::Fix), Some([7.0, 8.0]));
    }

    #[test]
    fn only_a_fork_that_is_surely_worse_than_the_older_end_has_an_excess() {
        let noisy = noisy(UP, 7.0, 7.3);
        let level = |value: f64| MeanLevel { value, runs: 1000 };
        let at = |fork: f64| excess(&noisy, [level(7.0), level(fork)]).size;
        assert!((at(7.5) - 0.5).abs() < 1e-9);
        // Within the tolerance, and better than the older end.
        assert!(at(7.09).abs() < 1e-9 && at(6.5).abs() < 1e-9);
    }
}

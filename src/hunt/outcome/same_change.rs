//! Finds other commits with the same change as the found one: an earlier one that was reverted, or
//! a cherry-pick on another branch.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, GuardTarget, Target};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::{Observation, measures_of};

use super::culprit_status::Mend;
use super::found_step::FoundStep;
use super::rest::exceeds;

/// Maximum number of other branches that are searched.
const MOST_BRANCHES: usize = 2;

impl Driver<'_> {
    /// If an earlier commit has the same change and is bad: a search range up to that commit, and a
    /// mend at the found commit's parent, where the change is gone.
    pub(crate) fn landed_before(
        &mut self,
        step: &FoundStep<'_>,
    ) -> Result<Option<(SearchRange, Mend)>, HuntError> {
        let FoundStep { search_range, culprit, .. } = step;
        let [older, _] = search_range.ends();
        let parent = &culprit.parent;
        if parent == older {
            return Ok(None);
        }
        let history = &self.oracle.history;
        let change = history.change(parent, &culprit.info.commit)?;
        let touching = history.touching(older, parent, &change)?;
        if history.contains_change(older, &change) != Some(false) {
            return Ok(None);
        }
        let mut landed = None;
        for commit in touching.iter().filter(|commit| *commit != parent) {
            if !history.carries_mostly(commit, &change) {
                continue;
            }
            // From the parent back: the same short line elsewhere is another change.
            let mut path = self.chain(commit, parent)?;
            path.reverse();
            path.push(commit.clone());
            if history.has_same_change(&path, &change) {
                landed = Some(commit.clone());
                break;
            }
        }
        let Some(commit) = landed else { return Ok(None) };
        let Some(earlier) = self.up_to_bad(search_range, &commit)? else { return Ok(None) };
        let effect = culprit.effects.first();
        let mend = Mend {
            by: parent.clone(),
            before: None,
            metric: effect.map(|effect| effect.metric.clone()),
            amount: effect.and_then(|effect| effect.own_step).unwrap_or(f64::INFINITY),
            left: 0.0,
            limit: effect.map_or(0.0, |effect| effect.limit),
            // The amount is that of the later commit's step.
            repeats: false,
        };
        Ok(Some((earlier, mend)))
    }

    /// A search range for each branch that has the change but not the found commit, as after a
    /// cherry-pick.
    pub(crate) fn on_other_branches(
        &mut self,
        step: &FoundStep<'_>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let FoundStep { search_range, culprit, .. } = step;
        let found = &culprit.info.commit;
        let change = self.oracle.history.change(&culprit.parent, found)?;
        let mut next = Vec::new();
        for tip in self.tips_without(search_range, found)?.into_iter().take(MOST_BRANCHES) {
            if !self.oracle.history.carries_mostly(&tip, &change) {
                continue;
            }
            let mut is_bad_from_the_start = false;
            for base in self.oracle.history.merge_bases(search_range.ends()[0], &tip)? {
                let judgement = self.judge(&base, &search_range.targets)?;
                is_bad_from_the_start |= search_range.is_newer(judgement.verdict);
            }
            if is_bad_from_the_start {
                continue;
            }
            next.extend(self.up_to_bad(search_range, &tip)?);
        }
        Ok(next)
    }

    /// The search range up to this commit, with its levels; `None` if the commit is not bad.
    fn up_to_bad(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
    ) -> Result<Option<SearchRange>, HuntError> {
        let judgement = self.judge(commit, &search_range.targets)?;
        if !search_range.is_newer(judgement.verdict) {
            return Ok(None);
        }
        let seen = self.known_runs(commit, &measures_of(&search_range.targets))?;
        Ok(up_to_levels_of(search_range, &seen))
    }

    /// The tips of side branches of the search range that were merged after the found commit:
    /// parents of merges that are neither descendants nor ancestors of the found commit.
    fn tips_without(
        &self,
        search_range: &SearchRange,
        found: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [older, newer] = search_range.ends();
        let with: BTreeSet<CommitId> = history.descending(found, newer)?.into_iter().collect();
        let range = Range::between(older, newer);
        let inside: BTreeSet<CommitId> = history.commits(&range)?.into_iter().collect();
        let mut tips = Vec::new();
        for merge in &with {
            for parent in history.parents(merge)? {
                let is_other = parent != *found && !with.contains(&parent);
                if is_other
                    && inside.contains(&parent)
                    && !tips.contains(&parent)
                    && !history.is_ancestor(&parent, found)?
                {
                    tips.push(parent);
                }
            }
        }
        Ok(tips)
    }
}

/// The search range up to the commit of these runs, with its levels in place of the newer end's:
/// what later commits add is no rise in this range. Where levels repeat, guards that this commit
/// does not break are dropped. `None` if it breaks no guard and there is no failure.
fn up_to_levels_of(search_range: &SearchRange, seen: &Observation) -> Option<SearchRange> {
    let targets = search_range.targets.iter().filter_map(|target| match target {
        Target::Guard(guard) => target_at(guard, seen).map(Target::Guard),
        Target::Failure { .. } => Some(target.clone()),
    });
    let targets: Vec<Target> = targets.collect();
    let newer = seen.commit.clone();
    (!targets.is_empty()).then(|| SearchRange { newer, targets, ..search_range.clone() })
}

/// The target with the level of these runs as the bad one. The target itself if they have no level
/// to compare; `None` if the level repeats and is within the tolerance.
fn target_at(target: &GuardTarget, seen: &Observation) -> Option<GuardTarget> {
    let metric = &target.guard.metric;
    let is_comparable = match target.noise {
        Some(noise) => noise.has_levels(),
        None => seen.has_level(metric, target.limit),
    };
    let level = seen.level(metric).filter(|level| level.number().is_none_or(f64::is_finite));
    let Some(bad) = level.filter(|_| is_comparable) else { return Some(target.clone()) };
    let at = GuardTarget { bad, ..target.clone() };
    (target.noise.is_some() || exceeds(&at)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, Guard, GuardForm, Metric, Value};
    use crate::hunt::path_filter::PathFilter;
    use crate::hunt::terms::SearchTerms;
    use crate::oracle::fixture::{at, commit, noisy, reading, seen, target};

    const UP: GuardForm = GuardForm::MaxIncrease(0.1);

    /// From commit 1 to commit e, up to the commit of these runs.
    fn up_to(seen: &Observation, targets: &[GuardTarget]) -> Option<SearchRange> {
        let whole = SearchRange {
            older: commit('1'),
            newer: commit('e'),
            terms: SearchTerms::of(Aim::Regression),
            targets: targets.iter().cloned().map(Target::Guard).collect(),
            paths: PathFilter::default(),
            aside: Vec::new(),
        };
        up_to_levels_of(&whole, seen)
    }

    fn bad_levels(search_range: &SearchRange) -> Vec<Value> {
        let guards = search_range.targets.iter().filter_map(Target::guard);
        guards.map(|guard| guard.bad.clone()).collect()
    }

    #[test]
    fn a_range_to_the_tip_of_a_branch_ends_at_the_level_of_the_tip() {
        // A later commit adds 0.5, which is no rise on the branch.
        let range = up_to(&at('5', &[7.75]), &[target(UP, 7.0, 8.25)]).unwrap();
        assert_eq!(range.ends(), [&commit('1'), &commit('5')]);
        assert_eq!(bad_levels(&range), [Value::Number(7.75)]);
        let range = up_to(&at('5', &[7.7, 7.8]), &[noisy(UP, 7.0, 8.25)]).unwrap();
        assert_eq!(bad_levels(&range), [Value::Number(7.75)]);
        // Runs without a finite level are no reason to drop a guard.
        let range = up_to(&at('5', &[f64::NAN]), &[target(UP, 7.0, 8.25)]).unwrap();
        assert_eq!(bad_levels(&range), [Value::Number(8.25)]);
    }

    #[test]
    fn a_guard_that_the_tip_does_not_break_is_not_searched_there() {
        let metric = Metric { name: Some("loss".to_owned()), ..Metric::of("ppl") };
        let guard = Guard { metric: metric.clone(), form: UP };
        let both = [target(UP, 7.0, 8.25), GuardTarget { guard, ..target(UP, 3.0, 4.0) }];
        let values = |ppl: f64, loss: f64| {
            let own = [(Metric::of("ppl"), ppl), (metric.clone(), loss)];
            seen('5', "ppl", [reading(own.map(|(metric, x)| (metric, Value::Number(x))))])
        };
        assert_eq!(bad_levels(&up_to(&values(7.75, 3.0), &both).unwrap()), [Value::Number(7.75)]);
        assert!(up_to(&values(7.0, 3.0), &both).is_none());
    }
}

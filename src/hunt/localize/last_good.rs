//! Where candidates begin if a named commit's own parent is bad already, or if the bad end may not
//! need the named commit: after the last commit that was measured good. A commit after it may make
//! what the bad end shows. In noise, a parent that is not surely good leaves this open for all
//! commits.

use crate::evaluation::{CommitId, Culprit, Finding, GuardTarget, Metric, Target, Unexplained};
use crate::hunt::HuntError;
use crate::hunt::commit_order::CommitOrder;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::mean_level::{MeanLevel, Rest, has_noisy_levels};

use super::contradiction::is_other_than_good;

impl Driver<'_> {
    /// The commits that the last good commit before a named one does not contain, if the parent of
    /// the named one is bad already in what is unexplained. In noise all commits, unless the parent
    /// is surely good. Empty if no such parent is bad. A parent after another named commit does not
    /// count: it has that commit's step. Only for a regression.
    pub(super) fn after_last_good(
        &mut self,
        finding: &Finding,
        unexplained: &[Unexplained],
        order: &CommitOrder,
    ) -> Result<Vec<CommitId>, HuntError> {
        if !self.terms().aim().is_regression() {
            return Ok(Vec::new());
        }
        let (guards, noisy): (Vec<GuardTarget>, Vec<GuardTarget>) =
            self.guards_on(unexplained)?.into_iter().partition(|target| target.noise.is_none());
        let mut after = Vec::new();
        for culprit in &finding.culprits {
            if self.is_after_another(culprit, finding)? {
                continue;
            }
            if self.is_parent_open(culprit, &noisy)? {
                return Ok(order.commits().to_vec());
            }
            if has_bad_parent(culprit, &guards) {
                after.extend(self.after_last_good_before(culprit, &guards, order)?);
            }
        }
        Ok(after)
    }

    /// The commits that the last good commit before a named one does not contain, if the finding
    /// names just this one: from the named one on if its parent is good. All commits if only the
    /// good end is good. Where values repeat, for a regression.
    pub(super) fn since_last_good(
        &mut self,
        finding: &Finding,
        unexplained: &[Unexplained],
        order: &CommitOrder,
    ) -> Result<Vec<CommitId>, HuntError> {
        let mut guards = self.guards_on(unexplained)?;
        guards.retain(|target| target.noise.is_none());
        match finding.culprits.as_slice() {
            [culprit] if !guards.is_empty() => self.after_last_good_before(culprit, &guards, order),
            _ => Ok(order.commits().to_vec()),
        }
    }

    /// The guards on these metrics.
    fn guards_on(&self, unexplained: &[Unexplained]) -> Result<Vec<GuardTarget>, HuntError> {
        let (targets, _) = self.sought()?;
        let is_asked = |metric: &Metric| {
            unexplained.iter().any(|one| matches!(one, Unexplained::Metric(own) if own == metric))
        };
        let guards = targets.iter().filter_map(Target::guard);
        Ok(guards.filter(|target| is_asked(&target.guard.metric)).cloned().collect())
    }

    /// The commits that the last good commit before this named one does not contain.
    fn after_last_good_before(
        &mut self,
        culprit: &Culprit,
        guards: &[GuardTarget],
        order: &CommitOrder,
    ) -> Result<Vec<CommitId>, HuntError> {
        Ok(match self.last_good_before(&culprit.parent, guards)? {
            Some(good) => order.not_in(&good),
            None => order.commits().to_vec(),
        })
    }

    /// Whether the commit's parent is not surely good in each of these metrics, by the stored runs.
    /// Failure rates have no level to compare. Makes no runs.
    fn is_parent_open(
        &mut self,
        culprit: &Culprit,
        noisy: &[GuardTarget],
    ) -> Result<bool, HuntError> {
        let good = self.begun.good.commit.clone();
        if culprit.parent == good {
            return Ok(false);
        }
        for target in noisy.iter().filter(|target| !target.is_rate()) {
            // Runs of different hours do not tell then.
            if self.has_drifted || !has_noisy_levels(target) {
                return Ok(true);
            }
            let metric = &target.guard.metric;
            let from = self.mean_level_after(&good, metric, 0, 0)?;
            let parent = self.mean_level_after(&culprit.parent, metric, 0, 0)?;
            if !from.zip(parent).is_some_and(|(from, to)| is_surely_good(target, [from, to])) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the commit's parent contains another named commit.
    fn is_after_another(&self, culprit: &Culprit, finding: &Finding) -> Result<bool, HuntError> {
        for other in &finding.culprits {
            if self.oracle.history.is_ancestor(&other.info.commit, &culprit.parent)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The last commit on the way from the good end to this one that was measured and is good in
    /// each of these guards. `None` if only the good end is.
    fn last_good_before(
        &mut self,
        commit: &CommitId,
        guards: &[GuardTarget],
    ) -> Result<Option<CommitId>, HuntError> {
        let measured = self.measured()?;
        let [older, _] = self.begun.ends().map(CommitId::clone);
        for place in self.chain(&older, commit)?.into_iter().rev() {
            if measured.contains(&place) && self.is_good_in(&place, guards)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Whether the stored runs of a commit are within the tolerance of each of these guards, against
    /// the good end.
    fn is_good_in(&mut self, commit: &CommitId, guards: &[GuardTarget]) -> Result<bool, HuntError> {
        for target in guards {
            let metric = &target.guard.metric;
            let seen = self.known_runs(commit, std::slice::from_ref(&metric.measure))?;
            let level = seen.level(metric);
            if level.is_none_or(|level| is_other_than_good(target, &level, 0.0)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether in noise the second level is surely within the tolerance of the first one, which is the
/// good end's.
fn is_surely_good(target: &GuardTarget, levels: [MeanLevel; 2]) -> bool {
    Rest::of(MeanLevel::beyond_tolerance(target, levels)) == Rest::Within
}

/// Whether the commit's parent is bad in one of these guards, against the good end.
fn has_bad_parent(culprit: &Culprit, guards: &[GuardTarget]) -> bool {
    guards.iter().any(|target| {
        let effect = culprit.effect_on(&target.guard.metric);
        effect.is_some_and(|effect| is_other_than_good(target, &effect.parent, 0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{self, effect, noisy, target};

    #[test]
    fn in_noise_a_parent_is_good_only_if_its_runs_exclude_a_step_above_the_tolerance() {
        // With a noise of 1 and a tolerance of 3.
        let target = noisy(GuardForm::MaxIncrease(3.0), 100.0, 110.0);
        let is_good = |parent: f64, runs: usize| {
            is_surely_good(&target, [100.0, parent].map(|value| MeanLevel { value, runs }))
        };
        assert!(is_good(100.0, 4) && is_good(101.9, 8));
        assert!(!is_good(102.5, 8) && !is_good(104.0, 8));
        // Single runs do not exclude it.
        assert!(!is_good(100.5, 1));
    }

    #[test]
    fn a_parent_is_bad_if_it_is_worse_than_the_good_end_by_more_than_the_tolerance() {
        let guards = [target(GuardForm::MaxIncrease(0.1), 7.5, 8.1)];
        let has = |parent: f64| {
            let effects = vec![effect(parent, 8.1, 0.1)];
            has_bad_parent(&Culprit { effects, ..fixture::culprit('5', '4') }, &guards)
        };
        assert!(has(7.8) && !has(7.55) && !has(7.2));
        assert!(!has_bad_parent(&fixture::culprit('5', '4'), &guards));
    }
}

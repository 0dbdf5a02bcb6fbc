//! Commits whose runs fall into two groups far apart, in a search that compares levels. Such a commit
//! has a rate, and two commits that change the rate and the level look like none or like many.

use crate::evaluation::{CommitId, GuardTarget, Target};
use crate::hunt::HuntError;
use crate::hunt::two_groups::levels_of_groups;
use crate::oracle::measures_of;
use crate::ui::text;

use super::Search;

impl Search<'_, '_> {
    /// All commits of the range as candidates, and why, if the runs of one of these commits fall
    /// into two groups, and those of the older end do not. Makes no runs.
    pub(super) fn without_one_level(
        &mut self,
        commits: &[CommitId],
    ) -> Result<Option<(Vec<CommitId>, String)>, HuntError> {
        let range = self.range;
        let guard = range.targets.iter().find_map(Target::guard);
        let Some(target) = guard.filter(|target| !target.is_rate()) else { return Ok(None) };
        let metric = &target.guard.metric;
        let [older, _] = range.ends();
        if self.two_levels(older, target)?.is_some() {
            return Ok(None);
        }
        for commit in commits {
            let Some([low, high]) = self.two_levels(commit, target)? else { continue };
            let why = format!(
                "runs of {} show two levels of {metric} ({} and {}) and nothing between, so it has \
                 no level to compare, and every commit of the range may have changed some of its \
                 runs",
                commit.short(),
                text::figure(low),
                text::figure(high),
            );
            return Ok(Some((self.commits.clone(), why)));
        }
        Ok(None)
    }

    fn two_levels(
        &mut self,
        commit: &CommitId,
        target: &GuardTarget,
    ) -> Result<Option<[f64; 2]>, HuntError> {
        let measures = measures_of(&self.range.targets);
        let seen = self.driver.known_runs(commit, &measures)?;
        Ok(levels_of_groups(&seen.numbers(&target.guard.metric), target.limit.max(0.0)))
    }
}

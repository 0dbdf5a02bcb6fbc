//! What the bad end shows besides the failure that a hunt looks for: other measures that fail, and
//! broken guards. When the failure's search has ended, each of them is looked at, also if only
//! candidates are known for the failure.

use crate::evaluation::{CommitId, Metric, Phase, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::level::is_worse;

impl Driver<'_> {
    /// The range to search for the next unexplained target of `beside`; `None` if there is none. A
    /// found commit explains a target if the commit shows it, its parent does not, and the bad end
    /// shows no more of it.
    pub(crate) fn range_of_beside(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        beside: &mut Vec<Target>,
    ) -> Result<Option<SearchRange>, HuntError> {
        while let Some(target) = beside.pop().filter(|_| !ledger.is_empty()) {
            let steps: Vec<[CommitId; 2]> = ledger
                .standing_culprits()
                .map(|one| [one.parent.clone(), one.info.commit.clone()])
                .collect();
            let targets = vec![target.clone()];
            let mut is_explained = false;
            for step in steps {
                let mut verdicts = [Verdict::Unknown; 2];
                for (verdict, commit) in verdicts.iter_mut().zip(&step) {
                    let phase = Phase::Search;
                    let judged = self.oracle.judge_until_decided(commit, &targets, phase, None);
                    match judged.map_err(HuntError::from) {
                        Err(HuntError::Limit(limit)) => {
                            self.leave_open(ledger, limit);
                            return Ok(None);
                        }
                        judged => *verdict = judged?.0.verdict,
                    }
                }
                is_explained |= verdicts == [whole.terms.older(), whole.terms.newer()]
                    && self.shows_all_of(&target, &step[1], whole)?;
            }
            if !is_explained {
                ledger.add_target(target);
                return Ok(Some(SearchRange { targets, ..whole.clone() }));
            }
        }
        Ok(None)
    }

    /// Whether the bad end is not worse than this found commit: the commit explains all that the
    /// bad end shows of the target.
    fn shows_all_of(
        &mut self,
        target: &Target,
        commit: &CommitId,
        whole: &SearchRange,
    ) -> Result<bool, HuntError> {
        let Target::Guard(target) = target else { return Ok(true) };
        let has_levels = target.noise.is_none_or(|noise| noise.has_levels());
        if !has_levels || !whole.terms.aim().is_regression() {
            return Ok(true);
        }
        let found = self.level_at(commit, target)?;
        let newer = self.level_at(&whole.newer, target)?;
        Ok(!is_worse(target, &found, &newer))
    }
}

impl Ledger {
    /// The guards that were searched by themselves after the failure, and whose metric a named
    /// commit changes. Guards in noise are left out. Tests of the ends judge these guards too.
    /// `whole`: the hunt's own range.
    pub(crate) fn added_targets(&self, whole: &SearchRange) -> Vec<Target> {
        let is_moved =
            |metric: &Metric| self.named().any(|culprit| culprit.effect_on(metric).is_some());
        let is_added = |target: &&Target| {
            let guard = target.guard().filter(|target| target.noise.is_none());
            guard.is_some_and(|target| is_moved(&target.guard.metric))
                && !whole.targets.contains(*target)
        };
        self.targets.iter().filter(is_added).cloned().collect()
    }
}

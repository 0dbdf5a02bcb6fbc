//! Commits that a hunt judges one after the other after a search, to see whether a step lasts. With
//! several slots, the next ones are measured at the same time. Each counts only when the hunt asks
//! for it, so the answer and its samples are those of a hunt with one slot.

use crate::evaluation::{CommitId, Phase, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::measures_of;

use super::job::AheadJob;

impl Driver<'_> {
    /// Measures the first of these commits and the next ones at the same time, one in each slot.
    /// `commits`: in the order in which the hunt will judge them by the targets. Does nothing
    /// unless values repeat and slots agree, or if the first commit is measured already: its
    /// verdict may end the list, and costs nothing.
    pub(crate) fn judge_beside(
        &mut self,
        commits: &[CommitId],
        targets: &[Target],
    ) -> Result<(), HuntError> {
        let Some((next, others)) = commits.split_first() else { return Ok(()) };
        let (slots, phase) = (self.slots(), Phase::Search);
        let measures = measures_of(targets);
        if slots < 2
            || others.is_empty()
            || !self.values_repeat(targets)
            || self.slots_agree(&measures)? != Some(true)
        {
            return Ok(());
        }
        let known = self.measured()?;
        let mut built: Vec<&CommitId> = Vec::new();
        let mut unbuilt: Vec<&CommitId> = Vec::new();
        for commit in commits {
            let is_open = !known.contains(commit)
                && !built.contains(&commit)
                && !unbuilt.contains(&commit)
                && !self.is_ready(commit, &measures)?;
            if is_open {
                let has_build = self.has_workers_build(commit)?;
                let own = if has_build { &mut built } else { &mut unbuilt };
                own.push(commit);
            }
            let found = built.len() + unbuilt.len();
            if found == 0 || found == slots {
                break;
            }
        }
        let job = |commit: &CommitId| AheadJob {
            clean: self.is_clean,
            ..AheadJob::of_judgement(commit.clone(), targets)
        };
        let jobs: Vec<AheadJob> = by_builds(built, unbuilt).into_iter().map(job).collect();
        if let Some(waited) = self.work_beside(&jobs)? {
            // The hunt judges this one now, and perhaps none of the others.
            self.oracle.record_finished_builds(next, phase)?;
            self.oracle.take_over(next, phase, waited)?;
        }
        Ok(())
    }

    /// Whether a worker of the search built the commit, or began to, and was stopped then.
    fn has_workers_build(&self, commit: &CommitId) -> Result<bool, HuntError> {
        let record = self.hunt.measured_ahead(commit, Phase::Search)?;
        Ok(record.is_some_and(|record| {
            record.building.is_some() || record.builds.iter().any(|build| build.failure.is_none())
        }))
    }

    /// Whether a worker has measured the commit, or the store has a run of each measure.
    fn is_ready(&mut self, commit: &CommitId, measures: &[String]) -> Result<bool, HuntError> {
        let record = self.hunt.measured_ahead(commit, Phase::Search)?;
        Ok(record.is_some_and(|record| record.is_done)
            || self.are_stored(std::slice::from_ref(commit), measures, Phase::Search, 1)?)
    }
}

/// These commits, in the order in which they get slots. The first one gets this process's slot, so
/// it has no build elsewhere if possible. Then those that workers built: each new worker goes to the
/// slot that has its build, if that is still free.
fn by_builds<'c>(built: Vec<&'c CommitId>, unbuilt: Vec<&'c CommitId>) -> Vec<&'c CommitId> {
    let mut unbuilt = unbuilt.into_iter();
    unbuilt.next().into_iter().chain(built).chain(unbuilt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn a_worker_goes_to_its_build_before_others_take_its_slot() {
        let all = ['1', '2', '3', '4'].map(commit);
        let [a, b, c, d] = &all;
        assert_eq!(by_builds(vec![a, c], vec![b, d]), [b, a, c, d]);
        assert_eq!(by_builds(vec![a, c], vec![]), [a, c]);
        assert_eq!(by_builds(vec![], vec![b, d]), [b, d]);
    }
}

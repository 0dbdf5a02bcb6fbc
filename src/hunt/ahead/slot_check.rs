//! The check that builds in another slot give the same values: the good endpoint is built and run
//! there too. A hunt makes it once. It is made again only if the hunt begins again under other
//! conditions, or if it did not come to its end.

use crate::evaluation::{CommitId, Phase};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Request;
use crate::store::HuntDir;
use crate::store::journal::Event;

use super::job::AheadJob;

/// What a hunt did since it last began under other conditions.
#[derive(Debug, Default, PartialEq, Eq)]
struct DoneSoFar {
    /// A worker that checked the slots has ended.
    is_checked: bool,
    /// A first bad commit is confirmed.
    is_confirmed: bool,
}

impl DoneSoFar {
    /// `good`: the good endpoint, which the check builds and runs.
    fn of<'e>(events: impl IntoIterator<Item = &'e Event>, good: &CommitId) -> Self {
        let mut done = Self::default();
        for event in events {
            match event {
                Event::MachineChanged { .. }
                | Event::NodeSetAside { .. }
                | Event::Home { .. }
                | Event::NoDirectMode
                | Event::OneSlot { .. } => done = Self::default(),
                Event::Ahead(worker)
                    if worker.phase == Phase::Control && worker.commit == *good =>
                {
                    done.is_checked = true;
                }
                Event::Confirmed(_) => done.is_confirmed = true,
                _ => {}
            }
        }
        done
    }
}

/// The runs of this hunt's check of the slots; `None` if no check came to its end.
pub(super) fn runs_of_whole_check(
    hunt: &HuntDir,
    good: &CommitId,
) -> Result<Option<Vec<String>>, HuntError> {
    let record = hunt.measured_ahead(good, Phase::Control)?.filter(|record| record.is_done);
    Ok(record.map(|record| record.runs.into_iter().map(|(run, _)| run).collect()))
}

impl Driver<'_> {
    /// The check: a run of the good endpoint in another slot.
    pub(crate) fn slot_check(&self, measures: &[String]) -> AheadJob {
        let good = self.begun.good.commit.clone();
        let job = AheadJob::of_runs(good, measures, Phase::Control, 1);
        AheadJob { clean: self.is_clean, ..job }
    }

    /// Whether the hunt must make the check, while it measures the endpoints or begins a search.
    /// `is_stored`: the store has all runs of both endpoints. Then the hunt needs no check after a
    /// confirmation, or if the check of an earlier hunt gave the values of the good endpoint's
    /// stored runs.
    pub(super) fn needs_slot_check(
        &mut self,
        measures: &[String],
        is_stored: bool,
    ) -> Result<bool, HuntError> {
        let good = self.begun.good.commit.clone();
        let entries = self.hunt.entries()?;
        let done = DoneSoFar::of(entries.iter().map(|entry| &entry.event), &good);
        if done.is_checked && self.has_whole_check(&good, measures)? {
            return Ok(false);
        }
        if !is_stored {
            return Ok(true);
        }
        if done.is_confirmed {
            return Ok(false);
        }
        Ok(!self.earlier_check_agrees(measures)?)
    }

    /// Whether the check of an earlier hunt gave the values of the good endpoint's known runs.
    fn earlier_check_agrees(&mut self, measures: &[String]) -> Result<bool, HuntError> {
        let good = self.begun.good.commit.clone();
        let known = self.oracle.evaluate(Request::look(&good, measures, Phase::Endpoint))?;
        Ok(self.oracle.earlier_slot_check(&good, measures, &known.attempts())? == Some(true))
    }

    /// Whether the check came to its end, and ran these measures of the good endpoint as the hunt
    /// builds and runs it now.
    fn has_whole_check(&self, good: &CommitId, measures: &[String]) -> Result<bool, HuntError> {
        let Some(attempts) = runs_of_whole_check(self.hunt, good)? else { return Ok(false) };
        Ok(self.oracle.has_run_of_each(good, measures, &attempts)?)
    }

    /// Whether the store has at least `runs` runs of each measure of each of these commits, for
    /// this phase. A commit that does not build needs none.
    pub(super) fn are_stored(
        &mut self,
        commits: &[CommitId],
        measures: &[String],
        phase: Phase,
        runs: usize,
    ) -> Result<bool, HuntError> {
        for commit in commits {
            let known = self.oracle.evaluate(Request::look(commit, measures, phase))?;
            let lacks_runs = measures.iter().any(|measure| known.of(measure).len() < runs);
            if known.build_failure.is_none() && lacks_runs {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::journal::AheadDone;

    fn commit(digit: &str) -> CommitId {
        digit.repeat(40).parse().unwrap()
    }

    fn worker(phase: Phase, digit: &str) -> Event {
        Event::Ahead(AheadDone {
            commit: commit(digit),
            phase,
            slot: 2,
            seconds: 1.0,
            builds: Vec::new(),
            runs: Vec::new(),
            cancelled: false,
        })
    }

    #[test]
    fn a_check_counts_until_the_hunt_begins_again() {
        let is_checked = |events: &[Event]| DoneSoFar::of(events, &commit("1")).is_checked;
        let check = worker(Phase::Control, "1");
        assert!(is_checked(&[worker(Phase::Endpoint, "2"), check.clone()]));
        assert!(!is_checked(&[worker(Phase::Endpoint, "1")]), "not a check");
        assert!(!is_checked(&[worker(Phase::Control, "2")]), "of another endpoint");
        let changes = [
            Event::MachineChanged { measures: Vec::new(), attempts: Vec::new() },
            Event::Home { empty: true },
            Event::NoDirectMode,
        ];
        for change in changes {
            assert!(!is_checked(&[check.clone(), change.clone()]), "{change:?}");
            assert!(is_checked(&[check.clone(), change.clone(), check.clone()]), "{change:?}");
        }
    }
}

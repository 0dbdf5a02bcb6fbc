//! Says in the journal that the bad end is built and run without named commits. Such a test may take
//! many runs in noise, and has no other sign while it goes on.

use crate::evaluation::{CommitId, Culprit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::store::journal::{Entry, Event};

impl Driver<'_> {
    /// Writes to the journal that the bad end is tested without these commits, once a hunt.
    pub(super) fn announce_end_without(&mut self, named: &[Culprit]) -> Result<(), HuntError> {
        let commits: Vec<CommitId> = named.iter().map(|one| one.info.commit.clone()).collect();
        if !is_announced(&self.hunt.entries()?, &commits) {
            self.oracle.recorder.event(Event::EndWithout { commits })?;
        }
        Ok(())
    }
}

/// Whether these entries say that the bad end is tested without these commits.
fn is_announced(entries: &[Entry], commits: &[CommitId]) -> bool {
    let mut announced = entries.iter().filter_map(|entry| match &entry.event {
        Event::EndWithout { commits } => Some(commits),
        _ => None,
    });
    announced.any(|one| one == commits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn a_test_of_the_end_is_announced_once() {
        let event = Event::EndWithout { commits: vec![commit('5')] };
        let entries = [Entry { at: String::new(), event }];
        assert!(is_announced(&entries, &[commit('5')]));
        assert!(!is_announced(&entries, &[commit('5'), commit('7')]));
        assert!(!is_announced(&[], &[commit('5')]));
    }
}

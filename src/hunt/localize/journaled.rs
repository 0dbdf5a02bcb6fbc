//! The tests of a commit's parts that the journal of a resumed hunt has already.

use crate::evaluation::{CommitId, Trial};
use crate::store::journal::{Entry, Event};

/// What the journal has of the tests of one commit's change.
#[derive(Default)]
pub(super) struct JournaledTrials {
    /// The tests, in the order of the journal.
    pub(super) trials: Vec<Trial>,
    /// Whether the localisation in this commit began.
    pub(super) is_begun: bool,
    /// Whether the journal's last `localizing` event names this commit. Otherwise the event is
    /// written again before more trials, since a trial is about the last commit named before it.
    pub(super) is_last: bool,
}

impl JournaledTrials {
    /// What these entries have about a commit.
    pub(super) fn of(entries: &[Entry], about: &CommitId) -> Self {
        let mut found = Self::default();
        for entry in entries {
            match &entry.event {
                Event::Localizing { commit, .. } => {
                    found.is_last = commit == about;
                    found.is_begun |= found.is_last;
                }
                Event::Trial(trial) if found.is_last => found.trials.push((**trial).clone()),
                _ => {}
            }
        }
        found
    }
}

//! The result of one search.

use crate::evaluation::{CommitId, Culprit};
use crate::oracle::Observation;

use super::chance_checks::ChanceChecks;
use super::machine_change::MachineChange;
use super::why::CandidatesReason;

/// The result of searching a range.
#[derive(Debug)]
pub(crate) enum Searched {
    /// The confirmed commit, and the runs on the bad side of its step.
    Culprit(Box<Culprit>, Observation),
    /// The commit at which the threshold is crossed, and its runs. The step is too small to blame
    /// the commit.
    Gradual(Box<Culprit>, Observation),
    /// Candidates, and why the search cannot decide between them.
    Candidates(Vec<CommitId>, CandidatesReason),
    /// Candidates of which only the newest can be tested.
    Untestable(Vec<CommitId>),
    /// The range has no step to find. The text says why.
    Nothing(String),
    /// After enough runs, the ends of the range do not differ. The text says so.
    Unchanged(String),
    /// Incremental and clean builds of a commit give different verdicts. The text says how.
    BuildsDisagree(String),
    /// Builds of a commit with and without the direct mode of a compiler cache give different
    /// verdicts. The text says how.
    DirectModeMatters(String),
    /// A commit gives other results with an empty home folder. The text says how.
    HomeMatters(String),
    /// Named checks of a suite pass or fail by chance, and the others tell the ends apart.
    ChecksVary(ChanceChecks),
    /// The good endpoint no longer has its level.
    MachineChanged(MachineChange),
}

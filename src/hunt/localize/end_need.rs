//! Whether the newer end needs a named commit.

use crate::evaluation::{CommitId, Revert};
use crate::search::Side;

use super::open_change::BranchStep;

/// Whether the newer end needs a named commit, by tests of that end or by later commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EndNeed {
    /// The end needs the commit, or this needs no test.
    Needed,
    /// The end keeps most of the commit's step without it.
    Idle,
    /// The commit's step is gone at this later commit.
    GoneAt(CommitId),
    /// The end does not hold the commit's lines, and this branch shows its step without it.
    OfBranch(BranchStep),
    /// The end loses the step with the lines as they were before the commit. Lines of later commits
    /// are gone too, so the lost step may be theirs. For levels: without the lines of later
    /// commits, the end has the step with the commit's own lines and not without them.
    LinesNeeded,
    /// Without what later commits made of its lines, the commit's change has no effect at the end.
    LaterLines,
    /// The end keeps a part of the commit's step without it.
    KeepsAPart,
    /// No test of the end tells, and lines that the commit added are there in a file with another
    /// name.
    InOtherFile,
    /// No test can be made, or none decides.
    Open,
}

impl EndNeed {
    /// What pairs of the end without the commit's whole change and of the end say.
    pub(super) fn of(side: Option<Side>) -> Self {
        match side {
            Some(Side::Bad) => Self::Needed,
            Some(Side::Good) => Self::Idle,
            None => Self::Open,
        }
    }

    /// Open instead of needed if another test of the end without the change shows that another part
    /// of the program may run then (`revert`): the step may be gone for this reason alone.
    pub(super) fn unless_void(self, revert: Option<&Revert>) -> Self {
        let is_void = matches!(revert, Some(Revert::Unlike | Revert::BreaksOther(_)));
        if is_void && self == Self::Needed { Self::Open } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_do_not_tell_if_another_part_of_the_program_may_run() {
        let other = Revert::BreaksOther("tps goes from 40 to 9".to_owned());
        for void in [Revert::Unlike, other] {
            assert_eq!(EndNeed::Needed.unless_void(Some(&void)), EndNeed::Open);
            assert_eq!(EndNeed::Idle.unless_void(Some(&void)), EndNeed::Idle);
        }
        assert_eq!(EndNeed::Needed.unless_void(Some(&Revert::StillBad)), EndNeed::Needed);
        assert_eq!(EndNeed::Needed.unless_void(None), EndNeed::Needed);
    }
}

//! A found commit that may not cause what the newer end shows, because another commit may. Pure.

use crate::evaluation::CommitId;
use crate::hunt::terms::SearchTerms;

/// A found commit, and other commits of which one may cause what the newer end shows.
#[derive(Clone, Debug)]
pub(crate) struct HiddenCause {
    pub(crate) found: CommitId,
    pub(crate) others: Vec<CommitId>,
    pub(crate) why: WhyHidden,
}

/// Why the found commit may not be the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WhyHidden {
    /// This later commit lacks the change or a part of it, and is as bad.
    GoneAt(CommitId),
    /// The runs of this later commit differ, and do not tell whether it still has the step.
    PerhapsGoneAt(CommitId),
    /// The newer end lacks the change or a part of it.
    GoneAtEnd,
    /// The newer end has a file as it was before the change.
    PutBack,
    /// A later commit breaks the guard with another value.
    OtherValue,
    /// In noise, the newer end is not clearly worse than the commit's parent.
    LostInNoise,
    /// In noise, the newer end is surely better than the commit's parent.
    BetterThanParent,
    /// A limit was reached before the newer end was compared with the commit's parent.
    NotCompared,
    /// None of the checks that the commit broke fails at the newer end.
    Repaired,
    /// The commit merges a branch, and the metric has no number at the branch's tip.
    NoNumberOnBranch,
}

impl WhyHidden {
    /// The reason in words. `found`: the found commit.
    pub(super) fn in_words(&self, found: &CommitId, terms: SearchTerms) -> String {
        let (found, end) = (found.short(), terms.newer());
        match self {
            Self::GoneAt(at) => format!(
                "the change of {found} is gone at {0}, at least in part, but {0} is as {end}: one \
                 of these commits may have caused the result again",
                at.short()
            ),
            Self::PerhapsGoneAt(at) => format!(
                "the runs of {} contradict each other and do not tell whether the step of {found} \
                 is gone there: one of these commits may have caused the result again",
                at.short()
            ),
            Self::GoneAtEnd => format!(
                "{found} shows the result first, but its change is gone at the {end} end, at least \
                 in part: one of these commits may have caused the result again"
            ),
            Self::PutBack => format!(
                "the {end} end has a file as it was before {found}: one of these commits may have \
                 caused the result again"
            ),
            Self::OtherValue => format!(
                "a later commit shows another value than {found}: one of these commits may cause \
                 what the {end} end shows"
            ),
            Self::LostInNoise => format!(
                "the runs do not tell whether the {end} end still has the step of {found}, because \
                 they vary too much: one of these commits may have undone it, and another may have \
                 caused the result again"
            ),
            Self::BetterThanParent => format!(
                "the {end} end is better than the parent of {found}: one of these commits may have \
                 undone the step of {found}, and another may have caused the result again"
            ),
            Self::NotCompared => format!(
                "a limit of the hunt was reached before it was known whether the {end} end still \
                 has the step of {found}: one of these commits may cause what the end shows"
            ),
            Self::Repaired => format!(
                "none of the checks that {found} broke fails at the {end} end: one of these \
                 commits may have broken others"
            ),
            Self::NoNumberOnBranch => format!(
                "{found} merges a branch at whose tip the metric has no number: a commit of the \
                 branch may have caused the result"
            ),
        }
    }
}

//! The range of history that one search covers, and the side branches it leaves out.

use crate::evaluation::{Aim, CommitId, Culprit, Target};

use super::path_filter::PathFilter;

/// A range of history, and the targets by which its search judges.
#[derive(Clone, Debug)]
pub(crate) struct SearchRange {
    pub(crate) good: CommitId,
    pub(crate) bad: CommitId,
    /// For a regression the good end is older, for a fix the bad end.
    pub(crate) aim: Aim,
    pub(crate) targets: Vec<Target>,
    pub(crate) paths: PathFilter,
    /// Side branches that are set aside.
    pub(crate) aside: Vec<ExcludedBranch>,
}

impl SearchRange {
    /// The older and the newer end.
    pub(crate) fn ends(&self) -> [&CommitId; 2] {
        self.aim.swap_if_fix([&self.good, &self.bad])
    }

    /// The same search range with another newer end.
    pub(crate) fn up_to(self, newer: CommitId) -> Self {
        match self.aim {
            Aim::Regression => Self { bad: newer, ..self },
            Aim::Fix => Self { good: newer, ..self },
        }
    }

    /// The same search range with only the targets that a found commit moves: whether its change
    /// lasts does not depend on guards that another commit breaks. All targets, if it moves none.
    pub(crate) fn moved_by(&self, culprit: &Culprit) -> Self {
        let is_moved = |target: &&Target| match target {
            Target::Guard(target) => culprit.effect_on(&target.guard.metric).is_some(),
            Target::Failure { .. } => culprit.failure.is_some(),
        };
        let moved: Vec<Target> = self.targets.iter().filter(is_moved).cloned().collect();
        let targets = if moved.is_empty() { self.targets.clone() } else { moved };
        Self { targets, ..self.clone() }
    }
}

/// A side branch that is set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExcludedBranch {
    /// The claimed commit. It and its descendants on the branch are set aside.
    pub(crate) first: CommitId,
    /// The newest commits of the branch.
    pub(crate) tips: Vec<CommitId>,
}

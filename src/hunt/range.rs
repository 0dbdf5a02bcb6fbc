//! The range of history that one search covers, and the side branches it leaves out.

use crate::evaluation::{CommitId, Culprit, Target, Verdict};

use super::path_filter::PathFilter;
use super::terms::SearchTerms;

/// A range of history, and the targets by which its search judges.
#[derive(Clone, Debug)]
pub(crate) struct SearchRange {
    pub(crate) older: CommitId,
    pub(crate) newer: CommitId,
    /// Which end is good: the older one for a regression, the newer one for a fix.
    pub(crate) terms: SearchTerms,
    pub(crate) targets: Vec<Target>,
    pub(crate) paths: PathFilter,
    /// Side branches that are set aside.
    pub(crate) aside: Vec<ExcludedBranch>,
}

impl SearchRange {
    /// The older and the newer end.
    pub(crate) fn ends(&self) -> [&CommitId; 2] {
        [&self.older, &self.newer]
    }

    /// The good and the bad end.
    pub(crate) fn good_and_bad(&self) -> [&CommitId; 2] {
        self.terms.good_and_bad(self.ends())
    }

    /// The verdicts of the older and the newer side.
    pub(crate) fn sides(&self) -> [Verdict; 2] {
        [self.terms.older(), self.terms.newer()]
    }

    /// Whether a commit with this verdict is on the older side of the wanted commit.
    pub(crate) fn is_older(&self, verdict: Verdict) -> bool {
        self.terms.is_older(verdict)
    }

    /// Whether a commit with this verdict is on the newer side of the wanted commit.
    pub(crate) fn is_newer(&self, verdict: Verdict) -> bool {
        self.terms.is_newer(verdict)
    }

    /// See [`SearchTerms::explains_levels`].
    pub(crate) fn explains_levels(&self) -> bool {
        self.terms.explains_levels()
    }

    /// The same search range with another newer end.
    pub(crate) fn up_to(self, newer: CommitId) -> Self {
        Self { newer, ..self }
    }

    /// The parts of the search range on both sides of a found commit's step: the part towards the
    /// good end, and the part towards the bad end. `None` if the step is at that end. The parent may
    /// lie on a side branch without the older end: see `Driver::begin_at_forks`.
    pub(crate) fn parts_around(&self, found: &Culprit) -> [Option<Self>; 2] {
        let (parent, commit) = (&found.parent, &found.info.commit);
        let before = (*parent != self.older).then(|| self.clone().up_to(parent.clone()));
        let after = (*commit != self.newer).then(|| Self { older: commit.clone(), ..self.clone() });
        self.terms.good_and_bad([before, after])
    }

    /// The same search range with only the targets that a found commit moves: whether its change
    /// lasts does not depend on guards that another commit breaks. All targets, if it moves none.
    pub(crate) fn moved_by(&self, culprit: &Culprit) -> Self {
        let moved = self.targets.iter().filter(|target| culprit.breaks(target));
        let moved: Vec<Target> = moved.cloned().collect();
        let targets = if moved.is_empty() { self.targets.clone() } else { moved };
        Self { targets, ..self.clone() }
    }
}

/// A side branch that is set aside.
#[derive(Clone, Debug)]
pub(crate) struct ExcludedBranch {
    /// The claimed commit. It and its descendants on the branch are set aside.
    pub(crate) first: CommitId,
    /// The newest commits of the branch.
    pub(crate) tips: Vec<CommitId>,
    /// The probability that the commit where the branch forks off has the newer end's verdict only
    /// by chance. Each answer of a search without the branch rests on it. 0 in noise.
    pub(crate) chance_of_error: f64,
}

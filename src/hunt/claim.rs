//! A search's claim about one commit, and the possible results of a confirmation.

use crate::evaluation::{CommitId, Culprit, Judgement, Target};
use crate::oracle::Observation;
use crate::search::Step;

use super::range::{ExcludedBranch, SearchRange};
use super::strategy::SearchStrategy;
use super::terms::SearchTerms;
use super::why::CandidatesReason;

/// The result of a confirmation.
pub(crate) enum ConfirmationOutcome {
    /// The claim holds. The runs are from the step's bad side: the commit, or for a fix its parent.
    Culprit(Box<Culprit>, Observation),
    /// The claim holds, but the own step is too small to blame the commit.
    Small(Box<Culprit>, Observation),
    /// Fresh runs of the commit contradict the claim. The text is the reason.
    NotReproduced(String),
    /// Fresh runs of this parent already show what the claim blames on the commit. The text is the
    /// reason.
    ParentAlready(CommitId, String),
    /// The fresh runs do not decide, but more runs of the search may.
    Undecided(String),
    /// With an empty home folder, a commit gets another verdict than in the search. The text says
    /// how.
    HomeMatters(String),
    /// The claim can be neither confirmed nor rejected. The commits are the candidates.
    Undecidable(Vec<CommitId>, CandidatesReason),
}

impl ConfirmationOutcome {
    /// Fresh runs of the commit, judged like this, contradict the claim.
    pub(super) fn not_reproduced(own: &Judgement, terms: SearchTerms) -> Self {
        Self::NotReproduced(format!("measured afresh it is not {}: {}", terms.newer(), own.reason))
    }

    /// Fresh runs of this parent, judged like this, contradict the claim.
    pub(super) fn parent_already(
        parent: &CommitId,
        judgement: &Judgement,
        terms: SearchTerms,
    ) -> Self {
        let (name, reason) = (parent.short(), &judgement.reason);
        let why = format!("its parent {name} is {} already: {reason}", terms.newer());
        Self::ParentAlready(parent.clone(), why)
    }

    /// Whether fresh runs contradict the claim. False if they confirm it or decide nothing.
    pub(crate) fn is_rejection(&self) -> bool {
        matches!(self, Self::ParentAlready(..) | Self::NotReproduced(_))
    }

    /// Why fresh runs do not show what the search's runs showed, in words; `None` if they do.
    pub(crate) fn contradiction(&self) -> Option<&str> {
        match self {
            Self::ParentAlready(_, why) | Self::NotReproduced(why) | Self::Undecided(why) => {
                Some(why)
            }
            Self::Culprit(..) | Self::Small(..) | Self::HomeMatters(_) | Self::Undecidable(..) => {
                None
            }
        }
    }
}

/// A search's claim that one commit made the change.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) commit: &'a CommitId,
    /// The targets that the bad end breaks; the confirmation measures all of them.
    pub(crate) targets: &'a [Target],
    /// The method and the targets of the search.
    pub(crate) strategy: &'a SearchStrategy,
    /// In noise: the step for which fresh runs are tested.
    pub(crate) step: Option<Step>,
    pub(crate) search_number: usize,
    /// The older and the newer end of the range that was searched.
    pub(crate) ends: [&'a CommitId; 2],
    /// Which of good and bad is older.
    pub(crate) terms: SearchTerms,
    /// Side branches set aside; a parent on one of them is ignored.
    pub(crate) aside: &'a [ExcludedBranch],
}

impl<'a> Claim<'a> {
    /// A claim about a commit of this range, without a step.
    pub(crate) fn of(
        search_range: &'a SearchRange,
        commit: &'a CommitId,
        strategy: &'a SearchStrategy,
        search_number: usize,
    ) -> Self {
        Self {
            commit,
            targets: &search_range.targets,
            strategy,
            step: None,
            search_number,
            ends: search_range.ends(),
            terms: search_range.terms,
            aside: &search_range.aside,
        }
    }
}

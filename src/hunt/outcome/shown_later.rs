//! What commits after a found one show of its step, judged one after the other.

use crate::evaluation::{CommitId, Culprit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::Observation;

use super::undoing::Undoing;

/// What later commits show.
pub(super) enum ShownLater {
    /// The runs of the first one that surely has the older end's verdict.
    Undone(Observation),
    /// None of them surely has the older end's verdict.
    Lasts {
        /// How many cannot be judged.
        untold: usize,
        /// In noise, the first one that has the older end's verdict, but whose runs do not tell
        /// whether it undid the step.
        open: Option<CommitId>,
    },
}

impl Driver<'_> {
    /// Judges these later commits in order. Ends at the first one that undid the found commit's step:
    /// it surely has the older end's verdict and, in noise, surely lacks more than half of the step.
    pub(super) fn shown_later(
        &mut self,
        search_range: &SearchRange,
        culprit: &Culprit,
        places: &[CommitId],
    ) -> Result<ShownLater, HuntError> {
        let (mut untold, mut open) = (0, None);
        for (number, place) in places.iter().enumerate() {
            self.judge_beside(&places[number..], &search_range.targets)?;
            let verdict = self.judge(place, &search_range.targets)?.verdict;
            if search_range.is_older(verdict) {
                match self.undoing(search_range, culprit, place)? {
                    Undoing::Undone => {
                        let older = search_range.terms.older();
                        let seen = self.repeats_as(older, place, &search_range.targets)?;
                        if let Some(seen) = seen {
                            return Ok(ShownLater::Undone(seen));
                        }
                    }
                    Undoing::Lasts => continue,
                    Undoing::Open => open = open.or_else(|| Some(place.clone())),
                }
            }
            untold += usize::from(!search_range.is_newer(verdict));
        }
        Ok(ShownLater::Lasts { untold, open })
    }
}

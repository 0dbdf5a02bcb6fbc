//! What commits after a found one show of its step, judged one after the other.

use crate::evaluation::CommitId;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::Observation;

/// What later commits show.
pub(super) enum ShownLater {
    /// The runs of the first one that surely has the older end's verdict.
    Undone(Observation),
    /// All of them that can be judged have the newer end's verdict.
    Lasts {
        /// How many cannot be judged.
        untold: usize,
    },
}

impl Driver<'_> {
    /// Judges these commits in order, until one surely has the older end's verdict.
    pub(super) fn shown_later(
        &mut self,
        search_range: &SearchRange,
        places: &[CommitId],
    ) -> Result<ShownLater, HuntError> {
        let mut untold = 0;
        for (number, place) in places.iter().enumerate() {
            self.judge_beside(&places[number..], &search_range.targets)?;
            let verdict = self.judge(place, &search_range.targets)?.verdict;
            if search_range.is_older(verdict) {
                let older = search_range.terms.older();
                let seen = self.repeats_as(older, place, &search_range.targets)?;
                if let Some(seen) = seen {
                    return Ok(ShownLater::Undone(seen));
                }
            }
            untold += usize::from(!search_range.is_newer(verdict));
        }
        Ok(ShownLater::Lasts { untold })
    }
}

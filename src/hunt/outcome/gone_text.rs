//! For metrics of speed, measures whether the step of a found commit is gone where its text is. The
//! levels on both sides of a mend look alike if a later commit makes a step of about the same size.

use crate::evaluation::CommitId;
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::Observation;

use super::account::Ledger;
use super::found_step::{FoundStep, is_beyond_the_end};
use super::range_after_mend::goes_on_from;
use super::suspects::UndoLocation;

/// Maximum number of commits that are measured for this reason.
const MOST_MEASURED: usize = 2;

impl Driver<'_> {
    /// Measures the first commits without the text of a found commit's change. Returns the runs of
    /// the first one that surely has the older end's verdict. Measures nothing if runs of different
    /// hours cannot be compared.
    pub(super) fn undone_where_text_is_gone(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
    ) -> Result<Option<Observation>, HuntError> {
        let (search_range, found) = (step.search_range, &step.culprit.info.commit);
        if search_range.targets.iter().any(|target| self.needs_pairs(target)) {
            return Ok(None);
        }
        let places = first_places(self.suspects(step)?);
        // The commits before these places have the text: they are not judged.
        let at = |places| UndoLocation { before: found.clone(), places, is_absence: true };
        let mut places = self.places_to_judge(search_range, found, &at(places))?;
        places.truncate(MOST_MEASURED);
        let measured = self.measured()?;
        let open = places.iter().filter(|place| !measured.contains(*place)).count();
        if open > 0 {
            self.begin_later(found, open)?;
        }
        self.find_undone(ledger, search_range, step.culprit, &at(places))
    }

    /// As [`Self::undone_where_text_is_gone`], at the end of the hunt. Returns the range to search
    /// after the place where the step is gone. Without such a place, notes that the found commit may
    /// hide later ones.
    pub(super) fn range_after_gone_text(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
    ) -> Result<Option<SearchRange>, HuntError> {
        match self.undone_where_text_is_gone(ledger, step) {
            // A limit must not discard a confirmed commit.
            Err(HuntError::Limit(limit)) => {
                ledger.note_unchecked_last(is_beyond_the_end(step), &limit);
                self.limit = Some(limit);
            }
            undone => {
                if let Some(seen) = undone? {
                    return Ok(Some(goes_on_from(ledger, step.search_range, &seen, step.seen)));
                }
            }
        }
        let [_, newer] = step.search_range.ends();
        let chain = self.chain(&step.culprit.info.commit, newer)?;
        self.doubt_what_is_gone(ledger, step, &chain)?;
        Ok(None)
    }
}

/// The first commit of each place where the source lacks the change.
fn first_places(suspects: Vec<UndoLocation>) -> Vec<CommitId> {
    let absences = suspects.into_iter().filter(|suspect| suspect.is_absence);
    distinct(absences.filter_map(|suspect| suspect.places.into_iter().next()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn the_first_commits_without_the_text_are_measured() {
        let at = |before, places: &str, is_absence| UndoLocation {
            before: commit(before),
            places: places.chars().map(commit).collect(),
            is_absence,
        };
        let suspects =
            vec![at('6', "798", true), at('2', "3", true), at('2', "3", true), at('4', "5", false)];
        assert_eq!(first_places(suspects), ['7', '3'].map(commit));
        assert!(first_places(Vec::new()).is_empty());
    }
}

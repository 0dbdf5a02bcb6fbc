//! Measures a few later commits if the found one only adds code, or only sets switches. Such code
//! may be switched off later, and on again by a third commit which names nothing of it. No text and
//! no removal shows this: without the code or its switch, there is nothing to switch on. Only a
//! commit between these two does.

use crate::differ::only_sets_switches;
use crate::evaluation::CommitId;
use crate::git::ChangedLines;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Observation;

use super::account::Ledger;
use super::found_step::FoundStep;
use super::shown_later::ShownLater;

/// Maximum number of commits that are measured for this reason.
const MOST_MEASURED: usize = 3;
/// So many commits in a row must be unmeasured. In a shorter row there is less to miss.
const LEAST_IN_A_ROW: usize = 8;
/// A commit that adds at least so many lines for each removed one adds code: the removed lines are
/// those that call it or list it.
const ADDED_FOR_EACH_REMOVED: usize = 4;

impl Driver<'_> {
    /// If the found commit only adds code or sets switches, measures commits in the middle of the
    /// longest rows of unmeasured ones after it. Returns the runs of the first that surely has the
    /// older end's verdict. If the runs of one do not tell, lowers the confidence in the found
    /// commit.
    pub(super) fn undone_after_addition(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
    ) -> Result<Option<Observation>, HuntError> {
        let (search_range, culprit) = (step.search_range, step.culprit);
        let found = &culprit.info.commit;
        let [_, newer] = search_range.ends();
        if search_range.targets.iter().any(|target| self.needs_pairs(target)) {
            return Ok(None);
        }
        let chain = self.chain(found, newer)?;
        let read = self.read_by_builds(found, &chain)?;
        let measured = self.measured()?;
        let is_known: Vec<bool> =
            read.iter().map(|one| one == newer || measured.contains(one)).collect();
        let places = middles(&is_known);
        if places.is_empty() {
            return Ok(None);
        }
        let changed = self.oracle.history.changed_lines(&culprit.parent, found, &[])?;
        let may_be_switched =
            changed.is_some_and(|changed| adds_code(&changed) || only_sets_switches(&changed));
        if !may_be_switched {
            return Ok(None);
        }
        self.begin_later(found, places.len())?;
        let places: Vec<CommitId> = places.into_iter().map(|place| read[place].clone()).collect();
        match self.shown_later(search_range, culprit, &places)? {
            ShownLater::Undone(seen) => Ok(Some(seen)),
            ShownLater::Lasts { open, .. } => {
                if let Some(by) = open {
                    ledger.may_be_undone_by(found, &by);
                }
                Ok(None)
            }
        }
    }
}

/// Whether these changes add much more than they remove.
fn adds_code(changed: &[ChangedLines]) -> bool {
    let count = |side: fn(&ChangedLines) -> &Vec<String>| -> usize {
        changed
            .iter()
            .map(|file| side(file).iter().filter(|line| !line.trim().is_empty()).count())
            .sum()
    };
    let (added, removed) = (count(|file| &file.added), count(|file| &file.removed));
    added > 0 && added >= ADDED_FOR_EACH_REMOVED * removed
}

/// The places to measure, in order: each halves the longest row of unknown places that is left, and
/// no row shorter than [`LEAST_IN_A_ROW`].
fn middles(is_known: &[bool]) -> Vec<usize> {
    let mut rows: Vec<(usize, usize)> = Vec::new();
    let mut begin = 0;
    for end in (0..is_known.len()).filter(|place| is_known[*place]).chain([is_known.len()]) {
        rows.push((begin, end));
        begin = end + 1;
    }
    let mut chosen = Vec::new();
    while chosen.len() < MOST_MEASURED {
        let Some(longest) =
            (0..rows.len()).max_by_key(|row| rows[*row].1.saturating_sub(rows[*row].0))
        else {
            break;
        };
        let (from, to) = rows.swap_remove(longest);
        if to.saturating_sub(from) < LEAST_IN_A_ROW {
            break;
        }
        let middle = from + (to - from) / 2;
        chosen.push(middle);
        rows.extend([(from, middle), (middle + 1, to)]);
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rows_of_unmeasured_commits_are_halved() {
        let of = |known: &[usize], count: usize| {
            middles(&(0..count).map(|place| known.contains(&place)).collect::<Vec<_>>())
        };
        assert!(of(&[], 7).is_empty());
        assert_eq!(of(&[], 8), [4]);
        assert_eq!(of(&[31], 32), [7, 15, 23]);
        assert_eq!(of(&[2, 5, 12, 40], 41), [19, 26, 33]);
        assert_eq!(of(&[0, 9, 18], 19), [5, 14]);
        assert!(of(&[3, 7, 11], 12).is_empty() && of(&[], 0).is_empty());
    }

    #[test]
    fn a_change_adds_code_if_it_removes_next_to_nothing() {
        let lines = |count: usize| vec!["line".to_owned(); count];
        let file = |added: usize, removed: usize| ChangedLines {
            added: lines(added),
            removed: lines(removed),
            ..ChangedLines::default()
        };
        assert!(adds_code(&[file(1, 0)]) && adds_code(&[file(7, 0), file(1, 2)]));
        assert!(!adds_code(&[file(1, 1)]) && !adds_code(&[file(3, 1), file(0, 1)]));
        assert!(!adds_code(&[]) && !adds_code(&[file(0, 3)]));
        let blank = ChangedLines { added: vec![String::new(); 9], ..file(1, 1) };
        assert!(!adds_code(&[file(1, 1), blank]), "blank lines are no code");
    }
}

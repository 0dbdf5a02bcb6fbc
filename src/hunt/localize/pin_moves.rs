//! Named commits that move the pin of a submodule. If a later commit moves the pin again, no patch
//! takes the first move out of the newer end. Two things tell more: whether the newer end's pin
//! still contains what the first move brought, and whether the step was gone before the pin moved
//! again.

use crate::evaluation::{Cause, ChangePart, CommitId, Culprit, Dependency, WholeChange};
use crate::git::Change;
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;

/// Maximum number of later moves of a pin before which the step is looked for: the newest ones.
const MOST_MOVES: usize = 3;

impl Driver<'_> {
    /// Whether the newer end has nothing of these parts of a named commit: each is the pin of a
    /// submodule, and the end's pin lacks what the commit changed there. False if unknown.
    pub(super) fn lacks_moved_pins(
        &self,
        culprit: &Culprit,
        parts: &[ChangePart],
    ) -> Result<bool, HuntError> {
        let [_, end] = self.begun.ends();
        for part in parts {
            let Some(moved) = moved_by(culprit, part) else { return Ok(false) };
            if self.oracle.history.lacks_pin_change(end, moved)? != Some(true) {
                return Ok(false);
            }
        }
        Ok(!parts.is_empty())
    }

    /// The commits right before the pin of a submodule moves again, which the change of a named
    /// commit moves: parents of later moves that contain the named commit. A commit elsewhere may
    /// have undone the step before such a move makes it again.
    pub(super) fn before_later_moves(
        &self,
        culprit: &Culprit,
        change: &Change,
    ) -> Result<Vec<CommitId>, HuntError> {
        let found = &culprit.info.commit;
        let [_, newer] = self.begun.ends();
        let history = &self.oracle.history;
        let mut before = Vec::new();
        for moved in culprit.dependencies.iter().filter(|one| one.is_submodule) {
            if !change.has_file(&moved.path) {
                continue;
            }
            let moves = history.touching(found, newer, &change.in_file(&moved.path))?;
            for one in moves.iter().rev().take(MOST_MOVES) {
                for parent in history.parents(one)? {
                    if parent != *found && history.is_ancestor(found, &parent)? {
                        before.push(parent);
                    }
                }
            }
        }
        Ok(distinct(before))
    }
}

/// Whether a part of the cause is the move of a submodule's pin.
pub(super) fn moves_a_pin(cause: &Cause) -> bool {
    cause.sets.iter().flat_map(|set| &set.parts).any(is_pin)
}

fn is_pin(part: &ChangePart) -> bool {
    part.whole == Some(WholeChange::Submodule)
}

/// The move of a submodule's pin that this part of a named commit is.
pub(super) fn moved_by<'c>(culprit: &'c Culprit, part: &ChangePart) -> Option<&'c Dependency> {
    let of = |one: &&Dependency| one.is_submodule && one.path == part.path;
    culprit.dependencies.iter().find(of).filter(|_| is_pin(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::PartOf;
    use crate::oracle::fixture::{commit, culprit};

    #[test]
    fn only_a_part_that_is_a_submodule_moves_its_pin() {
        let dependency = |path: &str, is_submodule| Dependency {
            path: path.to_owned(),
            from: commit('1'),
            to: commit('2'),
            commits: Some(1),
            is_submodule,
        };
        let dependencies = vec![dependency("copy/COMMIT", false), dependency("sub", true)];
        let found = Culprit { dependencies, ..culprit('5', '4') };
        let part =
            |path: &str, whole| ChangePart { path: path.to_owned(), of: PartOf::File, whole };
        let pin = Some(WholeChange::Submodule);
        assert_eq!(moved_by(&found, &part("sub", pin)).map(|one| one.path.as_str()), Some("sub"));
        assert_eq!(moved_by(&found, &part("sub", None)), None);
        assert_eq!(moved_by(&found, &part("copy/COMMIT", None)), None);
        assert_eq!(moved_by(&found, &part("other", pin)), None);
    }
}

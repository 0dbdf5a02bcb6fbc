//! Runs that read a pointer of Git LFS where the user's engine reads the file. Checkouts of a hunt
//! keep pointers unless `[worktree] lfs` is set, so such a run does not show what the commit does:
//! the commit that moved a file into Git LFS would be named for a crash that nobody else sees.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::evaluation::{CommitId, Evidence, Failure, FailureKind};
use crate::git::{EntryKind, GitError};

use super::loaded::is_lfs_pointer;
use super::parts::Oracle;
use super::{OracleError, Sample};

impl Oracle {
    /// The failure of a checkout with a pointer that these runs of a commit read. `None` if they
    /// read none, or if the pointer changes nothing between the commits: both ends have the same
    /// one, and so has the user's checkout, as far as it has the file.
    pub(super) fn read_pointer(
        &self,
        commit: &CommitId,
        samples: &BTreeMap<String, Vec<Sample>>,
    ) -> Result<Option<Failure>, OracleError> {
        let loaded = samples.values().flatten().filter_map(|run| run.loaded.as_ref());
        let read: BTreeSet<&String> = loaded.flat_map(|loaded| &loaded.pointers).collect();
        let history = &self.recipes.engine.history;
        let engine = |commit| self.recipes.engine.commit(commit);
        for opened in read {
            let find = |path: &str| history.at(engine(commit), path);
            let Some((path, here)) = tracked(opened, find)? else { continue };
            let is_real = |top: &Path| {
                let file = top.join(path);
                file.is_file() && !is_lfs_pointer(&file)
            };
            let mut matters = self.checkout.as_deref().is_some_and(is_real);
            for end in &self.recipes.ends {
                matters |= history.at(engine(end), path)? != here;
            }
            if matters {
                return Ok(Some(failure(path)));
            }
        }
        Ok(None)
    }
}

/// The path in the commit's tree of a file that a run opened, given below the slot. A build may have
/// copied the file, with some of the folders above it: the longest end of the path counts that the
/// tree has. `None` if it has none.
fn tracked(
    opened: &str,
    find: impl Fn(&str) -> Result<EntryKind, GitError>,
) -> Result<Option<(&str, EntryKind)>, GitError> {
    let mut path = opened;
    while let Some((_, below)) = path.split_once('/') {
        path = below;
        let found = find(path)?;
        if matches!(found, EntryKind::File(_)) {
            return Ok(Some((path, found)));
        }
    }
    Ok(None)
}

fn failure(path: &str) -> Failure {
    let evidence = Evidence { pointer: Some(path.to_owned()), ..Evidence::default() };
    let detail = format!(
        "its runs read {path}, which is a pointer of Git LFS in this checkout: set `lfs = true` \
         under [worktree]"
    );
    Failure::new(FailureKind::Checkout, evidence, detail)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn a_copied_file_is_sought_by_each_end_of_its_path_the_longest_first() {
        let asked = RefCell::new(Vec::new());
        // A folder of that name is no file.
        let find = |path: &str| {
            asked.borrow_mut().push(path.to_owned());
            Ok(EntryKind::Other)
        };
        assert_eq!(tracked("build/v/table.bin", find).unwrap(), None);
        assert_eq!(*asked.borrow(), ["v/table.bin", "table.bin"]);
    }

    #[test]
    fn the_failure_names_the_file_and_the_cure() {
        let failure = failure("v/table.bin");
        assert_eq!(failure.kind, FailureKind::Checkout);
        assert!(failure.detail.contains("v/table.bin") && failure.detail.contains("`lfs = true`"));
        assert_eq!(failure.evidence.unwrap().pointer.as_deref(), Some("v/table.bin"));
    }
}

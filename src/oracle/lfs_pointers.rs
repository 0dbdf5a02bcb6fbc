//! Runs that read a pointer of Git LFS where the user's engine reads the file. Checkouts of a hunt
//! keep pointers unless `[worktree] lfs` is set, so such a run does not show what the commit does:
//! the commit that moved a file into Git LFS would be named for a crash that nobody else sees.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::evaluation::{CommitId, Evidence, Failure, FailureKind};
use crate::git::{BlobId, EntryKind, GitError, LONGEST_POINTER};

use super::loaded::is_lfs_pointer;
use super::parts::Oracle;
use super::{OracleError, Sample};

/// What is at the path of a pointer that runs of a commit read.
#[derive(Clone, Copy, Debug)]
struct PointerPath {
    in_checkout: InCheckout,
    at_ends: AtEnds,
}

/// What the user's checkout has there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InCheckout {
    /// No file.
    Nothing,
    /// The same pointer.
    Pointer,
    /// Another pointer.
    Other,
    /// A file that is no pointer.
    File,
}

/// What the ends of the hunt have there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtEnds {
    /// All have the pointer.
    Pointer,
    /// Some have the pointer, and the others nothing.
    PointerOrNothing,
    /// At least one has another pointer, or a file.
    Other,
}

impl PointerPath {
    /// Whether the commit may do something else for the user than in runs that read the pointer.
    /// `worked`: whether all these runs worked.
    ///
    /// If the user's checkout has the pointer too, the user sees what the runs show. But a failure
    /// may be that of a checkout without the file, and a commit that replaces a file or a pointer
    /// changes what other users' engines read.
    fn matters(self, worked: bool) -> bool {
        match self.at_ends {
            AtEnds::Pointer => self.in_checkout == InCheckout::File,
            AtEnds::PointerOrNothing => self.in_checkout != InCheckout::Pointer || !worked,
            AtEnds::Other => true,
        }
    }
}

impl InCheckout {
    /// `pointer`: the text of the pointer that the runs read, if this clone has it.
    fn of(file: &Path, pointer: Option<&[u8]>) -> Self {
        if !file.is_file() {
            Self::Nothing
        } else if !is_lfs_pointer(file) {
            Self::File
        } else if pointer.is_some() && std::fs::read(file).ok().as_deref() == pointer {
            Self::Pointer
        } else {
            Self::Other
        }
    }
}

impl AtEnds {
    fn of(pointer: BlobId, ends: &[EntryKind]) -> Self {
        let is_pointer = |end: &EntryKind| *end == EntryKind::File(pointer);
        if ends.iter().all(is_pointer) {
            Self::Pointer
        } else if ends.iter().all(|end| is_pointer(end) || *end == EntryKind::Nothing) {
            Self::PointerOrNothing
        } else {
            Self::Other
        }
    }
}

impl Oracle {
    /// The failure of a checkout with a pointer that these runs of a commit read. `None` if they
    /// read none, or if the user sees what they show (`PointerPath::matters`).
    pub(super) fn read_pointer(
        &self,
        commit: &CommitId,
        samples: &BTreeMap<String, Vec<Sample>>,
    ) -> Result<Option<Failure>, OracleError> {
        let runs = || samples.values().flatten();
        let read = |run: &Sample, path: &String| {
            run.loaded.as_ref().is_some_and(|loaded| loaded.pointers.contains(path))
        };
        let all = runs().filter_map(|run| run.loaded.as_ref());
        let all: BTreeSet<&String> = all.flat_map(|loaded| &loaded.pointers).collect();
        for opened in all {
            let Some((path, at)) = self.pointer_path(commit, opened)? else { continue };
            let worked = runs().all(|run| run.result.is_ok() || !read(run, opened));
            if at.matters(worked) {
                return Ok(Some(failure(path)));
            }
        }
        Ok(None)
    }

    /// The path in the commit's tree of a pointer that a run opened, and what is there. `None` if
    /// the tree does not have it.
    fn pointer_path<'o>(
        &self,
        commit: &CommitId,
        opened: &'o str,
    ) -> Result<Option<(&'o str, PointerPath)>, OracleError> {
        let history = &self.recipes.engine.history;
        let engine = |commit| self.recipes.engine.commit(commit);
        let find = |path: &str| history.at(engine(commit), path);
        let Some((path, pointer)) = tracked(opened, find)? else { return Ok(None) };
        let mut ends = Vec::new();
        for end in &self.recipes.ends {
            ends.push(history.at(engine(end), path)?);
        }
        let text = history.blob(pointer, LONGEST_POINTER);
        let in_checkout = self
            .checkout
            .as_deref()
            .map_or(InCheckout::Nothing, |top| InCheckout::of(&top.join(path), text.as_deref()));
        let at = PointerPath { in_checkout, at_ends: AtEnds::of(pointer, &ends) };
        Ok(Some((path, at)))
    }
}

/// The path in the commit's tree of a file that a run opened, given below the slot. A build may have
/// copied the file, with some of the folders above it: the longest end of the path counts that the
/// tree has. `None` if it has none.
fn tracked(
    opened: &str,
    find: impl Fn(&str) -> Result<EntryKind, GitError>,
) -> Result<Option<(&str, BlobId)>, GitError> {
    let mut path = opened;
    while let Some((_, below)) = path.split_once('/') {
        path = below;
        if let EntryKind::File(file) = find(path)? {
            return Ok(Some((path, file)));
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
    fn a_new_pointer_that_the_user_has_too_matters_only_to_runs_that_fail() {
        let all = [InCheckout::Nothing, InCheckout::Pointer, InCheckout::Other, InCheckout::File];
        let matters = |at_ends, worked| {
            all.map(|in_checkout| PointerPath { in_checkout, at_ends }.matters(worked))
        };
        for worked in [true, false] {
            assert_eq!(matters(AtEnds::Pointer, worked), [false, false, false, true]);
            assert_eq!(matters(AtEnds::Other, worked), [true; 4], "it replaces something");
            assert_eq!(matters(AtEnds::PointerOrNothing, worked), [true, !worked, true, true]);
        }
    }

    #[test]
    fn the_users_file_is_compared_with_the_pointer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.bin");
        let [one, other] = ["1", "2"]
            .map(|size| format!("version https://git-lfs.github.com/spec/v1\nsize {size}\n"));
        let of = |pointer: &str| InCheckout::of(&path, Some(pointer.as_bytes()));
        assert_eq!(of(&one), InCheckout::Nothing);
        std::fs::write(&path, &one).unwrap();
        assert_eq!(of(&one), InCheckout::Pointer);
        assert_eq!(of(&other), InCheckout::Other);
        assert_eq!(InCheckout::of(&path, None), InCheckout::Other, "this clone lacks it");
        std::fs::write(&path, "1.0\n").unwrap();
        assert_eq!(of(&one), InCheckout::File);
    }

    #[test]
    fn the_failure_names_the_file_and_the_cure() {
        let failure = failure("v/table.bin");
        assert_eq!(failure.kind, FailureKind::Checkout);
        assert!(failure.detail.contains("v/table.bin") && failure.detail.contains("`lfs = true`"));
        assert_eq!(failure.evidence.unwrap().pointer.as_deref(), Some("v/table.bin"));
    }
}

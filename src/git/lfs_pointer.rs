//! Pointers of Git LFS: the few lines that a commit holds in place of a large file. Git replaces
//! them only where Git LFS is set up.

use crate::evaluation::CommitId;

use super::{EntryKind, GitError, History};

/// A pointer is shorter than this many bytes, as the specification of Git LFS demands.
pub(crate) const LONGEST_POINTER: u64 = 1024;

/// Whether a file with these bytes is a pointer of Git LFS.
pub(crate) fn is_pointer(bytes: &[u8]) -> bool {
    let is_short = (bytes.len() as u64) < LONGEST_POINTER;
    is_short && bytes.starts_with(b"version https://git-lfs.github.com/spec/")
}

impl History {
    /// The first file that differs between two commits and is a pointer of Git LFS in one of them.
    /// `is_wanted`: by its path.
    pub(crate) fn changed_pointer(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, GitError> {
        for change in self.diff_files(Some(parent), commit)? {
            let Ok(path) = String::from_utf8(change.path) else { continue };
            if !is_wanted(&path) {
                continue;
            }
            for side in [parent, commit] {
                if let EntryKind::File(blob) = self.at(side, &path)?
                    && self.blob(blob, LONGEST_POINTER).is_some_and(|bytes| is_pointer(&bytes))
                {
                    return Ok(Some(path));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::Fixture;

    const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";

    #[test]
    fn a_pointer_is_short_and_begins_with_the_version() {
        assert!(is_pointer(POINTER.as_bytes()));
        assert!(!is_pointer(b"version = 1\n") && !is_pointer(b""));
        assert!(!is_pointer(POINTER.repeat(20).as_bytes()), "a text about pointers");
    }

    #[test]
    fn a_file_that_becomes_a_pointer_or_another_one_is_told() {
        let fixture = Fixture::new();
        let other = POINTER.replace("size 1", "size 2");
        let commits = [
            fixture.commit("real", &[("code.c", "1"), ("v/table.bin", "1")]),
            fixture.commit("to LFS", &[("v/table.bin", POINTER)]),
            fixture.commit("another", &[("v/table.bin", &other)]),
            fixture.commit("code", &[("code.c", "2")]),
        ];
        let history = fixture.history();
        let changed = |at: usize, ending: &str| {
            let [parent, commit] = [&commits[at], &commits[at + 1]];
            history.changed_pointer(parent, commit, |path| path.ends_with(ending)).unwrap()
        };
        let table = Some("v/table.bin".to_owned());
        assert_eq!([0, 1, 2].map(|at| changed(at, "")), [table.clone(), table, None]);
        assert_eq!(changed(0, ".c"), None);
    }
}

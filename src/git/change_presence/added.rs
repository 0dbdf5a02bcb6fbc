//! Where the tree of a later commit has a file that a change added. The file's own path may be free
//! there because a later commit renamed the file, not because the file is gone.

use crate::evaluation::CommitId;
use crate::git::{GitError, History};

use super::FileOfChange;

/// Where a tree has a file that a change added, if it has no file at the path of that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AddedFile {
    /// Nowhere: later commits removed the file and its lines.
    Gone,
    /// At these paths, to which later commits renamed it.
    Renamed(Vec<Vec<u8>>),
    /// In another file, which has its content or most of its lines.
    Inside,
}

impl History {
    /// The files that `commit` added at these paths and that are not there in the tree of `newer`,
    /// each with the place where that tree has it.
    pub(crate) fn added_elsewhere(
        &self,
        [parent, commit, newer]: [&CommitId; 3],
        paths: &[&[u8]],
    ) -> Result<Vec<(Vec<u8>, AddedFile)>, GitError> {
        let missing = paths.iter().filter(|path| self.entry_at(newer, path).is_none());
        let missing: Vec<String> =
            missing.map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = missing.iter().map(String::as_str).collect();
        let mut change = self.change_in(parent, commit, &names)?;
        change.files.retain(|file| {
            file.before.is_none()
                && file.after.is_some()
                && self.entry_at(newer, &file.path).is_none()
        });
        let change = self.followed(change, commit, newer)?;
        let place = |file: &FileOfChange| (file.path.clone(), self.added_file(newer, file));
        Ok(change.files.iter().map(place).collect())
    }

    /// Whether the tree of `newer` has a file with this name, and another content than the file at
    /// this path has in the tree of `commit`.
    pub(crate) fn has_other_content(
        &self,
        [commit, newer]: [&CommitId; 2],
        path: &[u8],
        name: &[u8],
    ) -> bool {
        let here = self.entry_at(newer, name);
        here.is_some() && here != self.entry_at(commit, path)
    }

    /// Where the tree of `newer` has an added file, followed to `newer`.
    fn added_file(&self, newer: &CommitId, file: &FileOfChange) -> AddedFile {
        let is_there = |path: &&[u8]| self.entry_at(newer, path).is_some();
        let names: Vec<Vec<u8>> = file.names().filter(is_there).map(<[u8]>::to_vec).collect();
        if !names.is_empty() {
            AddedFile::Renamed(names)
        } else if self.is_carried_elsewhere(newer, file) || self.is_moved(newer, file) {
            AddedFile::Inside
        } else {
            AddedFile::Gone
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::Fixture;

    const TEXT: &str = "int fast(int x)\n{\n    return x + 1;\n}\n";

    /// A repository whose last commit adds `src/new.c`; the commit before, and that commit.
    fn with_new_file() -> (Fixture, [CommitId; 2]) {
        let fixture = Fixture::new();
        let parent = fixture.commit("first", &[("src/a.c", "one();\n"), ("b.c", "two();\n")]);
        let found = fixture.commit("found", &[("src/new.c", TEXT)]);
        (fixture, [parent, found])
    }

    /// Where the last commit has `src/new.c`; `None` if it is at its own path.
    fn place(fixture: &Fixture, [parent, found]: &[CommitId; 2]) -> Option<AddedFile> {
        let history = History::open(&fixture.repository()).unwrap();
        let last = fixture.head();
        let paths = [b"src/new.c".as_slice()];
        let places = history.added_elsewhere([parent, found, &last], &paths).unwrap();
        assert!(places.iter().all(|(path, _)| path == b"src/new.c"));
        places.into_iter().next().map(|(_, place)| place)
    }

    fn renamed(path: &str) -> AddedFile {
        AddedFile::Renamed(vec![path.as_bytes().to_vec()])
    }

    #[test]
    fn a_renamed_file_is_at_its_last_name() {
        let (fixture, ends) = with_new_file();
        fixture.commit("edited", &[("src/a.c", "one more();\n")]);
        assert_eq!(place(&fixture, &ends), None);
        fixture.git(&["mv", "src/new.c", "src/old.c"]);
        fixture.commit("renamed", &[]);
        assert_eq!(place(&fixture, &ends), Some(renamed("src/old.c")));
        fixture.git(&["mv", "src", "lib"]);
        fixture.commit("another folder", &[]);
        assert_eq!(place(&fixture, &ends), Some(renamed("lib/old.c")));
        let is_edited = || {
            let history = History::open(&fixture.repository()).unwrap();
            let sides = [&ends[1], &fixture.head()];
            history.has_other_content(sides, b"src/new.c", b"lib/old.c")
        };
        assert!(!is_edited());
        fixture.commit("edited", &[("lib/old.c", &format!("{TEXT}\nint x;\n"))]);
        assert_eq!(place(&fixture, &ends), Some(renamed("lib/old.c")));
        assert!(is_edited());
    }

    #[test]
    fn a_removed_file_is_gone_also_after_a_rename() {
        let (fixture, ends) = with_new_file();
        fixture.git(&["rm", "--quiet", "src/new.c"]);
        fixture.commit("removed", &[]);
        assert_eq!(place(&fixture, &ends), Some(AddedFile::Gone));
        let (fixture, ends) = with_new_file();
        fixture.git(&["mv", "src/new.c", "c.c"]);
        fixture.commit("renamed", &[]);
        fixture.git(&["rm", "--quiet", "c.c"]);
        fixture.commit("removed", &[]);
        assert_eq!(place(&fixture, &ends), Some(AddedFile::Gone));
    }

    #[test]
    fn a_file_whose_lines_another_file_received_is_inside_it_as_long_as_they_stay() {
        let (fixture, ends) = with_new_file();
        fixture.git(&["rm", "--quiet", "src/new.c"]);
        fixture.commit("joined", &[("b.c", &format!("two();\n{TEXT}"))]);
        assert_eq!(place(&fixture, &ends), Some(AddedFile::Inside));
        fixture.commit("removed", &[("b.c", "two();\n")]);
        assert_eq!(place(&fixture, &ends), Some(AddedFile::Gone));
    }
}

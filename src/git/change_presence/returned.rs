//! Files of a change that a later commit edits or moves, and that another one puts back.

use std::collections::BTreeSet;

use crate::evaluation::CommitId;
use crate::git::{GitError, History};

use super::{Change, FileOfChange, MOST_FILES};

impl History {
    /// Whether `commit`, compared with `parent`, alters a file of the change.
    pub(crate) fn alters_file_of(
        &self,
        [parent, commit]: [&CommitId; 2],
        change: &Change,
    ) -> Result<bool, GitError> {
        let own: BTreeSet<&[u8]> = change.all_paths().collect();
        let altered = self.diff_files(Some(parent), commit)?;
        Ok(altered.iter().any(|file| own.contains(&*file.path)))
    }

    /// Whether each file of the change is as before the change. False for a change with too many
    /// files to compare all.
    pub(crate) fn has_all_files_as_before(&self, commit: &CommitId, change: &Change) -> bool {
        let is_back =
            |file: &FileOfChange| file.before == file.after || self.is_as_before(commit, file);
        change.files.len() < MOST_FILES && change.files.iter().all(is_back)
    }

    /// Whether `commit` lacks a line of a file that the change added and `parent` has there.
    pub(crate) fn takes_lines_out(
        &self,
        [parent, commit]: [&CommitId; 2],
        change: &Change,
    ) -> bool {
        change.files.iter().any(|file| {
            let lines = |one| self.lines(self.version(one, file), file.by);
            let [old, new] = [parent, commit].map(lines);
            file.added.intersection(&old).any(|line| !new.contains(line))
        })
    }

    /// Whether the commit of `back` alters only files of the change of `found`, and gives each file
    /// of that change the content that it had before the commit of `mend`. Each of `found`, `mend`
    /// and `back` is a parent and its commit. A file may have another name in each of them.
    pub(crate) fn puts_files_back(
        &self,
        found: [&CommitId; 2],
        mend: [&CommitId; 2],
        back: [&CommitId; 2],
    ) -> Result<bool, GitError> {
        let [parent, commit] = found;
        let [before, mended] = mend;
        let [until, returned] = back;
        let at_mend = self.change_until(parent, commit, mended)?;
        let at_return = self.followed(at_mend.clone(), commit, returned)?;
        let own: BTreeSet<&[u8]> = at_mend.all_paths().chain(at_return.all_paths()).collect();
        let altered = self.diff_files(Some(until), returned)?;
        if !altered.iter().all(|file| own.contains(&*file.path)) {
            return Ok(false);
        }
        let mut files = at_mend.files.iter().zip(&at_return.files);
        Ok(!at_mend.files.is_empty()
            && files.all(|(old, new)| {
                let content = self.version(before, old);
                content.is_some() && content == self.version(returned, new)
            }))
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
        let parent = fixture.commit("first", &[("a.c", "one();\n")]);
        let found = fixture.commit("found", &[("src/new.c", TEXT)]);
        (fixture, [parent, found])
    }

    /// Moves a file, edits `edited`, and commits both.
    fn moved(fixture: &Fixture, [from, to]: [&str; 2], edited: &[(&str, &str)]) -> CommitId {
        let folder = std::path::Path::new(to).parent().unwrap();
        std::fs::create_dir_all(fixture.user().join(folder)).unwrap();
        fixture.git(&["mv", from, to]);
        fixture.commit("moved", edited)
    }

    #[test]
    fn a_file_that_was_moved_aside_is_put_back_under_any_name() {
        for name in ["src/new.c", "src/old.c"] {
            let (fixture, [parent, found]) = with_new_file();
            let aside = moved(&fixture, ["src/new.c", "attic/new.c"], &[]);
            let other = fixture.commit("other", &[("a.c", "two();\n")]);
            let back = moved(&fixture, ["attic/new.c", name], &[]);
            let with_more = fixture.commit("more", &[("a.c", "three();\n")]);
            let history = History::open(&fixture.repository()).unwrap();
            let is_back = |sides: [&CommitId; 2]| {
                history.puts_files_back([&parent, &found], [&found, &aside], sides).unwrap()
            };
            assert!(is_back([&other, &back]), "{name}");
            // These alter another file.
            assert!(!is_back([&aside, &other]) && !is_back([&other, &with_more]), "{name}");
        }
    }

    #[test]
    fn all_files_are_as_before_only_if_none_has_other_lines() {
        let fixture = Fixture::new();
        let parent = fixture.commit("first", &[("a.c", "one();\n"), ("b.c", "slow();\n")]);
        let found = fixture.commit("found", &[("a.c", "two();\n"), ("b.c", "fast();\n")]);
        let reworked = fixture.commit("reworked", &[("a.c", "one();\n"), ("b.c", "quick();\n")]);
        let back = fixture.commit("back", &[("b.c", "slow();\n")]);
        let history = History::open(&fixture.repository()).unwrap();
        let change = history.change(&parent, &found).unwrap();
        let are_back = |commit| history.has_all_files_as_before(commit, &change);
        assert_eq!([&found, &reworked, &back].map(are_back), [false, false, true]);
        assert_eq!(history.contains_change(&reworked, &change), Some(false));
    }

    #[test]
    fn a_file_that_comes_back_with_other_lines_is_not_put_back() {
        let (fixture, [parent, found]) = with_new_file();
        let aside = moved(&fixture, ["src/new.c", "attic/new.c"], &[]);
        let edited = format!("{TEXT}int slow(int x);\n");
        let back = moved(&fixture, ["attic/new.c", "src/new.c"], &[("src/new.c", &edited)]);
        let history = History::open(&fixture.repository()).unwrap();
        let found = [&parent, &found];
        assert!(!history.puts_files_back(found, [found[1], &aside], [&aside, &back]).unwrap());
    }

    #[test]
    fn a_mend_in_the_file_takes_a_line_out_and_a_rename_or_a_counter_does_not() {
        let (fixture, [parent, found]) = with_new_file();
        let renamed = moved(&fixture, ["src/new.c", "src/old.c"], &[]);
        let counter = fixture.commit("counter", &[("src/old.c", &format!("{TEXT}less();\n"))]);
        let mended = TEXT.replace("x + 1", "x");
        let mend = fixture.commit("mend", &[("src/old.c", &mended)]);
        let other = fixture.commit("other", &[("a.c", "two();\n")]);
        let history = History::open(&fixture.repository()).unwrap();
        let change = history.change_until(&parent, &found, &other).unwrap();
        let takes = |sides| history.takes_lines_out(sides, &change);
        assert!(takes([&counter, &mend]));
        assert!(!takes([&found, &renamed]) && !takes([&renamed, &counter]));
        let alters = |sides| history.alters_file_of(sides, &change).unwrap();
        assert!(alters([&counter, &mend]) && alters([&found, &renamed]));
        assert!(!alters([&mend, &other]));
    }
}

//! The paths that each commit of a range changes.

use crate::evaluation::CommitId;

use super::{GitError, History, Range};

/// A commit and the paths that it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TouchedPaths {
    pub commit: CommitId,
    pub paths: Vec<TouchedPath>,
}

/// A path that a commit changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TouchedPath {
    /// The path from the top of the tree; `None` if it is not UTF-8.
    pub path: Option<String>,
    /// Whether it is a regular file, or nothing, before and after the commit: no link and no
    /// submodule.
    pub is_file: bool,
}

impl History {
    /// The paths that each commit of the range changes against its parent. Merges are left out,
    /// since the commits of their branches are in the range; with `first_parent` they count
    /// against their first parent.
    pub(crate) fn touched_paths(&self, range: &Range) -> Result<Vec<TouchedPaths>, GitError> {
        let merges = if range.first_parent { "-m" } else { "--no-merges" };
        let call = self.repository().shared_call().args(["log", "-z", "--format=%H", "--raw"]);
        let call = call.args([merges, "-r", "--no-renames", "--no-abbrev", "--no-show-signature"]);
        let call = call.args(["--no-notes", "--no-ext-diff", "--ignore-submodules=none"]);
        let call = call.args(range.arguments());
        let command = call.shown();
        read_touched(&call.ok()?.stdout).ok_or_else(|| GitError::Unreadable {
            command,
            what: "an unexpected record".to_owned(),
        })
    }
}

/// Reads fields that end with NUL: a commit, then a head (`:MODE MODE …`) and a path for each
/// change. A newline precedes the first head.
fn read_touched(bytes: &[u8]) -> Option<Vec<TouchedPaths>> {
    let mut all: Vec<TouchedPaths> = Vec::new();
    let mut fields = bytes.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        let field = std::str::from_utf8(field.trim_ascii_start()).ok()?;
        if field.is_empty() {
            continue;
        }
        let Some(head) = field.strip_prefix(':') else {
            all.push(TouchedPaths { commit: field.parse().ok()?, paths: Vec::new() });
            continue;
        };
        let is_file =
            head.split(' ').take(2).all(|mode| mode.starts_with("100") || mode == "000000");
        let path = String::from_utf8(fields.next()?.to_owned()).ok();
        all.last_mut()?.paths.push(TouchedPath { path, is_file });
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::git::tests::Fixture;

    fn shown(fixture: &Fixture, range: &Range) -> Vec<(CommitId, Vec<(String, bool)>)> {
        let touched = fixture.history().touched_paths(range).unwrap().into_iter();
        let path = |one: TouchedPath| (one.path.unwrap_or_default(), one.is_file);
        touched.map(|one| (one.commit, one.paths.into_iter().map(path).collect())).collect()
    }

    #[test]
    fn files_links_and_names_that_are_no_text_are_told_apart() {
        let fixture = Fixture::new();
        let start = fixture.commit("start", &[("a", "1"), (":b \n", "1")]);
        let first = fixture.commit("first", &[("a", "2"), (":b \n", "2"), ("d/new", "")]);
        let empty = fixture.commit("empty", &[]);
        symlink("a", fixture.user().join("link")).unwrap();
        std::fs::write(fixture.user().join(crate::git::raw_path::os(b"\xff")), "").unwrap();
        let last = fixture.commit("last", &[]);
        let found = shown(&fixture, &Range::between(&start, &last));
        let path = |path: &str, is_file| (path.to_owned(), is_file);
        let changed = vec![path(":b \n", true), path("a", true), path("d/new", true)];
        let odd = vec![path("link", false), path("", true)];
        assert_eq!(found, [(last, odd), (empty, vec![]), (first, changed)]);
    }

    #[test]
    fn the_users_settings_change_nothing() {
        let fixture = Fixture::new();
        let start = fixture.commit("start", &[("a", "1")]);
        let last = fixture.commit("last", &[("b", "1"), ("a", "2")]);
        let range = Range::between(&start, &last);
        let before = shown(&fixture, &range);
        // The file is looked for in the folder where git runs.
        for (key, value) in [("diff.orderFile", ".git/order"), ("color.diff", "always")] {
            fixture.git(&["config", key, value]);
        }
        assert_eq!(shown(&fixture, &range), before);
        assert_eq!(before.len(), 1);
    }

    #[test]
    fn a_merge_counts_only_along_first_parents() {
        let fixture = Fixture::new();
        let start = fixture.commit("start", &[("a", "1")]);
        fixture.git(&["checkout", "--quiet", "-b", "side"]);
        let side = fixture.commit("side", &[("b", "1")]);
        fixture.git(&["checkout", "--quiet", "-"]);
        let main = fixture.commit("main", &[("a", "2")]);
        fixture.git(&["merge", "--quiet", "--no-edit", "side"]);
        let merge = fixture.head();
        let path = |path: &str| vec![(path.to_owned(), true)];
        let range = Range::between(&start, &merge);
        let mut all = shown(&fixture, &range);
        all.sort();
        let mut wanted = [(side, path("b")), (main.clone(), path("a"))];
        wanted.sort();
        assert_eq!(all, wanted);
        let first = shown(&fixture, &Range { first_parent: true, ..range });
        assert_eq!(first, [(merge, path("b")), (main, path("a"))]);
    }
}

//! A commit that only takes back what other commits brought: a revert, by git or by hand.

use std::collections::BTreeMap;
use std::path::Path;

use git2::Oid;

use crate::evaluation::CommitId;
use crate::git::raw_path::os;
use crate::git::{FileDiff, GitError, History, read_diff};

use super::MOST_COMMITS;

/// Maximum number of files of a commit that is compared with the commits before it.
const MOST_FILES: usize = 64;
/// Maximum number of earlier commits of the same files of which a commit may be the reverse.
const MOST_COMPARED: usize = 64;
/// Longest change to compare, bytes.
const LONGEST: usize = 1 << 20;

/// What a commit takes back: what earlier commits of a line of history brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenBack {
    /// The places in the line of the commits that brought it, oldest first.
    pub places: Vec<usize>,
    /// Those of these commits of which the file also has other lines that stay, or may stay.
    pub in_part: Vec<usize>,
}

impl TakenBack {
    fn whole(places: Vec<usize>) -> Self {
        Self { places, in_part: Vec::new() }
    }
}

impl History {
    /// What `commit` takes back of what the commits in `line` brought. Empty if the commit does
    /// anything else. `line`: an older end, and one path of commits from there to the parent of
    /// `commit`. `unread`: paths of files, and of folders with all files below them, that do not
    /// matter.
    ///
    /// A commit only takes back if one of these holds:
    /// - It leaves each of its files as the older end has it.
    /// - Its change is the reverse of the change of one of these commits, which the older end lacks.
    /// - It puts lines of its files back as the older end has them, and changes no other line: see
    ///   [`Self::lines_taken_back`].
    pub(crate) fn takes_back(
        &self,
        line: &[CommitId],
        commit: &CommitId,
        unread: &[String],
    ) -> Result<TakenBack, GitError> {
        let nothing = TakenBack::default();
        let [older, .., parent] = line else { return Ok(nothing) };
        let mut own = self.diff_files(Some(parent), commit)?;
        own.retain(|file| !unread.iter().any(|one| is_in(&file.path, one)));
        if own.is_empty() || own.len() > MOST_FILES || line.len() > MOST_COMMITS {
            return Ok(nothing);
        }
        let are_alike = |one: &CommitId, other: &CommitId| {
            let entry = |commit, path: &[u8]| self.blob_and_mode(commit, path);
            own.iter().all(|file| entry(one, &file.path) == entry(other, &file.path))
        };
        let touches = |place: &usize| !are_alike(&line[*place - 1], &line[*place]);
        let touching: Vec<usize> = (1..line.len()).filter(touches).collect();
        if are_alike(older, commit) {
            return Ok(TakenBack::whole(touching));
        }
        let back = self.sides(parent, commit)?;
        for &place in touching.iter().rev().take(MOST_COMPARED) {
            let (before, brought) = (&line[place - 1], &line[place]);
            if self.is_reverse(back.as_ref(), [before, brought])? {
                let change = self.change(before, brought)?;
                let is_new = self.contains_change(older, &change) == Some(false);
                return Ok(if is_new { TakenBack::whole(vec![place]) } else { nothing });
            }
        }
        self.lines_taken_back(line, commit, &own)
    }

    /// Whether `back` has the lines of the change between these commits with both sides exchanged.
    fn is_reverse(
        &self,
        back: Option<&Sides>,
        [before, brought]: [&CommitId; 2],
    ) -> Result<bool, GitError> {
        let (Some(back), Some(there)) = (back, self.sides(before, brought)?) else {
            return Ok(false);
        };
        let exchanged = |[removed, added]: [Vec<String>; 2]| [added, removed];
        let there: Sides =
            there.into_iter().map(|(path, lines)| (path, exchanged(lines))).collect();
        Ok(there == *back)
    }

    /// The lines that a change removes from each file, and those that it adds. `None` if the change
    /// is too long, or does something that lines do not show.
    fn sides(&self, parent: &CommitId, commit: &CommitId) -> Result<Option<Sides>, GitError> {
        let Some(text) = self.diff(parent, commit, &[], LONGEST)? else { return Ok(None) };
        let files = read_diff(&String::from_utf8_lossy(&text));
        Ok(files.into_iter().map(sides_of).collect())
    }

    pub(super) fn blob_and_mode(&self, commit: &CommitId, path: &[u8]) -> Option<(Oid, i32)> {
        let tree = self.objects.find_tree(self.commit(commit).ok()?.tree).ok()?;
        let entry = tree.get_path(Path::new(os(path))).ok()?;
        Some((entry.id(), entry.filemode()))
    }
}

/// Whether a path is this one, or below this folder.
fn is_in(path: &[u8], folder: &str) -> bool {
    let rest = path.strip_prefix(folder.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// By path: the removed and the added lines, in their order.
type Sides = BTreeMap<String, [Vec<String>; 2]>;

/// `None` if lines do not show all of the file's change: a rename, a mode, bytes.
fn sides_of(file: FileDiff) -> Option<(String, [Vec<String>; 2])> {
    let is_shown = |line: &String| !["old mode", "Binary"].iter().any(|one| line.starts_with(*one));
    let is_plain = file.renamed_from.is_none() && file.added + file.removed > 0;
    if !is_plain || !file.lines.iter().all(is_shown) {
        return None;
    }
    let marked = |mark: char| -> Vec<String> {
        file.lines.iter().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect()
    };
    let lines = [marked('-'), marked('+')];
    Some((file.path, lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::Fixture;

    const PLAIN: &str = "int main()\n{\n    run();\n}\n\nint other()\n{\n    walk();\n}\n";

    /// The places in the line of all commits but the last that the last one takes back.
    fn taken_back(fixture: &Fixture, commits: &[CommitId]) -> Vec<usize> {
        let (last, line) = commits.split_last().unwrap();
        let taken = History::open(&fixture.repository()).unwrap().takes_back(line, last, &[]);
        let TakenBack { places, in_part } = taken.unwrap();
        assert!(in_part.is_empty());
        places
    }

    fn commits(contents: &[(&str, &str)]) -> (Fixture, Vec<CommitId>) {
        let fixture = Fixture::new();
        let commits = contents.iter().map(|file| fixture.commit("step", &[*file])).collect();
        (fixture, commits)
    }

    #[test]
    fn a_file_that_is_as_at_the_older_end_takes_back_what_all_commits_between_brought() {
        let two = format!("{PLAIN}// 2\n");
        let steps =
            [("a", PLAIN), ("b", "x\n"), ("a", "one\n"), ("b", "y\n"), ("a", &*two), ("a", PLAIN)];
        let (fixture, commits) = commits(&steps);
        assert_eq!(taken_back(&fixture, &commits), [2, 4]);
        // The file of the last commit of these is new at its end.
        assert!(taken_back(&fixture, &commits[..5]).is_empty());
        // Here the older end has what the last commit takes out.
        assert!(taken_back(&fixture, &commits[2..]).is_empty());
    }

    #[test]
    fn a_revert_beside_other_edits_of_its_file_takes_back_one_commit() {
        let fast = PLAIN.replace("run()", "fast()");
        let both = fast.replace("walk()", "stroll()");
        let other = PLAIN.replace("walk()", "stroll()");
        let (fixture, commits) =
            commits(&[("a", PLAIN), ("a", &fast), ("a", &both), ("a", &other)]);
        assert_eq!(taken_back(&fixture, &commits), [1]);
    }

    #[test]
    fn a_revert_of_what_the_older_end_has_takes_nothing_back() {
        let fast = PLAIN.replace("run()", "fast()");
        let fast_and_more = fast.replace("walk()", "stroll()");
        let more = PLAIN.replace("walk()", "stroll()");
        let steps =
            [("a", &*fast), ("a", PLAIN), ("a", &*fast), ("a", &*fast_and_more), ("a", &*more)];
        let (fixture, commits) = commits(&steps);
        assert!(taken_back(&fixture, &commits).is_empty());
    }

    #[test]
    fn a_revert_with_a_line_more_does_something_else_too() {
        let fast = PLAIN.replace("run()", "fast()");
        let more = format!("{PLAIN}int more;\n");
        let (fixture, commits) = commits(&[("a", PLAIN), ("a", &fast), ("a", &more)]);
        assert!(taken_back(&fixture, &commits).is_empty());
    }

    #[test]
    fn files_that_no_build_reads_do_not_matter() {
        let fixture = Fixture::new();
        let contents = [(PLAIN, "1"), ("fast();\n", "2"), (PLAIN, "3")];
        let commits = contents.map(|(text, notes)| {
            fixture.commit("step", &[("a", text), ("docs/notes", &format!("{notes}\n"))])
        });
        let taken = |unread: &[String]| {
            let history = History::open(&fixture.repository()).unwrap();
            history.takes_back(&commits[..2], &commits[2], unread).unwrap().places
        };
        assert!(taken(&[]).is_empty() && taken(&["docs/note".to_owned()]).is_empty());
        assert_eq!(taken(&["docs".to_owned()]), [1]);
    }
}

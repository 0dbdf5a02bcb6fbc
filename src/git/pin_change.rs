//! Whether a later commit still has what an earlier one changed by moving a submodule's pin. Two
//! pins have no lines to compare; the submodule's own history tells. Also the submodule's files at
//! a pin, to be laid into a tree in place of the pin.

use crate::evaluation::{CommitId, Dependency, EntryContent, EntryFile, TreeEntry};

use super::command::LONGEST_LIST;
use super::parts::SUBMODULE;
use super::tree_paths::read_record;
use super::{GitError, History, Repository};

impl History {
    /// Whether the submodule at `end` lacks the change that this move of its pin made. If the pin
    /// moved forward: a commit that it brought is missing. If it moved back: all commits that it
    /// took away are there again. A commit with the same change (cherry-pick, rebase) counts as
    /// there. `None` if `end` has no such submodule, or if this clone lacks one of the pins.
    pub(crate) fn lacks_pin_change(
        &self,
        end: &CommitId,
        moved: &Dependency,
    ) -> Result<Option<bool>, GitError> {
        let Dependency { path, from, to, .. } = moved;
        let Some(pin) = self.pin(end, path)? else { return Ok(None) };
        let Some(submodule) = self.submodule(end, path)? else { return Ok(None) };
        let list = |arguments: &[String]| has_commits(&submodule, arguments);
        let Some(brings_commits) = list(&[format!("{from}..{to}")])? else { return Ok(None) };
        if brings_commits {
            let equal = ["--cherry-pick", "--right-only"].map(str::to_owned);
            let sides = [format!("{pin}...{to}"), format!("^{from}")];
            return list(&[equal, sides].concat());
        }
        Ok(list(&[format!("{pin}..{from}")])?.map(|is_missing| !is_missing))
    }
}

/// Whether `git rev-list` lists a commit that is no merge; `None` if a commit is missing.
fn has_commits(submodule: &Repository, arguments: &[String]) -> Result<Option<bool>, GitError> {
    let call = submodule.shared_call().args(["rev-list", "--no-merges", "--max-count=1"]);
    let said = call.args(arguments).run()?;
    Ok((said.code == 0).then_some(!said.stdout.is_empty()))
}

/// What puts the files of a submodule's commit in place of its pin at `path`. `None` if this clone
/// lacks the commit, or if the submodule has submodules of its own.
pub(crate) fn submodule_entries(
    submodule: &Repository,
    path: &str,
    commit: &CommitId,
) -> Result<Option<Vec<TreeEntry>>, GitError> {
    let call = submodule.shared_call().args(["ls-tree", "-r", "-z", "--full-tree"]);
    let said = call.arg(commit.as_str()).capture(LONGEST_LIST).run()?;
    if said.code != 0 {
        return Ok(None);
    }
    let pin = TreeEntry { path: path.as_bytes().to_vec(), file: None };
    let records = said.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    let files = records.map(|record| file_below(path, record));
    Ok(std::iter::once(Some(pin)).chain(files).collect())
}

/// A record of `ls-tree -z` as a file below a folder; `None` for a submodule.
fn file_below(folder: &str, record: &[u8]) -> Option<TreeEntry> {
    let (mode, object, path) = read_record(record)?;
    let content = EntryContent::Object(object.to_owned());
    let file = Some(EntryFile { mode: mode.to_owned(), content });
    let path = [folder.as_bytes(), b"/", path].concat();
    (mode != SUBMODULE).then_some(TreeEntry { path, file })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::Fixture;

    #[test]
    fn a_submodules_files_take_the_place_of_its_pin() {
        let fixture = Fixture::new();
        let commit = fixture.commit("files", &[("a", "1"), ("in/b c", "2")]);
        let paths = |commit: &CommitId| {
            let entries = submodule_entries(&fixture.repository(), "third/sub", commit).unwrap();
            let shown = |one: TreeEntry| (String::from_utf8(one.path).unwrap(), one.file.is_some());
            entries.map(|all| all.into_iter().map(shown).collect::<Vec<_>>())
        };
        let [pin, a, b] = ["third/sub", "third/sub/a", "third/sub/in/b c"].map(str::to_owned);
        assert_eq!(paths(&commit), Some(vec![(pin, false), (a, true), (b, true)]));
        let missing: CommitId = "1".repeat(40).parse().unwrap();
        assert_eq!(paths(&missing), None);
        let nested = format!("160000,{commit},nested");
        fixture.git(&["update-index", "--add", "--cacheinfo", &nested]);
        fixture.git(&["commit", "--quiet", "-m", "nested"]);
        assert_eq!(paths(&fixture.head()), None);
    }
}

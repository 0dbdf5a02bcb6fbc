//! Vendored folders, which hold a copy of another project. Finds the files that a range of the
//! project's commits changes, checks that they are exact copies, and replaces them in the index.
//! Also replaces a submodule by plain files.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::CommitId;

use super::command::{Call, LONGEST_LIST};
use super::tree_paths::read_record;
use super::{GitError, History};

/// Mode and object name of each file, by its path below a folder.
type Files = BTreeMap<String, (String, String)>;

/// Files per call, since the length of a command line is limited.
const AT_ONCE: usize = 200;

impl History {
    /// The files of `folder` that the project changes between two of its commits, by their paths
    /// in the project. Each of `ends` pairs a commit of this repository with the project's commit
    /// that it copied. `Err` lists files whose copy differs from the project.
    pub(crate) fn vendored(
        &self,
        folder: &str,
        ends: [(&CommitId, &CommitId); 2],
    ) -> Result<Result<Vec<String>, Vec<String>>, GitError> {
        let mut sides = Vec::new();
        for (ours, theirs) in ends {
            let call = || self.repository().shared_call();
            let ours = if self.at(ours, folder)?.may_be_a_folder() {
                files(call(), &format!("{ours}:{folder}"))?
            } else {
                Files::new()
            };
            sides.push((ours, files(call(), theirs.as_str())?));
        }
        let [(_, from), (_, to)] = ends;
        let mut touched = self.touched(from, to)?;
        // A file that the folder has at neither end is not part of the copy.
        touched.retain(|path| sides.iter().any(|(ours, _)| ours.contains_key(path)));
        let is_other = |path: &&String| {
            sides.iter().any(|(ours, theirs)| ours.get(*path) != theirs.get(*path))
        };
        let others: Vec<String> = touched.iter().filter(is_other).cloned().collect();
        Ok(if others.is_empty() { Ok(touched.into_iter().collect()) } else { Err(others) })
    }

    /// Paths that are touched by commits reachable from exactly one of `a` and `b`.
    fn touched(&self, a: &CommitId, b: &CommitId) -> Result<BTreeSet<String>, GitError> {
        let call = self.repository().shared_call().args(["log", "--format=", "--name-only", "-z"]);
        let call = call.args(["-m", "--no-renames", "--ignore-submodules=none"]);
        let call = call.arg(format!("{a}...{b}")).arg("--");
        let said = call.capture(LONGEST_LIST).ok()?.stdout;
        let names = said.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        Ok(names.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

/// Replaces files of the folder in the index by those of a project's commit; removes files that
/// the commit lacks.
pub(super) fn exchange(
    call: impl Fn() -> Call,
    folder: &str,
    from: &CommitId,
    wanted: &[String],
) -> Result<(), GitError> {
    let has = files(call(), from.as_str())?;
    let (mut here, mut gone) = (Vec::new(), Vec::new());
    for path in wanted {
        let place = format!("{folder}/{path}");
        match has.get(path) {
            Some((mode, object)) => here.push(format!("{mode},{object},{place}")),
            None => gone.push(place),
        }
    }
    for (option, all) in [("--cacheinfo", here), ("--force-remove", gone)] {
        for part in all.chunks(AT_ONCE) {
            let words = part.iter().flat_map(|word| [option, word]);
            call().args(["update-index", "--add"]).args(words).ok()?;
        }
    }
    Ok(())
}

/// Replaces a submodule in the index by the files of its commit.
pub(super) fn inline(call: impl Fn() -> Call, path: &str, from: &CommitId) -> Result<(), GitError> {
    call().args(["update-index", "--force-remove", "--", path]).ok()?;
    call().args(["read-tree", &format!("--prefix={path}/"), from.as_str()]).ok().map(drop)
}

fn files(call: Call, tree: &str) -> Result<Files, GitError> {
    let call = call.args(["ls-tree", "-r", "-z", "--full-tree", tree]);
    let said = call.capture(LONGEST_LIST).ok()?.stdout;
    let read = |record: &[u8]| {
        let (mode, object, path) = read_record(record)?;
        let path = std::str::from_utf8(path).ok()?;
        Some((path.to_owned(), (mode.to_owned(), object.to_owned())))
    };
    Ok(said.split(|byte| *byte == 0).filter_map(read).collect())
}

//! Another project's sources in a folder of this one: which of its files a range of the
//! project's commits is about, and whether they were taken over as they are.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::CommitId;

use super::{GitError, Here, History, LONGEST_LIST, Repository};

/// What a folder has: mode and object by the path from there.
type Files = BTreeMap<String, (String, String)>;

/// Files in one call; a command line has an end.
const AT_ONCE: usize = 200;

impl History {
    /// The files of `folder` that the project's commits between two of its own touch, by their
    /// paths in its tree. `ends` are the commit of this repository and the project's commit that
    /// it took over, on both sides. An `Err` names the files that one of them has otherwise.
    pub fn vendored(
        &self,
        folder: &str,
        ends: [(&CommitId, &CommitId); 2],
    ) -> Result<Result<Vec<String>, Vec<String>>, GitError> {
        let mut sides = Vec::new();
        for (ours, theirs) in ends {
            let is_there = matches!(self.at(ours, folder)?, Here::Other | Here::Unknown);
            let ours = is_there.then(|| files(self.repository(), &format!("{ours}:{folder}")));
            let ours = ours.transpose()?.unwrap_or_default();
            sides.push((ours, files(self.repository(), theirs.as_str())?));
        }
        let [(_, from), (_, to)] = ends;
        let mut touched = self.touched(from, to)?;
        // What the folder never had was not taken over.
        touched.retain(|path| sides.iter().any(|(ours, _)| ours.contains_key(path)));
        let is_other = |path: &&String| {
            sides.iter().any(|(ours, theirs)| ours.get(*path) != theirs.get(*path))
        };
        let others: Vec<String> = touched.iter().filter(is_other).cloned().collect();
        Ok(if others.is_empty() { Ok(touched.into_iter().collect()) } else { Err(others) })
    }

    /// The paths that commits touch which only one of two reaches.
    fn touched(&self, a: &CommitId, b: &CommitId) -> Result<BTreeSet<String>, GitError> {
        let call = self.repository().shared_call().args(["log", "--format=", "--name-only", "-z"]);
        let call = call.args(["-m", "--no-renames"]).arg(format!("{a}...{b}")).arg("--");
        let said = call.capture(LONGEST_LIST).ok()?.stdout;
        let names = said.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        Ok(names.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

/// The words of `update-index` that make these files of the folder as a commit of the project
/// has them, a command a part.
pub(super) fn exchange(
    repository: &Repository,
    folder: &str,
    from: &CommitId,
    wanted: &[String],
) -> Result<Vec<Vec<String>>, GitError> {
    let has = files(repository, from.as_str())?;
    let words = |path: &String| match has.get(path) {
        Some((mode, object)) => {
            vec!["--cacheinfo".to_owned(), format!("{mode},{object},{folder}/{path}")]
        }
        None => vec!["--force-remove".to_owned(), format!("{folder}/{path}")],
    };
    // `--force-remove` turns what follows into paths to remove.
    let (here, gone): (Vec<&String>, Vec<&String>) =
        wanted.iter().partition(|path| has.contains_key(*path));
    let parts = here.chunks(AT_ONCE).chain(gone.chunks(AT_ONCE));
    Ok(parts
        .map(|part| {
            let mut all = vec!["update-index".to_owned(), "--add".to_owned()];
            all.extend(part.iter().flat_map(|path| words(path)));
            all
        })
        .collect())
}

fn files(repository: &Repository, tree: &str) -> Result<Files, GitError> {
    let call = repository.shared_call().args(["ls-tree", "-r", "-z", "--full-tree", tree]);
    let said = call.capture(LONGEST_LIST).ok()?.stdout;
    let read = |record: &[u8]| {
        // MODE SP KIND SP OBJECT TAB PATH
        let (head, path) = std::str::from_utf8(record).ok()?.split_once('\t')?;
        let mut words = head.split(' ');
        let (mode, object) = (words.next()?, words.nth(1)?);
        Some((path.to_owned(), (mode.to_owned(), object.to_owned())))
    };
    Ok(said.split(|byte| *byte == 0).filter_map(read).collect())
}

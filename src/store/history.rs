//! The commits of a hunt's range, as they were at its start. They have a file of their own, since
//! the list may be long and is rarely read.

use crate::evaluation::{CommitId, Lineage, ParseCommitIdError};

use super::record_files::read_if_there;
use super::{HuntDir, StoreError, publish};

const FILE: &str = "history";

impl HuntDir {
    /// Stores the commits after the older end up to the newer one, in the given order. One line per
    /// commit: the commit, then its parents, as in `git rev-list --parents`.
    pub(crate) fn keep_history(&self, history: &[Lineage]) -> Result<(), StoreError> {
        let lines: String = history.iter().map(line).collect();
        publish(&self.path().join(FILE), lines.as_bytes())
    }

    /// The stored commits; empty if an older program began the hunt or the file does not parse.
    pub(crate) fn history(&self) -> Result<Vec<Lineage>, StoreError> {
        let bytes = read_if_there(&self.path().join(FILE))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // No verdict depends on the list, so an empty list does no harm.
        Ok(text.lines().map(parse).collect::<Result<_, _>>().unwrap_or_default())
    }
}

fn line(one: &Lineage) -> String {
    let names: Vec<_> =
        [&one.commit].into_iter().chain(&one.parents).map(CommitId::as_str).collect();
    names.join(" ") + "\n"
}

fn parse(line: &str) -> Result<Lineage, ParseCommitIdError> {
    let (commit, parents) = line.split_once(' ').unwrap_or((line, ""));
    let parents = parents.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    Ok(Lineage { commit: commit.parse()?, parents })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    fn id(letter: char) -> CommitId {
        letter.to_string().repeat(40).parse().unwrap()
    }

    #[test]
    fn a_history_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open(folder.path()).unwrap().new_hunt().unwrap();
        assert_eq!(hunt.history().unwrap(), []);
        let history = [
            Lineage { commit: id('a'), parents: Vec::new() },
            Lineage { commit: id('b'), parents: vec![id('a')] },
            Lineage { commit: id('c'), parents: vec![id('b'), id('f')] },
        ];
        hunt.keep_history(&history).unwrap();
        assert_eq!(hunt.history().unwrap(), history);
        std::fs::write(hunt.path().join(FILE), "no commit\n").unwrap();
        assert_eq!(hunt.history().unwrap(), []);
    }
}

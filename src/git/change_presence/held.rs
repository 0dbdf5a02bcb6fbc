//! Whether the lines of a change stay in their place after it. Other lines with the same effect may
//! replace them, and a merge may take those of a branch that never had the change. The same text
//! elsewhere in a file does not count: a revert of the change would not remove it.

use std::collections::{BTreeMap, BTreeSet};

use git2::Oid;

use crate::evaluation::CommitId;
use crate::git::{GitError, History};

use super::edits::RevertedLines;
use super::{Change, FileOfChange, MOST_COMMITS};

/// The commits that hold the lines of a change after it.
#[derive(Clone, Debug)]
pub(crate) struct HeldLines {
    holding: BTreeSet<CommitId>,
    /// The merges that may have lost these lines to a branch without the change.
    pub(crate) merges: Vec<MergeWithoutLines>,
}

/// A merge of a commit that holds the lines of a change. The merge lacks these lines, or a branch
/// without the change has the same ones in the same place.
#[derive(Clone, Debug)]
pub(crate) struct MergeWithoutLines {
    pub(crate) merge: CommitId,
    /// Its parents that do not contain the commit of the change.
    pub(crate) branches: Vec<CommitId>,
}

impl HeldLines {
    /// Whether a commit has the lines in their place, and so has each commit on a path of history
    /// from the change to it.
    pub(crate) fn are_in(&self, commit: &CommitId) -> bool {
        self.holding.contains(commit)
    }
}

impl Change {
    /// The files for whose path `is_left_out` is false; all files if there is none.
    pub(crate) fn except(&self, is_left_out: impl Fn(&str) -> bool) -> Self {
        let is_kept = |file: &&FileOfChange| !is_left_out(&String::from_utf8_lossy(&file.path));
        let files: Vec<FileOfChange> = self.files.iter().filter(is_kept).cloned().collect();
        if files.is_empty() { self.clone() } else { Self { files } }
    }
}

impl History {
    /// The commits from `found` to `newer` that hold the lines of the change of `found` in each of
    /// its files. In a range that is too long, only `newer` is examined.
    pub(crate) fn held_lines(
        &self,
        [found, newer]: [&CommitId; 2],
        change: &Change,
    ) -> Result<HeldLines, GitError> {
        // Neighbours have the same version.
        let mut known: Vec<BTreeMap<Oid, bool>> = vec![BTreeMap::new(); change.files.len()];
        let mut has_lines = |commit: &CommitId| -> bool {
            change.files.iter().zip(&mut known).all(|(file, known)| {
                let is_in_place = match self.version(commit, file) {
                    Some(here) => {
                        *known.entry(here).or_insert_with(|| self.keeps_in_place(here, file))
                    }
                    None => file.after.is_none() || self.is_moved(commit, file),
                };
                is_in_place || self.is_carried_elsewhere(commit, file)
            })
        };
        let after = self.descending(found, newer)?;
        let mut held = HeldLines { holding: BTreeSet::from([found.clone()]), merges: Vec::new() };
        if after.len() > MOST_COMMITS {
            held.holding.extend(has_lines(newer).then(|| newer.clone()));
            return Ok(held);
        }
        let descendants: BTreeSet<CommitId> = after.iter().chain([found]).cloned().collect();
        // `after` is sorted: parents come first.
        for commit in after {
            let parents = self.parents(&commit)?;
            if !parents.iter().any(|parent| held.are_in(parent)) {
                continue;
            }
            let is_outside = |parent: &CommitId| !descendants.contains(parent);
            let branches: Vec<CommitId> = parents.into_iter().filter(is_outside).collect();
            if has_lines(&commit) && !branches.iter().any(&mut has_lines) {
                held.holding.insert(commit);
            } else if !branches.is_empty() {
                held.merges.push(MergeWithoutLines { merge: commit, branches });
            }
        }
        Ok(held)
    }

    /// Whether a revert of the file's change removes from this version all lines that it removes
    /// right after the change. If the change only removed lines: whether it adds them all again.
    fn keeps_in_place(&self, version: Oid, file: &FileOfChange) -> bool {
        let Some(after) = file.after else { return false };
        if version == after {
            return true;
        }
        let [own, here] = [after, version].map(|one| match file.before {
            Some(_) => self.reverted_lines(one, file),
            // The revert of a new file removes all of its lines.
            None => self.all_lines(one),
        });
        own.zip(here).is_some_and(|(own, here)| are_among(&own, &here))
    }

    /// What the removal of a text file removes.
    fn all_lines(&self, version: Oid) -> Option<RevertedLines> {
        let content = self.mergeable(version)?;
        let lines = content.split(|byte| *byte == b'\n');
        Some(lines.map(|line| ('-', line.to_vec())).collect())
    }
}

/// A word or a mark of a line.
struct Word<'l> {
    text: &'l [u8],
    is_first: bool,
    is_last: bool,
}

/// Whether all lines of `own` are among those of `here`, in this order, with other spaces or over
/// several lines. A line with further words is another line.
fn are_among(own: &[(char, Vec<u8>)], here: &[(char, Vec<u8>)]) -> bool {
    let removes = own.iter().any(|(origin, line)| *origin == '-' && !words(line).is_empty());
    let asked = if removes { '-' } else { '+' };
    let is_asked = |one: &&(char, Vec<u8>)| one.0 == asked;
    let here: Vec<Word<'_>> =
        here.iter().filter(is_asked).flat_map(|(_, line)| words(line)).collect();
    let mut rest = here.as_slice();
    for (_, line) in own.iter().filter(is_asked) {
        let sought = words(line);
        if sought.is_empty() {
            continue;
        }
        let is_it = |some: &[Word<'_>]| {
            some[0].is_first
                && some[some.len() - 1].is_last
                && some.iter().zip(&sought).all(|(one, other)| one.text == other.text)
        };
        let Some(place) = rest.windows(sought.len()).position(is_it) else { return false };
        rest = &rest[place + sought.len()..];
    }
    true
}

fn words(line: &[u8]) -> Vec<Word<'_>> {
    let is_of_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || !byte.is_ascii();
    let chunks = line.chunk_by(|one, next| is_of_word(one) && is_of_word(next));
    let texts: Vec<&[u8]> = chunks.filter(|one| !one.trim_ascii().is_empty()).collect();
    let last = texts.len();
    let placed = texts.into_iter().zip(1..);
    placed
        .map(|(text, number)| Word { text, is_first: number == 1, is_last: number == last })
        .collect()
}

#[cfg(test)]
mod tests;

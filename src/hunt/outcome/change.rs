//! Stores what the report shows of each first bad commit: its diff, and messages that may name its
//! pull request. Stores the diffs of candidates, too, if they are few and no commit is named.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::evaluation::{CommitId, Lineage, Outcome, TouchedFile};
use crate::git::{FileChange, History};
use crate::hunt::{HuntError, UsageError};
use crate::report::{self, Report};
use crate::store::{Candidate, HuntDir, Messages};

/// Maximum length of a stored diff, bytes.
const LONGEST: usize = 1 << 20;

/// Maximum candidates whose diffs are stored. A reader does not look through more.
const MOST_CANDIDATES: usize = 3;

/// Maximum lines of a diff of selected files, if the whole diff is too long.
const MOST_LINES: usize = 5000;

/// Stores the changes that are not stored yet.
pub(crate) fn keep_changes(
    history: &History,
    hunt: &HuntDir,
    report: &Report,
) -> Result<(), HuntError> {
    let lineage = hunt.history()?;
    let newest = report.newest();
    for first in &report.culprits {
        if hunt.diff(&first.commit)?.is_none() {
            let files = report::by_relevance(&first.files, first.differences.as_ref());
            let diff = diff(history, [&first.parent, &first.commit], &files)?;
            hunt.keep_diff(&first.commit, &diff)?;
        }
        if hunt.messages(&first.commit)?.is_none() {
            let message = |commit| history.message(commit).map_err(UsageError::from);
            let merge = merge_of(&lineage, newest, &first.commit);
            let merge = merge.map(message).transpose()?;
            let said = Messages { commit: message(&first.commit)?, merge };
            hunt.keep_messages(&first.commit, &said)?;
        }
    }
    if report.outcome == Outcome::Candidates && report.candidates.len() <= MOST_CANDIDATES {
        keep_candidates(history, hunt, &report.candidates)?;
    }
    Ok(())
}

fn keep_candidates(
    history: &History,
    hunt: &HuntDir,
    commits: &[CommitId],
) -> Result<(), HuntError> {
    let mut candidates = Vec::new();
    for commit in commits {
        // A root has no parent. The range has one if a branch without common history was merged.
        let Some(parent) = history.parents(commit)?.into_iter().next() else { continue };
        let files = history.diff_files(Some(&parent), commit)?;
        let files = files.iter().map(FileChange::touched).collect();
        candidates.push(Candidate { info: history.named(commit)?, parent, files });
    }
    for Candidate { info, parent, files } in &candidates {
        let files = report::by_relevance(files, None);
        let diff = diff(history, [parent, &info.commit], &files)?;
        hunt.keep_candidate_diff(&info.commit, &diff)?;
    }
    Ok(hunt.keep_candidates(&candidates)?)
}

/// The whole diff of a commit and its parent, or a diff of the most relevant files. Empty if even
/// that is too long. `files`: the most relevant first.
fn diff(
    history: &History,
    [parent, commit]: [&CommitId; 2],
    files: &[&TouchedFile],
) -> Result<Vec<u8>, HuntError> {
    let of =
        |paths: &[&[u8]]| history.diff(parent, commit, paths, LONGEST).map_err(UsageError::from);
    if let Some(whole) = of(&[])? {
        return Ok(whole);
    }
    let mut room = MOST_LINES;
    let mut paths = Vec::new();
    for file in files {
        let lines = file.added.unwrap_or(0) + file.removed.unwrap_or(0);
        // A file without lines is a binary file, or git cannot read it.
        if lines > 0 && lines <= room {
            room -= lines;
            paths.push(bytes(file));
        }
    }
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
    Ok(of(&paths)?.unwrap_or_default())
}

fn bytes(file: &TouchedFile) -> Vec<u8> {
    let raw = file.path_b64.as_ref().and_then(|text| STANDARD.decode(text).ok());
    raw.unwrap_or_else(|| file.path.clone().into_bytes())
}

/// The merge that brought a commit to the line of first parents of `newest`; `None` if the commit
/// was made on that line. `lineage`: oldest first.
fn merge_of<'l>(
    lineage: &'l [Lineage],
    newest: &CommitId,
    commit: &CommitId,
) -> Option<&'l CommitId> {
    let mut containing = HashSet::from([commit]);
    for one in lineage {
        if one.parents.iter().any(|parent| containing.contains(parent)) {
            containing.insert(&one.commit);
        }
    }
    let mut on_line = None;
    let mut next = newest;
    while containing.contains(next) {
        on_line = lineage.iter().find(|one| one.commit == *next);
        match on_line.and_then(|one| one.parents.first()) {
            Some(parent) => next = parent,
            None => break,
        }
    }
    on_line.map(|one| &one.commit).filter(|found| *found != commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(letter: char) -> CommitId {
        letter.to_string().repeat(40).parse().unwrap()
    }

    /// `c` and `d` were made on a branch from `a`, which `e` merged; `b` and `f` are on the line.
    fn lineage() -> Vec<Lineage> {
        let one = |commit, parents: &str| Lineage {
            commit: id(commit),
            parents: parents.chars().map(id).collect(),
        };
        vec![one('b', "a"), one('c', "a"), one('d', "c"), one('e', "bd"), one('f', "e")]
    }

    #[test]
    fn the_merge_that_brought_a_commit_is_found() {
        let lineage = lineage();
        let merge = |commit| merge_of(&lineage, &id('f'), &id(commit)).cloned();
        assert_eq!(merge('c'), Some(id('e')));
        assert_eq!(merge('d'), Some(id('e')));
        for on_line in ['b', 'e', 'f'] {
            assert_eq!(merge(on_line), None, "{on_line}");
        }
        assert_eq!(merge_of(&[], &id('f'), &id('c')), None);
    }
}

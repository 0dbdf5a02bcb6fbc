//! The commits after a change whose trees lack it, and the commits whose change was reverted later.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::CommitId;
use crate::git::{GitError, History};

use super::{Change, MOST_COMMITS};

/// Connected commits whose trees lack a change.
#[derive(Clone, Debug)]
pub(crate) struct CommitsWithoutChange {
    /// The commit before the first of these commits.
    pub before: CommitId,
    /// These commits, parents first.
    pub commits: Vec<CommitId>,
}

impl History {
    /// The commits between `found` and `newer` whose trees lack the change of `found`, oldest
    /// first. Looks for trees that lack all of the change and, if there are none, for trees that
    /// lack a part. If some path of history keeps the change, only commits on the line of first
    /// parents count, see `main_line_absences`. Empty if the range is too long.
    pub(crate) fn commits_without_change(
        &self,
        found: &CommitId,
        newer: &CommitId,
        change: &Change,
    ) -> Result<Vec<CommitsWithoutChange>, GitError> {
        let as_a_whole = |commit: &CommitId| self.contains_change(commit, change) == Some(false);
        let absences = self.absences([found, newer], change, as_a_whole)?;
        if !absences.is_empty() {
            return Ok(absences);
        }
        self.absences([found, newer], change, |commit| self.is_gone_in_part(commit, change))
    }

    /// The same; if there are none, the commits whose trees have no file as the change left it and
    /// whose text does not tell whether the change is there, as with files of short lines. None for
    /// a change without files.
    pub(crate) fn commits_perhaps_without_change(
        &self,
        found: &CommitId,
        newer: &CommitId,
        change: &Change,
    ) -> Result<Vec<CommitsWithoutChange>, GitError> {
        let absences = self.commits_without_change(found, newer, change)?;
        if !absences.is_empty() || change.files.is_empty() {
            return Ok(absences);
        }
        let is_untold = |commit: &CommitId| self.contains_change(commit, change).is_none();
        self.absences([found, newer], change, is_untold)
    }

    /// Whether a path of history from `found` to `newer` keeps the change of `found`: it avoids
    /// `without`, and no tree on it lacks all of the change. False if the range is too long.
    pub(crate) fn is_kept_beside(
        &self,
        without: &CommitId,
        [found, newer]: [&CommitId; 2],
        change: &Change,
    ) -> Result<bool, GitError> {
        let after = self.descending(found, newer)?;
        if after.len() > MOST_COMMITS {
            return Ok(false);
        }
        let mut kept = BTreeSet::from([found.clone()]);
        // `after` is sorted: parents come first.
        for commit in after {
            if commit != *without
                && self.parents(&commit)?.iter().any(|parent| kept.contains(parent))
                && self.contains_change(&commit, change) != Some(false)
            {
                kept.insert(commit);
            }
        }
        Ok(kept.contains(newer))
    }

    fn absences(
        &self,
        [found, newer]: [&CommitId; 2],
        change: &Change,
        is_gone: impl Fn(&CommitId) -> bool,
    ) -> Result<Vec<CommitsWithoutChange>, GitError> {
        let after = self.descending(found, newer)?;
        if after.len() > MOST_COMMITS {
            return Ok(Vec::new());
        }
        // Commits with a path from `found` on which every tree has the change.
        let mut kept = BTreeSet::from([found.clone()]);
        let mut place = BTreeMap::new();
        let mut absences: Vec<CommitsWithoutChange> = Vec::new();
        // `after` is sorted: parents come first.
        for commit in after {
            let parents = self.parents(&commit)?;
            if !is_gone(&commit) {
                if parents.iter().any(|parent| kept.contains(parent)) {
                    kept.insert(commit);
                }
                continue;
            }
            if let Some(at) = parents.iter().find_map(|parent| place.get(parent).copied()) {
                let absence: &mut CommitsWithoutChange = &mut absences[at];
                absence.commits.push(commit.clone());
                place.insert(commit, at);
            } else if let Some(before) =
                parents.iter().find(|parent| kept.contains(parent)).or(parents.first()).cloned()
            {
                place.insert(commit.clone(), absences.len());
                absences.push(CommitsWithoutChange { before, commits: vec![commit] });
            }
        }
        if absences.is_empty() || !kept.contains(newer) {
            return Ok(absences);
        }
        self.main_line_absences([found, newer], change, &kept, is_gone)
    }

    /// Commits after `older` up to `newer` whose change to at least one file was reverted later.
    /// Oldest first.
    pub(crate) fn reverted_later(
        &self,
        older: &CommitId,
        newer: &CommitId,
    ) -> Result<Vec<CommitId>, GitError> {
        let range = format!("{older}..{newer}");
        let call = self.repository().shared_call().args(["log", "--topo-order", "--reverse"]);
        let call = call.args(["--ancestry-path", "-c", "--raw", "--no-abbrev"]);
        let call = call.args(["--no-renames", "--no-ext-diff", "--ignore-submodules=none"]);
        let call = call.arg("--format=commit %H");
        let printed = self.repository().answer(call.arg(range).arg("--"))?;
        let text = String::from_utf8_lossy(&printed);
        let mut commits: Vec<(CommitId, Vec<[&str; 3]>)> = Vec::new();
        for line in text.lines() {
            if let Some(commit) = line.strip_prefix("commit ").and_then(|id| id.parse().ok()) {
                commits.push((commit, Vec::new()));
            } else if let Some(raw) = line.strip_prefix(':')
                && let Some((head, path)) = raw.split_once('\t')
                && let Some((_, files)) = commits.last_mut()
            {
                // For each further parent, a merge's line has one more colon, mode, and blob. Git
                // lists only files that differ from all parents.
                let parents = 1 + head.bytes().take_while(|byte| *byte == b':').count();
                let fields: Vec<&str> = head.split(' ').collect();
                if let (Some(before), Some(after)) =
                    (fields.get(parents + 1), fields.get(2 * parents + 1))
                {
                    files.push([path, before, after]);
                }
            }
        }
        commits.truncate(MOST_COMMITS);
        let is_undone_by = |[path, before, after]: &[&str; 3], later: &[[&str; 3]]| {
            later.iter().any(|[other, was, is]| path == other && was == after && is == before)
        };
        let mut found = Vec::new();
        for (place, (commit, files)) in commits.iter().enumerate() {
            let undone = commits[place + 1..]
                .iter()
                .any(|(_, later)| files.iter().any(|file| is_undone_by(file, later)));
            if undone {
                found.push(commit.clone());
            }
        }
        Ok(found)
    }
}

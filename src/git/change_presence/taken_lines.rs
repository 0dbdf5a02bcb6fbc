//! The lines that a commit takes back: its files then differ less from those of an older end, and in
//! nothing new.

use std::collections::{BTreeMap, BTreeSet};

use git2::Oid;

use crate::evaluation::CommitId;
use crate::git::parts::lines;
use crate::git::{FileChange, GitError, History, Hunk};

use super::put_back::{hunks_between, put_back};
use super::taken_back::TakenBack;
use super::traced_lines::TracedLines;

/// Minimum number of commits to say that nearly every commit touches some lines: three of four do.
const LEAST_COMMITS: usize = 8;
/// Maximum number of lines that a commit removes or adds where nearly every commit does. A version or
/// a counter has few.
const MOST_EDITED: usize = 4;

/// A file in one commit: the object and its mode. `None` if there is no such file.
type Version = Option<(Oid, i32)>;

/// How often the lines of a text occur.
type LineCounts = BTreeMap<Vec<u8>, usize>;

/// What a commit takes back of what the commits of a line brought to one file.
#[derive(Debug, Default)]
struct FileTakenBack {
    /// The places of the commits that brought it.
    places: BTreeSet<usize>,
    /// The places of commits that brought other lines of the file.
    in_part: BTreeSet<usize>,
}

/// The change of a file by a commit of the line.
struct LineChange {
    /// The place of the commit.
    place: usize,
    /// The removed lines, and the added ones.
    sides: [LineCounts; 2],
    /// Whether it touches the traced lines.
    touches: bool,
}

impl History {
    /// What a commit takes back of what the commits in `line` brought, by the lines of its files
    /// (`own`): it puts some lines back as the older end has them, and changes no others. Empty if it
    /// does anything else.
    ///
    /// Files are followed through renames. The commits that brought it are those that touch these
    /// lines, or all that touch the file if a version of it has no lines. If one of them took lines
    /// back itself, nothing is: the lines are switched on and off. A file does not matter if nearly
    /// every commit touches the lines of it that this commit touches (a version, a counter).
    pub(super) fn lines_taken_back(
        &self,
        line: &[CommitId],
        commit: &CommitId,
        own: &[FileChange],
    ) -> Result<TakenBack, GitError> {
        let mut all = FileTakenBack::default();
        for file in own {
            let versions = self.versions_along(line, &file.path)?;
            let now = self.blob_and_mode(commit, &file.path);
            if let Some(FileTakenBack { places, in_part }) = self.file_taken_back(&versions, now) {
                // Lines that were taken back before and came again are switched on and off.
                let is_switch = |place: &usize| {
                    let earlier = self.file_taken_back(&versions[..*place], versions[*place]);
                    earlier.is_some_and(|earlier| !earlier.places.is_empty())
                };
                if places.iter().any(is_switch) {
                    return Ok(TakenBack::default());
                }
                all.places.extend(places);
                all.in_part.extend(in_part);
            } else if !self.is_always_edited(&versions, now) {
                return Ok(TakenBack::default());
            }
        }
        let in_part = all.in_part.intersection(&all.places).copied().collect();
        Ok(TakenBack { places: all.places.into_iter().collect(), in_part })
    }

    /// A file of the last commit of the line, in each commit: under its earlier name before a
    /// rename.
    fn versions_along(&self, line: &[CommitId], path: &[u8]) -> Result<Vec<Version>, GitError> {
        let mut path = path.to_vec();
        let mut versions = Vec::with_capacity(line.len());
        for (place, commit) in line.iter().enumerate().rev() {
            let here = self.blob_and_mode(commit, &path);
            versions.push(here);
            let Some(before) = place.checked_sub(1).map(|place| &line[place]) else { break };
            if here.is_some()
                && self.blob_and_mode(before, &path).is_none()
                && let Some(old) = self.name_before([before, commit], &path)?
            {
                path = old;
            }
        }
        versions.reverse();
        Ok(versions)
    }

    /// The earlier name of a file that a commit renames. `ends`: the commit before it, the commit.
    fn name_before(
        &self,
        [before, commit]: [&CommitId; 2],
        path: &[u8],
    ) -> Result<Option<Vec<u8>>, GitError> {
        for file in self.changed_files(before, commit)? {
            let is_it = file.new.as_ref().is_some_and(|new| new.path == path);
            if let Some(old) = file.old.filter(|old| is_it && old.path != path) {
                return Ok(Some(old.path));
            }
        }
        Ok(None)
    }

    /// What a commit takes back in one file. `versions`: the file from the older end to the commit's
    /// parent. `now`: in the commit. `None` if the commit does anything else there.
    fn file_taken_back(&self, versions: &[Version], now: Version) -> Option<FileTakenBack> {
        let [older, .., parent] = versions else { return None };
        let touching = || -> BTreeSet<usize> {
            (1..versions.len()).filter(|place| versions[*place - 1] != versions[*place]).collect()
        };
        let is_whole = now == *older;
        if !is_whole {
            let (_, mode) = now?;
            if older.is_none() || parent.or(*older).is_none_or(|(_, before)| before != mode) {
                return None;
            }
        }
        let texts = [*older, *parent, now].map(|version| self.text_of(version));
        let [Some(older), Some(parent), Some(now)] = texts else {
            let all = || FileTakenBack { places: touching(), in_part: BTreeSet::new() };
            return is_whole.then(all);
        };
        let hunks = hunks_between(&older, &parent)?;
        let [older, parent, now] = [&older, &parent, &now].map(|text| lines(text));
        let back = put_back(&older, &parent, &now, hunks)?;
        if back.is_empty() {
            return None;
        }
        let [restored, taken] = sides_of(&back, [&older, &parent]);
        let traced = TracedLines {
            ranges: back.into_iter().map(|hunk| hunk.new).collect(),
            missing: restored.keys().cloned().collect(),
        };
        let Some(changes) = self.line_changes(versions, traced) else {
            return Some(FileTakenBack { places: touching(), in_part: touching() });
        };
        let is_in_part = |change: &&LineChange| {
            let [removed, added] = &change.sides;
            !are_among(removed, &restored) || !are_among(added, &taken)
        };
        Some(FileTakenBack {
            places: changes.iter().filter(|one| one.touches).map(|one| one.place).collect(),
            in_part: changes.iter().filter(is_in_part).map(|one| one.place).collect(),
        })
    }

    /// Whether nearly every commit of the line touches the lines of the file that the last commit
    /// touches. `versions`: the file up to the parent of the last commit. `now`: in the last commit.
    fn is_always_edited(&self, versions: &[Version], now: Version) -> bool {
        let commits = versions.len().saturating_sub(1);
        let edited = || {
            let [parent, now] = [(*versions.last()?)?, now?].map(|(blob, _)| self.mergeable(blob));
            let (parent, now) = (parent?, now?);
            let own = hunks_between(&parent, &now)?;
            let size = |hunk: &Hunk| hunk.old.len().max(hunk.new.len());
            if own.iter().map(size).sum::<usize>() > MOST_EDITED {
                return None;
            }
            let [_, missing] = sides_of(&own, [&lines(&parent), &lines(&now)]);
            let traced = TracedLines {
                ranges: own.into_iter().map(|hunk| hunk.old).collect(),
                missing: missing.into_keys().collect(),
            };
            let changes = self.line_changes(versions, traced)?;
            Some(changes.iter().filter(|change| change.touches).count())
        };
        commits >= LEAST_COMMITS && edited().is_some_and(|edited| 4 * edited >= 3 * commits)
    }

    /// The changes of a file, the newest first. `traced`: lines of its last version. `None` if a
    /// version has no lines.
    fn line_changes(
        &self,
        versions: &[Version],
        mut traced: TracedLines,
    ) -> Option<Vec<LineChange>> {
        let mut changes = Vec::new();
        for place in (1..versions.len()).rev() {
            let (before, after) = (versions[place - 1], versions[place]);
            if before == after {
                continue;
            }
            let (before, after) = (self.text_of(before)?, self.text_of(after)?);
            let hunks = hunks_between(&before, &after)?;
            let (before, after) = (lines(&before), lines(&after));
            let sides = sides_of(&hunks, [&before, &after]);
            let touches = traced.step_back(&hunks, &before);
            changes.push(LineChange { place, sides, touches });
        }
        Some(changes)
    }

    /// The text of a file; that of an absent one is empty. `None` for a binary or large file, and
    /// for a submodule.
    fn text_of(&self, version: Version) -> Option<Vec<u8>> {
        match version {
            None => Some(Vec::new()),
            Some((blob, _)) => self.mergeable(blob),
        }
    }
}

/// The removed and the added lines of these hunks. `old` and `new`: all lines of both versions.
fn sides_of(hunks: &[Hunk], [old, new]: [&[&[u8]]; 2]) -> [LineCounts; 2] {
    let removed = hunks.iter().flat_map(|hunk| old.get(hunk.old.clone()).unwrap_or_default());
    let added = hunks.iter().flat_map(|hunk| new.get(hunk.new.clone()).unwrap_or_default());
    [counted(removed.copied()), counted(added.copied())]
}

fn counted<'t>(lines: impl Iterator<Item = &'t [u8]>) -> LineCounts {
    let mut counts = LineCounts::new();
    for line in lines {
        *counts.entry(line.to_vec()).or_insert(0) += 1;
    }
    counts
}

/// Whether each of these lines is among the others, as often.
fn are_among(lines: &LineCounts, others: &LineCounts) -> bool {
    lines.iter().all(|(line, count)| others.get(line).is_some_and(|other| count <= other))
}

#[cfg(test)]
mod tests;

//! Whether a change's lines stand at the change's own place. The same short line (`return 0;`)
//! elsewhere in the file is another change.

use std::collections::BTreeSet;
use std::ops::Range;

use git2::{DiffOptions, Oid, Patch};

use crate::evaluation::CommitId;
use crate::git::History;
use crate::git::parts::{Hunk, lines};

use super::lines::LONGEST_FILE;
use super::{Change, FileOfChange, LineComparison, are_most};

/// A change with so many added lines counts wherever all of them stand: a change that lands again
/// after other edits may have moved. So many lines are not equal by chance.
const MANY_LINES: usize = 5;
/// Maximum number of versions of a file through which a place is followed.
const MOST_VERSIONS: usize = 500;

/// A version of a file at which a place is first known.
#[derive(Clone, Copy)]
enum FirstVersion {
    BeforeChange,
    AfterChange,
}

/// Neighbouring lines that a change added, and their place in some version of the file.
struct Block {
    place: Range<usize>,
    /// Lines that come beside the place may be those of the change: the change replaced no line
    /// here, or it is one of the order of lines.
    is_open: bool,
    added: BTreeSet<Vec<u8>>,
}

impl History {
    /// Whether the last commit of `path` has the change at the change's own place, by the same
    /// measure as [`History::carries_mostly`]. `path`: commits after that of the change, each one
    /// after the commit before it.
    pub(crate) fn carries_at_own_place(&self, path: &[CommitId], change: &Change) -> bool {
        self.carries_at(path, change, FirstVersion::AfterChange)
    }

    /// Whether the last commit of `path` has the change at the change's own place, although the
    /// path begins without it. The first commit's files are compared with those before the change.
    pub(crate) fn has_same_change(&self, path: &[CommitId], change: &Change) -> bool {
        self.carries_at(path, change, FirstVersion::BeforeChange)
    }

    fn carries_at(&self, path: &[CommitId], change: &Change, first: FirstVersion) -> bool {
        let Some(commit) = path.last() else { return false };
        are_most(change.files.iter().filter_map(|file| {
            let is_there = self.carries_file(commit, file)?;
            Some(is_there && self.is_at_own_place(path, file, first))
        }))
    }

    /// Whether the lines of a file's change that the last commit of `path` has are at their own
    /// place. True if the text does not tell.
    fn is_at_own_place(&self, path: &[CommitId], file: &FileOfChange, first: FirstVersion) -> bool {
        let Some(commit) = path.last() else { return false };
        let here = self.version(commit, file);
        let has_all_of_many = || {
            file.by == LineComparison::Text
                && file.added.len() >= MANY_LINES
                && file.added.is_subset(&self.lines(here, file.by))
        };
        here.is_none()
            || here == file.after
            || self.is_carried_elsewhere(commit, file)
            || has_all_of_many()
            || self.has_own_place(path, file, first).unwrap_or(true)
    }

    /// Follows the place of each block of the change through the versions of `path`. Whether at
    /// least half of the added lines are at their place in the last version; `None` if the text
    /// does not tell.
    fn has_own_place(
        &self,
        path: &[CommitId],
        file: &FileOfChange,
        first: FirstVersion,
    ) -> Option<bool> {
        let (before, after) = (file.before?, file.after?);
        let own = self.hunks_between(before, after)?;
        let new = self.text_lines(after)?;
        let mut blocks = blocks(file, &own, &new, first);
        let mut versions = vec![match first {
            FirstVersion::BeforeChange => before,
            FirstVersion::AfterChange => after,
        }];
        versions.extend(path.iter().filter_map(|commit| self.version(commit, file)));
        versions.dedup();
        if versions.len() > MOST_VERSIONS {
            return None;
        }
        for pair in versions.windows(2) {
            let hunks = self.hunks_between(pair[0], pair[1])?;
            for block in &mut blocks {
                block.place = moved(&block.place, block.is_open, &hunks);
            }
        }
        let here = self.text_lines(*versions.last()?)?;
        let (mut found, mut all) = (0, 0);
        for block in &blocks {
            let there = here.get(block.place.clone())?;
            let there: BTreeSet<Vec<u8>> = there.iter().map(|line| told(line, file.by)).collect();
            found += block.added.intersection(&there).count();
            all += block.added.len();
        }
        Some(2 * found >= all)
    }

    /// The hunks between two versions of a text file, without context.
    fn hunks_between(&self, old: Oid, new: Oid) -> Option<Vec<Hunk>> {
        let (old, new) = (self.objects.find_blob(old).ok()?, self.objects.find_blob(new).ok()?);
        if [&old, &new].iter().any(|blob| blob.is_binary() || blob.size() > LONGEST_FILE) {
            return None;
        }
        let mut options = DiffOptions::new();
        options.context_lines(0);
        let patch =
            Patch::from_buffers(old.content(), None, new.content(), None, Some(&mut options));
        let patch = patch.ok()?;
        let mut hunks = Vec::new();
        for number in 0..patch.num_hunks() {
            let (hunk, _) = patch.hunk(number).ok()?;
            hunks.push(Hunk {
                old: numbered(hunk.old_start(), hunk.old_lines())?,
                new: numbered(hunk.new_start(), hunk.new_lines())?,
            });
        }
        Some(hunks)
    }

    fn text_lines(&self, blob: Oid) -> Option<Vec<Vec<u8>>> {
        let blob = self.objects.find_blob(blob).ok()?;
        Some(lines(blob.content()).into_iter().map(<[u8]>::to_vec).collect())
    }
}

/// The blocks of a file's change: one for each hunk or, if only the layout changed, one in all,
/// because git may show the same new order of lines by other hunks.
fn blocks(file: &FileOfChange, hunks: &[Hunk], new: &[Vec<u8>], first: FirstVersion) -> Vec<Block> {
    let (hunks, is_order) = match (file.by, hunks) {
        (LineComparison::Layout, [one, .., last]) => {
            let old = one.old.start..last.old.end;
            (vec![Hunk { old, new: one.new.start..last.new.end }], true)
        }
        _ => (hunks.to_vec(), false),
    };
    let block = |hunk: Hunk| {
        let added = new.get(hunk.new.clone()).unwrap_or_default();
        let added = added.iter().map(|line| told(line, file.by));
        let is_telling = |line: &Vec<u8>| match file.by {
            LineComparison::Text => file.added.contains(line),
            LineComparison::Layout => !line.is_empty(),
        };
        Block {
            added: added.filter(is_telling).collect(),
            is_open: is_order || hunk.old.is_empty(),
            place: match first {
                FirstVersion::BeforeChange => hunk.old,
                FirstVersion::AfterChange => hunk.new,
            },
        }
    };
    hunks.into_iter().map(block).collect()
}

/// What of a line is compared.
fn told(line: &[u8], by: LineComparison) -> Vec<u8> {
    match by {
        LineComparison::Text => line.trim_ascii().to_vec(),
        LineComparison::Layout => line.strip_suffix(b"\n").unwrap_or(line).to_vec(),
    }
}

/// The lines of a hunk, counted from 0. Git counts from 1, and names the line before if there is
/// none.
fn numbered(start: u32, count: u32) -> Option<Range<usize>> {
    let (start, count) = (usize::try_from(start).ok()?, usize::try_from(count).ok()?);
    let start = if count == 0 { start } else { start.checked_sub(1)? };
    Some(start..start + count)
}

/// Where these lines are after the hunks. A hunk that edits some of them and keeps the number of
/// lines edits line by line; otherwise all of its new lines may stand for them. If the place is
/// open, or its lines are gone, a hunk that only touches the place counts too.
fn moved(place: &Range<usize>, is_open: bool, hunks: &[Hunk]) -> Range<usize> {
    let is_open = is_open || place.is_empty();
    let shifted = |line: usize| {
        let before = hunks.iter().rfind(|hunk| hunk.old.end <= line);
        before.map_or(line, |hunk| hunk.new.end + line - hunk.old.end)
    };
    let is_kept = |line: &usize| !hunks.iter().any(|hunk| hunk.old.contains(line));
    let is_hit = |hunk: &&Hunk| {
        let old = &hunk.old;
        if is_open {
            old.start <= place.end && place.start <= old.end
        } else {
            old.start < place.end && place.start < old.end
        }
    };
    let made = |hunk: &Hunk| {
        if is_open || hunk.old.len() != hunk.new.len() {
            return hunk.new.clone();
        }
        let [from, to] = [place.start.max(hunk.old.start), place.end.min(hunk.old.end)];
        hunk.new.start + from - hunk.old.start..hunk.new.start + to - hunk.old.start
    };
    let first = place.clone().find(is_kept);
    let last = place.clone().rev().find(is_kept);
    let kept = first.into_iter().chain(last).map(|line| shifted(line)..shifted(line) + 1);
    let parts: Vec<Range<usize>> = kept.chain(hunks.iter().filter(is_hit).map(made)).collect();
    let start = parts.iter().map(|part| part.start).min();
    let end = parts.iter().map(|part| part.end).max();
    match start.zip(end) {
        Some((start, end)) => start..end,
        None => shifted(place.start)..shifted(place.start),
    }
}

#[cfg(test)]
mod tests;

//! Code that a commit moves to a new file and edits at the same time.
//!
//! Git shows a new file as one block of added lines. If most of its lines come from another file
//! of the same commit, the change is a move with some edits. The base text is the new file as the
//! move alone would make it, without the edits. No commit needs to have this text.

use std::collections::BTreeSet;

use super::parts::{DiffAlgorithm, Hunk, lines};
use super::{ChangedFile, FileSide, GitError, History, Split};

/// In a larger change, no moved code is looked for: each file is compared with all others.
const MOST_FILES: usize = 300;

/// A new file with fewer lines from another one is not moved code.
const LEAST_LINES: usize = 8;

/// A new file whose code comes from another file of the same change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MovedCode {
    /// The path of the other file before the change, for people.
    pub from: String,
    /// The base text, the new file, and the edits between them. The edits have no context.
    pub split: Split,
}

/// The lines that each file of a change removes and adds, wherever they are in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineSets {
    files: Vec<[BTreeSet<Vec<u8>>; 2]>,
}

/// Lines that other files of the change remove and add.
struct Elsewhere {
    removed: BTreeSet<Vec<u8>>,
    added: BTreeSet<Vec<u8>>,
}

impl History {
    /// The lines that these files remove and add. Nothing if there are too many files.
    pub(crate) fn line_sets(&self, files: &[&ChangedFile]) -> Result<LineSets, GitError> {
        if files.len() > MOST_FILES {
            return Ok(LineSets::default());
        }
        let known = |side: &Option<FileSide>| -> Result<BTreeSet<Vec<u8>>, GitError> {
            let text = side.as_ref().map(|side| self.text(side)).transpose()?.flatten();
            Ok(telling_lines(text.unwrap_or_default().as_bytes()))
        };
        let changed = files.iter().map(|file| {
            let [old, new] = [known(&file.old)?, known(&file.new)?];
            Ok([old.difference(&new).cloned().collect(), new.difference(&old).cloned().collect()])
        });
        Ok(LineSets { files: changed.collect::<Result<_, GitError>>()? })
    }

    /// The new file `files[place]` as moved code; `None` if its code was not moved, or was moved
    /// without edits. `changed`: the lines that the files change.
    pub(crate) fn moved_code(
        &self,
        files: &[&ChangedFile],
        changed: &LineSets,
        place: usize,
    ) -> Result<Option<MovedCode>, GitError> {
        let Some(source) = changed.source(place) else { return Ok(None) };
        let (Some(old), Some(new)) = (&files[source].old, &files[place].new) else {
            return Ok(None);
        };
        if !old.is_plain() || !new.is_plain() {
            return Ok(None);
        }
        let apart = |objects| self.hunks(objects, DiffAlgorithm::Histogram, 0);
        let read = || -> Result<Option<Split>, GitError> {
            let (before, after) = (self.content(&old.object)?, self.content(&new.object)?);
            let kept = match &files[source].new {
                Some(still) => kept(&before, &apart([&old.object, &still.object])?),
                None => vec![false; lines(&before).len()],
            };
            let hunks = apart([&old.object, &new.object])?;
            Ok(edits(&before, &kept, &after, &hunks, &changed.elsewhere(place, source)))
        };
        let split = GitError::if_readable(read())?.flatten();
        let from = String::from_utf8_lossy(&old.path).into_owned();
        Ok(split.map(|split| MovedCode { from, split }))
    }
}

impl LineSets {
    /// The file from which at least half of a new file's lines come.
    fn source(&self, place: usize) -> Option<usize> {
        let [_, added] = self.files.get(place)?;
        let others = self.files.iter().enumerate().filter(|(other, _)| *other != place);
        let common = |removed: &BTreeSet<Vec<u8>>| removed.intersection(added).count();
        let counted = others.map(|(other, [removed, _])| (common(removed), other));
        let (lines, source) = counted.max_by_key(|(lines, other)| (*lines, usize::MAX - other))?;
        (lines >= LEAST_LINES && 2 * lines >= added.len()).then_some(source)
    }

    /// Lines that the other files remove, and lines that they add. Lines that `source` adds do not
    /// count: they were not in its old text, so no code moved there.
    fn elsewhere(&self, place: usize, source: usize) -> Elsewhere {
        let lines = |side: usize, without: &[usize]| {
            let files = self.files.iter().enumerate();
            let files = files.filter(|(number, _)| !without.contains(number));
            files.flat_map(|(_, file)| file[side].iter().cloned()).collect()
        };
        Elsewhere { removed: lines(0, &[place]), added: lines(1, &[place, source]) }
    }
}

/// For each line of the old text: whether it is still there after these hunks without context.
fn kept(old: &[u8], hunks: &[Hunk]) -> Vec<bool> {
    let mut kept = vec![true; lines(old).len()];
    for hunk in hunks {
        kept.get_mut(hunk.old.clone()).into_iter().flatten().for_each(|line| *line = false);
    }
    kept
}

/// Splits a new file into moved code and edits. `old`: the text from which the code comes, and
/// which of its lines stay there. `hunks`: the difference from `old` to `new` without context.
fn edits(
    old: &[u8],
    kept: &[bool],
    new: &[u8],
    hunks: &[Hunk],
    elsewhere: &Elsewhere,
) -> Option<Split> {
    let (before, after) = (lines(old), lines(new));
    let mut base: Vec<&[u8]> = Vec::new();
    let (mut edits, mut from) = (Vec::new(), 0);
    for hunk in hunks {
        base.extend(after.get(from..hunk.new.start)?);
        from = hunk.new.end;
        let added = after.get(hunk.new.clone())?;
        let removed = before.get(hunk.old.clone())?.iter().zip(kept.get(hunk.old.clone())?);
        // A line without words, such as a brace alone, is lost if the line before it is lost.
        let mut is_lost = false;
        let mut lost = Vec::new();
        for (line, is_kept) in removed {
            if !is_kept && let Some(words) = telling(line) {
                is_lost = !elsewhere.added.contains(words);
            }
            if !is_kept && is_lost {
                lost.push(*line);
            }
        }
        let is_new =
            |line: &&[u8]| telling(line).is_some_and(|words| !elsewhere.removed.contains(words));
        let is_new = added.iter().any(is_new);
        let start = base.len();
        base.extend(&lost);
        if is_new || !lost.is_empty() {
            let end = if is_new { hunk.new.end } else { hunk.new.start };
            edits.push(Hunk { old: start..base.len(), new: hunk.new.start..end });
        }
        if !is_new {
            base.extend(added);
        }
    }
    base.extend(after.get(from..)?);
    let split = Split { old: base.concat(), new: new.to_vec(), hunks: edits };
    (!split.hunks.is_empty() && split.is_sound()).then_some(split)
}

/// The lines of a text that say something, without the blanks around them.
fn telling_lines(text: &[u8]) -> BTreeSet<Vec<u8>> {
    lines(text).into_iter().filter_map(telling).map(<[u8]>::to_vec).collect()
}

/// A line without the blanks around it; `None` if it has no letter or digit.
fn telling(line: &[u8]) -> Option<&[u8]> {
    let words = line.trim_ascii();
    words.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80).then_some(words)
}

#[cfg(test)]
mod tests;

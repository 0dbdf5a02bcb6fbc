//! The lines of a file as sets: their text alone or, where that shows no difference, their layout.

use std::collections::{BTreeMap, BTreeSet};

use git2::Oid;

use crate::git::History;

/// Longest file to compare by lines, bytes; a larger one is compared as a whole.
pub(super) const LONGEST_FILE: usize = 1 << 20;
/// Shortest line to compare by text alone, bytes: shorter lines (`}`, `else`) are in every file.
const SHORTEST_LINE: usize = 4;

/// What of the lines of a file is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineComparison {
    /// The trimmed text of each line, without short lines.
    Text,
    /// The full text of each line, how often it occurs, and the line after it. Shows a change of
    /// indentation, of the order, of a repeated or of a short line.
    Layout,
}

impl History {
    /// The lines of two versions of a file, and how they are compared: by text or, if the text of
    /// the lines shows no difference, by layout. A new or deleted file has no other layout.
    pub(super) fn telling_lines(
        &self,
        before: Option<Oid>,
        after: Option<Oid>,
    ) -> (LineComparison, [BTreeSet<Vec<u8>>; 2]) {
        let both = |by: LineComparison| [before, after].map(|blob| self.lines(blob, by));
        let texts = both(LineComparison::Text);
        if before.is_none() || after.is_none() || before == after || texts[0] != texts[1] {
            return (LineComparison::Text, texts);
        }
        (LineComparison::Layout, both(LineComparison::Layout))
    }

    /// The lines of a text file; empty for a binary, large, or missing file.
    pub(super) fn lines(&self, blob: Option<Oid>, by: LineComparison) -> BTreeSet<Vec<u8>> {
        let Some(blob) = blob.and_then(|id| self.objects.find_blob(id).ok()) else {
            return BTreeSet::new();
        };
        if blob.is_binary() || blob.size() > LONGEST_FILE {
            return BTreeSet::new();
        }
        match by {
            LineComparison::Text => texts(blob.content()),
            LineComparison::Layout => layout(blob.content()),
        }
    }
}

fn texts(content: &[u8]) -> BTreeSet<Vec<u8>> {
    let lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| line.len() >= SHORTEST_LINE).map(<[u8]>::to_vec).collect()
}

/// Each occurrence of a line with its number, and each pair of neighbours.
fn layout(content: &[u8]) -> BTreeSet<Vec<u8>> {
    if content.is_empty() {
        return BTreeSet::new();
    }
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    let lines: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
    let mut seen: BTreeMap<&[u8], usize> = BTreeMap::new();
    let mut layout = BTreeSet::new();
    for line in &lines {
        let count = seen.entry(*line).or_insert(0);
        *count += 1;
        layout.insert([count.to_string().as_bytes(), *line].join(&b' '));
    }
    // No single line has a line break in it, so that no pair equals an occurrence.
    layout.extend(lines.windows(2).map(|pair| pair.join(&b'\n')));
    layout
}

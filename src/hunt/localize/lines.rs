//! The changed lines of a part of a change, with the texts that they are in.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::git::{Hunk, Split};

/// A text and those of its lines that belong to the part, by their number from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) chosen: BTreeSet<usize>,
}

impl Lines {
    /// All lines of a text.
    pub(super) fn all(text: String) -> Self {
        let chosen = (0..text.lines().count()).collect();
        Self { text, chosen }
    }

    /// The lines that these hunks remove, and those that they add.
    pub(super) fn of(split: &Split, hunks: impl Iterator<Item = usize>) -> [Self; 2] {
        let texts = [&split.old, &split.new];
        let [mut removed, mut added] = texts.map(|bytes| Self {
            text: String::from_utf8_lossy(bytes).into_owned(),
            chosen: BTreeSet::new(),
        });
        for hunk in hunks.filter_map(|hunk| split.hunks.get(hunk)) {
            let [gone, come] = changed(&removed.text, &added.text, hunk);
            removed.chosen.extend(gone);
            added.chosen.extend(come);
        }
        [removed, added]
    }
}

/// The lines that only one side of a hunk has: there are others around the change.
fn changed(old: &str, new: &str, hunk: &Hunk) -> [Vec<usize>; 2] {
    let lines = |text: &str, range: &Range<usize>| -> Vec<(usize, String)> {
        let lines = text.lines().enumerate().skip(range.start).take(range.len());
        lines.map(|(number, line)| (number, line.to_owned())).collect()
    };
    let (mut before, mut after) = (lines(old, &hunk.old), lines(new, &hunk.new));
    let mut kept: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in &before {
        *kept.entry(line.clone()).or_default() += 1;
    }
    let mut common: BTreeMap<String, usize> = BTreeMap::new();
    let take = |left: &mut BTreeMap<String, usize>, line: &String| {
        left.get_mut(line).filter(|count| **count > 0).map(|count| *count -= 1).is_some()
    };
    after.retain(|(_, line)| {
        let is_kept = take(&mut kept, line);
        *common.entry(line.clone()).or_default() += usize::from(is_kept);
        !is_kept
    });
    before.retain(|(_, line)| !take(&mut common, line));
    [before, after].map(|side| side.into_iter().map(|(number, _)| number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_around_a_change_are_no_part_of_it() {
        let split = Split {
            old: b"a\nb\nc\nd\n".to_vec(),
            new: b"a\nx\nc\nb\nd\n".to_vec(),
            hunks: vec![Hunk { old: 0..4, new: 0..5 }],
        };
        let [removed, added] = Lines::of(&split, 0..1);
        // `b` only moved.
        assert_eq!((removed.chosen, added.chosen), (BTreeSet::new(), BTreeSet::from([1])));
        let [removed, added] = Lines::of(&split, 0..0);
        assert!(removed.chosen.is_empty() && added.chosen.is_empty());
        assert_eq!(Lines::all("a\nb\n".to_owned()).chosen, BTreeSet::from([0, 1]));
    }
}

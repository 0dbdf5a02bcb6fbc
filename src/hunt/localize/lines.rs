//! The texts of a changed file, and the lines that each part of its change removes and adds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::evaluation::PartOf;
use crate::git::{Hunk, Split};

/// A file's text before and after a change, and which lines each hunk removes and adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedTexts {
    pub(super) texts: [String; 2],
    /// For each hunk, the removed and the added lines, as line numbers from 0.
    hunks: Vec<[BTreeSet<usize>; 2]>,
    /// The lines of moved code, if the file is new and the hunks are its edits.
    moved: BTreeSet<usize>,
}

impl ChangedTexts {
    /// A file that exists before and after the change, split into hunks.
    pub(super) fn of(split: &Split) -> Self {
        let texts = [&split.old, &split.new].map(|text| String::from_utf8_lossy(text).into_owned());
        let [old, new] = &texts;
        let hunks = split.hunks.iter().map(|hunk| changed(old, new, hunk)).collect();
        Self { texts, hunks, moved: BTreeSet::new() }
    }

    /// A new file as moved code and its edits.
    pub(super) fn moved(split: &Split) -> Self {
        let texts = [&split.old, &split.new].map(|text| String::from_utf8_lossy(text).into_owned());
        let edit = |hunk: &Hunk| [hunk.old.clone().collect(), hunk.new.clone().collect()];
        let hunks: Vec<[BTreeSet<usize>; 2]> = split.hunks.iter().map(edit).collect();
        let is_edited = |line: &usize| hunks.iter().any(|[_, added]| added.contains(line));
        let moved = (0..texts[1].lines().count()).filter(|line| !is_edited(line)).collect();
        Self { texts, hunks, moved }
    }

    /// Whether the file is new and made of moved code.
    pub(super) fn is_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// A file that is new or deleted: one hunk with all lines.
    pub(super) fn whole(texts: [String; 2]) -> Self {
        let all = texts.each_ref().map(|text| (0..text.lines().count()).collect());
        Self { texts, hunks: vec![all], moved: BTreeSet::new() }
    }

    /// The lines that a part of the file removes, and those that it adds.
    pub(super) fn lines_of(&self, part: PartOf) -> [BTreeSet<usize>; 2] {
        let hunks = match part {
            PartOf::File if self.is_moved() => {
                return [BTreeSet::new(), (0..self.texts[1].lines().count()).collect()];
            }
            PartOf::Moved => return [BTreeSet::new(), self.moved.clone()],
            PartOf::File => self.hunks.as_slice(),
            PartOf::Hunk { number, .. } | PartOf::Edit { number, .. } => {
                self.hunks.get(number - 1..number).unwrap_or_default()
            }
            PartOf::Mode | PartOf::Name => &[],
        };
        [0, 1].map(|side| hunks.iter().flat_map(|hunk| hunk[side].iter().copied()).collect())
    }
}

/// The changed lines of a hunk. Lines that both sides have are left out: a hunk has context around
/// its change.
fn changed(old: &str, new: &str, hunk: &Hunk) -> [BTreeSet<usize>; 2] {
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
        let texts = ChangedTexts::of(&split);
        // `b` only moved.
        let hunk = PartOf::Hunk { number: 1, of: 1 };
        assert_eq!(texts.lines_of(hunk), [BTreeSet::new(), BTreeSet::from([1])]);
        assert_eq!(texts.lines_of(PartOf::File), texts.lines_of(hunk));
        assert_eq!(texts.lines_of(PartOf::Mode), <[BTreeSet<usize>; 2]>::default());
        let new = ChangedTexts::whole([String::new(), "a\nb\n".to_owned()]);
        assert_eq!(new.lines_of(PartOf::File), [BTreeSet::new(), BTreeSet::from([0, 1])]);
    }
}

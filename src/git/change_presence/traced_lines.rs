//! Lines of a file, traced back through the changes before. Pure.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::git::Hunk;

/// Lines of one version of a file, and places where lines are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TracedLines {
    /// Lines of the version, counted from 0. Lines are missing where a range is empty.
    pub ranges: Vec<Range<usize>>,
    /// The missing lines. A change that removes one of them right beside a range touches the range.
    pub missing: BTreeSet<Vec<u8>>,
}

impl TracedLines {
    /// Goes from the version after a change to the one before it. Whether the change touches one of
    /// the traced lines: then the lines that it replaced are traced. `hunks`: those of the change,
    /// without context. `old`: the lines before it.
    pub(super) fn step_back(&mut self, hunks: &[Hunk], old: &[&[u8]]) -> bool {
        let mut is_touched = false;
        for range in &mut self.ranges {
            let now = range.clone();
            let touches = |hunk: &&Hunk| {
                let is_beside = now.start <= hunk.new.end && hunk.new.start <= now.end;
                let removed = old.get(hunk.old.clone()).unwrap_or_default();
                overlap(&now, &hunk.new)
                    || (is_beside && removed.iter().any(|line| self.missing.contains(*line)))
            };
            let touching: Vec<&Hunk> = hunks.iter().filter(touches).collect();
            is_touched |= !touching.is_empty();
            *range = before(&now, hunks, &touching);
        }
        is_touched
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// The range in the version before a change. `touching`: the hunks that touch it.
fn before(range: &Range<usize>, hunks: &[Hunk], touching: &[&Hunk]) -> Range<usize> {
    let start = match touching.first() {
        Some(first) if first.new.start <= range.start => first.old.start,
        _ => place_before(range.start, hunks.iter().filter(|one| one.new.end <= range.start)),
    };
    let is_passed = |one: &&Hunk| one.new.end <= range.end && one.new.start < range.end;
    let end = match touching.last() {
        Some(last) if last.new.end >= range.end => last.old.end,
        _ => place_before(range.end, hunks.iter().filter(is_passed)),
    };
    start..end.max(start)
}

/// The place before a change that corresponds to this one. `passed`: the hunks before it.
fn place_before<'h>(place: usize, passed: impl Iterator<Item = &'h Hunk>) -> usize {
    let sizes = passed.map(|hunk| [hunk.old.len(), hunk.new.len()]);
    let [removed, added] = sizes.fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    (place + removed).saturating_sub(added)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::change_presence::put_back::hunks_between;
    use crate::git::parts::lines;

    /// The places of the versions, from 1, that touch the lines at this range of the last version,
    /// and the range in the first one.
    fn traced(
        versions: &[&str],
        range: Range<usize>,
        missing: &[&str],
    ) -> (Vec<usize>, Range<usize>) {
        let missing = missing.iter().map(|line| format!("{line}\n").into_bytes()).collect();
        let mut traced = TracedLines { ranges: vec![range], missing };
        let mut places = Vec::new();
        for place in (1..versions.len()).rev() {
            let [old, new] = [versions[place - 1], versions[place]].map(str::as_bytes);
            if traced.step_back(&hunks_between(old, new).unwrap(), &lines(old)) {
                places.push(place);
            }
        }
        (places, traced.ranges.remove(0))
    }

    #[test]
    fn a_line_is_traced_through_its_edits_and_past_others() {
        let versions = [
            "x\na 1\nb 1\ny\n",
            "x\na 2\nb 1\ny\n",
            "new\nx\na 2\nb 1\ny\n",
            "new\nx\na 2\nb 2\ny\n",
            "new\nx\na 3\nb 2\ny\n",
            "x\na 3\nb 2\ny 2\n",
        ];
        assert_eq!(traced(&versions, 1..2, &["a 1"]), (vec![4, 1], 1..2));
        assert_eq!(traced(&versions, 2..3, &["b 1"]), (vec![3], 2..3));
    }

    #[test]
    fn an_added_line_has_no_lines_before() {
        let versions = ["x\ny\n", "x\na 1\ny\n", "x\na 1\nb 1\ny\n"];
        assert_eq!(traced(&versions, 1..2, &[]), (vec![1], 1..1));
    }

    #[test]
    fn a_missing_line_is_traced_to_its_removal() {
        let versions = ["x\na 1\ny\n", "x\ny\n", "x\ny 2\n", "w\nx\ny 2\n"];
        // A change of the line beside the gap is none of the missing line.
        assert_eq!(traced(&versions, 2..2, &["a 1"]), (vec![1], 1..2));
    }
}

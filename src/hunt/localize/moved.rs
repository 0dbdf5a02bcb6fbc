//! Looks for the cause among the edits of moved code, before the files are taken apart.
//!
//! A commit that moves code to a new file rarely builds without one of its files. So all of the
//! change but the edits is one block here, which every tested set has. If the cause is no edit, the
//! usual search follows.

use crate::evaluation::Shows;
use crate::hunt::HuntError;
use crate::search::{self, Isolated, IsolationEnd, Parts, Tested};

use super::change::Part;
use super::clues::{Clues, MOST_PARTS};
use super::isolation::{Found, Localization};

/// Maximum number of tests of edits, with and without the block.
const MOST_TRIALS: usize = 20;

/// The weight of an edit in the order of the tests. Every other part has a weight of 1, which is so
/// little that each tested set is the whole block and some of the edits.
const EDIT: u32 = 20;

impl Localization<'_, '_> {
    /// The smallest set of edits of moved code that makes the step; `None` if the change has no
    /// edits, or if the edits do not make the step.
    pub(super) fn isolated_edits(&mut self, whole: &[Part]) -> Result<Option<Found>, HuntError> {
        let Some(all) = self.change.with_edits_apart(whole)? else { return Ok(None) };
        if all.len() > MOST_PARTS {
            return Ok(None);
        }
        let edits: Vec<Part> = all.iter().copied().filter(|part| part.is_edit()).collect();
        let mut balanced = Vec::new();
        for edit in &edits {
            let [lost, added] = self.change.lines_of_edit(*edit)?;
            if OpenBlocks::of(&lost) == OpenBlocks::of(&added) {
                balanced.push(*edit);
            }
        }
        // Code with half of a block does not compile, and the compiler rarely says why.
        let is_first = !balanced.is_empty() && balanced.len() < edits.len();
        let most = self.trials.len() + MOST_TRIALS;
        for free in is_first.then_some(balanced).into_iter().chain([edits]) {
            if let Some(found) = self.isolated_among(&all, &free, most)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The smallest set of the `free` parts that makes the step beside all others; `None` if the
    /// others make it. `most`: the number of trials at which the search ends.
    fn isolated_among(
        &mut self,
        all: &[Part],
        free: &[Part],
        most: usize,
    ) -> Result<Option<Found>, HuntError> {
        let mut all = all.to_vec();
        all.sort_by_key(|part| free.contains(part));
        let block = all.len() - free.len();
        let clues = Clues::of(&self.change, &all, self.culprit, &self.built)?;
        let mut hints = clues.hints();
        for (number, weight) in &mut hints.weights {
            *weight = if *number < block { 1 } else { EDIT };
        }
        // A ring: each part of the block needs the next one.
        let ring: Vec<(usize, usize)> = (0..block).map(|at| (at, (at + 1) % block)).collect();
        hints.learn(&ring);
        let chosen = |parts: &Parts| parts.iter().map(|number| all[*number]).collect::<Vec<_>>();
        let numbers: Vec<usize> = (0..all.len()).collect();
        let Isolated { parts, context, end } =
            search::isolate(&Parts::new(), &numbers, hints, 1, |parts| {
                if !(0..block).all(|number| parts.contains(&number)) {
                    return Ok(Some(Tested { shows: Shows::Unresolved, needs: Vec::new() }));
                }
                if self.trials.len() >= most {
                    return Ok(None);
                }
                self.tested_with(&clues, parts, &chosen(parts))
            })?;
        let (parts, context) = (chosen(&parts), chosen(&context));
        if !parts.iter().all(|part| free.contains(part)) {
            return Ok(None);
        }
        if end == IsolationEnd::Spent && parts.len() > 1 && !self.is_spent {
            return Ok(Some(self.isolate(&context, &parts, 1)?.0));
        }
        let is_minimal = end != IsolationEnd::Spent;
        Ok(Some(Found { parts, context, is_minimal, alone: None }))
    }

    /// Tests a set of parts for the search, with what a failure tells about missing parts. `set`:
    /// the numbers of the parts among those of the clues.
    pub(super) fn tested_with(
        &mut self,
        clues: &Clues,
        set: &Parts,
        parts: &[Part],
    ) -> Result<Option<Tested>, HuntError> {
        let Some((shows, place)) = self.test(parts)? else { return Ok(None) };
        let said = self.said.get(&place).map(Vec::as_slice).unwrap_or_default();
        Ok(Some(Tested { shows, needs: clues.lacking(said, set) }))
    }
}

/// The brackets and preprocessor blocks that lines open and do not close, or close and do not open.
/// If the lost and the added lines of an edit have the same, the code can be parsed without it.
#[derive(Debug, Default, PartialEq)]
struct OpenBlocks {
    /// Of `#if`, `{` and `(`: how many more are opened than closed.
    open: [i32; 3],
    /// The lowest of these numbers at any place.
    lowest: [i32; 3],
    /// `#else` and `#elif` of a block that these lines do not open.
    alternatives: usize,
}

impl OpenBlocks {
    fn of(lines: &[&[u8]]) -> Self {
        let mut blocks = Self::default();
        for line in lines {
            let line = line.trim_ascii();
            if let Some(directive) = line.strip_prefix(b"#").map(<[u8]>::trim_ascii_start) {
                blocks.add(0, i32::from(directive.starts_with(b"if")));
                blocks.add(0, -i32::from(directive.starts_with(b"endif")));
                let is_outside = blocks.open[0] <= blocks.lowest[0];
                blocks.alternatives += usize::from(is_outside && directive.starts_with(b"el"));
            }
            for byte in line {
                match byte {
                    b'{' => blocks.add(1, 1),
                    b'}' => blocks.add(1, -1),
                    b'(' => blocks.add(2, 1),
                    b')' => blocks.add(2, -1),
                    _ => {}
                }
            }
        }
        blocks
    }

    fn add(&mut self, kind: usize, more: i32) {
        self.open[kind] += more;
        self.lowest[kind] = self.lowest[kind].min(self.open[kind]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_block_is_told_from_whole_statements() {
        let of = |text: &str| OpenBlocks::of(&text.lines().map(str::as_bytes).collect::<Vec<_>>());
        let none = OpenBlocks::default();
        for whole in [
            "",
            "x = f(1);\nif (x) {\n    y();\n} else {\n    z();\n}",
            "#ifdef A\nx();\n#elif B\n  #  endif\ny();",
            ".a = b,\n#include <c.h>",
        ] {
            assert_eq!(of(whole), none, "{whole}");
        }
        let halves =
            ["if (x) {", "}", "} else {", "f(a,", "#endif", "#if A\nx();", "#else\nx();", ")("];
        for half in halves {
            assert_ne!(of(half), none, "{half}");
        }
        assert_eq!(of("if (x) {"), of("while (f(y)) {\n    z();"));
        assert_eq!(of("#if A"), of("#ifdef B"));
    }
}

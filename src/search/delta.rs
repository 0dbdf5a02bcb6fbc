//! Delta debugging: the smallest part of a change that makes the difference. Pure.
//!
//! The algorithm is `dd` of A. Zeller and R. Hildebrandt, "Simplifying and Isolating
//! Failure-Inducing Input", IEEE Transactions on Software Engineering 28(2), 2002. It narrows from
//! both sides: a set of parts that shows nothing grows, and a set that shows the difference
//! shrinks. `ddmin` of the same paper only shrinks, and parts of a change seldom build with little
//! around them. Two changes for tests that cost a build: likely parts are tried alone first, and
//! no set is tested twice.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::Shows;

/// A set of parts, by their numbers.
pub type Parts = BTreeSet<usize>;

/// Two sets of parts: without `parts` nothing shows, and with them the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolated {
    /// The parts that make the difference.
    pub parts: Parts,
    /// Other parts that were there in both tests.
    pub context: Parts,
    /// Whether no part of `parts` can be added to `context`, or taken from both, with a result.
    /// False if `test` ended the search before.
    pub is_minimal: bool,
}

/// Isolates the parts of `change` that make the difference, in the order of `change`: likely parts
/// first. `context` shows nothing; with all of `change` it shows the difference. `likely`: how
/// many of the first parts to try alone before halves are tried.
///
/// `test` gets each set at most once; `None` from it ends the search with what is known so far.
/// With n parts of which all sets can be tested, about log2 n tests.
pub fn isolate<E>(
    context: &Parts,
    change: &[usize],
    likely: usize,
    mut test: impl FnMut(&Parts) -> Result<Option<Shows>, E>,
) -> Result<Isolated, E> {
    let mut state =
        State { nothing: context.clone(), change: change.to_vec(), tested: BTreeMap::new() };
    state.tested.insert(state.nothing.clone(), Shows::Nothing);
    state.tested.insert(state.with(change), Shows::Difference);
    for part in change.iter().take(likely) {
        if state.change.len() > 1 && state.try_chunk(&[*part], &mut test)? == Tried::Ended {
            return Ok(state.isolated(false));
        }
    }
    let mut pieces = 2;
    while state.change.len() > 1 {
        let mut is_smaller = false;
        for chunk in chunks(&state.change, pieces) {
            match state.try_chunk(&chunk, &mut test)? {
                Tried::Ended => return Ok(state.isolated(false)),
                Tried::OnlyIt => (is_smaller, pieces) = (true, 2),
                Tried::NotIt => (is_smaller, pieces) = (true, (pieces - 1).max(2)),
                Tried::Unresolved => continue,
            }
            break;
        }
        if !is_smaller {
            if pieces >= state.change.len() {
                break;
            }
            pieces = (2 * pieces).min(state.change.len());
        }
    }
    Ok(state.isolated(true))
}

/// What is known: `nothing` shows nothing, and with all of `change` it shows the difference.
struct State {
    nothing: Parts,
    change: Vec<usize>,
    tested: BTreeMap<Parts, Shows>,
}

/// What the tests of a chunk gave.
#[derive(PartialEq)]
enum Tried {
    /// The chunk makes the difference: the change is this chunk now.
    OnlyIt,
    /// The chunk does not make it: the change is without the chunk now.
    NotIt,
    Unresolved,
    /// No more tests.
    Ended,
}

impl State {
    /// Tests the chunk alone, and the change without it.
    fn try_chunk<E>(
        &mut self,
        chunk: &[usize],
        test: &mut impl FnMut(&Parts) -> Result<Option<Shows>, E>,
    ) -> Result<Tried, E> {
        let rest: Vec<usize> =
            self.change.iter().copied().filter(|part| !chunk.contains(part)).collect();
        let (with_chunk, with_rest) = (self.with(chunk), self.with(&rest));
        match self.shows(&with_chunk, test)? {
            None => return Ok(Tried::Ended),
            Some(Shows::Difference) => {
                self.change = chunk.to_vec();
                return Ok(Tried::OnlyIt);
            }
            Some(Shows::Nothing) => {
                (self.nothing, self.change) = (with_chunk, rest);
                return Ok(Tried::NotIt);
            }
            Some(Shows::Unresolved) => {}
        }
        Ok(match self.shows(&with_rest, test)? {
            None => Tried::Ended,
            Some(Shows::Difference) => {
                self.change = rest;
                Tried::NotIt
            }
            Some(Shows::Nothing) => {
                (self.nothing, self.change) = (with_rest, chunk.to_vec());
                Tried::OnlyIt
            }
            Some(Shows::Unresolved) => Tried::Unresolved,
        })
    }

    fn shows<E>(
        &mut self,
        parts: &Parts,
        test: &mut impl FnMut(&Parts) -> Result<Option<Shows>, E>,
    ) -> Result<Option<Shows>, E> {
        if let Some(known) = self.tested.get(parts) {
            return Ok(Some(*known));
        }
        let shown = test(parts)?;
        if let Some(shown) = shown {
            self.tested.insert(parts.clone(), shown);
        }
        Ok(shown)
    }

    fn with(&self, parts: &[usize]) -> Parts {
        self.nothing.iter().chain(parts).copied().collect()
    }

    fn isolated(self, is_minimal: bool) -> Isolated {
        let parts = self.change.into_iter().collect();
        Isolated { parts, context: self.nothing, is_minimal }
    }
}

/// `parts` in `pieces` chunks of nearly equal length, in order.
fn chunks(parts: &[usize], pieces: usize) -> Vec<Vec<usize>> {
    let pieces = pieces.min(parts.len());
    let edge = |piece: usize| piece * parts.len() / pieces;
    (0..pieces).map(|piece| parts[edge(piece)..edge(piece + 1)].to_vec()).collect()
}

#[cfg(test)]
mod tests;

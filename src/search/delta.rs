//! Delta debugging: finds the smallest part of a change that makes the difference. Pure.
//!
//! The algorithm is `dd` of A. Zeller and R. Hildebrandt, "Simplifying and Isolating
//! Failure-Inducing Input", IEEE Transactions on Software Engineering 28(2), 2002. It narrows from
//! both sides: a set of parts that shows nothing grows, and a set that shows the difference
//! shrinks. `ddmin` of the same paper only shrinks, and a few parts of a change seldom build alone.
//! Each test costs a build, so this version differs in three points. Before chunks, it tests the
//! sets that the hints allow and that divide the likelihood best. It adds to the hints what a
//! failed test tells. It tests no set twice, and no set that lacks what a failed test lacked.

use std::collections::BTreeMap;

use crate::evaluation::Shows;

use super::hints::{Hints, Parts};

/// Maximum number of proposed sets that may fail in a row before chunks are tested.
const MOST_GUESSES: usize = 3;

/// Two sets of parts: `context` does not show the difference, with `parts` it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Isolated {
    /// The parts that make the difference.
    pub parts: Parts,
    /// Other parts that were present in both tests.
    pub context: Parts,
    /// How the search ended.
    pub end: IsolationEnd,
}

/// How an isolation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IsolationEnd {
    /// One part is left, or no test that moves a single part to the other set could be judged.
    Minimal,
    /// As [`Self::Minimal`], but some of these sets were not tested, because they lack what a
    /// failed test lacked.
    Bound,
    /// The hints do not divide the parts further, and the number of parts is small enough for the
    /// caller.
    FewEnough,
    /// `test` ended the search.
    Spent,
}

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tested {
    /// What the set shows.
    pub shows: Shows,
    /// Pairs of a part of this set and a part that it seems to need and that the set lacks.
    pub needs: Vec<(usize, usize)>,
}

/// Isolates the parts of `change` that make the difference. `context` does not show it, and
/// `context` with all of `change` does. The search may end with up to `few` parts that the hints
/// hold together. With `few` = 1 it goes on until the parts are minimal.
///
/// `test` gets each set at most once. `None` from it ends the search with what is known so far.
/// With n equal parts of which all sets can be tested, this takes about log2 n tests.
pub(crate) fn isolate<E>(
    context: &Parts,
    change: &[usize],
    hints: Hints,
    few: usize,
    mut test: impl FnMut(&Parts) -> Result<Option<Tested>, E>,
) -> Result<Isolated, E> {
    let mut state = State {
        nothing: context.clone(),
        change: change.to_vec(),
        tested: BTreeMap::new(),
        hints,
        lacked: Hints::default(),
        missed: Vec::new(),
    };
    state.tested.insert(state.nothing.clone(), Shows::Nothing);
    state.tested.insert(state.with(change), Shows::Difference);
    let mut pieces = 2;
    loop {
        if state.change.len() < 2 {
            return Ok(state.smallest());
        }
        if let Some(guess) = state.guess() {
            match state.try_one(&guess, &mut test)? {
                ChunkResult::Ended => return Ok(state.isolated(IsolationEnd::Spent)),
                ChunkResult::Unresolved => state.missed.push(state.with(&guess)),
                ChunkResult::Only | ChunkResult::Excluded => pieces = 2,
                ChunkResult::NewHints => {}
            }
            continue;
        }
        if state.change.len() <= few {
            return Ok(state.isolated(IsolationEnd::FewEnough));
        }
        match state.try_chunks(pieces, &mut test)? {
            ChunkResult::Ended => return Ok(state.isolated(IsolationEnd::Spent)),
            ChunkResult::Only => pieces = 2,
            ChunkResult::Excluded => pieces = (pieces - 1).max(2),
            ChunkResult::NewHints => {}
            ChunkResult::Unresolved if pieces >= state.change.len() => {
                return Ok(state.smallest());
            }
            ChunkResult::Unresolved => pieces = (2 * pieces).min(state.change.len()),
        }
    }
}

/// What is known: `nothing` does not show the difference, and with all of `change` it does.
struct State {
    nothing: Parts,
    change: Vec<usize>,
    tested: BTreeMap<Parts, Shows>,
    hints: Hints,
    /// Which part needs which other part, from failed tests alone.
    lacked: Hints,
    /// Sets that the hints proposed and that could not be judged, since the last step forward.
    missed: Vec<Parts>,
}

/// The result of testing a chunk.
#[derive(PartialEq)]
enum ChunkResult {
    /// The chunk makes the difference: it is the change now.
    Only,
    /// The chunk does not make the difference: the change is without it now.
    Excluded,
    Unresolved,
    /// Not judged, but the test added hints.
    NewHints,
    /// No more tests.
    Ended,
}

impl State {
    /// The best set that the hints propose; `None` if too many sets failed. Leaves out a set that
    /// hardly differs from a failed one.
    fn guess(&self) -> Option<Vec<usize>> {
        if self.missed.len() >= MOST_GUESSES {
            return None;
        }
        let whole = self.hints.weight(&self.change);
        let is_new = |set: &Parts| {
            let with: Parts = self.nothing.union(set).copied().collect();
            let is_unlike =
                |missed: &Parts| 4 * self.hints.weight(missed.symmetric_difference(&with)) >= whole;
            self.tested.get(&with) != Some(&Shows::Unresolved) && self.missed.iter().all(is_unlike)
        };
        let found = self.hints.divisions(&self.change).into_iter().find(is_new)?;
        Some(self.change.iter().copied().filter(|part| found.contains(part)).collect())
    }

    /// Tests the chunk alone.
    fn try_one<E>(
        &mut self,
        chunk: &[usize],
        test: &mut impl FnMut(&Parts) -> Result<Option<Tested>, E>,
    ) -> Result<ChunkResult, E> {
        let Some((shows, has_learned)) = self.shows(&self.with(chunk), test)? else {
            return Ok(ChunkResult::Ended);
        };
        let rest = || self.change.iter().copied().filter(|part| !chunk.contains(part)).collect();
        match shows {
            Shows::Difference => self.change = chunk.to_vec(),
            Shows::Nothing => (self.nothing, self.change) = (self.with(chunk), rest()),
            Shows::Unresolved if has_learned => {
                self.missed.clear();
                return Ok(ChunkResult::NewHints);
            }
            Shows::Unresolved => return Ok(ChunkResult::Unresolved),
        }
        self.missed.clear();
        Ok(if shows == Shows::Difference { ChunkResult::Only } else { ChunkResult::Excluded })
    }

    /// Tests chunks of the change, and the change without each chunk, until one test decides.
    fn try_chunks<E>(
        &mut self,
        pieces: usize,
        test: &mut impl FnMut(&Parts) -> Result<Option<Tested>, E>,
    ) -> Result<ChunkResult, E> {
        for chunk in chunks(&self.change, pieces) {
            let rest: Vec<usize> =
                self.change.iter().copied().filter(|part| !chunk.contains(part)).collect();
            match self.try_one(&chunk, test)? {
                ChunkResult::Unresolved => {}
                tried => return Ok(tried),
            }
            match self.try_one(&rest, test)? {
                ChunkResult::Unresolved => {}
                ChunkResult::Only => return Ok(ChunkResult::Excluded),
                ChunkResult::Excluded => return Ok(ChunkResult::Only),
                tried => return Ok(tried),
            }
        }
        Ok(ChunkResult::Unresolved)
    }

    /// What a set shows, and whether its test added hints. `None`: no more tests.
    fn shows<E>(
        &mut self,
        parts: &Parts,
        test: &mut impl FnMut(&Parts) -> Result<Option<Tested>, E>,
    ) -> Result<Option<(Shows, bool)>, E> {
        if let Some(known) = self.tested.get(parts) {
            return Ok(Some((*known, false)));
        }
        if self.lacked.is_lacking(parts, &self.with(&self.change)) {
            return Ok(Some((Shows::Unresolved, false)));
        }
        let Some(Tested { shows, needs }) = test(parts)? else { return Ok(None) };
        self.tested.insert(parts.clone(), shows);
        if shows == Shows::Unresolved {
            self.lacked.learn(&needs);
        }
        Ok(Some((shows, self.hints.learn(&needs))))
    }

    fn with(&self, parts: &[usize]) -> Parts {
        self.nothing.iter().chain(parts).copied().collect()
    }

    /// The result if no part can be moved any more.
    fn smallest(self) -> Isolated {
        let untested = |set: &Parts| !self.tested.contains_key(set);
        let one_moved = |part: &usize| {
            let more = self.with(&[*part]);
            let mut less = self.with(&self.change);
            less.remove(part);
            untested(&more) || untested(&less)
        };
        let is_bound = self.change.len() > 1 && self.change.iter().any(one_moved);
        let end = if is_bound { IsolationEnd::Bound } else { IsolationEnd::Minimal };
        self.isolated(end)
    }

    fn isolated(self, end: IsolationEnd) -> Isolated {
        let parts = self.change.into_iter().collect();
        Isolated { parts, context: self.nothing, end }
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

//! Without noise, the value that repeats bit for bit is the commit's value.

use crate::stats;

/// Maximum runs of a commit if its first runs differ.
const MOST_RUNS: usize = 5;

/// The result of one commit's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The run with this index gives the commit's value.
    Settled(usize),
    /// This many runs are needed in total.
    More(usize),
    /// Five runs, and all differ.
    Never,
}

/// Decides which of a commit's runs counts; `runs` are in the order they were made. A single run
/// counts if this hunt knows its value (`is_known`): a disturbed run hardly gives such a value.
/// Otherwise the first run that another run repeats counts, or else the first known value.
pub fn repeat<T: PartialEq>(runs: &[T], is_known: impl Fn(&T) -> bool) -> Repeat {
    if let [only] = runs
        && is_known(only)
    {
        return Repeat::Settled(0);
    }
    let again = |i: &usize| runs.iter().filter(|run| **run == runs[*i]).count() > 1;
    if let Some(place) = (0..runs.len()).find(again) {
        return Repeat::Settled(place);
    }
    if let Some(place) = runs.iter().position(is_known) {
        return Repeat::Settled(place);
    }
    match runs.len() {
        n @ 0..MOST_RUNS => Repeat::More(n + 1),
        _ => Repeat::Never,
    }
}

/// Runs that do not repeat are close if their spread (largest minus smallest value) is at most this
/// share: of the tolerance in [`is_level`], of the distance from the threshold to the nearest run
/// in [`is_on_one_side`].
const CLOSE: f64 = 0.1;

/// Whether runs that never repeat still have a level: their spread is at most a tenth of the
/// tolerance. True without runs.
pub(crate) fn is_level(values: impl IntoIterator<Item = f64>, tolerance: f64) -> bool {
    let spread = stats::min_max(values).map_or(0.0, |[least, most]| most - least);
    spread <= CLOSE * tolerance.max(0.0)
}

/// Whether runs that never repeat are still clearly on one side of the threshold. `margins`: each
/// run's value minus the threshold, in any unit. False without runs.
pub(crate) fn is_on_one_side(margins: &[f64]) -> bool {
    let Some([least, most]) = stats::min_max(margins.iter().copied()) else { return false };
    let distance = least.abs().min(most.abs());
    let are_finite = margins.iter().all(|margin| margin.is_finite());
    are_finite && least * most > 0.0 && most - least <= CLOSE * distance
}

#[cfg(test)]
mod tests;

//! Several numbers that one launch printed of one thing, and the one value made of them.

use crate::config::Pick;
use crate::stats;

/// So many repeats are a benchmark's; more are a series, which nobody needs beside its log.
pub(super) const MOST: usize = 1000;

/// The value; `None` without numbers.
pub(super) fn made_of(pick: Pick, numbers: &[f64]) -> Option<f64> {
    let each = || numbers.iter().copied();
    match pick {
        Pick::First => each().next(),
        Pick::Last => each().next_back(),
        Pick::Min => each().reduce(f64::min),
        Pick::Max => each().reduce(f64::max),
        Pick::Sum => each().reduce(|a, b| a + b),
        Pick::Median => stats::median(numbers),
        Pick::Mean => stats::mean(numbers),
    }
}

/// Whether the numbers repeat one measurement, and are worth being kept. What is added up are
/// parts of one, and of what is printed as it goes on only the first or the last is meant.
pub(super) fn are_repeats(pick: Pick, numbers: &[f64]) -> bool {
    !matches!(pick, Pick::First | Pick::Last | Pick::Sum) && (2..=MOST).contains(&numbers.len())
}

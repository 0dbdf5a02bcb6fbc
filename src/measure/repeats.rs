//! Repeats: several numbers that one run prints for one metric, and the value made of them.

use crate::config::Pick;
use crate::stats;

/// Maximum number of stored repeats; more numbers are a series, which the log holds.
pub(super) const MOST: usize = 1000;

/// The value from all numbers; `None` without numbers.
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

/// Whether the numbers are repeats of one measurement, and so are stored. False for `sum`, which
/// adds parts of one measurement, and for `first` and `last`, which use one number only.
pub(super) fn are_repeats(pick: Pick, numbers: &[f64]) -> bool {
    !matches!(pick, Pick::First | Pick::Last | Pick::Sum) && (2..=MOST).contains(&numbers.len())
}

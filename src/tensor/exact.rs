//! The figures of one pair of rows in f64, for rows that f32 cannot represent well.

use super::row::{RowFigures, cosine};

/// A value that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nan,
    Infinity,
    NegativeInfinity,
}

impl Kind {
    fn of(value: f64) -> Option<Self> {
        match value {
            value if value.is_nan() => Some(Self::Nan),
            f64::INFINITY => Some(Self::Infinity),
            f64::NEG_INFINITY => Some(Self::NegativeInfinity),
            _ => None,
        }
    }
}

/// The result for a pair of rows.
#[derive(Debug, PartialEq)]
pub(super) enum Row {
    /// Figures. Values that are −∞ in both rows are masked tokens: they count as equal, and their
    /// number is given.
    Figures(RowFigures, usize),
    /// No figures, because of values that are not finite: the side (0 or 1), the kind, how many,
    /// and the first index.
    NonFinite(Vec<(usize, Kind, usize, usize)>),
}

/// The figures in f64.
pub(super) fn figures(a: &[f64], b: &[f64]) -> Row {
    let is_masked = |a: f64, b: f64| a == f64::NEG_INFINITY && b == f64::NEG_INFINITY;
    let mut found: Vec<(usize, Kind, usize, usize)> = Vec::new();
    let mut masked = 0;
    for (index, (a, b)) in a.iter().zip(b).enumerate() {
        if is_masked(*a, *b) {
            masked += 1;
            continue;
        }
        for (side, value) in [a, b].into_iter().enumerate() {
            let Some(kind) = Kind::of(*value) else { continue };
            match found.iter_mut().find(|one| (one.0, one.1) == (side, kind)) {
                Some(one) => one.2 += 1,
                None => found.push((side, kind, 1, index)),
            }
        }
    }
    if masked == a.len() {
        found = (0..2).map(|side| (side, Kind::NegativeInfinity, masked, 0)).collect();
    }
    if !found.is_empty() {
        return Row::NonFinite(found);
    }
    let pairs = || a.iter().zip(b).map(|(a, b)| (*a, *b)).filter(|(a, b)| !is_masked(*a, *b));
    let tops = [top(a), top(b)];
    let [log_sum_a, log_sum_b] = [log_sum_exp(a, a[tops[0]]), log_sum_exp(b, b[tops[1]])];
    let delta = |index: usize| {
        if is_masked(a[index], b[index]) { 0.0 } else { (b[index] - a[index]).abs() }
    };
    let mut index = 0;
    for other in 0..a.len() {
        if delta(other) > delta(index) {
            index = other;
        }
    }
    let squares = [pairs().map(|(a, _)| a * a).sum(), pairs().map(|(_, b)| b * b).sum()];
    let squared_delta = pairs().map(|(a, b)| (b - a) * (b - a)).sum();
    let kl = pairs().map(|(a, b)| {
        let log_p = a - log_sum_a;
        let p = log_p.exp();
        // A probability that is too small for f64 contributes nothing, not 0 × ∞.
        if p == 0.0 { 0.0 } else { p * (log_p - (b - log_sum_b)) }
    });
    let figures = RowFigures {
        max_delta: delta(index),
        index,
        sum_delta: pairs().map(|(a, b)| (b - a).abs()).sum(),
        squared_delta,
        cosine: cosine(squares, squared_delta),
        kl: kl.sum::<f64>().max(0.0),
        top: tops,
        margin: a[tops[0]] - a[tops[1]],
    };
    Row::Figures(figures, masked)
}

/// The first index of the largest value.
fn top(row: &[f64]) -> usize {
    (1..row.len()).fold(0, |top, index| if row[index] > row[top] { index } else { top })
}

/// ln Σ exp(x), with the largest x factored out.
pub(super) fn log_sum_exp(row: &[f64], largest: f64) -> f64 {
    largest + row.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}

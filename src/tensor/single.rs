//! The figures of one pair of rows in f32.

use super::kernel::{Weighted, moments, weighted};
use super::row::{RowFigures, cosine};

/// Above this shifted difference the weights of [`weighted`] are too small for f32.
const WIDE: f32 = 50.0;

/// Below this E(exp x) the sums of [`weighted`] cancel.
const SPARSE: f64 = 0.05;

/// The sums of squares whose f32 terms are precise.
const PRECISE: std::ops::Range<f64> = 1e-25..1e37;

/// The largest ratio of the sums of squares of both rows for which their cosine is precise: with
/// the ratio of the norms r, relative errors of the sums grow by (1 + r²) / (2 r).
const SIMILAR: f64 = 16.0;

/// The figures in f32. `None` if f32 does not suffice: a value that is not finite, a zero row, very
/// large or small values, norms that differ by more than a factor of 4, or differences above
/// 50 nats.
pub(super) fn figures(a: &[f32], b: &[f32]) -> Option<RowFigures> {
    let one = moments(a, b);
    let [squares_a, squares_b] = one.squares;
    let is_tiny = one.max_delta > 0.0 && one.squared_delta < PRECISE.start;
    if !PRECISE.contains(&squares_a) || !PRECISE.contains(&squares_b) || is_tiny {
        return None;
    }
    let ratio = squares_a / squares_b;
    if !(1.0 / SIMILAR..=SIMILAR).contains(&ratio) {
        return None;
    }
    let shift = b[one.top[0]] - one.largest[0];
    let sums = weighted(a, b, one.largest[0], shift);
    if sums.largest > WIDE {
        return None;
    }
    let kl = divergence(&sums)?;
    Some(RowFigures {
        max_delta: f64::from(one.max_delta),
        index: one.index_of_max_delta(a, b),
        sum_delta: one.sum_delta,
        squared_delta: one.squared_delta,
        cosine: cosine(one.squares, one.squared_delta),
        kl,
        top: one.top,
        margin: f64::from(one.largest[0]) - f64::from(a[one.top[1]]),
    })
}

/// KL(p‖q) = ln E(exp x) − E(x), with the expectation over p and x = ln q − ln p + any constant.
/// `None` if q is much smaller than p nearly everywhere, so that the logarithm would be imprecise.
///
/// E(exp x) is computed as 1 + E(exp x − 1 − x) + E(x). In ln(1 + …) − E(x), errors of a small E(x)
/// cancel, and the result has the small relative error of a sum of positive terms.
fn divergence(sums: &Weighted) -> Option<f64> {
    let [mean, curved] = [sums.shifted, sums.curved].map(|sum| sum / sums.weight);
    let ratio = curved + mean;
    (ratio > SPARSE - 1.0).then(|| (ratio.ln_1p() - mean).max(0.0))
}

#[cfg(test)]
mod tests;

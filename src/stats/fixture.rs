//! Printed perplexities for tests.

/// The cumulative perplexities that an engine prints for these per-chunk losses.
pub(super) fn printed(nll: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    (1..)
        .zip(nll)
        .map(|(k, x): (u32, &f64)| {
            sum += x;
            ((sum / f64::from(k)).exp() * 1e4).round() / 1e4
        })
        .collect()
}

//! The figures of one pair of rows.

/// A figure that every pair of rows has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// The largest |b − a|.
    MaxAbs,
    /// The mean of |b − a|.
    MeanAbs,
    /// The root of the mean of (b − a)².
    Rms,
    /// The cosine of the angle between the rows.
    Cosine,
    /// The Kullback-Leibler divergence KL(a‖b) of the softmax of both rows, in nats.
    Kl,
    /// Whether both rows have their largest value at the same index.
    Top1,
}

impl Figure {
    /// All of them, in the order of reports.
    pub(crate) const ALL: [Self; 6] =
        [Self::MaxAbs, Self::MeanAbs, Self::Rms, Self::Cosine, Self::Kl, Self::Top1];
}

/// The figures of one pair of rows, a (base) and b (candidate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowFigures {
    /// The largest |b − a|.
    pub(super) max_delta: f64,
    /// The first index of it.
    pub(super) index: usize,
    /// The sum of |b − a|.
    pub(super) sum_delta: f64,
    /// The sum of (b − a)².
    pub(super) squared_delta: f64,
    /// −1 … 1. Two zero rows have 1, one zero row has 0.
    pub(super) cosine: f64,
    /// KL(a‖b) in nats, at least 0.
    pub(super) kl: f64,
    /// The first index of the largest value of each.
    pub(super) top: [usize; 2],
    /// How much larger a is at its own top than at b's; 0 if both have the same top.
    pub(super) margin: f64,
}

/// The cosine from Σa², Σb² and Σ(b − a)², by the law of cosines: for close rows its error is far
/// below that of Σab.
pub(super) fn cosine(squares: [f64; 2], squared_delta: f64) -> f64 {
    let [a, b] = squares;
    match (a == 0.0, b == 0.0) {
        (true, true) => 1.0,
        (true, false) | (false, true) => 0.0,
        (false, false) => {
            // For equal rows the root of the product is exact, so that their cosine is 1.
            let product = a * b;
            let norms = if product.is_normal() { product.sqrt() } else { a.sqrt() * b.sqrt() };
            ((a + b - squared_delta) / (2.0 * norms)).clamp(-1.0, 1.0)
        }
    }
}

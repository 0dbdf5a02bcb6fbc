//! Per-chunk losses of a text, from its cumulative perplexities P₁, P₂, …, P_K.
//!
//! ln P_k is the mean negative log-likelihood (nats per token) of the first k chunks. All chunks
//! have the same length, so chunk k alone has
//!
//! ```text
//! nll_k = k·ln P_k − (k−1)·ln P_{k−1}
//! ```
//!
//! Printed values are rounded. The error of P_k is at most h, half a unit of the last digit. The
//! error of ln P_k is ε_k ≈ h/P_k. The error of nll_k is at most k·ε_k + (k−1)·ε_{k−1}, which grows
//! with k. The mean of all nll_k is ln P_K. There all errors but the last cancel, so the mean is
//! taken from ln P_K and not from the chunks. On average, rounding makes the spread of nll_k a
//! little too large.

/// A chunk carries a difference only if it moves by more than this many standard deviations.
const MIN_SIGMA: f64 = 5.0;

/// A chunk carries a difference only if it moves by more than this share of the mean difference.
const MIN_SHARE: f64 = 0.1;

/// The per-chunk losses of one side, from one or more runs over the same text.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunks {
    /// nll_k, nats per token, the mean over the runs.
    nll: Vec<f64>,
    /// ln P_K, the mean over the runs.
    mean: f64,
    /// Standard deviation of one run's nll_k: run-to-run noise or rounding, whichever is larger.
    noise: Vec<f64>,
}

impl Chunks {
    /// From the cumulative perplexities of each run. `None` without runs or chunks, if the runs
    /// differ in their number of chunks, or if a perplexity is not a positive finite number.
    pub fn of(runs: &[&[f64]]) -> Option<Self> {
        let length = runs.first()?.len();
        let is_whole =
            |run: &&[f64]| run.len() == length && run.iter().all(|p| p.is_finite() && *p > 0.0);
        if length == 0 || !runs.iter().all(is_whole) {
            return None;
        }
        let count = runs.len() as f64;
        let over_runs =
            |of: &dyn Fn(&[f64]) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / count;
        let each: Vec<Vec<f64>> = runs.iter().map(|run| nll(run)).collect();
        let nll: Vec<f64> =
            (0..length).map(|k| each.iter().map(|run| run[k]).sum::<f64>() / count).collect();
        let squares =
            each.iter().flat_map(|run| run.iter().zip(&nll)).map(|(x, m)| (x - m).powi(2));
        let freedom = (count - 1.0) * length as f64;
        let repeats = if runs.len() > 1 { squares.sum::<f64>() / freedom } else { 0.0 };
        let half = half_digit(runs[0]);
        let noise = (0..length).map(|k| rounding(runs[0], half, k).max(repeats).sqrt()).collect();
        let mean = over_runs(&|run| run[length - 1].ln());
        Some(Self { nll, mean, noise })
    }

    /// The number of chunks.
    pub fn len(&self) -> usize {
        self.nll.len()
    }

    /// Always false: there is at least one chunk.
    pub fn is_empty(&self) -> bool {
        self.nll.is_empty()
    }

    /// nll_k of each chunk, nats per token.
    pub fn nll(&self) -> &[f64] {
        &self.nll
    }

    /// ln P_K.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Which chunks carry the difference to another reading of the same text: those that move by
    /// more than 5·√(σ_k² + σ′_k²) (5·√2·σ if both sides are equally noisy) and by more than a
    /// tenth of the mean difference. The tenth is for engines that print many digits: there, a
    /// changed order of summation shows in every chunk.
    ///
    /// Rounding alone never passes: its worst case is 2·√3/5 ≈ 0.7 of the first threshold.
    pub fn carrying(&self, other: &Self) -> Vec<bool> {
        let mean = MIN_SHARE * (other.mean - self.mean).abs();
        let differences = self.nll.iter().zip(&other.nll).map(|(a, b)| (b - a).abs());
        let noises = self.noise.iter().zip(&other.noise).map(|(a, b)| a.hypot(*b));
        let carries = |(difference, noise): (f64, f64)| difference > mean.max(MIN_SIGMA * noise);
        differences.zip(noises).map(carries).collect()
    }
}

/// nll_k of each chunk.
fn nll(cumulative: &[f64]) -> Vec<f64> {
    let mut before = 0.0;
    let sums = (1..).zip(cumulative).map(|(k, p): (u32, &f64)| f64::from(k) * p.ln());
    sums.map(|sum| sum - std::mem::replace(&mut before, sum)).collect()
}

/// The largest rounding error: half a unit of the last printed decimal place. The number with the
/// most places counts, since one number in ten ends with a zero by chance.
pub(crate) fn half_digit(printed: &[f64]) -> f64 {
    // Rust's shortest text for a number is the printed text without trailing zeros.
    let places = |x: &f64| x.to_string().split_once('.').map_or(0, |(_, places)| places.len());
    let places = printed.iter().map(places).max().unwrap_or(0);
    0.5 * 10_f64.powi(-i32::try_from(places).unwrap_or(i32::MAX))
}

/// The variance of nll_k (k from 0) due to rounding. An error uniform over ±h has the variance
/// h²/3, and the errors of P_k and P_{k−1} are independent.
fn rounding(cumulative: &[f64], half: f64, k: usize) -> f64 {
    let part = |count: usize| match count.checked_sub(1) {
        Some(at) => (count as f64 * half / cumulative[at]).powi(2) / 3.0,
        None => 0.0,
    };
    part(k + 1) + part(k)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::fixture::printed;

    #[test]
    fn a_worked_example() {
        // P = e, e², e²: sums of nll 1, 4, 6.
        let e = std::f64::consts::E;
        let chunks = Chunks::of(&[&[e, e * e, e * e]]).unwrap();
        for (found, wanted) in chunks.nll().iter().zip([1.0, 3.0, 2.0]) {
            assert!((found - wanted).abs() < 1e-12, "{found}");
        }
        assert!((chunks.mean() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_last_digit_is_found() {
        for (numbers, half) in
            [(vec![7.0, 7.25], 0.005), (vec![17.1041, 16.5], 0.000_05), (vec![3.0], 0.5)]
        {
            assert!((half_digit(&numbers) - half).abs() < 1e-12, "{numbers:?}");
        }
    }

    #[test]
    fn sums_in_another_order_carry_nothing() {
        // Twelve digits, and a millionth more in each chunk; only the last chunk really differs.
        let read = |last: f64, by: f64| {
            let mut sum = 0.0;
            let each = (1..=10).map(|k| if k == 10 { last } else { 2.0 } + by * f64::from(k));
            let after = |(count, nats): (u32, f64)| {
                sum += nats;
                ((sum / f64::from(count)).exp() * 1e12).round() / 1e12
            };
            (1..).zip(each).map(after).collect::<Vec<f64>>()
        };
        let (before, after) = (read(2.0, 0.0), read(2.3, 1e-6));
        let [before, after] = [before, after].map(|run| Chunks::of(&[&run]).unwrap());
        let carrying = before.carrying(&after);
        assert!(carrying[9] && !carrying[..9].contains(&true), "{carrying:?}");
    }

    #[test]
    fn runs_without_valid_perplexities_have_no_chunks() {
        assert_eq!(Chunks::of(&[]), None);
        assert_eq!(Chunks::of(&[&[]]), None);
        assert_eq!(Chunks::of(&[&[1.0, 2.0], &[1.0]]), None);
        assert_eq!(Chunks::of(&[&[1.0, f64::NAN]]), None);
        assert_eq!(Chunks::of(&[&[0.0]]), None);
    }

    #[test]
    fn the_noise_is_that_of_repeats_where_they_vary() {
        let (a, b) = (printed(&[2.0, 2.0]), printed(&[2.1, 2.1]));
        let both = Chunks::of(&[&a, &b]).unwrap();
        // Each chunk is 0.05 from its mean, twice: s² = 4 · 0.0025 / (2 · (2 − 1)).
        for noise in &both.noise {
            assert!((noise - 0.005_f64.sqrt()).abs() < 1e-4, "{noise}");
        }
    }

    fn text() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(0.5..5.0_f64, 1..60)
    }

    proptest! {
        #[test]
        fn what_was_printed_is_found_again_but_for_rounding(nll in text()) {
            let cumulative = printed(&nll);
            let chunks = Chunks::of(&[&cumulative]).unwrap();
            let epsilon = |k: usize| k.checked_sub(1).map_or(0.0, |at| k as f64 * 0.501e-4 / (cumulative[at] - 1e-4));
            for (k, (found, wanted)) in chunks.nll().iter().zip(&nll).enumerate() {
                prop_assert!((found - wanted).abs() <= epsilon(k + 1) + epsilon(k) + 1e-9);
            }
        }

        #[test]
        fn rounding_alone_carries_nothing(nll in text(), nudge in prop::collection::vec(-2e-6..2e-6_f64, 60)) {
            // Moved by less than a digit, so that some printed numbers change.
            let moved: Vec<f64> = nll.iter().zip(nudge).map(|(x, by)| x + by / 60.0).collect();
            let of = |nll: &[f64]| Chunks::of(&[&printed(nll)]).unwrap();
            prop_assume!(half_digit(&printed(&nll)) < 1e-4 && half_digit(&printed(&moved)) < 1e-4);
            prop_assert!(!of(&nll).carrying(&of(&moved)).contains(&true));
        }

        #[test]
        fn a_chunk_that_moved_carries(nll in text(), at in any::<prop::sample::Index>()) {
            let mut moved = nll.clone();
            let at = at.index(nll.len());
            moved[at] += 0.2;
            let of = |nll: &[f64]| Chunks::of(&[&printed(nll)]).unwrap();
            let carrying = of(&nll).carrying(&of(&moved));
            prop_assert!(carrying[at]);
            prop_assert_eq!(carrying.iter().filter(|carries| **carries).count(), 1);
        }
    }
}

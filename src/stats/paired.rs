//! The difference of two readings of one text, with confidence intervals over its chunks.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Chunks, variance};

/// `after` minus `before`, in nats per token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// ln P′_K − ln P_K.
    pub mean: f64,
    /// The confidence interval from the chunk-by-chunk differences.
    pub paired: [f64; 2],
    /// The unpaired confidence interval, as if the two had read different texts.
    pub plain: [f64; 2],
}

/// The difference of two readings of the same K chunks. The intervals, at this confidence (for
/// example 0.95), cover the choice of the text, not the run-to-run noise.
///
/// Paired (Student 1908): d_k = nll′_k − nll_k, D̄ = ln P′_K − ln P_K,
/// D̄ ± t_{(1+c)/2, K−1}·s_D/√K with s_D² = Σ(d_k − mean d)²/(K−1).
/// Plain (Welch 1947): D̄ ± t_{(1+c)/2, ν}·√((s² + s′²)/K), ν = (K−1)·(s² + s′²)²/(s⁴ + s′⁴).
/// Assumes independent chunks; neighbours in one document are not quite independent.
///
/// If all chunks move alike, the paired interval is the mean itself. `None` for fewer than two
/// chunks, or if the numbers of chunks differ.
pub fn difference(before: &Chunks, after: &Chunks, confidence: f64) -> Option<Difference> {
    let count = before.len();
    if count < 2 || after.len() != count {
        return None;
    }
    let middle = after.mean() - before.mean();
    let each: Vec<f64> = after.nll().iter().zip(before.nll()).map(|(a, b)| a - b).collect();
    let around = |half: f64| [middle - half, middle + half];
    let freedom = count as f64 - 1.0;

    let paired = around(half_width(variance(&each), freedom, count, confidence));
    let (own, theirs) = (variance(after.nll()), variance(before.nll()));
    let welch = freedom * (own + theirs).powi(2) / (own.powi(2) + theirs.powi(2));
    let plain = around(half_width(own + theirs, welch, count, confidence));
    Some(Difference { mean: middle, paired, plain })
}

/// t·√(variance/count); 0 if the variance is 0, for any degrees of freedom.
fn half_width(variance: f64, freedom: f64, count: usize, confidence: f64) -> f64 {
    if variance == 0.0 {
        return 0.0;
    }
    student_quantile(f64::midpoint(1.0, confidence), freedom) * (variance / count as f64).sqrt()
}

/// The quantile of Student's t distribution.
pub(crate) fn student_quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Chunks with exactly these losses: from cumulative perplexities with all digits.
    fn chunks(nll: &[f64]) -> Chunks {
        let mut sum = 0.0;
        let cumulative: Vec<f64> = (1..)
            .zip(nll)
            .map(|(k, x): (u32, &f64)| {
                sum += x;
                (sum / f64::from(k)).exp()
            })
            .collect();
        Chunks::of(&[&cumulative]).unwrap()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
    }

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
        for (p, freedom, published) in [
            (0.975, 1.0, 12.706),
            (0.975, 5.0, 2.571),
            (0.975, 10.0, 2.228),
            (0.995, 10.0, 3.169),
            (0.95, 23.0, 1.714),
            (0.975, 100.0, 1.984),
        ] {
            let found = student_quantile(p, freedom);
            assert!((found - published).abs() < 5e-4, "{p} {freedom}: {found}");
        }
    }

    #[test]
    fn a_worked_example() {
        // nll 1, 2, 3 become 1.1, 2.2, 3.6: d = 0.1, 0.2, 0.6, D̄ = 0.3, s_D² = 0.07.
        let found = difference(&chunks(&[1.0, 2.0, 3.0]), &chunks(&[1.1, 2.2, 3.6]), 0.95).unwrap();
        assert!(close(found.mean, 0.3), "{found:?}");
        // t_{0.975, 2} = 4.30265; half = 4.30265 · √(0.07 / 3) = 0.65724.
        assert!((found.paired[0] - (0.3 - 0.657_24)).abs() < 1e-4, "{found:?}");
        // s² = 1, s′² = 1.57, ν = 2 · 2.57² / (1 + 2.4649) = 3.8125; t = 2.8288 (between the
        // tables' 3.182 for 3 and 2.776 for 4); half = t · √(2.57 / 3).
        let half = (found.plain[1] - found.plain[0]) / 2.0;
        let t = half / (2.57_f64 / 3.0).sqrt();
        assert!(t > 2.776 && t < 3.182, "{t}");
        assert!(close(f64::midpoint(found.plain[0], found.plain[1]), 0.3));
    }

    #[test]
    fn chunks_that_all_move_alike_have_no_spread() {
        // A text against itself: every difference is exactly 0.
        let e = std::f64::consts::E;
        let same = Chunks::of(&[&[e, e]]).unwrap();
        let found = difference(&same, &same, 0.95).unwrap();
        let ends = [found.paired, found.plain].concat();
        assert!(ends.iter().all(|end| end.to_bits() == 0.0_f64.to_bits()), "{found:?}");
        let found = difference(&chunks(&[1.0, 2.0]), &chunks(&[1.5, 2.5]), 0.95).unwrap();
        assert!(close(found.paired[0], 0.5) && close(found.paired[1], 0.5), "{found:?}");
        assert!(found.plain[1] - found.plain[0] > 1.0);
    }

    #[test]
    fn one_chunk_has_no_interval() {
        assert_eq!(difference(&chunks(&[1.0]), &chunks(&[2.0]), 0.95), None);
        assert_eq!(difference(&chunks(&[1.0; 3]), &chunks(&[2.0; 2]), 0.95), None);
    }

    fn pair() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        prop::collection::vec((0.5..5.0_f64, -0.5..0.5_f64), 2..40)
            .prop_map(|pairs| pairs.into_iter().map(|(x, d)| (x, x + d)).unzip())
    }

    fn ends(of: [f64; 2], by: f64) -> [f64; 2] {
        of.map(|x| x + by)
    }

    proptest! {
        #[test]
        fn the_order_of_the_pairs_is_irrelevant((a, b) in pair(), by in 0..40_usize) {
            let turned = |x: &[f64]| {
                let mut x = x.to_vec();
                let by = by % x.len();
                x.rotate_left(by);
                x
            };
            let here = difference(&chunks(&a), &chunks(&b), 0.95).unwrap();
            let there = difference(&chunks(&turned(&a)), &chunks(&turned(&b)), 0.95).unwrap();
            prop_assert!(close(here.mean, there.mean));
            for (x, y) in here.paired.iter().chain(&here.plain).zip(there.paired.iter().chain(&there.plain)) {
                prop_assert!((x - y).abs() < 1e-6, "{here:?} {there:?}");
            }
        }

        #[test]
        fn rotating_one_side_keeps_the_mean_and_the_plain_interval((a, b) in pair()) {
            let mut turned = b.clone();
            turned.rotate_left(1);
            let here = difference(&chunks(&a), &chunks(&b), 0.95).unwrap();
            let there = difference(&chunks(&a), &chunks(&turned), 0.95).unwrap();
            prop_assert!(close(here.mean, there.mean));
            prop_assert!((here.plain[0] - there.plain[0]).abs() < 1e-6);
        }

        #[test]
        fn a_shift_moves_both_intervals((a, b) in pair(), by in 0.0..1.0_f64) {
            let shifted: Vec<f64> = b.iter().map(|x| x + by).collect();
            let here = difference(&chunks(&a), &chunks(&b), 0.95).unwrap();
            let there = difference(&chunks(&a), &chunks(&shifted), 0.95).unwrap();
            prop_assert!(close(here.mean + by, there.mean));
            for (x, y) in ends(here.paired, by).into_iter().chain(ends(here.plain, by)).zip(there.paired.into_iter().chain(there.plain)) {
                prop_assert!((x - y).abs() < 1e-6);
            }
        }

        #[test]
        fn swapping_the_sides_flips_the_sign((a, b) in pair()) {
            let here = difference(&chunks(&a), &chunks(&b), 0.95).unwrap();
            let there = difference(&chunks(&b), &chunks(&a), 0.95).unwrap();
            let flipped = |[low, high]: [f64; 2]| [-high, -low];
            prop_assert!(close(here.mean, -there.mean));
            for (x, y) in here.paired.into_iter().chain(here.plain).zip(flipped(there.paired).into_iter().chain(flipped(there.plain))) {
                prop_assert!((x - y).abs() < 1e-9);
            }
        }

        #[test]
        fn more_confidence_is_a_wider_interval((a, b) in pair()) {
            let at = |confidence| difference(&chunks(&a), &chunks(&b), confidence).unwrap();
            let width = |[low, high]: [f64; 2]| high - low;
            prop_assert!(width(at(0.99).paired) >= width(at(0.9).paired));
            prop_assert!(width(at(0.99).plain) >= width(at(0.9).plain));
        }
    }
}

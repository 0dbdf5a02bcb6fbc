//! The threshold between two groups of samples that do not overlap.

use super::median;

/// On which side of the threshold the bad samples lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadSide {
    /// Bad is larger.
    Above,
    /// Bad is smaller.
    Below,
}

/// A value between good and bad samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// The value, in the samples' unit. It never equals a bad sample, and equals a good sample
    /// only if the midpoint of the medians is outside the gap or the gap is very narrow.
    pub at: f64,
    /// On which side the bad samples are.
    pub bad: BadSide,
}

#[cfg(test)]
impl Threshold {
    /// Whether `x` is on the bad side; false for the threshold itself and for NaN.
    fn is_bad(&self, x: f64) -> bool {
        match self.bad {
            BadSide::Above => x > self.at,
            BadSide::Below => x < self.at,
        }
    }
}

/// The threshold between two groups, if all bad samples are strictly above all good ones, or all
/// strictly below.
///
/// With bad above, t = (median(good) + median(bad))/2, clamped into the gap [max(good), min(bad));
/// with bad below, the mirror image. Every sample therefore stays on its own side, even if a group
/// is skewed.
///
/// `None` if the groups overlap or touch, if one is empty, or if a sample is not finite.
pub(crate) fn separation(good: &[f64], bad: &[f64]) -> Option<Threshold> {
    if let Some(at) = below(good, bad) {
        return Some(Threshold { at, bad: BadSide::Above });
    }
    let mirrored = |samples: &[f64]| samples.iter().map(|x| -x).collect::<Vec<_>>();
    let at = -below(&mirrored(good), &mirrored(bad))?;
    Some(Threshold { at, bad: BadSide::Below })
}

/// The threshold, if all of `low` is strictly below all of `high`.
fn below(low: &[f64], high: &[f64]) -> Option<f64> {
    if !low.iter().chain(high).all(|x| x.is_finite()) {
        return None;
    }
    let highest = low.iter().copied().reduce(f64::max)?;
    let lowest = high.iter().copied().reduce(f64::min)?;
    let middle = f64::midpoint(median(low)?, median(high)?);
    (highest < lowest).then(|| middle.clamp(highest, lowest.next_down()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn worked_examples() {
        let at = |good: &[f64], bad: &[f64]| separation(good, bad).map(|t| (t.at, t.bad));
        assert_eq!(at(&[1.0, 2.0], &[8.0, 9.0]), Some((5.0, BadSide::Above)));
        assert_eq!(at(&[8.0, 9.0], &[1.0, 2.0]), Some((5.0, BadSide::Below)));
        // The midpoint of the medians (5.5) is among the good samples, so it is clamped to the gap.
        assert_eq!(at(&[1.0, 1.0, 9.0], &[10.0]), Some((9.0, BadSide::Above)));
        // The midpoint is among the bad samples: clamped to just below the smallest bad one.
        let edge = separation(&[1.0], &[2.0, 10.0, 10.0]).unwrap();
        assert!(edge.is_bad(2.0) && !edge.is_bad(1.999_999));
        assert!(!edge.is_bad(f64::NAN));
    }

    #[test]
    fn what_does_not_separate() {
        for (good, bad) in [
            (vec![1.0, 3.0], vec![2.0, 4.0]),
            (vec![1.0, 2.0], vec![2.0, 3.0]),
            (vec![1.0, 4.0], vec![2.0, 3.0]),
            (vec![], vec![1.0]),
            (vec![1.0], vec![]),
            (vec![1.0], vec![2.0, f64::NAN]),
            (vec![1.0], vec![f64::INFINITY]),
        ] {
            assert_eq!(separation(&good, &bad), None, "{good:?} {bad:?}");
        }
    }

    /// Whole numbers, so that shifting and doubling is exact. Half of the pairs of groups do not
    /// overlap.
    fn groups() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        let group = || prop::collection::vec((-20_i32..20).prop_map(f64::from), 1..6);
        (group(), group(), prop::sample::select(vec![0.0, -50.0, 50.0]))
            .prop_map(|(good, bad, apart)| (good, bad.into_iter().map(|x| x + apart).collect()))
    }

    proptest! {
        #[test]
        fn every_sample_stays_on_its_side((good, bad) in groups()) {
            if let Some(threshold) = separation(&good, &bad) {
                prop_assert!(bad.iter().all(|&x| threshold.is_bad(x)));
                prop_assert!(!good.iter().any(|&x| threshold.is_bad(x)));
            } else {
                let apart =
                    |low: &[f64], high: &[f64]| low.iter().all(|l| high.iter().all(|h| l < h));
                prop_assert!(!apart(&good, &bad) && !apart(&bad, &good));
            }
        }

        #[test]
        fn it_moves_with_the_samples((good, bad) in groups(), shift in -100_i32..100, double in 0..5) {
            let map = |x: f64| x * f64::from(1 << double) + f64::from(shift);
            let all = |samples: &[f64]| samples.iter().map(|&x| map(x)).collect::<Vec<_>>();
            let (before, after) = (separation(&good, &bad), separation(&all(&good), &all(&bad)));
            prop_assert_eq!(before.map(|t| t.bad), after.map(|t| t.bad));
            if let (Some(before), Some(after)) = (before, after) {
                prop_assert!((map(before.at) - after.at).abs() < 1e-9);
            }
        }

        #[test]
        fn a_mirror_swaps_the_sides((good, bad) in groups()) {
            let mirrored = |x: &[f64]| x.iter().map(|x| -x).collect::<Vec<_>>();
            let there = separation(&good, &bad);
            let back = separation(&mirrored(&good), &mirrored(&bad));
            prop_assert_eq!(there.map(|t| t.at), back.map(|t| -t.at));
            prop_assert!(there.zip(back).is_none_or(|(a, b)| a.bad != b.bad));
        }

        #[test]
        fn order_is_irrelevant(
            (good, bad, shuffled) in groups().prop_flat_map(|(good, bad)| {
                let shuffled = (Just(good.clone()).prop_shuffle(), Just(bad.clone()).prop_shuffle());
                (Just(good), Just(bad), shuffled)
            }),
        ) {
            prop_assert_eq!(separation(&good, &bad), separation(&shuffled.0, &shuffled.1));
        }
    }
}

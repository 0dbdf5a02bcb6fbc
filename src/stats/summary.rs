//! Location and spread of a few samples.

/// Factor from the median absolute deviation to the standard deviation of normal noise:
/// 1/Φ⁻¹(3/4).
const NORMAL: f64 = 1.4826;

/// The smallest and the largest sample, without NaN unless all are NaN; `None` without samples.
pub(crate) fn min_max(samples: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let each = samples.into_iter().map(|x| [x, x]);
    each.reduce(|[least, most], [x, _]| [least.min(x), most.max(x)])
}

/// Σx/n; `None` without samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// Σ(x − x̄)²/(n − 1), of at least two numbers.
pub(crate) fn variance(samples: &[f64]) -> f64 {
    let middle = mean(samples).unwrap_or(0.0);
    let squares: f64 = samples.iter().map(|x| (x - middle).powi(2)).sum();
    squares / (samples.len() as f64 - 1.0)
}

/// The median: with an even number of samples, the midpoint of the two middle ones. `None` without
/// samples.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(sorted[sorted.len() / 2 - 1], upper))
}

/// How many runs have a mean that varies as much as the median of `n` runs, in normal noise:
/// 1 + (n − 1)·2/π. Exact for one run, and for many (the variance of a median is πσ²/2n). In between
/// within 2 % for an odd n, and up to 18 % too small for an even one.
pub(crate) fn runs_of_equal_mean(n: usize) -> f64 {
    1.0 + (n.max(1) - 1) as f64 * std::f64::consts::FRAC_2_PI
}

/// The winsorised mean. Each sample is first moved to within 3 MAD of the median m, where MAD =
/// 1.4826 · median|x − m|. One disturbed run changes this mean little.
///
/// With fewer than four samples, none can be called an outlier: the plain mean. If MAD = 0 (more
/// than half of the samples are equal): the median. `None` without samples.
pub(crate) fn winsorised_mean(samples: &[f64]) -> Option<f64> {
    if samples.len() < 4 {
        return mean(samples);
    }
    let middle = median(samples)?;
    let distances: Vec<f64> = samples.iter().map(|x| (x - middle).abs()).collect();
    let reach = 3.0 * NORMAL * median(&distances)?;
    if reach == 0.0 {
        // The computed mean of ten values 0.1 is not exactly 0.1, but their median is.
        return Some(middle);
    }
    let moved: Vec<f64> = samples.iter().map(|x| x.clamp(middle - reach, middle + reach)).collect();
    mean(&moved)
}

/// The pooled winsorised standard deviation of one sample about its group's level, from k groups.
/// Each deviation r is first moved to within 3 MAD of zero: s² = c² Σ min(|r|, 3m)² / (n − k) with
/// m = 1.4826 · median|r| · √(n/(n − k)). The factor c = 1.02 corrects the loss for normal noise.
/// A group's level is its [`winsorised_mean`].
///
/// If m = 0 (more than half of the samples equal their group's level), nothing is moved and
/// c = 1. `None` unless there are more samples than non-empty groups.
pub(crate) fn winsorised_sd(groups: &[&[f64]]) -> Option<f64> {
    let mut distances = Vec::new();
    let mut levels = 0;
    for group in groups {
        let Some(centre) = winsorised_mean(group) else { continue };
        distances.extend(group.iter().map(|x| (x - centre).abs()));
        levels += 1;
    }
    let (n, freedom) = (distances.len() as f64, distances.len().checked_sub(levels)? as f64);
    if freedom <= 0.0 {
        return None;
    }
    let scale = NORMAL * median(&distances)? * (n / freedom).sqrt();
    let moved = |x: &f64| if scale > 0.0 { x.min(3.0 * scale) } else { *x };
    let squares: f64 = distances.iter().map(|x| moved(x).powi(2)).sum();
    let correction = if scale > 0.0 { 1.02 } else { 1.0 };
    Some(correction * (squares / freedom).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
    }

    #[test]
    fn worked_examples() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(winsorised_mean(&[]), None);
        assert_eq!(winsorised_mean(&[1.0, 2.0, 600.0]), Some(201.0));
        assert_eq!(winsorised_mean(&[5.0, 5.0, 5.0, 9.0]), Some(5.0));
        assert_eq!(winsorised_mean(&[0.1; 10]), Some(0.1));
        // Median 3, MAD 1.4826: 1000 is moved to 3 + 3 · 1.4826.
        let moved = winsorised_mean(&[1.0, 2.0, 3.0, 4.0, 1000.0]).unwrap();
        assert!(close(moved, (1.0 + 2.0 + 3.0 + 4.0 + 3.0 + 3.0 * 1.4826) / 5.0), "{moved}");
        // Deviations 1, 1 and 2, 0, 2, without outliers: s² = 1.02² (2 + 8) / (5 − 2).
        let sd = winsorised_sd(&[&[1.0, 3.0], &[10.0, 12.0, 14.0], &[]]).unwrap();
        assert!(close(sd, 1.02 * (10.0_f64 / 3.0).sqrt()), "{sd}");
        assert_eq!(winsorised_sd(&[&[1.0], &[2.0]]), None);
        assert_eq!(winsorised_sd(&[]), None);
        // Equal samples have no deviation. A single outlier among equal samples is not moved.
        assert_eq!(winsorised_sd(&[&[5.0; 4], &[6.0; 4]]), Some(0.0));
        let stray = winsorised_sd(&[&[5.0, 5.0, 5.0, 5.0, 7.0]]).unwrap();
        assert!(close(stray, 1.0), "{stray}");
    }

    #[test]
    fn the_median_varies_more_than_the_mean() {
        // Variances of the median of n standard normal numbers: Sarhan and Greenberg,
        // *Contributions to Order Statistics*, 1962.
        for (n, variance) in [(1, 1.0), (2, 0.5), (3, 0.4487), (4, 0.2982), (5, 0.2868)] {
            let ratio = runs_of_equal_mean(n) * variance;
            assert!((0.81..1.03).contains(&ratio), "{n}: {ratio}");
            assert!(runs_of_equal_mean(n) <= n as f64);
        }
        assert!(runs_of_equal_mean(0) > 0.0);
        let many = runs_of_equal_mean(1000) / 1000.0;
        assert!((many - std::f64::consts::FRAC_2_PI).abs() < 1e-3, "{many}");
    }

    fn samples() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-100.0..100.0_f64, 1..20)
    }

    proptest! {
        #[test]
        fn location_moves_with_the_samples(x in samples(), shift in -50.0..50.0_f64, scale in 0.1..10.0_f64) {
            let moved: Vec<f64> = x.iter().map(|x| x * scale + shift).collect();
            for location in [mean, median, winsorised_mean] {
                let (before, after) = (location(&x).unwrap(), location(&moved).unwrap());
                prop_assert!(close(before * scale + shift, after), "{before} {after}");
            }
        }

        #[test]
        fn spread_only_scales(x in samples(), y in samples(), shift in -50.0..50.0_f64, scale in 0.1..10.0_f64) {
            let moved: Vec<f64> = x.iter().map(|x| x * scale + shift).collect();
            let scaled: Vec<f64> = y.iter().map(|y| y * scale).collect();
            let (before, after) = (winsorised_sd(&[&x, &y]), winsorised_sd(&[&moved, &scaled]));
            prop_assert_eq!(before.is_some(), after.is_some());
            prop_assert!(close(before.unwrap_or(0.0) * scale, after.unwrap_or(0.0)));
        }

        #[test]
        fn order_is_irrelevant(
            (x, shuffled) in samples().prop_flat_map(|x| (Just(x.clone()), Just(x).prop_shuffle())),
        ) {
            prop_assert_eq!(median(&x), median(&shuffled));
            prop_assert!(close(winsorised_mean(&x).unwrap(), winsorised_mean(&shuffled).unwrap()));
            let sd = |x: &[f64]| winsorised_sd(&[x]).unwrap_or(0.0);
            prop_assert!(close(sd(&x), sd(&shuffled)));
        }

        #[test]
        fn one_wild_sample_moves_the_winsorised_mean_by_a_bounded_step(
            x in prop::collection::vec(-1.0..1.0_f64, 4..20),
            wild in 1e3..1e9_f64,
        ) {
            let with = |last: f64| winsorised_mean(&[x.as_slice(), &[last]].concat()).unwrap();
            // Beyond the bound, the distance of the outlier does not matter.
            prop_assert!(close(with(wild), with(2.0 * wild)));
            prop_assert!(with(wild).abs() < 10.0);
        }
    }
}

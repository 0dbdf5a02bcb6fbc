//! The rank correlation of two series.

/// Spearman's rank correlation of two series of equal length: Pearson's correlation of the ranks,
/// where equal values get their mean rank; −1 … 1. `None` for fewer than three pairs, or if all
/// values of a series are equal. Source: C. Spearman, "The proof and measurement of association
/// between two things", American Journal of Psychology 15(1), 1904.
pub(crate) fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 3 {
        return None;
    }
    let (a, b) = (ranks(a), ranks(b));
    let mean = f64::midpoint(a.len() as f64, 1.0);
    let sum = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (spread > 0.0).then(|| sum(&a, &b) / spread)
}

/// The rank of each value, from 1.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|x, y| values[*x].total_cmp(&values[*y]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let is_equal =
            |place: &usize| values[order[*place]].total_cmp(&values[order[first]]).is_eq();
        let count = (first..order.len()).take_while(is_equal).count();
        for place in first..first + count {
            ranks[order[place]] = first as f64 + f64::midpoint(count as f64, 1.0);
        }
        first += count;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_order_counts() {
        let near = |a: &[f64], b: &[f64], wanted: f64| {
            let found = rank_correlation(a, b).unwrap();
            assert!((found - wanted).abs() < 1e-12, "{found}");
        };
        near(&[4.0, 3.0, 2.5, 2.4], &[40.0, 30.0, 3.0, 2.0], 1.0);
        near(&[4.0, 3.0, 2.0], &[1.0, 2.0, 3.0], -1.0);
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / √(4.5 · 5).
        near(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0], 4.5 / 22.5_f64.sqrt());
        assert_eq!(rank_correlation(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(rank_correlation(&[1.0, 2.0], &[1.0, 2.0]), None);
    }

    proptest! {
        #[test]
        fn it_is_symmetric_and_bounded(pairs in prop::collection::vec((-9_i32..9, -9_i32..9), 3..40)) {
            let (a, b): (Vec<f64>, Vec<f64>) =
                pairs.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).unzip();
            let found = rank_correlation(&a, &b);
            prop_assert_eq!(found, rank_correlation(&b, &a));
            prop_assert!(found.is_none_or(|found| (-1.0 - 1e-12..=1.0 + 1e-12).contains(&found)));
        }
    }
}

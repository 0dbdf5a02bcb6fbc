//! How surely one group of samples lies beyond another, whatever their distribution.

use super::Side;

/// More samples than this are not enumerated; the groups of a confirmation have five each.
const MOST: usize = 20;

/// One minus the probability that two groups drawn from one distribution would part at least
/// as cleanly by chance: 1 − P(U ≥ u), U the Mann–Whitney statistic over all C(n + m, m) ways
/// to split the pooled samples (an exact permutation test; Mann and Whitney 1947, ties counted
/// half). Five samples wholly beyond five others give 1 − 1/252.
///
/// 0 when a group is empty, when samples are not finite, or when there are more than 20.
pub fn rank_confidence(reference: &[f64], samples: &[f64], beyond: Side) -> f64 {
    let pooled: Vec<f64> = reference.iter().chain(samples).copied().collect();
    let is_usable = !reference.is_empty()
        && !samples.is_empty()
        && pooled.len() <= MOST
        && pooled.iter().all(|x| x.is_finite());
    if !is_usable {
        return 0.0;
    }
    let observed = statistic(reference, samples, beyond);
    let (mut total, mut as_clean) = (0_u64, 0_u64);
    for mask in 0_u32..1 << pooled.len() {
        if mask.count_ones() as usize != samples.len() {
            continue;
        }
        let pick = |wanted: bool| -> Vec<f64> {
            let is_in = |i: &usize| (mask >> i & 1 == 1) == wanted;
            (0..pooled.len()).filter(is_in).map(|i| pooled[i]).collect()
        };
        total += 1;
        as_clean += u64::from(statistic(&pick(false), &pick(true), beyond) >= observed);
    }
    1.0 - as_clean as f64 / total as f64
}

/// Pairs in which the sample lies beyond the reference, ties counted half; in halves.
fn statistic(reference: &[f64], samples: &[f64], beyond: Side) -> u64 {
    let halves = |a: f64, b: f64| match (b > a, b < a, beyond) {
        (true, _, Side::Above) | (_, true, Side::Below) => 2,
        (false, false, _) => 1,
        _ => 0,
    };
    reference.iter().flat_map(|a| samples.iter().map(move |b| halves(*a, *b))).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn five_beyond_five_is_one_way_in_252() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        let expected = 1.0 - 1.0 / 252.0;
        assert!((rank_confidence(&a, &b, Side::Above) - expected).abs() < 1e-12);
        assert!((rank_confidence(&b, &a, Side::Below) - expected).abs() < 1e-12);
        assert!(rank_confidence(&b, &a, Side::Above) < 1e-12);
    }

    #[test]
    fn equal_groups_prove_nothing() {
        assert!(rank_confidence(&[1.0; 5], &[1.0; 5], Side::Above) < 1e-12);
        assert!(rank_confidence(&[], &[1.0], Side::Above) < 1e-12);
        assert!(rank_confidence(&[f64::NAN], &[1.0], Side::Above) < 1e-12);
    }

    proptest! {
        #[test]
        fn order_shift_and_scale_change_nothing(
            mut a in prop::collection::vec(-100_i32..100, 1..6),
            b in prop::collection::vec(-100_i32..100, 1..6),
            shift in -50_i32..50,
        ) {
            let real = |values: &[i32], k: f64| -> Vec<f64> {
                values.iter().map(|x| f64::from(x + shift) * k).collect()
            };
            let before = rank_confidence(&real(&a, 1.0), &real(&b, 1.0), Side::Above);
            a.reverse();
            let after = rank_confidence(&real(&a, 4.0), &real(&b, 4.0), Side::Above);
            prop_assert_eq!(before.to_bits(), after.to_bits());
            let mirrored = rank_confidence(&real(&a, -1.0), &real(&b, -1.0), Side::Below);
            prop_assert_eq!(before.to_bits(), mirrored.to_bits());
        }
    }
}

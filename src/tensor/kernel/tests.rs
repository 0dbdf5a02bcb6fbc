#![allow(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "exact values are expected, and small numbers are cast"
)]

use proptest::prelude::*;

use super::*;

/// Points between two bounds, about 400,000.
fn points(from: f32, to: f32) -> impl Iterator<Item = f32> {
    const POINTS: u32 = 400_001;
    (0..=POINTS).map(move |i| from + (to - from) * (f64::from(i) / f64::from(POINTS)) as f32)
}

#[test]
fn exp_has_the_error_that_is_documented() {
    let error = |x: f32| (f64::from(exponential(x)) / f64::from(x).exp() - 1.0).abs();
    let worst = points(-87.0, 0.0).map(error).fold(0.0, f64::max);
    assert!(worst < 3e-7, "{worst:e}");
    assert_eq!(exponential(0.0), 1.0);
    assert_eq!(exponential(-1e30), exponential(-87.0));
}

#[test]
fn curvature_has_the_error_that_is_documented() {
    let exact = |x: f64| {
        // The series, where the formula cancels.
        if x.abs() < 0.01 {
            return x * x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x / 120.0)));
        }
        x.exp_m1() - x
    };
    let error = |x: f32| {
        let exact = exact(f64::from(x));
        if exact == 0.0 { 0.0 } else { (f64::from(curvature(x)) / exact - 1.0).abs() }
    };
    for (from, to) in [(-87.0, 88.0), (-2.0, 2.0), (-1e-3, 1e-3), (-1e-9, 1e-9)] {
        let worst = points(from, to).map(error).fold(0.0, f64::max);
        assert!(worst < 1e-6, "{from} … {to}: {worst:e}");
    }
    assert_eq!(curvature(0.0), 0.0);
}

proptest! {
    #[test]
    fn a_small_difference_from_the_shift_is_precise(
        a in -20.0_f32..20.0, shift in -5.0_f32..5.0, x in -1e-3_f32..1e-3,
    ) {
        let b = a + shift + x;
        let expected = f64::from(b) - f64::from(a) - f64::from(shift);
        let found = f64::from(shifted_difference(b, a, shift));
        prop_assert!((found - expected).abs() <= 1.2e-7 * expected.abs(), "{found} {expected}");
    }
}

#[test]
fn sums_and_extremes_are_found_in_any_part_of_a_row() {
    for length in [1, 2, LANES - 1, LANES, LANES + 1, BLOCK, BLOCK + 7, 3 * BLOCK + LANES + 3] {
        for place in [0, length / 2, length - 1] {
            let mut a = vec![1.0_f32; length];
            let mut b = vec![1.5_f32; length];
            a[place] = 3.0;
            b[place] = 2.0;
            let found = moments(&a, &b);
            assert_eq!((found.largest, found.top), ([3.0, 2.0], [place, place]));
            assert_eq!((found.max_delta, found.index_of_max_delta(&a, &b)), (1.0, place));
            let others = (length - 1) as f64;
            assert_eq!(found.sum_delta, 0.5 * others + 1.0);
            assert_eq!(found.squared_delta, 0.25 * others + 1.0);
            assert_eq!(found.squares, [others + 9.0, 2.25 * others + 4.0]);
            let sums = weighted(&a, &b, 3.0, -1.0);
            let weight = (-2.0_f64).exp();
            assert!((sums.weight - (1.0 + weight * others)).abs() < 1e-6 * sums.weight);
            assert!((sums.shifted - 1.5 * weight * others).abs() < 1e-5 * sums.weight);
            let curved = (1.5_f64.exp() - 2.5) * weight * others;
            assert!((sums.curved - curved).abs() < 1e-5 * sums.weight);
            assert_eq!(sums.largest, if length == 1 { 0.0 } else { 1.5 });
        }
    }
}

#[test]
fn the_first_of_equal_values_is_the_top() {
    let a = vec![2.0; 5 * BLOCK];
    let found = moments(&a, &a);
    assert_eq!((found.top, found.max_delta), ([0, 0], 0.0));
    let mut b = a.clone();
    for place in [BLOCK + 900, BLOCK + 40, 4 * BLOCK] {
        b[place] = 5.0;
    }
    let found = moments(&a, &b);
    assert_eq!((found.top[1], found.index_of_max_delta(&a, &b)), (BLOCK + 40, BLOCK + 40));
}

#[test]
fn what_is_not_finite_shows_in_the_squares() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in [0, 17, BLOCK + 5] {
            let mut a = vec![1.0; BLOCK + 6];
            a[place] = bad;
            let found = moments(&vec![1.0; BLOCK + 6], &a);
            assert!(!found.squares[1].is_finite() && found.squares[0].is_finite());
        }
    }
}

#![allow(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "exact values are expected, and small numbers are cast"
)]

use proptest::prelude::*;

use super::super::exact::{self, Row};
use super::*;

/// The figures by their definitions, in f64: max |Δ|, Σ|Δ|, ΣΔ², cosine, KL.
fn defined(a: &[f32], b: &[f32]) -> [f64; 5] {
    let [a, b] = [a, b].map(|row| row.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>());
    let log_softmax = |row: &[f64]| {
        let largest = row.iter().copied().fold(f64::MIN, f64::max);
        let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
        row.iter().map(|x| x - largest - sum.ln()).collect::<Vec<f64>>()
    };
    let (log_p, log_q) = (log_softmax(&a), log_softmax(&b));
    let delta: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b - a).abs()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    [
        delta.iter().copied().fold(0.0, f64::max),
        delta.iter().sum(),
        dot(&delta, &delta),
        dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt(),
        log_p.iter().zip(&log_q).map(|(p, q)| p.exp() * (p - q)).sum(),
    ]
}

/// Fails if figures differ from the definitions by more than docs/logits.md says.
fn assert_precise(found: &RowFigures, expected: [f64; 5], what: &str) {
    let [max_delta, sum_delta, squared_delta, cosine, kl] = expected;
    let is_close = |found: f64, expected: f64, relative: f64, absolute: f64| {
        assert!(
            (found - expected).abs() <= relative * expected.abs() + absolute,
            "{what}: {found} {expected}"
        );
    };
    is_close(found.max_delta, max_delta, 1e-7, 0.0);
    is_close(found.sum_delta, sum_delta, 2e-6, 0.0);
    is_close(found.squared_delta, squared_delta, 2e-6, 0.0);
    is_close(found.cosine, cosine, 0.0, 2e-6);
    is_close(found.kl, kl, 1e-5, 1e-10);
}

/// A row of logits and how the other row differs: the scales of both, and a shift of all values.
/// Half of the rows are short: there, rounding errors do not average out.
fn rows() -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
    let scale = prop_oneof![Just(0.0_f32), Just(1e-4), Just(0.01), Just(0.3), Just(3.0)];
    let length = prop_oneof![2..8_usize, 1..2500_usize];
    let values = (-1.0_f32..1.0, -1.0_f32..1.0);
    let row = length.prop_flat_map(move |length| prop::collection::vec(values.clone(), length));
    (row, 0.5_f32..15.0, scale, -4.0_f32..4.0).prop_map(|(row, height, scale, shift)| {
        let a: Vec<f32> = row.iter().map(|(x, _)| height * x).collect();
        let b = row.iter().zip(&a).map(|((_, noise), a)| a + scale * noise + shift).collect();
        (a, b)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn both_ways_agree_with_the_definitions((a, b) in rows()) {
        // The definition of the cosine knows no zero rows.
        prop_assume!([&a, &b].iter().all(|row| row.iter().any(|x| *x != 0.0)));
        let expected = defined(&a, &b);
        if let Some(found) = figures(&a, &b) {
            assert_precise(&found, expected, "f32");
        }
        let [a, b] = [&a, &b].map(|row| row.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>());
        let Row::Figures(found, masked) = exact::figures(&a, &b) else { panic!("all is finite") };
        prop_assert_eq!(masked, 0);
        assert_precise(&found, expected, "f64");
    }
}

#[test]
fn usual_rows_are_computed_in_f32() {
    let a: Vec<f32> = (0..5000).map(|i| (f32::from(i as i16) * 0.37).sin() * 9.0).collect();
    let b: Vec<f32> = a.iter().map(|x| x + (x * 99.0).sin()).collect();
    let found = figures(&a, &b).unwrap();
    assert_precise(&found, defined(&a, &b), "rows");
    assert_eq!(
        figures(&a, &a).unwrap(),
        RowFigures {
            kl: 0.0,
            cosine: 1.0,
            max_delta: 0.0,
            index: 0,
            sum_delta: 0.0,
            squared_delta: 0.0,
            margin: 0.0,
            ..figures(&a, &a).unwrap()
        }
    );
}

#[test]
fn rows_that_f32_cannot_represent_are_left_to_f64() {
    let usual = [1.0, 2.0, 3.0];
    for other in [
        [f32::NAN, 2.0, 3.0],
        [f32::NEG_INFINITY, 2.0, 3.0],
        [0.0, 0.0, 0.0],
        [1e30, 1.0, 1.0],
        [200.0, 2.0, 3.0],
        [4.0, 8.0, 16.0],
    ] {
        assert_eq!(figures(&usual, &other), None, "{other:?}");
    }
    // The candidate has next to nothing where the base has its mass.
    let mut a = vec![10.0; 5000];
    let mut b = vec![-10.0; 5000];
    (a[7], b[7]) = (10.01, 10.01);
    assert_eq!(figures(&a, &b), None);
    a[7] = 30.0;
    assert!(figures(&a, &b).is_some());
}

#[test]
fn masked_and_missing_values_are_told_apart() {
    const MASK: f64 = f64::NEG_INFINITY;
    let Row::Figures(found, masked) = exact::figures(&[MASK, 1.0, 2.0], &[MASK, 1.5, 2.0]) else {
        panic!("masked values are allowed");
    };
    let Row::Figures(without, _) = exact::figures(&[1.0, 2.0], &[1.5, 2.0]) else {
        panic!("finite")
    };
    assert_eq!(masked, 1);
    assert_eq!((found.kl, found.cosine, found.top), (without.kl, without.cosine, [2, 2]));
    let found = exact::figures(&[MASK, 1.0, f64::NAN], &[0.0, f64::INFINITY, f64::NAN]);
    let Row::NonFinite(found) = found else { panic!("a value is not finite") };
    let told: Vec<(usize, usize, usize)> = found.iter().map(|one| (one.0, one.2, one.3)).collect();
    assert_eq!(told, [(0, 1, 0), (1, 1, 1), (0, 1, 2), (1, 1, 2)]);
    assert!(matches!(exact::figures(&[MASK; 2], &[MASK; 2]), Row::NonFinite(_)));
}

#[test]
fn zero_rows_have_a_cosine() {
    let cosine_of = |a: &[f64], b: &[f64]| match exact::figures(a, b) {
        Row::Figures(found, _) => found.cosine,
        Row::NonFinite(_) => panic!("all is finite"),
    };
    assert_eq!(cosine_of(&[0.0, 0.0], &[0.0, 0.0]), 1.0);
    assert_eq!(cosine_of(&[0.0, 0.0], &[0.0, 2.0]), 0.0);
    assert_eq!(cosine_of(&[1.0, 2.0], &[-1.0, -2.0]), -1.0);
    assert_eq!(cosine_of(&[1e-200, 0.0], &[1e-200, 0.0]), 1.0);
}

use proptest::prelude::*;

use super::super::fixture::{assert_close, levels};
use super::*;

fn of(samples: &[f64]) -> Evidence {
    let mut all = Evidence::default();
    for &x in samples {
        all.add(x);
    }
    all
}

#[test]
fn a_likelihood_by_hand() {
    let normal = Likelihood::Normal { levels: levels(0.0, 4.0, 2.0), pinned: 0.0 };
    // Left 0 and 2 (SS = 2), right 5 and 5 and 8 (SS = 6); ν₀s² = 4, n = 5.
    let told = normal.ln(of(&[0.0, 2.0]), of(&[5.0, 5.0, 8.0])).unwrap();
    let by_hand =
        -0.5 * 2.0_f64.ln() - 0.5 * 3.0_f64.ln() - 0.5 * (5.0 - 2.0 + 1.0) * 12.0_f64.ln();
    assert_close(told, by_hand);
    // Bad must be worse, and both sides need samples.
    assert_eq!(normal.ln(of(&[2.0]), of(&[2.0])), None);
    assert_eq!(normal.ln(of(&[3.0]), of(&[2.0])), None);
    assert_eq!(normal.ln(of(&[]), of(&[2.0])), None);
    assert_eq!(normal.ln(of(&[1.0]), of(&[])), None);
}

#[test]
fn a_pinned_level_counts_as_samples_that_do_not_stray() {
    let normal = Likelihood::Normal { levels: levels(0.0, 4.0, 1.0), pinned: 6.0 };
    // Six pairs fix good at 0, which is 2 below the middle.
    let pinned = normal.pinned();
    assert_eq!((pinned.n, pinned.sum, pinned.squares), (6.0, -12.0, 24.0));
    let bad = of(&[normal.prepared(3.0), normal.prepared(5.0)]);
    // Fixed samples count for good's level (n_L = 6), not for the noise (n = 2).
    let by_hand = -0.5 * 6.0_f64.ln() - 0.5 * 2.0_f64.ln() - 0.5 * (2.0 - 2.0 + 1.0) * 3.0_f64.ln();
    assert_close(normal.ln(pinned, bad).unwrap(), by_hand);
    assert_eq!(Likelihood::PassFail.pinned(), Evidence::default());
}

#[test]
fn exact_samples_have_a_finite_likelihood() {
    let exact = Likelihood::Normal { levels: levels(1.0, 2.0, 0.0), pinned: 0.0 };
    let ln = |left: &[f64], right: &[f64]| exact.ln(of(left), of(right)).unwrap();
    let right = ln(&[-0.5, -0.5], &[0.5, 0.5]);
    let wrong = ln(&[-0.5, -0.5, 0.5], &[0.5]);
    assert!(right.is_finite() && wrong.is_finite() && right > wrong + 5.0);
}

proptest! {
    #[test]
    fn a_part_taken_off_leaves_the_rest(a in prop::collection::vec(-9.0..9.0_f64, 0..9), b in prop::collection::vec(-9.0..9.0_f64, 0..9)) {
        let both = of(&[a.as_slice(), &b].concat());
        let rest = both.minus(of(&a));
        let expected = of(&b);
        prop_assert!((rest.sum - expected.sum).abs() < 1e-9);
        prop_assert!((rest.squares - expected.squares).abs() < 1e-9);
        prop_assert_eq!(rest.n.to_bits(), expected.n.to_bits());
    }
}

#[test]
fn values_that_overflow_have_no_likelihood() {
    let likelihood = Likelihood::Normal { levels: levels(0.0, 4.0, 1e181), pinned: 6.0 };
    assert_eq!(likelihood.ln(of(&[0.0, -3.5e181]), of(&[4.0, 4.0])), None);
}

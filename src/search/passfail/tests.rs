use std::f64::consts::FRAC_PI_2;

use super::super::fixture::assert_close;
use super::*;

fn seen(failures: usize, runs: usize) -> Evidence {
    let mut all = Evidence::default();
    for run in 0..runs {
        all.add(if run < failures { 1.0 } else { 0.0 });
    }
    all
}

fn runs(failures: usize, runs: usize) -> Vec<f64> {
    (0..runs).map(|run| if run < failures { 1.0 } else { 0.0 }).collect()
}

/// ∫ θᶠ(1 − θ)ᵖ dθ/(π√(θ(1 − θ))), with θ = sin²φ a trigonometric polynomial, which the
/// trapezoidal rule integrates exactly.
fn integral(failures: usize, passes: usize) -> f64 {
    const POINTS: usize = 64;
    let step = FRAC_PI_2 / POINTS as f64;
    let at = |i: usize| {
        let (sin, cos) = (i as f64 * step).sin_cos();
        sin.powf(2.0 * failures as f64) * cos.powf(2.0 * passes as f64)
    };
    let inner: f64 = (1..POINTS).map(at).sum();
    (inner + 0.5 * (at(0) + at(POINTS))) * step / FRAC_PI_2
}

#[test]
fn a_rate_tells_how_many_runs_failed() {
    for total in [4, 9, 60] {
        for failed in 0..=total {
            let rates = Rates::of(&runs(failed, total), &runs(0, total));
            assert_eq!(Rates::failures(rates.good, total), failed);
            assert_eq!(Rates::failures(rates.bad, total), 0);
        }
    }
}

#[test]
fn marginals_are_the_integrals() {
    for runs in 0..=16 {
        for failures in 0..=runs {
            let exact = integral(failures, runs - failures);
            assert_close(ln_rates(seen(failures, runs)).exp(), exact);
        }
    }
    // Two known values.
    assert_close(ln_rates(seen(1, 2)).exp(), 1.0 / 8.0);
    assert_close(ln_rates(seen(3, 3)).exp(), 5.0 / 16.0);
}

#[test]
fn rates_are_neither_never_nor_always() {
    let rates = Rates::of(&runs(0, 4), &runs(4, 4));
    assert_close(rates.good, 0.1);
    assert_close(rates.bad, 0.9);
    assert_close(rates.evidence(1.0), 9.0_f64.ln());
    assert_close(rates.evidence(0.0), -9.0_f64.ln());
    assert_close(rates.evidence(f64::NAN), 0.0);
    // 20 nats at 0.8 ln 9 per run; at 0.9 ln 9/7 − 0.1 ln 3; close rates need the maximum of 200.
    assert_eq!(rates.most_runs(), 12);
    assert_eq!(Rates { good: 0.1, bad: 0.3 }.most_runs(), 172);
    assert_eq!(Rates { good: 0.5, bad: 0.6 }.most_runs(), 200);
    assert_eq!(Rates { good: 0.5, bad: 0.5 }.most_runs(), 200);
}

#[test]
fn rates_are_apart_when_two_are_200_times_likelier_than_one() {
    // Four runs each: (35/128)² against (105/16)²/8!, a factor of 70. Five runs each: 252.
    assert_eq!(calibrate_rates(&runs(0, 4), &runs(4, 4)), Err(CalibrationError::More));
    let found = calibrate_rates(&runs(0, 5), &runs(5, 5)).unwrap();
    assert_close(found.good, 0.5 / 6.0);
    assert_close(found.bad, 5.5 / 6.0);
    // Fewer than four runs are never enough, and bad must fail more often.
    assert_eq!(calibrate_rates(&runs(0, 3), &runs(3, 3)), Err(CalibrationError::More));
    assert_eq!(calibrate_rates(&runs(9, 9), &runs(0, 9)), Err(CalibrationError::More));
}

#[test]
fn at_the_cap_it_says_why() {
    let at = |good, bad| calibrate_rates(&runs(good, MOST_PAIRS), &runs(bad, MOST_PAIRS));
    assert_eq!(at(10, 10), Err(CalibrationError::NoDifference));
    assert_eq!(at(40, 10), Err(CalibrationError::NoDifference));
    assert!(at(10, 40).is_ok());
    // Two rates are 3.3 times likelier than one, and later 8.1 times.
    assert_eq!(at(10, 22), Err(CalibrationError::More));
    let longer = calibrate_rates(&runs(17, MOST_IF_LIKELY), &runs(35, MOST_IF_LIKELY));
    assert_eq!(longer, Err(CalibrationError::TooNoisy { needed: None }));
}

#[test]
fn one_failure_in_five_is_not_denied_after_a_few_runs() {
    assert_eq!([0.95, 0.99].map(|confidence| runs_to_exclude(0.2, confidence)), [14, 21]);
    assert!(excluded_rate(21, 0.99) < 0.2 && excluded_rate(20, 0.99) > 0.2);
    // Five runs would hardly exclude anything.
    assert_close((1.0 - excluded_rate(5, 0.99)).powi(5), 0.01);
    // 8 failures of 60 against none: two rates are likelier, but not yet 200 times.
    let at = |bad, n| calibrate_rates(&runs(0, n), &runs(bad, n));
    assert_eq!(at(8, 60), Err(CalibrationError::More));
    assert!(at(12, 60).is_ok());
    assert_eq!(at(2, 60), Err(CalibrationError::NoDifference));
}

#[test]
fn a_failure_raises_the_rate_that_runs_exclude() {
    for runs in [4, 21] {
        let without = excluded_rate(runs, 0.99);
        let counted = excluded_rate_above(0, runs, 0.99);
        assert!((0.0..0.0101).contains(&(counted - without)), "{counted} {without}");
    }
    // 1 of 5: (1 − p)⁵ + 5 p (1 − p)⁴ is 0.0100 at p = 0.778.
    assert_close(excluded_rate_above(1, 5, 0.99), 0.78);
    assert_close(excluded_rate_above(5, 5, 0.99), 1.0);
    // 1 of 31: 0.8³¹ + 31 · 0.2 · 0.8³⁰ is 0.0087, and 0.0105 for 1 of 30.
    assert_eq!([0, 1].map(|failed| runs_to_exclude_above(failed, 0.2, 0.99)), [21, 31]);
    assert_eq!(runs_to_exclude_above(60, 0.2, 0.99), MOST_PAIRS);
}

#[test]
fn a_failure_that_repeats_is_gone_after_seven_runs_and_a_rarer_one_after_more() {
    let runs = |failed, runs| runs_to_tell_absence(failed, runs, 0.99, 24);
    // p²(1 − p)⁷ is at most 0.0085, at p = 2/9, and p²(1 − p)⁶ at most 0.0111, at p = 1/4.
    assert_eq!([runs(2, 2), runs(3, 3), runs(9, 9)], [7, 4, 2]);
    assert_eq!([runs(7, 9), runs(4, 8), runs(2, 3), runs(3, 8)], [4, 9, 12, 15]);
    assert_eq!([runs(0, 4), runs(1, 10)], [24, 24]);
}

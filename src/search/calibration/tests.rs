use proptest::prelude::*;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

use super::super::fixture::assert_close;
use super::*;

const RULE: CalibrationSettings =
    CalibrationSettings { tolerance: 1.0, drift: DriftPrior::Never, paired: false };

/// `n` runs, alternately 1 above and 1 below the level.
fn about(level: f64, n: usize) -> Vec<f64> {
    (0..n).map(|i| if i % 2 == 0 { level - 1.0 } else { level + 1.0 }).collect()
}

/// The same noise, uncorrelated with that of `about`.
fn across(level: f64, n: usize) -> Vec<f64> {
    (0..n).map(|i| if i % 4 < 2 { level - 1.0 } else { level + 1.0 }).collect()
}

#[test]
fn a_round_begins_with_either_in_turn() {
    assert_eq!([0, 1, 2].map(endpoint_order), [[true, false], [false, true], [true, false]]);
}

#[test]
fn apart_by_hand() {
    // Four runs each, all 1 off: s = 1.02 √(8/6) = 1.1778, so the levels must be
    // 4 (1 + 2/6) s √(2/4) = 4.4417 apart.
    let found = calibrate(&about(0.0, 4), &across(4.45, 4), RULE).unwrap();
    assert_close(found.levels.good, 0.0);
    assert_close(found.levels.bad, 4.45);
    assert_close(found.levels.sd, 1.02 * (8.0_f64 / 6.0).sqrt());
    assert_eq!((found.paired, found.runs), (false, 4));
    assert_eq!(calibrate(&about(0.0, 4), &across(4.43, 4), RULE), Err(CalibrationError::More));
    // Three runs are never enough.
    assert_eq!(calibrate(&about(0.0, 3), &across(90.0, 3), RULE), Err(CalibrationError::More));
    // Surplus runs of one endpoint do not count.
    let uneven = calibrate(&about(0.0, 6), &across(4.45, 4), RULE).unwrap();
    assert_eq!(uneven.runs, 4);
}

#[test]
fn pairs_by_hand() {
    let rule = CalibrationSettings { paired: true, ..RULE };
    // Differences vary by ±1: s_D = 1.02 √(6/5), so D̄ must be 4 (1 + 2/5) s_D/√6 = 2.5545.
    let good = vec![100.0, 50.0, 900.0, 3.0, 70.0, 8.0];
    let bad = |by: f64| good.iter().zip(about(by, 6)).map(|(g, d)| g + d).collect::<Vec<_>>();
    let found = calibrate(&good, &bad(2.56), rule).unwrap();
    assert_close(found.levels.good, 0.0);
    assert_close(found.levels.bad, 2.56);
    assert_close(found.levels.sd, 1.02 * (6.0_f64 / 5.0).sqrt());
    assert!(found.paired);
    assert_eq!(calibrate(&good, &bad(2.55), rule), Err(CalibrationError::More));
    // Five pairs are too few.
    assert_eq!(calibrate(&good[..5], &bad(90.0)[..5], rule), Err(CalibrationError::More));
}

#[test]
fn a_difference_within_the_tolerance_is_none() {
    // A clear step, but within the tolerance.
    let rule = CalibrationSettings { tolerance: 20.0, ..RULE };
    assert_eq!(
        calibrate(&about(0.0, 4), &across(10.0, 4), rule),
        Err(CalibrationError::NoDifference)
    );
    // Early: no step, and the 99.5 % bound is within the tolerance: 3.64 · 0.8328 = 3.03.
    let within = |tolerance| {
        calibrate(&about(0.0, 4), &across(0.0, 4), CalibrationSettings { tolerance, ..RULE })
    };
    assert_eq!(within(3.1), Err(CalibrationError::NoDifference));
    assert_eq!(within(2.9), Err(CalibrationError::More));
    // Bad is better than good.
    assert_eq!(
        calibrate(&about(9.0, 4), &across(0.0, 4), RULE),
        Err(CalibrationError::NoDifference)
    );
}

#[test]
fn runs_that_cannot_be_enough_are_not_made() {
    let rule = CalibrationSettings { tolerance: 0.1, ..RULE };
    // Twelve runs of each. With a step of 0, the real step may be up to 0.97, which 60 runs can
    // show. With a step of -0.2 it may be up to 0.67, which needs 86 runs.
    let at = |n, step| calibrate(&about(0.0, n), &across(step, n), rule);
    assert_eq!(at(11, -0.2), Err(CalibrationError::More));
    assert_eq!(at(12, 0.1), Err(CalibrationError::More));
    // The bound is 1.03, far beyond the tolerance: no proof of no difference. If the step is really
    // -0.2, its bound is within the tolerance after 12 (2.576 · 0.4349/0.3)² = 167.3 runs.
    assert_eq!(at(12, -0.2), Err(CalibrationError::TooNoisy { needed: Some(168) }));
}

#[test]
fn runs_that_can_show_that_nothing_changed_are_made() {
    // The same twelve runs with a tolerance of 0.9: 60 runs cannot show a step, but they can bring
    // the bound below the tolerance. It is 0.82 after 16 runs.
    let rule = CalibrationSettings { tolerance: 0.9, ..RULE };
    let at = |n| calibrate(&about(0.0, n), &across(-0.2, n), rule);
    assert_eq!(at(12), Err(CalibrationError::More));
    assert_eq!(at(16), Err(CalibrationError::NoDifference));
}

/// How often a step of nearly three tolerances counts as none, in noise of five tolerances.
#[test]
fn noise_that_may_hide_a_regression_is_seldom_taken_for_none() {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let mut denied = 0;
    for _ in 0..300 {
        let mut run = |level: f64| -> f64 {
            let noise: f64 = StandardNormal.sample(&mut random);
            level + 5.0 * noise
        };
        let good: Vec<f64> = (0..MOST_PAIRS).map(|_| run(0.0)).collect();
        let bad: Vec<f64> = (0..MOST_PAIRS).map(|_| run(8.0 / 3.0)).collect();
        let mut answers =
            (LEAST_PAIRS..=MOST_PAIRS).map(|n| calibrate(&good[..n], &bad[..n], RULE));
        let answer = answers.find(|answer| *answer != Err(CalibrationError::More));
        denied += usize::from(answer == Some(Err(CalibrationError::NoDifference)));
    }
    assert!(denied <= 9, "{denied} of 300");
}

#[test]
fn at_the_cap_the_noise_hides_it() {
    let rule = CalibrationSettings { tolerance: 0.1, ..RULE };
    let at = |step| calibrate(&about(0.0, MOST_PAIRS), &across(step, MOST_PAIRS), rule);
    // s = 1.02 √(120/118) = 1.0286, standard error 0.1878: 0.7641 is enough.
    assert!(at(0.77).is_ok());
    // More than the tolerance, but maybe by chance: no proof of no difference.
    assert_eq!(at(0.49), Err(CalibrationError::TooNoisy { needed: Some(150) }));
    // A step within the tolerance does not prove it either if the bound is beyond.
    assert!(matches!(at(0.09), Err(CalibrationError::TooNoisy { .. })));
    assert!(matches!(at(0.04), Err(CalibrationError::TooNoisy { .. })));
    let wide = CalibrationSettings { tolerance: 0.6, ..RULE };
    let within = calibrate(&about(0.0, MOST_PAIRS), &across(0.04, MOST_PAIRS), wide);
    assert_eq!(within, Err(CalibrationError::NoDifference));
    // 34 (1.0286/0.6)² = 99.9.
    assert_eq!(at(0.6), Err(CalibrationError::TooNoisy { needed: Some(100) }));
    // Clearly above zero, but not above the tolerance.
    let strict = CalibrationSettings { tolerance: 0.65, ..RULE };
    let strict = calibrate(&about(0.0, MOST_PAIRS), &across(0.6, MOST_PAIRS), strict);
    assert!(matches!(strict, Err(CalibrationError::TooNoisy { .. })));
}

#[test]
fn equal_samples_have_no_noise() {
    let found = calibrate(&[1.0; 4], &[3.0; 4], RULE).unwrap();
    assert_eq!((found.levels.good, found.levels.bad, found.levels.sd), (1.0, 3.0, 0.0));
    assert_eq!(calibrate(&[1.0; 4], &[1.0; 4], RULE), Err(CalibrationError::NoDifference));
    assert_eq!(calibrate(&[3.0; 4], &[1.0; 4], RULE), Err(CalibrationError::NoDifference));
    assert_eq!(calibrate(&[1.0; 4], &[1.5; 4], RULE), Err(CalibrationError::NoDifference));
}

/// With noise estimated from four runs, a true distance of 2 sometimes looks like 5.
#[test]
fn few_runs_must_lie_further_apart() {
    let with = |step, sd, runs, paired| {
        let levels = Levels { good: 0.0, bad: step, sd };
        Calibration { levels, paired, runs }.is_clearly_separated()
    };
    // The distance counts for two thirds at ν = 6, and ten elevenths at ν = 22; in pairs ν = 11.
    assert!(with(7.6, 1.0, 4, false) && !with(7.4, 1.0, 4, false));
    assert!(with(5.6, 1.0, 12, false) && !with(5.4, 1.0, 12, false));
    assert!(with(6.2, 1.0, 12, true) && !with(6.0, 1.0, 12, true));
    assert!(with(0.1, 0.0, 4, false));
}

#[test]
fn a_round_without_a_number_counts_only_towards_the_maximum() {
    let mut good = about(0.0, 4);
    good.push(f64::NAN);
    let mut bad = across(10.0, 4);
    bad.push(0.0);
    assert_eq!(calibrate(&good, &bad, RULE).unwrap().runs, 4);
    bad[0] = f64::INFINITY;
    assert_eq!(calibrate(&good, &bad, RULE), Err(CalibrationError::More));
    let never = [f64::NAN; MOST_PAIRS];
    let none = Err(CalibrationError::TooNoisy { needed: None });
    assert_eq!(calibrate(&never, &never, RULE), none);
    assert_eq!(calibrate(&never[1..], &never, RULE), Err(CalibrationError::More));
}

#[test]
fn under_drift_runs_are_compared_in_pairs() {
    let drifting = CalibrationSettings { drift: DriftPrior::Likely, ..RULE };
    // The machine drifts from 0 to 50, and both endpoints with it.
    let drift = |i: usize| 10.0 * i as f64;
    let good: Vec<f64> = about(0.0, 6).iter().enumerate().map(|(i, x)| x + drift(i)).collect();
    let bad: Vec<f64> = across(9.0, 6).iter().enumerate().map(|(i, x)| x + drift(i)).collect();
    let found = calibrate(&good, &bad, drifting).unwrap();
    assert!(found.paired);
    assert_close(found.levels.good, 0.0);
    assert!((found.levels.bad - 9.0).abs() < 1.0, "{found:?}");
    // No pairs without possible drift, and none before six runs.
    assert_eq!(calibrate(&good, &bad, RULE), Err(CalibrationError::More));
    assert_eq!(calibrate(&good[..5], &bad[..5], drifting), Err(CalibrationError::More));
    // Uncorrelated noise stays unpaired.
    let plain = calibrate(&about(0.0, 8), &across(9.0, 8), drifting).unwrap();
    assert!(!plain.paired);
}

/// How often 8 or 30 normal runs of each endpoint show a drift that does not exist.
#[test]
fn plain_noise_is_seldom_taken_for_a_drift() {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let mut paired = [0; 2];
    for _ in 0..1000 {
        for (count, n) in paired.iter_mut().zip([8, 30]) {
            let mut run = || -> f64 { StandardNormal.sample(&mut random) };
            let good: Vec<f64> = (0..n).map(|_| run()).collect();
            let bad: Vec<f64> = (0..n).map(|_| 9.0 + run()).collect();
            let rule = CalibrationSettings { drift: DriftPrior::Likely, ..RULE };
            *count += usize::from(calibrate(&good, &bad, rule).unwrap().paired);
        }
    }
    assert!(paired[0] < 150 && paired[1] < 25, "{paired:?} of 1000");
}

/// Student's t at 99.5 %, from the tables.
#[test]
fn the_bound_is_students() {
    for (freedom, t) in [(6.0, 3.707), (10.0, 3.169), (22.0, 2.819), (118.0, 2.618)] {
        let found = bound(freedom);
        assert!((found / t - 1.0).abs() < 0.02, "{found} for {t}");
    }
}

fn priors() -> impl Strategy<Value = DriftPrior> {
    prop::sample::select(vec![DriftPrior::Never, DriftPrior::Unlikely, DriftPrior::Likely])
}

fn runs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (4_usize..20, 0.0..12.0_f64).prop_flat_map(|(n, step)| {
        let end = move |level: f64| prop::collection::vec(level - 2.0..level + 2.0, n);
        (end(50.0), end(50.0 + step))
    })
}

proptest! {
    #[test]
    fn shift_and_scale_change_nothing((good, bad) in runs(), shift in -50.0..50.0_f64, scale in 0.1..10.0_f64, drift in priors()) {
        let rule = CalibrationSettings { drift, ..RULE };
        let moved = |x: &[f64]| x.iter().map(|x| x * scale + shift).collect::<Vec<_>>();
        let scaled = CalibrationSettings { tolerance: scale, ..rule };
        match (calibrate(&good, &bad, rule), calibrate(&moved(&good), &moved(&bad), scaled)) {
            (Ok(before), Ok(after)) => {
                prop_assert_eq!((before.paired, before.runs), (after.paired, after.runs));
                let shift = if before.paired { 0.0 } else { shift };
                for (x, y) in [
                    (before.levels.good * scale + shift, after.levels.good),
                    (before.levels.bad * scale + shift, after.levels.bad),
                    (before.levels.sd * scale, after.levels.sd),
                ] {
                    prop_assert!((x - y).abs() < 1e-9 * (1.0 + x.abs()), "{x} {y}");
                }
            }
            (before, after) => prop_assert_eq!(before, after),
        }
    }

    #[test]
    fn whatever_was_measured_it_ends(
        (good, bad) in (0_usize..70).prop_flat_map(|n| (prop::collection::vec(any::<f64>(), n), prop::collection::vec(any::<f64>(), n))),
        paired: bool,
        drift in priors(),
    ) {
        let found = calibrate(&good, &bad, CalibrationSettings { tolerance: 1.0, drift, paired });
        if good.len() >= MOST_PAIRS {
            prop_assert_ne!(found, Err(CalibrationError::More));
        }
        if let Ok(found) = found {
            prop_assert!(found.levels.step() > 1.0);
        }
    }
}

#[test]
fn a_bad_end_with_strays_is_not_the_same_as_good() {
    let good = [6.0; 21];
    let mut bad = good;
    let at = |bad: &[f64], n: usize| calibrate(&good[..n], &bad[..n], RULE);
    // Without a stray, four runs are enough. One stray of bad asks for 21.
    assert_eq!(at(&bad, 4), Err(CalibrationError::NoDifference));
    bad[3] = 9.0;
    assert_eq!(at(&bad, 12), Err(CalibrationError::More));
    assert_eq!(at(&bad, 20), Err(CalibrationError::More));
    assert_eq!(at(&bad, 21), Err(CalibrationError::NoDifference));
    // Two strays are too many.
    bad[7] = 8.0;
    assert_eq!(at(&bad, 21), Err(CalibrationError::More));
    // As many strays at both ends tell nothing.
    let seen = Seen::of(&bad, &bad, RULE);
    let strays = Strays::of(&bad, &bad, &seen, RULE.tolerance);
    assert!(!strays.are_too_many() && !strays.are_doubtful());
}

#[test]
fn a_stray_counts_in_pairs_too() {
    let rule = CalibrationSettings { paired: true, ..RULE };
    // The machine drifts. One round of bad is far worse, and the other differences are small.
    let good: Vec<f64> = (0..6).map(|i| 10.0 * f64::from(i)).collect();
    let bad = |differences: [f64; 6]| -> Vec<f64> {
        good.iter().zip(differences).map(|(g, d)| g + d).collect()
    };
    let even = bad([0.1, -0.1, 0.1, 0.0, 0.1, -0.1]);
    assert_eq!(calibrate(&good, &even, rule), Err(CalibrationError::NoDifference));
    let stray = bad([0.1, -0.1, 0.1, 9.0, 0.1, -0.1]);
    assert_eq!(calibrate(&good, &stray, rule), Err(CalibrationError::More));
}

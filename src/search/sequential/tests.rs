use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

use super::super::fixture::levels;
use super::*;

#[test]
fn a_failure_that_comes_and_goes_is_bad_at_once_and_good_only_by_many_runs() {
    let side = |failed: usize, others: usize| {
        side_of_mixed(&[vec![1.0; failed], vec![0.0; others]].concat())
    };
    assert_eq!(side(1, 1), None);
    // One failure gives ln 10 = 2.303, each other run ln (0.5/0.95) = -0.642; ln 99 = 4.595.
    assert_eq!([side(1, 10), side(1, 11)], [None, Some(Side::Good)]);
    assert_eq!(side(2, 20), Some(Side::Bad));
    assert_eq!(side_of_mixed(&[1.0, 0.0, 1.0, 0.0]), None);
    assert_eq!(side_of_mixed(&[1.0, 0.0, 1.0, 0.0, 1.0]), Some(Side::Bad));
    // Failures after many runs without one.
    assert_eq!(side_of_mixed(&[vec![0.0; 8], vec![1.0; 2]].concat()), None);
    assert_eq!(side_of_mixed(&[vec![0.0; 8], vec![1.0; 8]].concat()), Some(Side::Bad));
}

#[test]
fn by_hand() {
    // With levels 1 apart and noise 1, a sample at a level gives ½; 1 % needs ln 99 = 4.595.
    let levels = levels(0.0, 1.0, 1.0);
    assert_eq!(sequential(&[1.0; 9], &levels, 0.01), None);
    assert_eq!(sequential(&[1.0; 10], &levels, 0.01), Some(Side::Bad));
    assert_eq!(sequential(&[0.0; 10], &levels, 0.01), Some(Side::Good));
    // A sample in the middle is no evidence.
    assert_eq!(sequential(&[0.5; 1000], &levels, 0.01), None);
    // An outlier counts as 2.5 sd beyond the level: 3 each, so two are needed.
    assert_eq!(sequential(&[1e9], &levels, 0.01), None);
    assert_eq!(sequential(&[1e9, 1e9], &levels, 0.01), Some(Side::Bad));
    // The first decision stands.
    assert_eq!(sequential(&[1e9, 1e9, -9.0, -9.0, -9.0], &levels, 0.01), Some(Side::Bad));
}

#[test]
fn runs_worth_making() {
    for (d, most) in [(1.0, 55), (2.0, 14), (3.0, 12), (0.2, 1000)] {
        assert_eq!(most_runs(&levels(0.0, d, 1.0)), most, "d = {d}");
    }
    assert_eq!(most_runs(&levels(0.0, 1.0, 0.0)), 12);
}

#[test]
fn nan_and_values_in_the_middle_decide_nothing() {
    let (noisy, exact) = (levels(0.0, 8.0, 1.0), levels(0.0, 8.0, 0.0));
    for levels in [noisy, exact] {
        assert_eq!(sequential(&[f64::NAN; 20], &levels, 0.01), None);
        assert_eq!(sequential(&[4.0; 20], &levels, 0.01), None);
        assert_eq!(sequential(&[f64::NAN, 8.0], &levels, 0.01), Some(Side::Bad));
        assert_eq!(sequential(&[f64::INFINITY], &levels, 0.01), Some(Side::Bad));
        assert_eq!(sequential(&[f64::NEG_INFINITY], &levels, 0.01), Some(Side::Good));
    }
}

/// Wald's bounds: at most `error` of the decisions are wrong, after about
/// ((1 − ε) ln((1 − ε)/ε) − ε ln((1 − ε)/ε)) / (d²/2) runs.
#[test]
fn errors_and_runs_in_normal_noise() {
    const HUNTS: usize = 4000;
    let (error, d) = (0.01, 1.5);
    let levels = levels(0.0, d, 1.0);
    let mut random = Pcg64Mcg::seed_from_u64(11);
    for truth in [Side::Good, Side::Bad] {
        let (mut wrong, mut runs) = (0, 0);
        for _ in 0..HUNTS {
            let mut samples = Vec::new();
            let side = loop {
                let noise: f64 = StandardNormal.sample(&mut random);
                samples.push(noise + if truth == Side::Bad { d } else { 0.0 });
                if let Some(side) = sequential(&samples, &levels, error) {
                    break side;
                }
            };
            runs += samples.len();
            wrong += usize::from(side != truth);
        }
        // 1 % of 4000 is 40; three standard errors are 19.
        assert!(wrong <= 59, "{wrong} wrong at {truth:?}");
        let mean = runs as f64 / HUNTS as f64;
        // 4.503 / 1.125 = 4.0, plus the overshoot of the last run.
        assert!((4.0..5.2).contains(&mean), "{mean} runs at {truth:?}");
    }
}

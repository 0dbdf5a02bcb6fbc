use std::cmp::Ordering;

use super::super::fixture::{assert_close, levels};
#[test]
fn samples_are_moved_to_within_reach() {
    let levels = levels(10.0, 12.0, 0.4);
    for (x, moved) in [(10.5, 10.5), (9.0, 9.0), (8.0, 9.0), (13.0, 13.0), (500.0, 13.0)] {
        assert_close(levels.winsorise(x), moved);
    }
    assert_close(levels.winsorise(f64::NEG_INFINITY), 9.0);
    assert_close(levels.winsorise(f64::INFINITY), 13.0);
    assert!(levels.winsorise(f64::NAN).is_nan());
    assert_close(levels.distance(), 5.0);
}

#[test]
fn without_noise_a_sample_is_proof_unless_it_is_in_the_middle() {
    let exact = levels(1.0, 3.0, 0.0);
    assert_eq!(exact.distance().total_cmp(&f64::INFINITY), Ordering::Equal);
    let told = [3.0, 1.9, 2.0, f64::NAN].map(|x| exact.evidence(x));
    assert_eq!(told.map(|x| x.to_string()), ["inf", "-inf", "0", "0"]);
    // In noise: step · (x − middle) / sd².
    assert_close(levels(1.0, 3.0, 2.0).evidence(4.0), 2.0 * 2.0 / 4.0);
}

#[test]
fn levels_are_updated_from_samples_with_a_clear_side() {
    let old = levels(0.0, 10.0, 5.0);
    let new = old.refreshed(&[1.0, 3.0], &[10.0, 12.0, 14.0], false);
    assert_close(new.good, 2.0);
    assert_close(new.bad, 12.0);
    // Deviations 1, 1, 2, 0, 2, pooled as in `stats`.
    assert_close(new.sd, 1.02 * (10.0_f64 / 3.0).sqrt());
    // No bad sample yet, and too few samples for the noise.
    let new = old.refreshed(&[1.0], &[], false);
    assert_eq!((new.good, new.bad, new.sd), (1.0, 10.0, 5.0));
    // In pairs good is 0 by definition.
    let new = old.refreshed(&[1.0, 3.0], &[11.0], true);
    assert_eq!((new.good, new.bad), (0.0, 11.0));
    // Equal samples give no noise, so the known noise stays.
    assert_close(old.refreshed(&[1.0; 4], &[2.0; 4], false).sd, 5.0);
}

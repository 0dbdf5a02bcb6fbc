use super::*;

#[test]
fn what_settles_a_commit() {
    let known = |x: &i32| *x < 10;
    for (runs, expected) in [
        (&[][..], Repeat::More(1)),
        // One run with a known value is enough; one with an unknown value is not.
        (&[1], Repeat::Settled(0)),
        (&[11], Repeat::More(2)),
        (&[11, 11], Repeat::Settled(0)),
        (&[11, 12], Repeat::More(3)),
        // The first run was disturbed: the repeated value counts, or the known one.
        (&[11, 12, 12], Repeat::Settled(1)),
        (&[11, 2], Repeat::Settled(1)),
        // The commit's own repeats come before values known from other commits.
        (&[2, 11, 11], Repeat::Settled(1)),
        (&[11, 12, 13, 14], Repeat::More(5)),
        (&[11, 12, 13, 14, 11], Repeat::Settled(0)),
        (&[11, 12, 13, 14, 15], Repeat::Never),
    ] {
        assert_eq!(repeat(runs, known), expected, "{runs:?}");
    }
}

#[test]
fn nan_never_repeats() {
    let known = |x: &f64| *x > 0.0;
    assert_eq!(repeat(&[f64::NAN; 5], known), Repeat::Never);
    assert_eq!(repeat(&[f64::NAN, 1.0], known), Repeat::Settled(1));
}

#[test]
fn runs_that_never_repeat_are_on_one_side_if_the_threshold_is_far() {
    assert!(is_on_one_side(&[-1.0, -1.05, -1.08]));
    assert!(is_on_one_side(&[0.2, 0.200_001]));
    assert!(!is_on_one_side(&[-1.0, -1.2]), "too wide");
    assert!(!is_on_one_side(&[-1e-9, 1e-9]), "on both sides");
    for odd in [&[][..], &[f64::NAN, 1.0], &[f64::INFINITY, 1.0], &[0.0, 0.0]] {
        assert!(!is_on_one_side(odd), "{odd:?}");
    }
}

#[test]
fn close_runs_have_a_level() {
    assert!(is_level([7.0, 7.009], 0.1));
    assert!(!is_level([7.0, 7.02], 0.1));
    assert!(!is_level([7.0, f64::INFINITY], 0.1));
    assert!(is_level([7.0], 0.0) && is_level([], 0.0));
}

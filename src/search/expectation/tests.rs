use super::super::fixture::{assert_close, levels};
use super::*;

#[test]
fn by_hand() {
    // d = 2 over 1024 commits: 2 · 8.5 + 2 · 5.25 + 10 · (0.8 + 2.05) + 4.9 + 1.
    let found = expected_cost(1024, &levels(0.0, 2.0, 1.0), false);
    assert_close(found.runs, 17.0 + 10.5 + 28.5 + 4.9 + 1.0);
    assert_close(found.builds, 14.0);
    // Pairs double only the search, not the endpoints and the confirmation.
    let paired = expected_cost(1024, &levels(0.0, 2.0, 1.0), true);
    assert_close(paired.runs, 17.0 + 10.5 + 2.0 * (28.5 + 4.9 + 1.0));
    // No noise: four runs of each endpoint, two fresh pairs, and one run more.
    assert_close(expected_cost(1, &levels(0.0, 2.0, 0.0), false).runs, 8.0 + 4.0 + 1.0);
    assert_close(expected_cost(0, &levels(0.0, 2.0, 0.0), false).builds, 4.0);
}

#[test]
fn steps_halve_until_one_is_left() {
    let steps = [0, 1, 2, 3, 4, 5, 41, 1024, 1025].map(steps_of);
    assert_eq!(steps, [0, 0, 1, 2, 2, 3, 6, 10, 11]);
}

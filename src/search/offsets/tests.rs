use proptest::prelude::*;

use super::*;

/// A place, its level, and its number of runs.
type Measured = (usize, f64, usize);

fn levels(measured: &[Measured]) -> Vec<CommitLevel> {
    let level = |&(place, value, runs): &Measured| CommitLevel { value, runs, place };
    measured.iter().map(level).collect()
}

/// What these levels say; `claimed`: the place of the claimed commit.
fn offsets(measured: &[Measured], claimed: usize, noise: f64) -> Option<CommitOffsets> {
    let index = measured.iter().position(|(place, ..)| *place == claimed)?;
    CommitOffsets::of(&levels(measured), index, noise)
}

/// Levels 0 up to the claimed commit, and 5 from there on, in noise of 0.5.
const STEP: [Measured; 8] = [
    (0, 0.1, 4),
    (8, -0.4, 1),
    (12, 0.5, 1),
    (14, 0.1, 5),
    (15, 5.2, 5),
    (16, 4.7, 1),
    (24, 5.5, 1),
    (31, 4.9, 4),
];

/// A search that a step of 5 and offsets of 2 misled: place 13 made the step.
const MISLED: [Measured; 12] = [
    (0, 0.3, 4),
    (8, -2.9, 1),
    (13, 4.1, 1),
    (14, 7.2, 1),
    (15, 3.4, 1),
    (16, 6.1, 1),
    (17, 2.2, 5),
    (18, 7.4, 5),
    (19, 4.9, 1),
    (20, 3.1, 1),
    (24, 6.6, 1),
    (31, 5.3, 4),
];

#[test]
fn levels_that_repeat_on_either_side_show_no_offsets() {
    let shown = offsets(&STEP, 15, 0.5).unwrap();
    assert!(!shown.are_likely() && !shown.are_sure(), "{shown:?}");
    assert!(shown.confidence > 0.99, "{shown:?}");
}

#[test]
fn levels_that_go_up_and_down_leave_the_claim_open() {
    let shown = offsets(&MISLED, 18, 0.5).unwrap();
    assert!(shown.are_likely() && shown.are_sure(), "{shown:?}");
    assert!(shown.confidence < 0.5, "{shown:?}");
    assert!(shown.sd > 1.0 && shown.sd < 4.0, "{shown:?}");
    let places = shown.candidates(0.99);
    assert!(places.contains(&13), "{places:?}");
    // All levels are large from place 13 on, and small up to place 8.
    let share = shown.candidates(0.5);
    assert!(share.iter().all(|place| (9..=13).contains(place)), "{share:?}");
}

#[test]
fn a_step_far_larger_than_the_offsets_stays() {
    let large: Vec<Measured> = MISLED
        .iter()
        .map(|&(place, value, runs)| {
            let side = if place < 18 { 0.0 } else { 200.0 };
            (place, value + side, runs)
        })
        .collect();
    let shown = offsets(&large, 18, 0.5).unwrap();
    assert!(shown.confidence > 0.99 || !shown.are_likely(), "{shown:?}");
}

#[test]
fn steps_and_mends_that_several_commits_share_are_no_offsets() {
    for noise in [0.02, 0.05] {
        let rows = [(0, 5.5), (4, 5.5), (7, 5.9), (8, 5.9), (11, 5.5), (12, 5.5), (13, 6.1)];
        let more = [(14, 6.1), (16, 6.1), (20, 5.5), (24, 5.5), (28, 5.9), (31, 5.9)];
        let all: Vec<Measured> =
            rows.into_iter().chain(more).map(|(place, value)| (place, value, 2)).collect();
        let shown = offsets(&all, 13, noise).unwrap();
        assert!(!shown.are_sure(), "{shown:?}");
        assert!(shown.confidence > 0.99 || !shown.are_likely(), "{shown:?}");
    }
}

#[test]
fn a_ramp_has_no_offsets() {
    let ramp: Vec<Measured> = (0_u8..16)
        .map(|place| {
            let step = if place < 9 { 0.0 } else { 4.0 };
            (usize::from(place), 0.1 * f64::from(place) + step, 2)
        })
        .collect();
    let shown = offsets(&ramp, 9, 0.02).unwrap();
    assert!(!shown.are_likely() && !shown.are_sure(), "{shown:?}");
}

#[test]
fn few_levels_say_nothing() {
    assert!(offsets(&STEP[3..6], 15, 0.5).is_none());
    // The parent has no level.
    assert!(offsets(&STEP, 12, 0.5).is_none());
    // The claimed commit is not worse.
    assert!(offsets(&STEP, 16, 0.5).is_none());
    assert!(offsets(&STEP, 0, 0.5).is_none());
}

proptest! {
    #[test]
    fn the_unit_of_the_metric_is_irrelevant(
        values in prop::collection::vec(-3.0..3.0_f64, 5..12),
        at in 1_usize..4,
        shift in -50.0..50.0_f64,
        scale in 0.1..10.0_f64,
    ) {
        let measured: Vec<Measured> =
            values.iter().enumerate().map(|(place, value)| (place, *value, 1)).collect();
        let moved: Vec<Measured> = measured
            .iter()
            .map(|&(place, value, runs)| (place, value * scale + shift, runs))
            .collect();
        // Without a step far above rounding, there is no claim.
        prop_assume!(values[at] - values[at - 1] > 0.01);
        let one = offsets(&measured, at, 0.3).unwrap();
        let other = offsets(&moved, at, 0.3 * scale).unwrap();
        prop_assert!((one.log_odds - other.log_odds).abs() < 1e-5, "{one:?} {other:?}");
        prop_assert!((one.confidence - other.confidence).abs() < 1e-5);
        prop_assert!((one.sd * scale - other.sd).abs() < 1e-5 * other.sd);
        prop_assert!((0.0..=1.0 + 1e-9).contains(&one.confidence));
    }

    #[test]
    fn candidates_hold_the_share_and_are_in_order(
        values in prop::collection::vec(-3.0..3.0_f64, 5..12),
        at in 1_usize..4,
    ) {
        let measured: Vec<Measured> =
            values.iter().enumerate().map(|(place, value)| (3 * place, *value, 1)).collect();
        let mut near = levels(&measured);
        near[at - 1].place = near[at].place - 1;
        prop_assume!(values[at] > values[at - 1]);
        let shown = CommitOffsets::of(&near, at, 0.3).unwrap();
        let few = shown.candidates(0.5);
        let many = shown.candidates(0.99);
        prop_assert!(few.iter().all(|place| many.contains(place)), "{few:?} {many:?}");
        prop_assert!(many.windows(2).all(|pair| pair[0] < pair[1]), "{many:?}");
    }
}

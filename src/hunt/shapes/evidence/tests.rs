//! Which cells count for a rule.

use super::*;
use crate::evaluation::{CellSide, Properties, Property, Value};
use Shows::{Difference, Nothing, Unresolved};

fn cell(parent: f64, commit: f64, shows: Shows) -> SweptCell {
    let side = |level| CellSide { level: Some(Value::Number(level)), ..CellSide::default() };
    SweptCell {
        measure: "ppl".to_owned(),
        labels: Vec::new(),
        properties: Properties::default(),
        shows,
        reason: String::new(),
        metric: None,
        parent: side(parent),
        commit: side(commit),
    }
}

fn shown(cells: &[SweptCell]) -> Vec<Shows> {
    discard_small_differences(cells, cells.len(), &Criterion::Tolerance(0.05))
        .into_iter()
        .map(|cell| cell.shows)
        .collect()
}

#[test]
fn a_small_difference_is_unresolved_if_values_repeat() {
    let (equal, far) = (cell(7.0, 7.0, Shows::Nothing), cell(7.0, 8.0, Shows::Difference));
    let near = cell(13.567, 13.5686, Shows::Nothing);
    let exact = [equal.clone(), equal.clone(), near.clone(), far.clone()];
    assert_eq!(shown(&exact), [Nothing, Nothing, Unresolved, Difference]);
    assert!(
        discard_small_differences(&exact, 4, &Criterion::Tolerance(0.05))[2]
            .reason
            .contains("within the tolerance")
    );
    // In noise no two values are equal.
    let noisy = [near.clone(), equal, near, far];
    assert_eq!(shown(&noisy), [Nothing, Nothing, Nothing, Difference]);
    // An improvement beyond the tolerance and a count of checks stay as they are.
    let better = cell(13.0, 12.0, Shows::Nothing);
    let exact = [exact[0].clone(), exact[1].clone(), better.clone()];
    assert_eq!(shown(&exact), [Nothing, Nothing, Nothing]);
    let checks = discard_small_differences(&exact, 3, &Criterion::Checks);
    assert!(checks.iter().all(|cell| cell.shows == Nothing));
}

#[test]
fn cells_beyond_the_grid_do_not_change_how_the_others_are_judged() {
    let (equal, near) = (cell(7.0, 7.0, Nothing), cell(7.0, 7.04, Nothing));
    let mut cells = vec![equal.clone(), equal, near.clone()];
    for further in 0..5 {
        let judged = discard_small_differences(&cells, 3, &Criterion::Tolerance(0.05));
        let shown: Vec<Shows> = judged.iter().map(|cell| cell.shows).collect();
        assert_eq!(shown[..3], [Nothing, Nothing, Unresolved], "{further} further cells");
        assert!(shown[3..].iter().all(|shows| *shows == Unresolved), "{shown:?}");
        cells.push(near.clone());
    }
}

/// A cell of a width, with so many runs of each side.
fn width(d_in: u32, shows: Shows, runs: usize) -> SweptCell {
    let mut one = cell(7.0, 7.0, shows);
    one.properties = Properties::from([("d_in".to_owned(), Property::Number(d_in.into()))]);
    one.parent.attempts = vec![String::new(); runs];
    one.commit.attempts = vec![String::new(); runs];
    one
}

#[test]
fn only_cells_that_a_rule_rests_on_run_twice() {
    let mut cells = vec![
        width(64, Nothing, 1),
        width(171, Difference, 2),
        width(128, Nothing, 1),
        width(252, Nothing, 1),
        width(256, Nothing, 1),
    ];
    let mut again = Vec::new();
    while let Some(place) = single_run_that_decides(&cells) {
        again.push(place);
        cells[place] = width([64, 171, 128, 252, 256][place], Nothing, 2);
    }
    // 64, 128 and 252 each rule something out; 256 follows from the others.
    assert_eq!(again, [0, 2, 3]);
    let known: Vec<JudgedCell> = cells.iter().filter_map(judged_cell).collect();
    let twice: Vec<JudgedCell> = cells[..4].iter().filter_map(judged_cell).collect();
    assert_eq!(separating_rules(&known), separating_rules(&twice));
}

//! Which cells count for a rule.

use super::*;
use crate::evaluation::Value;
use Shows::{Difference, Nothing, Unresolved};

fn cell(parent: f64, commit: f64, shows: Shows) -> SweptCell {
    let side = |level| CellSide { level: Some(Value::Number(level)), ..CellSide::default() };
    SweptCell {
        measure: "ppl".to_owned(),
        labels: Vec::new(),
        properties: crate::evaluation::Properties::default(),
        shows,
        reason: String::new(),
        metric: None,
        parent: side(parent),
        commit: side(commit),
    }
}

fn shown(cells: &[SweptCell]) -> Vec<Shows> {
    discard_small_differences(cells, &Criterion::Tolerance(0.05))
        .into_iter()
        .map(|cell| cell.shows)
        .collect()
}

#[test]
fn where_values_repeat_a_small_difference_is_not_called_none() {
    let (equal, far) = (cell(7.0, 7.0, Shows::Nothing), cell(7.0, 8.0, Shows::Difference));
    let near = cell(13.567, 13.5686, Shows::Nothing);
    let exact = [equal.clone(), equal.clone(), near.clone(), far.clone()];
    assert_eq!(shown(&exact), [Nothing, Nothing, Unresolved, Difference]);
    assert!(
        discard_small_differences(&exact, &Criterion::Tolerance(0.05))[2]
            .reason
            .contains("within the tolerance")
    );
    // In noise no two values are equal.
    let noisy = [near.clone(), equal, near, far];
    assert_eq!(shown(&noisy), [Nothing, Nothing, Nothing, Difference]);
    // Known not to show it: better by more than the tolerance, or no number at all.
    let better = cell(13.0, 12.0, Shows::Nothing);
    let exact = [exact[0].clone(), exact[1].clone(), better.clone()];
    assert_eq!(shown(&exact), [Nothing, Nothing, Nothing]);
    let checks = discard_small_differences(&exact, &Criterion::Checks);
    assert!(checks.iter().all(|cell| cell.shows == Nothing));
}

//! Which cells count for a rule, and what the rules that are left say. Pure.

use crate::evaluation::{ShapeRule, Shows, SweepEnd, SweptCell};
use crate::search::{JudgedCell, separating_rules};

use super::cell::Criterion;

/// Runs of each side in a cell: a difference counts only if it repeats, and a rule rests only on
/// cells that ran so often.
pub(crate) const RUNS_TO_CLAIM: usize = 2;

/// The search for a rule ends after this many cells in a row that cannot be judged.
const MOST_IN_VAIN: usize = 4;

/// The cells, with small differences as unresolved if values repeat: if both sides are equal to the
/// last bit in most cells of the grid that show no regression. Then a difference within the
/// tolerance is also an effect of the commit, and must not count against a rule. Only cells of the
/// grid decide this, so that no further cell changes how the others are judged.
pub(super) fn discard_small_differences(
    cells: &[SweptCell],
    grid_size: usize,
    criterion: &Criterion,
) -> Vec<SweptCell> {
    let is_equal =
        |cell: &SweptCell| cell.parent.level.is_some() && cell.parent.level == cell.commit.level;
    let grid = cells.iter().take(grid_size);
    let none: Vec<&SweptCell> = grid.filter(|cell| cell.shows == Shows::Nothing).collect();
    let equal = none.iter().filter(|cell| is_equal(cell)).count();
    let are_exact = 2 * equal > none.len();
    let doubt = |cell: &SweptCell| {
        if !are_exact || cell.shows != Shows::Nothing || !criterion.is_within(cell) {
            return cell.clone();
        }
        let reason = "it differs within the tolerance, where most other cells are equal".to_owned();
        SweptCell { shows: Shows::Unresolved, reason, ..cell.clone() }
    };
    cells.iter().map(doubt).collect()
}

/// Whether none of the last cells beyond the grid could be judged.
pub(super) fn is_in_vain(beyond: &[SweptCell]) -> bool {
    let last = beyond.iter().rev().take(MOST_IN_VAIN);
    last.filter(|cell| cell.shows == Shows::Unresolved).count() == MOST_IN_VAIN
}

/// The first cell that shows nothing in a single run and rules something out that the other cells
/// leave open. A cell on which a rule rests must run twice, even if it shows nothing.
pub(super) fn single_run_that_decides(judged: &[SweptCell]) -> Option<usize> {
    let is_single = |cell: &SweptCell| {
        let runs = [&cell.parent, &cell.commit].map(|side| side.attempts.len());
        cell.shows == Shows::Nothing && runs.iter().any(|runs| *runs < RUNS_TO_CLAIM)
    };
    let seen_twice: Vec<JudgedCell> =
        judged.iter().filter(|cell| !is_single(cell)).filter_map(judged_cell).collect();
    let is_any_clean = seen_twice.iter().any(|cell| !cell.shows);
    let rules = separating_rules(&seen_twice);
    let decides = |cell: &SweptCell| {
        !is_any_clean || rules.iter().any(|rule| rule.holds(&cell.properties) != Some(false))
    };
    judged.iter().position(|cell| is_single(cell) && decides(cell))
}

/// A cell as input for the search for rules, if it can be judged.
pub(super) fn judged_cell(cell: &SweptCell) -> Option<JudgedCell> {
    let shows = match cell.shows {
        Shows::Difference => true,
        Shows::Nothing => false,
        Shows::Unresolved => return None,
    };
    Some(JudgedCell { properties: cell.properties.clone(), shows })
}

/// The answer with the remaining rules. `is_spent`: more cells would distinguish them.
pub(super) fn end(mut rules: Vec<ShapeRule>, is_spent: bool) -> SweepEnd {
    if rules.is_empty() {
        return SweepEnd::NoRule;
    }
    let rule = rules.remove(0);
    SweepEnd::Rule { rule, rivals: rules, is_spent }
}

#[cfg(test)]
mod tests;

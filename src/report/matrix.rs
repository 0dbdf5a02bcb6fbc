//! The cells of a matrix: the cells in which the bad end is worse, and the commits that changed
//! them.

use crate::evaluation::{CommitId, Value};
use crate::ui::text;

use super::model::{CellLine, CellStep, FirstBad, GuardLine, MatrixLine, Report};
use super::steps;
use super::tables::{Cell, Table};

/// A line for each guarded metric with cells.
pub(super) fn of(guards: &[GuardLine], culprits: &[FirstBad]) -> Vec<MatrixLine> {
    let mut lines: Vec<MatrixLine> = Vec::new();
    for guard in guards {
        let Some((metric, cell)) = guard.metric.cell() else { continue };
        let (axes, values): (Vec<_>, Vec<_>) =
            cell.into_iter().map(|(axis, value)| (axis.to_owned(), value.to_owned())).unzip();
        let at = lines.iter().position(|line| line.metric == metric).unwrap_or_else(|| {
            lines.push(MatrixLine { metric, axes, cells: Vec::new() });
            lines.len() - 1
        });
        let cells = &mut lines[at].cells;
        if let Some(known) = cells.iter_mut().find(|known| known.metric == guard.metric) {
            // A second guard of the same metric.
            known.broken |= guard.target;
            continue;
        }
        let steps = culprits.iter().filter_map(|first| {
            let effect = first.effect_on(&guard.metric)?;
            Some(CellStep { commit: first.commit.clone(), own_step: effect.own_step.clone() })
        });
        cells.push(CellLine {
            metric: guard.metric.clone(),
            values,
            baseline: guard.baseline.clone(),
            bad: guard.bad.clone(),
            limit: guard.limit.clone(),
            broken: guard.target,
            steps: steps.collect(),
        });
    }
    for line in &mut lines {
        // The guards list targets first; cells are sorted by value instead.
        line.cells.sort_by(|a, b| a.values.cmp(&b.values));
    }
    lines
}

/// A sentence per metric: how many cells broke, and by which commits.
pub(super) fn in_words(report: &Report) -> Vec<String> {
    report.matrix.iter().filter_map(|line| sentence(report, line)).collect()
}

fn sentence(report: &Report, line: &MatrixLine) -> Option<String> {
    let broken: Vec<&CellLine> = line.cells.iter().filter(|cell| cell.broken).collect();
    let (count, all) = (broken.len(), line.cells.len());
    let metric = &line.metric;
    if broken.is_empty() {
        return None;
    }
    let open = broken.iter().filter(|cell| cell.steps.is_empty()).count();
    let mut by: Vec<&CommitId> =
        broken.iter().flat_map(|cell| &cell.steps).map(|step| &step.commit).collect();
    by.sort();
    by.dedup();
    let told = match by.as_slice() {
        [] => String::new(),
        [only] if open == 0 && report.culprits.len() == 1 => {
            debug_assert_eq!(report.culprits[0].commit, **only);
            ", all of it by this commit".to_owned()
        }
        [only] => format!(", by {} in {} of them", only.short(), count - open),
        several => format!(", by {} commits", several.len()),
    };
    let left = match open {
        0 => String::new(),
        _ if by.is_empty() => String::new(),
        open => format!("; the commit that broke {open} of them was not found"),
    };
    Some(format!("Broken in {count} of {all} cells of {metric}{told}{left}."))
}

/// The grid: a row for each cell, a column for each confirmed commit.
pub(super) fn grid(report: &Report, line: &MatrixLine) -> Table {
    let mut columns = line.axes.clone();
    columns.extend(["good end", "bad end", "tolerance"].map(str::to_owned));
    let found: Vec<&FirstBad> = report
        .culprits
        .iter()
        .filter(|first| {
            let of_cell = |step: &CellStep| step.commit == first.commit;
            line.cells.iter().any(|cell| cell.steps.iter().any(of_cell))
        })
        .collect();
    columns.extend(found.iter().map(|first| format!("own step of {}", first.commit.short())));
    let figure = |value: &Option<Value>| value.as_ref().map(text::value).unwrap_or_default();
    let rows = line.cells.iter().map(|cell| {
        let mut row: Vec<Cell> = cell.values.iter().map(|value| Cell::from(&**value)).collect();
        let bad = figure(&cell.bad);
        let bad = if cell.broken { format!("{bad} (beyond the tolerance)") } else { bad };
        row.extend([figure(&cell.baseline), bad, figure(&cell.limit)].map(Cell::Text));
        row.extend(found.iter().map(|first| {
            let step = cell.steps.iter().find(|step| step.commit == first.commit);
            Cell::Text(match step.map(|step| &step.own_step) {
                None => String::new(),
                Some(None) => "changed".to_owned(),
                Some(Some(step)) => steps::moved(report, step),
            })
        }));
        row
    });
    Table { columns, rows: rows.collect() }
}

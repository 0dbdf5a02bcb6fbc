//! Sentences and grids about the cells in which the first bad commit shows its regression.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::evaluation::{CellSide, MeasureSweep, Shapes, Shows, SweepEnd, SweptCell};
use crate::ui::text;

use super::model::{Report, ShapesLine};
use super::tables::{Cell, Output, Table};

/// The label of the answer.
const SHAPES: &str = "Shapes";

/// The heading of the grids.
const GRIDS: &str = "Where the regression shows";

/// Maximum number of other rules that fit the cells equally well and that a sentence names.
const MOST_RIVALS: usize = 2;

/// Maximum number of such other rules beside a rule of two conditions. With more of them, the cells
/// do not support any rule.
const MOST_PAIRS: usize = 3;

/// Maximum columns of a grid. A wider one becomes a list.
const MOST_COLUMNS: usize = 12;

/// The answer with the logs of its runs.
pub(super) fn line(shapes: &Shapes, logs: &BTreeMap<String, String>) -> ShapesLine {
    let cells = shapes.sweeps.iter().flat_map(|sweep| &sweep.cells);
    let attempts = cells.flat_map(|cell| cell.parent.attempts.iter().chain(&cell.commit.attempts));
    let log = |attempt: &String| Some((attempt.clone(), logs.get(attempt)?.clone()));
    ShapesLine {
        shapes: shapes.clone(),
        words: words(shapes),
        logs: attempts.filter_map(log).collect(),
    }
}

/// Label and words of the answer for each swept measure.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let words = report.shapes.as_ref().map(|line| words(&line.shapes)).unwrap_or_default();
    words.into_iter().map(|words| (SHAPES, words)).collect()
}

/// `only where d_in % 4 ≠ 0`; `None` if several rules are left, or if several measures were swept.
pub(super) fn in_short(report: &Report) -> Option<String> {
    let [sweep] = report.shapes.as_ref()?.shapes.sweeps.as_slice() else { return None };
    match &sweep.end {
        SweepEnd::Rule { rule, rivals, is_spent: false } if rivals.is_empty() => {
            let unknown = match sweep.unresolved() {
                0 => String::new(),
                some => format!(" ({} cannot be judged)", text::plural(some, "cell")),
            };
            Some(text::line(&format!("only where {rule}{unknown}")))
        }
        _ => None,
    }
}

/// The answer for each measure. Names the measure if there are several.
fn words(shapes: &Shapes) -> Vec<String> {
    if let Some(why) = &shapes.not_swept {
        return vec![format!("not swept: {}", text::line(why))];
    }
    let is_named = shapes.sweeps.len() > 1;
    let words = |sweep: &MeasureSweep| {
        let name = if is_named { format!("{}: ", sweep.measure) } else { String::new() };
        format!("{name}{}", in_words(sweep))
    };
    shapes.sweeps.iter().map(words).collect()
}

/// `only where d_in % 4 ≠ 0: shows in 8 of 8 such cells, in 0 of 9 others`.
fn in_words(sweep: &MeasureSweep) -> String {
    let [showing, judged] = sweep.count(|_| true);
    let answer = match &sweep.end {
        SweepEnd::Everywhere => format!("everywhere: in all {judged} swept cells"),
        SweepEnd::Nowhere => format!("in none of the {judged} swept cells"),
        SweepEnd::NoRule => format!("no simple rule: shows in {showing} of {judged} cells"),
        SweepEnd::Unresolved => return "no swept cell can be judged".to_owned(),
        SweepEnd::Stopped(why) => {
            let why = text::line(why);
            let so_far = match judged {
                0 => String::new(),
                _ => format!("; so far it shows in {showing} of {judged} cells"),
            };
            format!("the sweep ended early: {why}{so_far}")
        }
        SweepEnd::Rule { rule, rivals, .. }
            if rule.conditions.len() > 1 && rivals.len() > MOST_PAIRS =>
        {
            let count = text::plural(rivals.len() + 1, "rule");
            let words = format!(
                "no single rule: {count} of two conditions agree with these cells, such as \
                 {rule}; shows in {showing} of {judged} cells"
            );
            text::line(&words)
        }
        SweepEnd::Rule { rule, rivals, is_spent } => {
            let [showing, such] = sweep.count(|cell| rule.holds(cell) == Some(true));
            let [elsewhere, others] = sweep.count(|cell| rule.holds(cell) == Some(false));
            let mut words = format!(
                "only where {rule}: shows in {showing} of {such} such cells, in {elsewhere} of \
                 {others} others"
            );
            if !rivals.is_empty() {
                let named = rivals.iter().take(MOST_RIVALS).map(ToString::to_string);
                let mut named: Vec<String> = named.collect();
                let more = rivals.len().saturating_sub(MOST_RIVALS);
                named.extend((more > 0).then(|| text::plural(more, "more rule")));
                let why = if *is_spent { " (the budget of cells is spent)" } else { "" };
                words = format!("{words}; as simple and not ruled out{why}: {}", named.join(", "));
            } else if *is_spent {
                words += "; the budget of cells is spent";
            }
            text::line(&words)
        }
    };
    match sweep.unresolved() {
        0 => answer,
        one => format!("{answer}; {} cannot be judged", text::plural(one, "cell")),
    }
}

/// `width[d_in=171]: shows it (width.failed 1, parent 0)`.
pub(crate) fn cell_in_words(cell: &SweptCell) -> String {
    let what = match cell.shows {
        Shows::Unresolved => text::line(&cell.reason),
        Shows::Difference | Shows::Nothing => {
            let metric = cell.metric.as_ref().map(|metric| format!("{metric} "));
            let (commit, parent) = (figure(&cell.commit), figure(&cell.parent));
            format!("{}{commit}, parent {parent}", metric.unwrap_or_default())
        }
    };
    format!("{}: {} ({what})", text::line(&cell.measure), shown(cell.shows))
}

/// The result of a cell, in a word or two.
fn shown(shows: Shows) -> &'static str {
    match shows {
        Shows::Difference => "shows it",
        Shows::Nothing => "no",
        Shows::Unresolved => "not known",
    }
}

/// `7.52`, or `crashes`.
fn figure(side: &CellSide) -> String {
    match (&side.failure, &side.level) {
        (Some(failure), _) => failure.to_string(),
        (None, Some(level)) => text::value(level),
        (None, None) => "runs".to_owned(),
    }
}

/// The cells of each sweep with a title: a grid for two parameters, else a list.
pub(super) fn tables(report: &Report) -> Vec<(String, Table)> {
    let Some(line) = &report.shapes else { return Vec::new() };
    let is_named = line.shapes.sweeps.len() > 1;
    let table = |sweep: &MeasureSweep| {
        let name = if is_named { format!(": {}", sweep.measure) } else { String::new() };
        let table = grid(line, sweep).unwrap_or_else(|| list(line, sweep));
        (format!("{GRIDS}{name}"), table)
    };
    let swept = line.shapes.sweeps.iter().filter(|sweep| !sweep.cells.is_empty());
    swept.map(table).collect()
}

/// The rows are values of one parameter, the columns those of the other. `None` for another number
/// of parameters, or too many columns.
fn grid(line: &ShapesLine, sweep: &MeasureSweep) -> Option<Table> {
    let [first, second] = sweep.parameters.as_slice() else { return None };
    let values = |place: usize| {
        let mut values: Vec<&str> =
            sweep.cells.iter().map(|cell| cell.labels[place].as_str()).collect();
        values.sort_by(|a, b| order(a, b));
        values.dedup();
        values
    };
    let (one, other) = (values(0), values(1));
    // The longer side goes down the page.
    let is_turned = one.len() < other.len();
    let (rows, columns) = if is_turned { (other, one) } else { (one, other) };
    if columns.len() > MOST_COLUMNS {
        return None;
    }
    let (down, across) = if is_turned { (second, first) } else { (first, second) };
    let at = |row: &str, column: &str| {
        let wanted = if is_turned { [column, row] } else { [row, column] };
        sweep.cells.iter().find(|cell| cell.labels == wanted)
    };
    let row = |row: &&str| {
        let cells = columns.iter().map(|column| match at(row, column) {
            Some(cell) => Cell::Outputs(linked(line, cell)),
            None => Cell::Text(String::new()),
        });
        [Cell::from(format!("{down}={row}"))].into_iter().chain(cells).collect()
    };
    // On a narrow screen each cell stands alone, so it has the names of both parameters.
    let titles = columns.iter().map(|column| format!("{across}={column}"));
    Some(Table {
        columns: ["cell".to_owned()].into_iter().chain(titles).collect(),
        rows: rows.iter().map(row).collect(),
    })
}

/// A row for each cell.
fn list(line: &ShapesLine, sweep: &MeasureSweep) -> Table {
    let mut cells: Vec<&SweptCell> = sweep.cells.iter().collect();
    cells.sort_by(|a, b| {
        let pairs = a.labels.iter().zip(&b.labels);
        pairs.map(|(a, b)| order(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
    let metric = cells.iter().find_map(|cell| cell.metric.as_ref());
    let metric = metric.map(|metric| format!("{metric}: ")).unwrap_or_default();
    let figures = format!("{metric}parent, commit");
    let rows = cells.into_iter().map(|cell| {
        let why = if cell.shows == Shows::Unresolved { cell.reason.as_str() } else { "" };
        let named = sweep.parameters.iter().zip(&cell.labels);
        let name: Vec<String> = named.map(|(name, label)| format!("{name}={label}")).collect();
        let sides = [&cell.parent, &cell.commit].into_iter().filter_map(|side| output(line, side));
        [
            Cell::from(name.join(", ")),
            Cell::from(shown(cell.shows)),
            Cell::Outputs(sides.collect()),
            Cell::from(why),
        ]
    });
    Table::new(["cell", "shows", figures.as_str(), "why"], rows).filled()
}

/// `shows it (0 → 0.3)` with a link to the commit's log, and a link to the parent's.
fn linked(line: &ShapesLine, cell: &SweptCell) -> Vec<Output> {
    let words = match cell.shows {
        Shows::Unresolved => shown(cell.shows).to_owned(),
        shows => format!("{} ({} → {})", shown(shows), figure(&cell.parent), figure(&cell.commit)),
    };
    let with = |words: String, side| Some(Output { words, ..output(line, side)? });
    let sides = [with(words, &cell.commit), with("parent's log".to_owned(), &cell.parent)];
    sides.into_iter().flatten().collect()
}

/// The value of a side with its last log; `None` if nothing ran.
fn output(line: &ShapesLine, side: &CellSide) -> Option<Output> {
    let log = side.attempts.iter().rev().find_map(|attempt| line.logs.get(attempt))?;
    Some(Output { words: figure(side), log: log.clone(), stored: None })
}

/// Numbers by their value, before words.
fn order(a: &str, b: &str) -> Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests;

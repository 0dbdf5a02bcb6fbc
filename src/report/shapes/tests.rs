use crate::evaluation::{
    Border, Comparison, Condition, FailureKind, Metric, Property, ShapeRule, Value,
};

use super::*;

fn cell(labels: &[&str], shows: Shows) -> SweptCell {
    let number = |(name, label): (&str, &&str)| {
        let property = match label.parse() {
            Ok(x) => Property::Number(x),
            Err(_) => Property::Word((*label).to_owned()),
        };
        (name.to_owned(), property)
    };
    let name = labels.join("-");
    let side = |side: &str, level| CellSide {
        level: Some(Value::Number(level)),
        failure: None,
        attempts: vec![format!("{side}-{name}")],
    };
    let level = if shows == Shows::Difference { 1.0 } else { 0.0 };
    SweptCell {
        measure: format!("width[{name}]"),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        properties: ["d_in", "threads"].into_iter().zip(labels).map(number).collect(),
        shows,
        reason: "both fail".to_owned(),
        metric: Some(Metric::named("width", "failed")),
        parent: side("parent", 0.0),
        commit: side("commit", level),
    }
}

fn sweep(parameters: &[&str], cells: Vec<SweptCell>, end: SweepEnd) -> MeasureSweep {
    let parameters = parameters.iter().map(|name| (*name).to_owned()).collect();
    MeasureSweep { measure: "width".to_owned(), parameters, cells, end }
}

/// Widths that show the regression, and others.
fn widths(shown: &[&str], others: &[&str], end: SweepEnd) -> MeasureSweep {
    let of = |shows: Shows| move |label: &&str| cell(&[*label], shows);
    let shown = shown.iter().map(of(Shows::Difference));
    sweep(&["d_in"], shown.chain(others.iter().map(of(Shows::Nothing))).collect(), end)
}

fn rule(is: Comparison) -> ShapeRule {
    ShapeRule::single(Condition { property: "d_in".to_owned(), is })
}

fn shapes(sweeps: Vec<MeasureSweep>) -> Shapes {
    Shapes {
        commit: "b".repeat(40).parse().unwrap(),
        parent: "a".repeat(40).parse().unwrap(),
        sweeps,
        not_swept: None,
    }
}

fn lined(sweeps: Vec<MeasureSweep>) -> ShapesLine {
    let shapes = shapes(sweeps);
    let cells = shapes.sweeps.iter().flat_map(|sweep| &sweep.cells);
    let attempts = cells.flat_map(|cell| cell.parent.attempts.iter().chain(&cell.commit.attempts));
    let logs = attempts.map(|one| (one.clone(), format!("logs/{one}.log"))).collect();
    line(&shapes, &logs)
}

#[test]
fn a_rule_is_said_with_its_counts_and_its_rivals() {
    let of = |rivals: &[u64], is_spent| {
        let rivals = rivals.iter().map(|of| rule(Comparison::NoMultiple(*of))).collect();
        let end = SweepEnd::Rule { rule: rule(Comparison::NoMultiple(2)), rivals, is_spent };
        in_words(&widths(&["171", "173"], &["96", "128", "256"], end))
    };
    let counts = "only where d_in % 2 ≠ 0: shows in 2 of 2 such cells, in 0 of 3 others";
    assert_eq!(of(&[], false), counts);
    assert_eq!(of(&[], true), format!("{counts}; the budget of cells is spent"));
    let rivals = "; as simple and not ruled out: d_in % 4 ≠ 0, d_in % 8 ≠ 0, 1 more rule";
    assert_eq!(of(&[4, 8, 16], false), format!("{counts}{rivals}"));
    let spent = "; as simple and not ruled out (the budget of cells is spent): d_in % 4 ≠ 0";
    assert_eq!(of(&[4], true), format!("{counts}{spent}"));
}

#[test]
fn other_answers_say_what_was_seen() {
    let said = |end| in_words(&widths(&["1"], &["2", "3"], end));
    assert_eq!(said(SweepEnd::NoRule), "no simple rule: shows in 1 of 3 cells");
    let stopped = SweepEnd::Stopped("the disk is full".to_owned());
    let words = "the sweep ended early: the disk is full; so far it shows in 1 of 3 cells";
    assert_eq!(said(stopped.clone()), words);
    let empty = sweep(&["d_in"], Vec::new(), stopped);
    assert_eq!(in_words(&empty), "the sweep ended early: the disk is full");
    let everywhere = widths(&["1", "2"], &[], SweepEnd::Everywhere);
    assert_eq!(in_words(&everywhere), "everywhere: in all 2 swept cells");
    let mut nowhere = widths(&[], &["1"], SweepEnd::Nowhere);
    nowhere.cells.push(cell(&["2"], Shows::Unresolved));
    assert_eq!(in_words(&nowhere), "in none of the 1 swept cells; 1 cell cannot be judged");
    let unknown = sweep(&["d_in"], vec![cell(&["2"], Shows::Unresolved)], SweepEnd::Unresolved);
    assert_eq!(in_words(&unknown), "no swept cell can be judged");
}

#[test]
fn many_rules_of_two_conditions_are_no_claim() {
    let of = |rivals: usize| {
        let pair = |of: u64| {
            let conditions = [of, of + 1].map(|of| rule(Comparison::Multiple(of)).conditions);
            ShapeRule { conditions: conditions.concat(), ..rule(Comparison::Multiple(of)) }
        };
        let rivals = (0..rivals).map(|_| pair(5)).collect();
        let end = SweepEnd::Rule { rule: pair(2), rivals, is_spent: false };
        in_words(&widths(&["6"], &["2", "3"], end))
    };
    assert!(of(3).starts_with("only where d_in % 2 = 0 and d_in % 3 = 0: shows in 1 of 1 such"));
    let vague = "no single rule: 5 rules of two conditions agree with these cells, such as d_in % 2 \
                 = 0 and d_in % 3 = 0; shows in 1 of 3 cells";
    assert_eq!(of(4), vague);
}

#[test]
fn several_measures_are_named_and_a_reason_stands_alone() {
    let one = || widths(&["1"], &[], SweepEnd::Everywhere);
    assert_eq!(words(&shapes(vec![one()])), ["everywhere: in all 1 swept cells"]);
    let two = words(&shapes(vec![one(), one()]));
    assert_eq!(two[1], "width: everywhere: in all 1 swept cells");
    let none = Shapes { not_swept: Some("it varies".to_owned()), ..shapes(Vec::new()) };
    assert_eq!(words(&none), ["not swept: it varies"]);
}

#[test]
fn a_cell_says_both_figures_or_why_there_are_none() {
    let shown = cell_in_words(&cell(&["171"], Shows::Difference));
    assert_eq!(shown, "width[171]: shows it (width.failed 1, parent 0)");
    let mut crash = cell(&["171"], Shows::Difference);
    crash.commit.failure = Some(FailureKind::Crash);
    assert_eq!(cell_in_words(&crash), "width[171]: shows it (width.failed crashes, parent 0)");
    let unknown = cell_in_words(&cell(&["5"], Shows::Unresolved));
    assert_eq!(unknown, "width[5]: not known (both fail)");
}

/// The texts of a table's cells, with the logs to which they link.
fn texts(table: &Table) -> Vec<Vec<String>> {
    let text = |cell: &Cell| match cell {
        Cell::Text(words) => words.clone(),
        Cell::Outputs(outputs) => {
            let linked = outputs.iter().map(|one| format!("{}→{}", one.words, one.log));
            linked.collect::<Vec<_>>().join(" ")
        }
        other => format!("{other:?}"),
    };
    table.rows.iter().map(|row| row.iter().map(text).collect()).collect()
}

#[test]
fn one_parameter_makes_a_list_in_order_of_its_numbers() {
    let border = Comparison::Above(Border { low: 9.0, high: 10.0 });
    let end = SweepEnd::Rule { rule: rule(border), rivals: Vec::new(), is_spent: false };
    let line = lined(vec![widths(&["100", "10"], &["9"], end)]);
    assert_eq!(line.words, ["only where d_in > 9: shows in 2 of 2 such cells, in 0 of 1 others"]);
    assert_eq!(line.logs.len(), 6);
    let table = list(&line, &line.shapes.sweeps[0]);
    assert_eq!(table.columns, ["cell", "shows", "width.failed: parent, commit"]);
    let rows = texts(&table);
    assert_eq!(rows[0], ["d_in=9", "no", "0→logs/parent-9.log 0→logs/commit-9.log"]);
    let figures = "0→logs/parent-100.log 1→logs/commit-100.log";
    assert_eq!(rows[2], ["d_in=100", "shows it", figures]);
    assert!(grid(&line, &line.shapes.sweeps[0]).is_none());
}

#[test]
fn two_parameters_make_a_grid_with_the_longer_side_down() {
    let mut cells = Vec::new();
    for threads in ["1", "8"] {
        for d_in in ["171", "96", "128"] {
            let shows = if d_in == "171" { Shows::Difference } else { Shows::Nothing };
            cells.push(cell(&[d_in, threads], shows));
        }
    }
    // A cell beyond the grid leaves a gap.
    cells.push(cell(&["170", "8"], Shows::Unresolved));
    let line = lined(vec![sweep(&["d_in", "threads"], cells.clone(), SweepEnd::NoRule)]);
    let table = grid(&line, &line.shapes.sweeps[0]).unwrap();
    assert_eq!(table.columns, ["cell", "threads=1", "threads=8"]);
    let rows = texts(&table);
    let first: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(first, ["d_in=96", "d_in=128", "d_in=170", "d_in=171"]);
    assert_eq!(rows[2][1], "");
    assert!(rows[2][2].starts_with("not known→logs/commit-170-8.log parent's log→"), "{rows:?}");
    // The same with the sides swapped.
    let turned = cells.into_iter().map(|mut cell| {
        cell.labels.reverse();
        cell
    });
    let turned = sweep(&["threads", "d_in"], turned.collect(), SweepEnd::NoRule);
    let line = lined(vec![turned]);
    assert_eq!(texts(&grid(&line, &line.shapes.sweeps[0]).unwrap()), rows);
}

//! What `diff tensors` prints for people.

use std::fmt::Write;

use crate::evaluation::{TensorComparison, TensorDifference, TensorOrder, TensorVerdict};
use crate::tensor::TensorSet;
use crate::ui::text;

use super::lines::{cosine, short};

/// Tensors in the table before the first different one, and after it.
const BEFORE: usize = 4;
const AFTER: usize = 8;

/// Names in a sentence.
const NAMES: usize = 5;

/// The whole output.
pub(super) fn text(sets: [&TensorSet; 2], found: &TensorComparison, all: bool) -> String {
    let mut out = String::new();
    for (name, set) in ["A", "B"].iter().zip(sets) {
        let path = text::line(&set.path().display().to_string());
        let _ = writeln!(out, "{name}  {path} ({})", text::plural(set.count(), "tensor"));
    }
    let pairs = text::plural(found.compared, "pair");
    let _ = writeln!(out, "{pairs} compared, {} beyond the tolerance", found.beyond);
    out.push('\n');
    match found.first() {
        Some(first) => out.push_str(&first_lines(first, found)),
        None => out.push_str("No tensor is beyond its tolerance.\n"),
    }
    out.push('\n');
    let mut near = found.clone();
    if !all {
        near.keep_near(BEFORE, AFTER);
    }
    out.push_str(&table(&near));
    if found.growth.len() > 1 && found.first.is_some() {
        out.push_str(&growth(found));
    }
    if !found.patterns.is_empty() {
        out.push_str("\nWhat it looks like:\n");
        for pattern in &found.patterns {
            let _ = writeln!(out, "  {}: {}", pattern.kind, text::line(&pattern.evidence));
        }
    }
    let notes = notes(found);
    if !notes.is_empty() {
        let _ = write!(out, "\n{notes}");
    }
    out
}

fn first_lines(first: &TensorDifference, found: &TensorComparison) -> String {
    let mut out = format!("First different tensor: {}\n", name(first));
    if let Some(remark) = &first.remark {
        let _ = writeln!(out, "  {}", text::line(remark));
    }
    match (first.verdict, first.max_abs) {
        (TensorVerdict::Shape | TensorVerdict::Sum, _) => {}
        (verdict, largest) => {
            if verdict == TensorVerdict::NonFinite {
                let [a, b] = first.non_finite;
                let _ = writeln!(out, "  NaN or infinite: {a} values in A, {b} in B");
            }
            if let Some(largest) = largest {
                let noise = first.noise.map(|noise| format!(", noise {}", short(noise)));
                let _ = writeln!(
                    out,
                    "  max |Δ| {}, tolerance {}{}",
                    short(largest),
                    short(first.tolerance),
                    noise.unwrap_or_default()
                );
            }
            out.push_str(&places(first));
        }
    }
    if let Some(operation) = &first.operation {
        let _ = writeln!(out, "  computed by {}", text::line(operation));
    }
    for input in &found.inputs {
        let [state, _] = input.states();
        let largest = input.max_abs.map(|largest| format!(" (max |Δ| {})", short(largest)));
        let shown = text::line(&input.name);
        let _ = writeln!(out, "  its input {shown} is {state}{}", largest.unwrap_or_default());
    }
    if found.inputs.is_empty() && first.part.is_some() {
        out.push_str("  its inputs are not in the dump\n");
    }
    if let Some(doubt) = found.doubt() {
        let _ = writeln!(out, "  {}", text::line(&doubt));
    }
    out
}

fn name(one: &TensorDifference) -> String {
    let other = one.other_name.as_ref().map(|other| format!(" (B: {})", text::line(other)));
    text::line(&one.name) + &other.unwrap_or_default()
}

fn places(first: &TensorDifference) -> String {
    let place = |position: &[u64]| match position {
        [] => None,
        [one] => Some(one.to_string()),
        more => Some(format!("{more:?}")),
    };
    let mut out = String::new();
    let [one, worst] = [&first.first_position, &first.worst_position]
        .map(|position| position.as_deref().and_then(place));
    if let (Some(one), Some(worst)) = (one, worst) {
        let _ = writeln!(out, "  first position {one}, worst position {worst}");
    }
    if let Some(values) = first.worst_values {
        let [a, b] = values.map(text::figure);
        let _ = writeln!(out, "  largest difference: {a} → {b}");
    }
    out
}

/// One line for each tensor; a mark before the different ones.
fn table(near: &TensorComparison) -> String {
    let cells = near.tensors.iter().map(|one| {
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
        let shape: Vec<String> = one.shape.iter().map(u64::to_string).collect();
        [
            name(one),
            shape.join(" × "),
            number(one.max_abs),
            number(one.mean_abs),
            number(one.rms),
            one.cosine.map_or_else(|| "-".to_owned(), cosine),
            short(one.tolerance),
        ]
    });
    let heads = ["tensor", "shape", "max |Δ|", "mean |Δ|", "RMS of Δ", "cosine", "tolerance"]
        .map(str::to_owned);
    let rows: Vec<[String; 7]> = std::iter::once(heads).chain(cells).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..7).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for (place, row) in rows.iter().enumerate() {
        let one = place.checked_sub(1).map(|place| &near.tensors[place]);
        let mark = if one.is_some_and(TensorDifference::is_different) { "*" } else { " " };
        let mut line = format!("{mark} {:<1$}  {2:<3$}", row[0], widths[0], row[1], widths[1]);
        for (cell, width) in row.iter().zip(&widths).skip(2) {
            let _ = write!(line, "  {cell:>width$}");
        }
        let remark = one.and_then(|one| one.remark.as_ref());
        let remark = remark.map(|remark| format!("  {}", text::line(remark))).unwrap_or_default();
        let _ = writeln!(out, "{}", (line + &remark).trim_end());
    }
    out
}

fn growth(found: &TensorComparison) -> String {
    let mut out = format!("\nRMS of Δ / RMS of A, {} by {}:\n", found.axis, found.axis);
    for point in &found.growth {
        let at = format!("{} {}", found.axis, point.at);
        let shown = text::line(&point.name);
        let _ = writeln!(out, "  {at:<9}  {:>9}  {shown}", short(point.relative));
    }
    out
}

/// What limits the comparison.
fn notes(found: &TensorComparison) -> String {
    let mut out = String::new();
    let assumed = match found.order {
        TensorOrder::FileNames => {
            Some("by the names of the files; a list `index.txt` would give the order")
        }
        TensorOrder::Offset => {
            Some("by the places in the file; a text `order` in its header would give the order")
        }
        TensorOrder::Listed | TensorOrder::Printed => None,
    };
    if let Some(assumed) = assumed {
        let _ = writeln!(out, "The order of the tensors is assumed: {assumed}.");
    }
    if found.printed_only {
        out.push_str(
            "Only printed values were compared: the first and last three of each dimension, with \
             four\ndecimals. A tensor that looks equal may differ elsewhere, if no sum of all its values \
             is printed.\n",
        );
    }
    for (side, last) in ["A", "B"].iter().zip(&found.ends_early) {
        if let Some(last) = last {
            let _ = writeln!(out, "{side} ends early, after {}.", text::line(last));
        }
    }
    let is_changed = |name: &&String| found.changed_operations.iter().any(|one| one[0] == **name);
    for (side, names) in ["A", "B"].iter().zip(&found.unmatched) {
        let names: Vec<String> = names.iter().filter(|name| !is_changed(name)).cloned().collect();
        if !names.is_empty() {
            let _ = writeln!(out, "Only in {side}: {}", list(&names));
        }
    }
    if !found.changed_operations.is_empty() {
        let changed = found.changed_operations.iter();
        let words: Vec<String> =
            changed.map(|[name, a, b]| format!("{name} ({a} in A, {b} in B)")).collect();
        let _ = writeln!(out, "Another operation of the same name, not compared: {}", list(&words));
    }
    if !found.reordered.is_empty() {
        let _ = writeln!(out, "Computed in another order in B: {}", list(&found.reordered));
    }
    let skipped: Vec<String> = found
        .tensors
        .iter()
        .filter(|one| one.verdict == TensorVerdict::NotCompared)
        .map(|one| one.name.clone())
        .collect();
    if !skipped.is_empty() {
        let _ = writeln!(out, "Not compared: {}", list(&skipped));
    }
    out
}

/// The first names, and how many more there are.
fn list(names: &[String]) -> String {
    let some: Vec<String> = names.iter().take(NAMES).map(|name| text::line(name)).collect();
    match names.len().checked_sub(NAMES) {
        Some(more) if more > 0 => format!("{} and {more} more", some.join(", ")),
        _ => some.join(", "),
    }
}

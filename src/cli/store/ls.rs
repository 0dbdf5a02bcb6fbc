//! `store ls`: lists the hunts of a repository and the disk space of the store.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli::args::StoreLs;
use crate::cli::{Failed, exit};
use crate::evaluation::Outcome;
use crate::report::{Report, ReportError};
use crate::store::{HuntDir, Inventory, Store};
use crate::ui::{Ui, text};

/// The line of a hunt.
struct Line {
    hunt: String,
    began: String,
    outcome: String,
    range: String,
    first_bad: String,
    runs: String,
    size: String,
    document: Value,
}

/// `store ls`.
pub(crate) fn run(args: &StoreLs, store: &Store, ui: Ui) -> Result<u8, Failed> {
    let inventory = store.inventory().map_err(Failed::store)?;
    let lines = inventory
        .hunts
        .iter()
        .map(|(hunt, bytes)| line(hunt, *bytes))
        .collect::<Result<Vec<_>, _>>()?;
    let out = if args.json { document(&lines, &inventory, store) } else { table(&lines) };
    ui.out(&out).map_err(Failed::stdout)?;
    if !args.json {
        ui.out(&totals(&inventory, store)).map_err(Failed::stdout)?;
    }
    Ok(exit::DONE)
}

fn line(hunt: &HuntDir, bytes: u64) -> Result<Line, Failed> {
    let is_driven = hunt.is_driven().map_err(Failed::store)?;
    let report = match Report::of(hunt) {
        Ok(report) => Some(report),
        // A hunt without a report still takes disk space.
        Err(ReportError::NotBegun(_)) => None,
        Err(error) => return Err(crate::cli::ended::report_failed(error)),
    };
    let outcome = match &report {
        Some(report) if report.outcome == Outcome::Interrupted && is_driven => "running".to_owned(),
        Some(report) => report.outcome.to_string(),
        None => "not begun".to_owned(),
    };
    let of = |tell: &dyn Fn(&Report) -> String| report.as_ref().map(tell).unwrap_or_default();
    Ok(Line {
        hunt: hunt.id().to_owned(),
        began: of(&|report| local(&report.began)),
        range: of(&|report| {
            let [old, new] = report.ends();
            format!("{}..{}", old.commit.short(), new.commit.short())
        }),
        first_bad: of(&|report| match &report.culprit {
            Some(culprit) => culprit.commit.short().to_owned(),
            None => "-".to_owned(),
        }),
        runs: of(&|report| report.totals.runs.to_string()),
        size: text::bytes(bytes),
        document: json!({
            "hunt": hunt.id(),
            "began": report.as_ref().map(|report| &report.began),
            "outcome": report.as_ref().map(|report| report.outcome),
            "running": is_driven,
            "good": report.as_ref().map(|report| &report.good.commit),
            "bad": report.as_ref().map(|report| &report.bad.commit),
            "culprit": report.as_ref().and_then(|report| Some(&report.culprit.as_ref()?.commit)),
            "runs": report.as_ref().map(|report| report.totals.runs),
            "builds": report.as_ref().map(|report| report.totals.builds),
            "bytes": bytes,
            "folder": hunt.path(),
        }),
        outcome,
    })
}

/// A time in the local time zone, to the minute.
pub(super) fn local(date: &str) -> String {
    date.parse::<jiff::Timestamp>().map_or_else(
        |_| text::line(date),
        |at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

fn table(lines: &[Line]) -> String {
    let head = ["hunt", "began", "outcome", "range", "first bad", "runs", "size"];
    let rows: Vec<[&str; 7]> = std::iter::once(head)
        .chain(lines.iter().map(|line| {
            [
                line.hunt.as_str(),
                line.began.as_str(),
                line.outcome.as_str(),
                line.range.as_str(),
                line.first_bad.as_str(),
                line.runs.as_str(),
                line.size.as_str(),
            ]
        }))
        .collect();
    if lines.is_empty() {
        return "no hunts\n".to_owned();
    }
    let widths: Vec<usize> = (0..head.len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Writing to a string cannot fail. Numbers are aligned to the right.
            let _ = if column < 5 {
                write!(line, "{cell:<width$}  ")
            } else {
                write!(line, "{cell:>width$}  ")
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn totals(inventory: &Inventory, store: &Store) -> String {
    format!(
        "{} ({}), {} ({}), {} in all, in {}\n",
        text::plural(inventory.runs.count, "run"),
        text::bytes(inventory.runs.bytes),
        text::plural(inventory.builds.count, "build"),
        text::bytes(inventory.builds.bytes),
        text::bytes(inventory.bytes),
        text::line(&store.root().to_string_lossy())
    )
}

fn document(lines: &[Line], inventory: &Inventory, store: &Store) -> String {
    let hunts: Vec<&Value> = lines.iter().map(|line| &line.document).collect();
    let whole = json!({
        "schema": "bisect-ppl/store/1",
        "folder": store.root(),
        "hunts": hunts,
        "runs": { "count": inventory.runs.count, "bytes": inventory.runs.bytes },
        "builds": { "count": inventory.builds.count, "bytes": inventory.builds.bytes },
        "bytes": inventory.bytes,
    });
    format!("{whole:#}\n")
}

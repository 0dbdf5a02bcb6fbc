//! Facts and tables that explain the first bad commits, for all formats.

use super::model::{FirstBad, Report};
use super::tables::Table;
use super::words::is_main;
use super::{cause, generated, levels, logits, shapes, tensors};

/// The label of the sentence with all facts.
const IN_SHORT: &str = "In short";

/// Label and words of each fact. Of other commits than the main one, only the cause is known.
pub(super) fn facts(report: &Report, first: &FirstBad) -> Vec<(&'static str, String)> {
    let mut facts: Vec<_> =
        in_short(report, first).map(|words| (IN_SHORT, words)).into_iter().collect();
    facts.extend(parts(report, first).concat());
    facts
}

/// The facts for a short format: the sentence with all facts, and the first fact of each kind.
pub(super) fn main_facts(report: &Report, first: &FirstBad) -> Vec<(&'static str, String)> {
    let short = in_short(report, first).map(|words| (IN_SHORT, words));
    let kinds = parts(report, first);
    short.into_iter().chain(kinds.into_iter().filter_map(|kind| kind.into_iter().next())).collect()
}

/// The facts by kind.
fn parts(report: &Report, first: &FirstBad) -> Vec<Vec<(&'static str, String)>> {
    if !is_main(report, first) {
        return vec![cause::facts(report, first)];
    }
    vec![
        cause::facts(report, first),
        shapes::facts(report),
        generated::facts(report),
        levels::facts(report),
        logits::facts(report),
        tensors::facts(report),
    ]
}

/// `hunk 2 of 4 in src/packed.c alone; first different tensor blk1.ffn_down (max |Δ| 7.93, noise
/// 0); only where d_in % 4 ≠ 0; reverting it heals the bad end`. `None` if fewer than two of
/// these are known, because the fact itself is then enough.
fn in_short(report: &Report, first: &FirstBad) -> Option<String> {
    if !is_main(report, first) {
        return None;
    }
    let parts = [
        cause::in_short(report, first),
        tensors::in_short(report),
        shapes::in_short(report),
        generated::in_short(report),
        levels::in_short(report),
        cause::healing(report),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (known.len() > 1).then(|| known.join("; "))
}

/// The cause of a first bad commit in a few words; `None` unless exactly one cause is known.
pub(super) fn cause_in_short(report: &Report, first: &FirstBad) -> Option<String> {
    cause::in_short(report, first)
}

/// The tables with their titles; a table may be empty.
pub(super) fn tables(report: &Report) -> Vec<(String, Table)> {
    let mut tables = cause::tables(report);
    tables.extend(shapes::tables(report));
    let others = [
        (generated::FACTS, generated::facts_table(report)),
        (levels::TITLE, levels::table(report)),
        (logits::TITLE, logits::table(report)),
        (generated::TEXTS, generated::texts_table(report)),
        (tensors::NEAR, tensors::near(report)),
        (tensors::GROWTH, tensors::growth(report)),
        (tensors::RUNS, tensors::runs(report)),
    ];
    tables.extend(others.map(|(title, table)| (title.to_owned(), table)));
    tables
}

//! What was asked about the inside of the first bad commit: facts and tables, for all forms.

use super::model::{FirstBad, Report};
use super::tables::Table;
use super::{cause, generated, levels, logits, shapes, tensors};

/// Label and words of each fact.
pub(super) fn facts(report: &Report, first: &FirstBad) -> Vec<(&'static str, String)> {
    let mut facts = cause::facts(report, first);
    facts.extend(shapes::facts(report, first));
    facts.extend(generated::facts(report, first));
    facts.extend(levels::facts(report, first));
    facts.extend(logits::facts(report, first));
    facts.extend(tensors::facts(report, first));
    facts
}

/// The tables with their titles; a table may be empty.
pub(super) fn tables(report: &Report) -> Vec<(String, Table)> {
    let mut tables = vec![(cause::TRIALS.to_owned(), cause::trials(report))];
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

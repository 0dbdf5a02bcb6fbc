//! The top of the page: the answer and how to reproduce it.

use crate::report::model::{FirstBad, Report};
use crate::report::{certainty, differences, facts, tables, words};
use crate::ui::text;

use super::page::Page;

/// The heading of the differences besides the files.
const DIFFERS: &str = "What else differs from its parent";

pub(super) fn answer(page: &mut Page, report: &Report) {
    page.heading(1, &words::headline(report));
    if !report.summary.is_empty() {
        page.paragraph(&report.summary);
    }
    if let Some(hunted) = words::hunted_failure(report) {
        page.paragraph(&hunted);
    }
    let main = report.culprit.as_ref();
    if let Some(first) = main {
        first_bad(page, report, first);
    }
    page.heading(2, "How to reproduce");
    page.paragraph(&words::reproduce(report));
    page.block(&format!("```sh\n{}\n```", words::REPRODUCE));
    if let Some(first) = main {
        page.titled(2, "Files it touches", &tables::files(first));
        page.titled(2, DIFFERS, &differences::table(first));
    }
    for other in words::other_culprits(report) {
        let also = words::also(report);
        page.heading(2, &format!("{also}: {}", text::commit(&other.commit, &other.subject)));
        first_bad(page, report, other);
        page.titled(2, "Files it touches", &tables::files(other));
        page.titled(2, DIFFERS, &differences::table(other));
    }
    candidates(page, report);
    search(page, report);
    page.titled(2, "Contributions", &tables::contributions(report));
}

fn first_bad(page: &mut Page, report: &Report, first: &FirstBad) {
    let facts = facts::first_bad(report, first).into_iter();
    page.items(facts.map(|fact| match fact.label {
        Some(label) => format!("{label}: {}", fact.words),
        None => fact.words,
    }));
    page.table(&tables::effects(report, first));
}

/// How each posterior search found its answer.
fn search(page: &mut Page, report: &Report) {
    if report.posterior.is_empty() {
        return;
    }
    page.heading(2, "How the search weighed the commits");
    for (words, one) in certainty::searches(report).iter().zip(&report.posterior) {
        page.paragraph(words);
        page.table(&tables::likely(report, one));
    }
}

fn candidates(page: &mut Page, report: &Report) {
    let table = tables::candidates(report);
    if table.rows.is_empty() {
        return;
    }
    page.heading(2, words::candidates_title(report));
    if let Some(caution) = words::candidates_caution(report) {
        page.paragraph(caution);
    }
    page.table(&table);
}

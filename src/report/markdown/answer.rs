//! The top of the page: the answer and how to reproduce it.

use crate::report::change::{Shown, folded, shown};
use crate::report::model::{CandidateLine, Change, FirstBad, Report};
use crate::report::next_steps::words_and_lines;
use crate::report::{candidates, certainty, differences, facts, generated, inquiry, tables, words};
use crate::ui::text;

use super::escape::{fenced, fenced_as};
use super::page::Page;

/// The heading of the diff.
const CHANGES: &str = "What it changes";

/// The heading of the differences besides the files.
const DIFFERS: &str = "What else differs from its parent";

pub(super) fn answer(page: &mut Page<'_>, report: &Report) {
    page.heading(1, &words::headline(report));
    // With one commit the summary repeats the facts below it.
    if !report.summary.is_empty() && (report.culprit.is_none() || report.culprits.len() > 1) {
        page.paragraph(&report.summary);
    }
    if let Some(hunted) = words::hunted_failure(report) {
        page.paragraph(&hunted);
    }
    if !report.next.is_empty() {
        page.heading(2, "What to try next");
        let steps: Vec<_> = report.next.iter().map(|step| words_and_lines(step)).collect();
        page.items(steps.iter().map(|(words, _)| words.clone()));
        for (_, lines) in steps.iter().filter(|(_, lines)| !lines.is_empty()) {
            page.block(&fenced_as("toml", lines));
        }
    }
    let main = report.culprit.as_ref();
    if let Some(first) = main {
        first_bad(page, report, first);
    }
    for (title, table) in inquiry::tables(report) {
        page.titled(2, &title, &table);
    }
    for pair in &report.inquiry.texts {
        page.heading(3, &generated::title(pair));
        for (side, words) in [("Parent:", &pair.parent), ("Commit:", &pair.commit)] {
            page.paragraph(side);
            page.block(&fenced(&words.text));
        }
    }
    page.heading(2, "How to reproduce");
    page.paragraph(&words::reproduce(report, "beside this report"));
    page.block(&format!("```sh\n{}\n```", words::REPRODUCE));
    if let Some(first) = main {
        change(page, first, 2);
        page.titled(2, DIFFERS, &differences::table(first));
    }
    for other in words::other_culprits(report) {
        let also = words::also(report);
        page.heading(2, &format!("{also}: {}", text::commit(&other.commit, &other.subject)));
        first_bad(page, report, other);
        change(page, other, 3);
        page.titled(3, DIFFERS, &differences::table(other));
    }
    undecided(page, report);
    search(page, report);
    page.titled(2, "Contributions", &tables::contributions(report));
}

fn first_bad(page: &mut Page<'_>, report: &Report, first: &FirstBad) {
    page.facts(&facts::first_bad(report, first));
    page.table(&tables::effects(report, first));
}

/// The diff of a first bad commit, or its files if no diff is stored.
fn change(page: &mut Page<'_>, first: &FirstBad, level: usize) {
    let Some(change) = &first.change else {
        page.titled(level, CHANGES, &tables::files(&first.files));
        return;
    };
    if !first.files.is_empty() {
        page.heading(level, CHANGES);
    }
    diff(page, shown(change), change);
}

/// The diff of each file, and the files without one.
fn diff<'c>(page: &mut Page<'_>, files: impl Iterator<Item = Shown<'c>>, change: &Change) {
    for file in files {
        page.diff(&file);
    }
    if !change.left_out.is_empty() {
        page.paragraph("Files without a diff here:");
        page.table(&tables::files(&change.left_out));
    }
}

/// How each posterior search found its answer.
fn search(page: &mut Page<'_>, report: &Report) {
    if report.posterior.is_empty() {
        return;
    }
    page.heading(2, "How the search weighed the commits");
    for (words, one) in certainty::searches(report).iter().zip(&report.posterior) {
        page.paragraph(words);
        page.table(&tables::likely(report, one));
    }
}

/// The measured steps and the candidates of an answer that names no commit.
fn undecided(page: &mut Page<'_>, report: &Report) {
    if report.culprit.is_none() {
        page.titled(2, &candidates::steps_title(report), &tables::open_steps(report));
    }
    let table = tables::candidates(report);
    let unlisted = candidates::unlisted(report).filter(|_| report.culprit.is_none());
    if table.rows.is_empty() && unlisted.is_none() {
        return;
    }
    page.heading(2, words::candidates_title(report));
    if let Some(caution) = words::candidates_caution(report) {
        page.paragraph(caution);
    }
    page.table(&table);
    if let Some(unlisted) = unlisted {
        page.paragraph(&unlisted);
    }
    if let Some(elsewhere) = candidates::printed_elsewhere(report) {
        page.paragraph(&elsewhere);
    }
    for CandidateLine { info, change } in &report.candidate_changes {
        let name = text::commit(&info.commit, &info.subject);
        page.heading(3, &format!("What {name} changes"));
        page.paragraph(&format!("{}, {}", info.author, info.date));
        diff(page, folded(change), change);
    }
}

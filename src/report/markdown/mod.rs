//! `report.md`: the answer first, then its evidence, then everything else.

mod answer;
mod escape;
mod issue;
mod page;

pub(crate) use self::issue::issue;

use self::escape::fenced;
use self::page::Page;

use crate::ui::text;

use super::links::Logs;
use super::model::Report;
use super::{certainty, inside, matrix, printed, steps, tables, words};

/// The report as GitHub-flavoured Markdown.
pub(crate) fn markdown(report: &Report, logs: &Logs) -> String {
    let mut page = Page::new(logs);
    answer::answer(&mut page, report);
    for failed in &report.failed {
        page.heading(2, &printed::dated_title(failed));
        if !failed.lines.is_empty() {
            page.block(&fenced(&failed.lines.join("\n")));
        }
        page.log(&failed.log);
    }
    page.titled(2, "Endpoints", &tables::endpoints(report));
    if let Some(around) = inside::around(report).filter(|_| report.culprit.is_none()) {
        page.paragraph(&format!("{} {around}.", words::AROUND));
    }
    page.table(&tables::noise(report));
    if let Some(levels) = certainty::settled(report) {
        page.paragraph(&levels);
    }
    if let Some(steady) = words::steadiness(report) {
        page.paragraph(steady);
    }
    page.table(&tables::repeats(report));
    page.titled(2, "Measured commits", &tables::measured(report));
    page.titled(3, "Time and memory of the runs", &tables::resources(report));
    page.titled(3, "Builds", &tables::builds(report));
    page.titled(2, "Runs that do not count", &tables::apart(report));
    page.titled(2, "Skipped commits", &tables::skipped(report));
    if !report.matrix.is_empty() {
        page.heading(2, "Cells");
        page.items(matrix::in_words(report).into_iter());
    }
    for line in &report.matrix {
        page.titled(3, &line.metric.to_string(), &matrix::grid(report, line));
    }
    if !report.accounts.is_empty() {
        page.heading(2, "Account");
        page.items(report.accounts.iter().map(|one| steps::account(report, one)));
    }
    page.titled(2, "Guards", &tables::guards(report));
    page.titled(2, "Changed for this hunt", &tables::changes(report));
    if !report.notes.is_empty() {
        page.heading(2, "Notes");
        page.items(report.notes.iter().cloned());
    }
    page.titled(2, "Inputs", &tables::inputs(report));
    setting(&mut page, report);
    page.heading(2, "Totals");
    page.paragraph(&words::totals(report));
    page.finish()
}

fn setting(page: &mut Page<'_>, report: &Report) {
    page.heading(2, "Machine and environment");
    page.items(words::machine(report).into_iter().map(|(label, text)| format!("{label}: {text}")));
    for (command, output) in &report.environment {
        page.block(&fenced(&format!("$ {command}\n{output}")));
    }
    let build: Vec<_> = report.commands.build.iter().map(|words| text::typed(words)).collect();
    if build.is_empty() && report.commands.measures.is_empty() {
        return;
    }
    page.heading(2, "Commands");
    page.paragraph("As they ran at the last commit.");
    if !build.is_empty() {
        page.block("Build:");
        page.block(&fenced(&build.join("\n")));
    }
    for (measure, argv) in &report.commands.measures {
        page.paragraph(&format!("{measure}:"));
        page.block(&fenced(&text::typed(argv)));
    }
}

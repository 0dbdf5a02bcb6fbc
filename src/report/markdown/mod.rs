//! `report.md`: for people. The answer first, then what it rests on, then everything else.

mod answer;
mod escape;
mod page;
mod tables;

use crate::store::journal::Steadiness;
use crate::ui::text;

use self::escape::{fenced, inline};
use self::page::Page;

use super::model::Report;
use super::words;

/// The report as GitHub-flavoured Markdown.
pub fn markdown(report: &Report) -> String {
    let mut page = Page::default();
    answer::answer(&mut page, report);
    endpoints(&mut page, report);
    tables::measured(&mut page, report);
    tables::skipped(&mut page, report);
    guards(&mut page, report);
    if !report.notes.is_empty() {
        page.heading(2, "Notes");
        page.items(report.notes.iter().map(String::as_str));
    }
    setting(&mut page, report);
    totals(&mut page, report);
    page.finish()
}

fn endpoints(page: &mut Page, report: &Report) {
    page.heading(2, "Endpoints");
    let rows = [("good", &report.good), ("bad", &report.bad)].map(|(end, point)| {
        [
            end.to_owned(),
            point.commit.to_string(),
            inline(&point.asked),
            inline(&point.subject),
            inline(&point.date),
        ]
    });
    page.table(["end", "commit", "asked for as", "subject", "date"], rows.to_vec());
    tables::noise(page, report);
    match report.steadiness {
        Some(Steadiness::BitIdentical) => {
            page.paragraph("The values repeat bit for bit, so one run a commit is enough.");
        }
        Some(Steadiness::Apart) => page.paragraph(
            "The values vary from run to run, but those of the two endpoints lie wholly apart.",
        ),
        None => {}
    }
}

fn guards(page: &mut Page, report: &Report) {
    if !report.accounts.is_empty() {
        page.heading(2, "Account");
        let accounts: Vec<_> = report.accounts.iter().map(words::account).collect();
        page.items(accounts.iter().map(String::as_str));
    }
    if report.guards.is_empty() {
        return;
    }
    page.heading(2, "Guards");
    let value = |value: &Option<_>| value.as_ref().map(text::value).unwrap_or_default();
    let row = |guard: &super::model::GuardLine| {
        [
            inline(&guard.metric.to_string()),
            inline(&words::tolerance(guard)),
            inline(&value(&guard.baseline)),
            inline(&value(&guard.bad)),
            if guard.target { "yes" } else { "no" }.to_owned(),
            inline(&guard.why),
        ]
    };
    page.table(
        ["metric", "tolerance", "good endpoint", "bad endpoint", "decides", "why"],
        report.guards.iter().map(row).collect(),
    );
}

fn setting(page: &mut Page, report: &Report) {
    if !report.inputs.is_empty() {
        page.heading(2, "Inputs");
        let row = |(name, input): (&String, &crate::store::journal::InputFile)| {
            [inline(name), inline(&input.path), inline(&input.sha256)]
        };
        page.table(["input", "path", "SHA-256"], report.inputs.iter().map(row).collect());
    }
    page.heading(2, "Machine and environment");
    let machine = &report.machine;
    let gpus = if machine.gpus.is_empty() { "none".to_owned() } else { machine.gpus.join(", ") };
    page.items([
        format!("Processor: {} ({})", machine.cpu, text::plural(machine.cores, "core")).as_str(),
        &format!("Memory: {} MiB", machine.memory_mib),
        &format!("GPU: {gpus}"),
        &format!("Kernel: {}", machine.kernel),
        &format!("Git: {}", report.git),
        &format!("Made by: {}, hunt {}", report.tool, report.hunt),
    ]);
    for (command, output) in &report.environment {
        page.block(&fenced(&format!("$ {command}\n{output}")));
    }
    commands(page, report);
}

fn commands(page: &mut Page, report: &Report) {
    let shown = |words: &Vec<String>| {
        // A NUL cannot be in an argument that was run.
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
    };
    let build: Vec<_> = report.commands.build.iter().map(shown).collect();
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
        page.block(&fenced(&shown(argv)));
    }
}

fn totals(page: &mut Page, report: &Report) {
    let totals = &report.totals;
    page.heading(2, "Totals");
    page.paragraph(&format!(
        "{} in {} and {} in {}, within {}. What was taken from the store is not counted.",
        text::plural(totals.runs, "run"),
        text::seconds(totals.run_s),
        text::plural(totals.builds, "build"),
        text::seconds(totals.build_s),
        text::seconds(totals.wall_s)
    ));
    if let Some(plan) = &report.plan {
        page.paragraph(&format!("Said before the search: {}.", super::plan::plan(plan)));
    }
}

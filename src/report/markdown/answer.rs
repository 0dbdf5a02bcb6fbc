//! The top of the page: what was found and how to see it oneself.

use crate::evaluation::{CommitId, Outcome};
use crate::report::gather::failure_text;
use crate::report::model::{FirstBad, Report};
use crate::report::words;
use crate::ui::text;

use super::escape::inline;
use super::page::Page;

pub(super) fn answer(page: &mut Page, report: &Report) {
    page.heading(1, &words::headline(report));
    if !report.summary.is_empty() {
        page.paragraph(&report.summary);
    }
    if let Some(target) = &report.target_failure {
        let who = target.measure.as_deref().unwrap_or("the build");
        let what = failure_text(&target.failure);
        page.paragraph(&format!("Hunted was a failure, not a figure: {who} {what}"));
    }
    let main = report.culprit.as_ref();
    if let Some(first) = main {
        first_bad(page, first);
    }
    reproduce(page, report);
    if let Some(first) = main {
        files(page, first);
    }
    let main = main.map(|first| &first.commit);
    for other in report.culprits.iter().filter(|other| Some(&other.commit) != main) {
        let also = if main.is_some() { "Another first bad commit" } else { "Confirmed" };
        page.heading(2, &format!("{also}: {}", text::commit(&other.commit, &other.subject)));
        first_bad(page, other);
        files(page, other);
    }
    candidates(page, report);
    contributions(page, report);
}

fn first_bad(page: &mut Page, first: &FirstBad) {
    let mut items = vec![
        format!("Commit: {}", first.commit),
        format!("Author: {}", first.author),
        format!("Date: {}", first.date),
    ];
    items.push(match first.parents.len() {
        0 | 1 => format!("Parent: {}", first.parent),
        many => format!("Parent: {} (the worst of {many})", first.parent),
    });
    items.extend(first.effects.iter().map(|effect| format!("Own step: {}", words::step(effect))));
    if let Some(failure) = &first.failure {
        items.push(format!("Fails where its parents do not: {}", failure_text(failure)));
    }
    items.push(format!("Confidence: {}", words::confidence(first)));
    items.extend(words::confirmed_before(first));
    page.items(items.iter().map(String::as_str));
    let rows = first.effects.iter().map(|effect| {
        let interval = effect.interval.as_ref().map_or_else(String::new, |[low, high]| {
            format!("{} to {}", text::value(low), text::value(high))
        });
        let step = effect.own_step.as_ref().map(text::value);
        [
            effect.metric.to_string(),
            text::value(&effect.parent),
            text::value(&effect.commit),
            step.unwrap_or_else(|| "changed".to_owned()),
            interval,
            text::value(&effect.limit),
        ]
        .map(|cell| inline(&cell))
    });
    page.table(
        ["metric", "parent", "first bad commit", "own step", "over all pairs of runs", "limit"],
        rows.collect(),
    );
}

fn reproduce(page: &mut Page, report: &Report) {
    let what = match report.culprit {
        Some(_) => "the first bad commit and its parent",
        None => "the two endpoints",
    };
    page.heading(2, "How to reproduce");
    page.paragraph(&format!(
        "The script beside this report builds and measures {what} in worktrees of its own, and \
         shows their figures one above the other:"
    ));
    page.block("```sh\nsh reproduce.sh [CLONE]\n```");
}

fn files(page: &mut Page, first: &FirstBad) {
    if first.files.is_empty() {
        return;
    }
    page.heading(2, "Files it touches");
    let rows = first.files.iter().map(|file| {
        let changed = words::changed_lines(file.added, file.removed);
        [inline(&file.path), changed, inline(&file.role)]
    });
    page.table(["file", "lines", "role"], rows.collect());
}

fn candidates(page: &mut Page, report: &Report) {
    if report.culprit.is_some() || report.candidates.is_empty() {
        return;
    }
    page.heading(2, if report.outcome == Outcome::Gradual { "Crossing" } else { "Candidates" });
    if report.outcome == Outcome::Gradual {
        page.paragraph("Here the limit is crossed; that alone makes no commit guilty.");
    }
    let rows = report.candidates.iter().map(|commit| {
        let known = report.commits.iter().find(|measured| measured.commit == *commit);
        [
            commit.to_string(),
            inline(known.and_then(|known| known.subject.as_deref()).unwrap_or_default()),
            known.map_or_else(|| "not measured".to_owned(), |known| inline(&known.reason)),
        ]
    });
    page.table(["commit", "subject", "what is known"], rows.collect());
}

fn contributions(page: &mut Page, report: &Report) {
    if report.contributions.is_empty() {
        return;
    }
    page.heading(2, "Contributions");
    let between = |from: &CommitId, to: &CommitId| format!("{}..{}", from.short(), to.short());
    let rows = report.contributions.iter().map(|rise| {
        [
            between(&rise.from, &rise.to),
            rise.commits.to_string(),
            inline(&rise.metric.to_string()),
            inline(&words::worse(&rise.rise)),
        ]
    });
    page.table(["stretch", "commits", "metric", "rise"], rows.collect());
}

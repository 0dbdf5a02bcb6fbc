//! What was found.

use crate::report::model::{FirstBad, Report};
use crate::report::words;
use crate::ui::text;

use super::{Cell, Table};

/// How each target moved at a first bad commit.
pub(in crate::report) fn effects(first: &FirstBad) -> Table {
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
        .map(Cell::Text)
    });
    let columns =
        ["metric", "parent", "first bad commit", "own step", "over all pairs of runs", "limit"];
    Table::new(columns, rows)
}

/// What a first bad commit touches.
pub(in crate::report) fn files(first: &FirstBad) -> Table {
    let rows = first.files.iter().map(|file| {
        let lines = Cell::Lines(file.added, file.removed);
        [file.path.as_str().into(), lines, file.role.as_str().into()]
    });
    Table::new(["file", "lines", "role"], rows)
}

/// The commits it may be; none where one is named.
pub(in crate::report) fn candidates(report: &Report) -> Table {
    let open = report.candidates.iter().filter(|_| report.culprit.is_none());
    let rows = open.map(|commit| {
        let known = report.commits.iter().find(|measured| measured.commit == *commit);
        [
            Cell::Name(commit.clone()),
            known.and_then(|known| known.subject.as_deref()).unwrap_or_default().into(),
            known.map_or("not measured", |known| &known.reason).into(),
        ]
    });
    Table::new(["commit", "subject", "what is known"], rows)
}

/// Where many small steps make the rise.
pub(in crate::report) fn contributions(report: &Report) -> Table {
    let rows = report.contributions.iter().map(|rise| {
        [
            format!("{}..{}", rise.from.short(), rise.to.short()),
            rise.commits.to_string(),
            rise.metric.to_string(),
            words::worse(&rise.rise),
        ]
        .map(Cell::Text)
    });
    Table::new(["stretch", "commits", "metric", "rise"], rows)
}

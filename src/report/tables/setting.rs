//! Tables of the hunt's configuration.

use crate::report::model::{GuardLine, Report};
use crate::report::steps;
use crate::ui::text;

use super::{Cell, Table};

/// Every guard, targets first.
pub(in crate::report) fn guards(report: &Report) -> Table {
    let value = |value: &Option<_>| value.as_ref().map(text::value).unwrap_or_default();
    let row = |guard: &GuardLine| {
        [
            guard.metric.to_string(),
            steps::tolerance(guard),
            value(&guard.baseline),
            guard
                .bad
                .as_ref()
                .map_or_else(String::new, |bad| steps::changed_level(guard.baseline.as_ref(), bad)),
            if guard.target { "yes" } else { "no" }.to_owned(),
            guard.why.clone(),
        ]
        .map(Cell::Text)
    };
    Table::new(
        ["metric", "tolerance", "good endpoint", "bad endpoint", "decides", "why"],
        report.guards.iter().map(row),
    )
    .filled()
}

/// The values in oracle.toml that command line options changed.
pub(in crate::report) fn changes(report: &Report) -> Table {
    let rows = report.options.changes.iter().map(|change| {
        [change.to_string(), change.former.clone().unwrap_or_default(), change.in_overrides()]
            .map(Cell::Text)
    });
    Table::new(["option", "value in oracle.toml", "overrides"], rows)
}

/// The inputs of the runs.
pub(in crate::report) fn inputs(report: &Report) -> Table {
    let rows = report.inputs.iter().map(|(name, input)| {
        [name.as_str().into(), input.path.as_str().into(), input.sha256.as_str().into()]
    });
    Table::new(["input", "path", "SHA-256"], rows)
}

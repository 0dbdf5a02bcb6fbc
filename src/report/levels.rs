//! Sentences and a table about the levels of the engine at the first bad commit and its parent.

use crate::evaluation::{LevelCheck, LevelResult, LevelShows, lowest_failing};
use crate::ui::text;

use super::model::Report;
use super::tables::{Cell, Table};

/// The heading of the table.
pub(super) const TITLE: &str = "Levels of the engine, parent against commit";

/// Label and words of the fact about the levels.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    if report.inquiry.levels.is_empty() {
        return Vec::new();
    }
    vec![("Levels", in_words(&report.inquiry.levels))]
}

/// `kernel passes, forward fails`; `None` if a level below cannot be judged.
pub(super) fn in_short(report: &Report) -> Option<String> {
    let (lowest, below) = lowest_failing(&report.inquiry.levels)?;
    let passes = named(below, LevelShows::Passes);
    let fails = format!("{} fails", text::line(&lowest.name));
    match below {
        _ if below.iter().any(|level| level.shows == LevelShows::Unknown) => None,
        [] => Some(fails),
        [_] => Some(format!("{passes} passes, {fails}")),
        _ => Some(format!("{passes} pass, {fails}")),
    }
}

/// `kernel passes, forward fails: suspect how the parts are put together, …`.
fn in_words(levels: &[LevelResult]) -> String {
    let Some((lowest, below)) = lowest_failing(levels) else {
        let unknown = named(levels, LevelShows::Unknown);
        return match (unknown.as_str(), levels) {
            ("", [level]) => format!("{} passes", text::line(&level.name)),
            ("", _) => format!("all pass: {}", named(levels, LevelShows::Passes)),
            (unknown, _) => format!("none fails; {unknown} cannot be judged"),
        };
    };
    let fails = format!("{} fails ({})", text::line(&lowest.name), worst(lowest));
    let passes = named(below, LevelShows::Passes);
    let unknown = named(below, LevelShows::Unknown);
    match (passes.as_str(), unknown.as_str()) {
        ("", "") => format!("{fails}; it is the lowest level"),
        ("", unknown) => format!("{fails}; {unknown} below it cannot be judged"),
        (passes, "") => format!(
            "{passes} {}, {fails}: suspect how the parts are put together, a convention, or a \
             shape that no lower check has",
            if below.len() == 1 { "passes" } else { "pass" }
        ),
        (passes, unknown) => {
            format!("{fails}; below it, {unknown} cannot be judged (passed: {passes})")
        }
    }
}

/// `kernel and layer`.
fn named(levels: &[LevelResult], shows: LevelShows) -> String {
    let those = levels.iter().filter(|level| level.shows == shows);
    text::joined(those.map(|level| text::line(&level.name)).collect())
}

fn worst(level: &LevelResult) -> String {
    let check = level.checks.iter().find(|check| check.shows == level.shows);
    check.map(values).unwrap_or_default()
}

/// `selftest.failed 0 → 1`, or why there are no values.
fn values(check: &LevelCheck) -> String {
    match (&check.metric, &check.parent, &check.commit) {
        (Some(metric), Some(parent), Some(commit)) => {
            format!("{metric} {} → {}", text::value(parent), text::value(commit))
        }
        (Some(metric), None, Some(commit)) => {
            let which = check.reason.as_ref().map(|reason| format!(": {}", text::line(reason)));
            format!("{metric} {}{}", text::value(commit), which.unwrap_or_default())
        }
        _ => text::line(check.reason.as_deref().unwrap_or_default()),
    }
}

fn shown(shows: LevelShows) -> &'static str {
    match shows {
        LevelShows::Passes => "passes",
        LevelShows::Unknown => "cannot be judged",
        LevelShows::Fails => "fails",
    }
}

/// `kernel: passes (selftest.failed 0 → 0)`.
pub(crate) fn level_in_words(level: &LevelResult) -> String {
    format!("{}: {} ({})", text::line(&level.name), shown(level.shows), worst(level))
}

/// Every measure of every level.
pub(super) fn table(report: &Report) -> Table {
    let rows = report.inquiry.levels.iter().flat_map(|level| {
        level.checks.iter().map(|check| {
            let allowed = check.tolerance.filter(|_| check.metric.is_some());
            [
                Cell::Text(text::line(&level.name)),
                Cell::Text(text::line(&check.measure)),
                Cell::Text(shown(check.shows).to_owned()),
                Cell::Text(values(check)),
                Cell::Text(allowed.map_or_else(|| "–".to_owned(), text::figure)),
                Cell::logs(&check.attempts, &report.inquiry_logs),
            ]
        })
    });
    Table::new(["level", "measure", "result", "most different", "tolerance", "output"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Metric, Value};

    fn level(name: &str, shows: LevelShows) -> LevelResult {
        let check = LevelCheck {
            measure: "m".to_owned(),
            shows,
            metric: Some(Metric::named("m", "failed")),
            parent: Some(Value::Number(0.0)),
            commit: Some(Value::Number(2.0)),
            tolerance: Some(1e-5),
            reason: None,
            attempts: Vec::new(),
        };
        LevelResult { name: name.to_owned(), shows, checks: vec![check] }
    }

    #[test]
    fn the_lowest_level_that_fails_is_told_with_those_below() {
        use LevelShows::{Fails, Passes, Unknown};
        let said = |levels: &[(&str, LevelShows)]| {
            let levels: Vec<_> = levels.iter().map(|(name, shows)| level(name, *shows)).collect();
            in_words(&levels)
        };
        assert_eq!(
            said(&[("kernel", Fails), ("forward", Fails)]),
            "kernel fails (m.failed 0 → 2); it is the lowest level"
        );
        assert_eq!(
            said(&[("kernel", Passes), ("layer", Passes), ("forward", Fails)]),
            "kernel and layer pass, forward fails (m.failed 0 → 2): suspect how the parts are put \
             together, a convention, or a shape that no lower check has"
        );
        assert_eq!(
            said(&[("kernel", Unknown), ("forward", Fails)]),
            "forward fails (m.failed 0 → 2); kernel below it cannot be judged"
        );
        assert_eq!(
            said(&[("kernel", Passes), ("layer", Unknown), ("forward", Fails)]),
            "forward fails (m.failed 0 → 2); below it, layer cannot be judged (passed: kernel)"
        );
        assert_eq!(
            said(&[("kernel", Passes), ("forward", Passes)]),
            "all pass: kernel and forward"
        );
        assert_eq!(said(&[("kernel", Passes)]), "kernel passes");
        assert_eq!(
            said(&[("kernel", Passes), ("forward", Unknown)]),
            "none fails; forward cannot be judged"
        );
    }
}

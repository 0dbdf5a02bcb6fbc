//! Tests of parts of a change, and of endpoints with and without them, in words and as rows.

use std::collections::BTreeMap;

use crate::evaluation::{Shows, SkipReason, Trial, TrialOf};
use crate::report::tables::Cell;
use crate::ui::text;

use super::parts::named;

pub(super) const COLUMNS: [&str; 4] = ["built and run", "result", "values", "output"];

/// The first line of what git said about a patch.
pub(super) fn first_line(said: &str) -> String {
    let said = said.lines().find(|line| !line.is_empty()).unwrap_or_default();
    text::line(said.trim_start_matches("error: "))
}

/// `ppl 7.52`, or `does not build`, or why there is no value.
pub(crate) fn values(trial: &Trial) -> String {
    let level = |(metric, value)| format!("{metric} {}", text::value(value));
    let levels: Vec<String> = trial.levels.iter().map(level).collect();
    match (trial.failure, levels.is_empty()) {
        (Some(failure), true) => failure.to_string(),
        (None, true) => text::line(&trial.reason),
        (_, false) => levels.join(", "),
    }
}

/// Why a test says nothing, with the values, if it has some: runs may have values and still lack
/// the check that fails at the bad end. If the runs disagree, one level of them says nothing, and
/// the reason has the values of any other verdict.
pub(super) fn why_unjudged(trial: &Trial) -> String {
    let (values, reason) = (values(trial), text::line(&trial.reason));
    let is_told = trial.failure.is_some() || trial.levels.is_empty();
    match trial.skip {
        _ if is_told || reason.is_empty() => values,
        None | Some(SkipReason::Unsteady) => reason,
        Some(_) => format!("{reason} ({values})"),
    }
}

/// `parent with hunk 2 of 3 in src/packed.c`.
pub(crate) fn tested(trial: &Trial) -> String {
    let names = named(&trial.parts);
    match trial.of {
        TrialOf::Only => format!("parent with {names}"),
        TrialOf::Without => format!("commit without {names}"),
        TrialOf::Reverted => format!("bad end without {names}"),
        TrialOf::Unfixed => format!("good end without {names}"),
        TrialOf::Backported => format!("bad end with {names}"),
        TrialOf::AllReverted => format!("bad end without all causes: {names}"),
        TrialOf::AllUnfixed => format!("good end without all fixes: {names}"),
        TrialOf::AllBackported => format!("bad end with all fixes: {names}"),
    }
}

/// The result of a test, in a few words.
pub(crate) fn shown(trial: &Trial) -> &'static str {
    match trial.shows {
        Shows::Difference => "shows the step",
        Shows::Nothing => "no step",
        Shows::Unresolved if trial.failure.is_none() && !trial.levels.is_empty() => {
            "shows another value"
        }
        Shows::Unresolved => "cannot be judged",
    }
}

pub(super) fn row(trial: &Trial, logs: &BTreeMap<String, String>) -> [Cell; 4] {
    [
        Cell::Text(tested(trial)),
        Cell::Text(shown(trial).to_owned()),
        Cell::Text(values(trial)),
        Cell::logs(&trial.attempts, logs),
    ]
}

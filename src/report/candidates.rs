//! What a report lists if no commit is named: the measured steps, the candidates, and how many more
//! candidates there are.

use crate::evaluation::{CommitId, OpenStep, SkipReason, Value};

use super::model::{MeasuredCommit, Report};
use super::sought::Sought;
use super::steps::moved;

/// Maximum number of unmeasured candidates that are listed. If there are more, they are counted.
const MOST_UNMEASURED: usize = 8;

/// Title of the improvements after the confirmed steps.
pub(super) const IMPROVEMENTS: &str = "Improvements, at this commit or shortly before it";

/// Title of the confirmed steps.
pub(super) fn steps_title(report: &Report) -> String {
    format!("Confirmed steps that may explain the {} end", Sought::of(report).newer_end())
}

/// The confirmed steps of which it is open whether they explain the newer end.
pub(super) fn steps(report: &Report) -> impl Iterator<Item = &OpenStep> {
    report.open_steps.iter().filter(|step| step.is_confirmed)
}

/// The improvements that were measured.
pub(super) fn improvements(report: &Report) -> impl Iterator<Item = &OpenStep> {
    report.open_steps.iter().filter(|step| !step.is_confirmed)
}

/// `ppl 0.4 worse`: the change in a few words.
pub(super) fn change(report: &Report, step: &OpenStep) -> String {
    match (&step.metric, step.change) {
        (Some(metric), Some(change)) => {
            format!("{metric} {}", moved(report, &Value::Number(change)))
        }
        (Some(metric), None) => format!("{metric} changed"),
        (None, _) => "the failure".to_owned(),
    }
}

/// The headline of an answer with confirmed steps and many other candidates.
pub(super) fn headline(report: &Report) -> Option<String> {
    let confirmed = report.candidates.iter().filter(|commit| is_step(report, commit)).count();
    let others = report.candidates.len() - confirmed;
    if confirmed == 0 || others <= MOST_UNMEASURED {
        return None;
    }
    let steps = match confirmed {
        1 => "the confirmed step".to_owned(),
        many => format!("one of {many} confirmed steps"),
    };
    Some(format!("Undecided: {steps}, or one of {others} other commits"))
}

/// The candidates that are neither confirmed commits nor confirmed steps. If many of them were not
/// measured, only those that were.
pub(super) fn listed(report: &Report) -> Vec<&CommitId> {
    let is_counted = unmeasured(report).len() > MOST_UNMEASURED;
    let all = others(report);
    all.filter(|commit| !is_counted || is_known(report, commit)).collect()
}

/// How many candidates [`listed`] leaves out, and where they are.
pub(super) fn unlisted(report: &Report) -> Option<String> {
    let left_out = unmeasured(report);
    if left_out.len() <= MOST_UNMEASURED {
        return None;
    }
    // Without a stored history the candidates keep their order.
    let place = |commit: &&&CommitId| report.history.iter().position(|one| one.commit == ***commit);
    let first = left_out.iter().min_by_key(place)?;
    let last = left_out.iter().max_by_key(place)?;
    let is_all = left_out.len() == report.candidates.len();
    Some(format!(
        "{} {} from {} to {} were not measured; none of them is excluded",
        left_out.len(),
        if is_all { "commits" } else { "other commits" },
        first.short(),
        last.short()
    ))
}

/// Which candidates print a guarded value at another place of the output than both ends, and where.
/// The report calls them untestable, although each of them printed a number.
pub(super) fn printed_elsewhere(report: &Report) -> Option<String> {
    let is_elsewhere = |one: &&MeasuredCommit| {
        one.skip == Some(SkipReason::OtherForm) && report.candidates.contains(&one.commit)
    };
    let found: Vec<&MeasuredCommit> = report.commits.iter().filter(is_elsewhere).collect();
    let (first, last) = (found.first()?, found.last()?);
    let reason = &first.reason;
    let name = first.commit.short();
    Some(match found.len() {
        1 => format!("{name} was not compared, since {reason}"),
        many => format!(
            "{many} commits from {name} to {} were not compared, since there {reason}",
            last.commit.short()
        ),
    })
}

/// The listed or counted candidates that were not measured.
fn unmeasured(report: &Report) -> Vec<&CommitId> {
    others(report).filter(|commit| !is_known(report, commit)).collect()
}

/// The candidates besides confirmed commits and confirmed steps.
fn others(report: &Report) -> impl Iterator<Item = &CommitId> {
    report.unconfirmed().into_iter().filter(move |commit| !is_step(report, commit))
}

/// Whether the commit made one of the confirmed steps.
fn is_step(report: &Report, commit: &CommitId) -> bool {
    steps(report).any(|step| step.commit == *commit)
}

/// Whether the commit was built, run or judged, or has a probability.
fn is_known(report: &Report, commit: &CommitId) -> bool {
    report.commits.iter().any(|measured| measured.commit == *commit)
        || report.first(commit).is_some()
}

//! The tests of the endpoints with and without the causes of all first bad commits, in words.

use std::collections::BTreeMap;

use crate::evaluation::{Backport, Revert, Trial};
use crate::report::model::{JointBackportLine, JointRevertLine, Report};
use crate::report::sought::Sought;
use crate::report::tables::Table;
use crate::ui::text;

use super::trial::{COLUMNS, first_line, row, values};

/// `the causes of both first bad commits`, `all 3 fixes`.
fn all_causes(report: &Report) -> String {
    let all = match report.culprits.len() {
        2 => "both".to_owned(),
        many => format!("all {many}"),
    };
    if Sought::of(report).is_regression() {
        format!("the causes of {all} first bad commits")
    } else {
        format!("{all} fixes")
    }
}

/// The results, with labels.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let causes = all_causes(report);
    let is_regression = Sought::of(report).is_regression();
    let revert = report.joint_revert.as_ref().map(|line| {
        let words = if is_regression { reverted(line, &causes) } else { unfixed(line, &causes) };
        ("Revert all", words)
    });
    let backport = report.joint_backport.as_ref();
    let backport = backport.map(|line| ("Backport all", backported(line, &causes)));
    revert.into_iter().chain(backport).collect()
}

/// `reverting the causes of both first bad commits heals the bad end`, if it does.
pub(super) fn healing(report: &Report) -> Option<String> {
    let causes = all_causes(report);
    let backport = report.joint_backport.as_ref().map(|line| &line.joint.backport);
    if backport == Some(&Backport::Heals) {
        return Some(format!("{causes} together heal the bad end"));
    }
    let revert = &report.joint_revert.as_ref()?.joint.revert;
    (*revert == Revert::Heals).then(|| format!("reverting {causes} heals the bad end"))
}

/// The tests, with their headings.
pub(super) fn tables(report: &Report) -> Vec<(String, Table)> {
    let causes = all_causes(report);
    let newer = if Sought::of(report).is_regression() { "bad" } else { "good" };
    let table = |title: String, trial: &Option<Trial>, logs: &BTreeMap<String, String>| {
        (title, Table::new(COLUMNS, trial.iter().map(|trial| row(trial, logs))))
    };
    let revert = report.joint_revert.as_ref().map(|line| {
        table(format!("The {newer} end without {causes}"), &line.joint.trial, &line.logs)
    });
    let backport = report
        .joint_backport
        .as_ref()
        .map(|line| table(format!("The bad end with {causes}"), &line.joint.trial, &line.logs));
    revert.into_iter().chain(backport).collect()
}

/// What the bad end shows without all causes.
fn reverted(line: &JointRevertLine, causes: &str) -> String {
    let values = line.joint.trial.as_ref().map(values).unwrap_or_default();
    let patch = line.patch.as_deref().unwrap_or_default();
    match &line.joint.revert {
        Revert::Heals => {
            format!("reverting {causes} heals the bad end: {values}; the patch is {patch}")
        }
        Revert::HealsPart => format!(
            "reverting {causes} heals what can be judged by a few runs: {values}; the patch is {patch}"
        ),
        Revert::BreaksOther(what) => format!(
            "the bad end without {causes} is without the step, but {}: {values}; the patch is {patch}",
            text::line(what)
        ),
        Revert::StillBad => {
            format!("reverting {causes} does not heal the bad end: {values}; the patch is {patch}")
        }
        Revert::Conflict(said) => {
            format!("the reverts do not apply to the bad end together: {}", first_line(said))
        }
        Revert::Stopped(why) => {
            format!("the test of the bad end without {causes} stopped: {}", text::line(why))
        }
        Revert::Absent => "the bad end does not have these changes any more".to_owned(),
        Revert::Unknown | Revert::BreaksAgain | Revert::StillGood => {
            format!("the bad end without {causes} cannot be judged: {values}")
        }
    }
}

/// What the good end shows without all fixes.
fn unfixed(line: &JointRevertLine, fixes: &str) -> String {
    let values = line.joint.trial.as_ref().map(values).unwrap_or_default();
    match &line.joint.revert {
        Revert::BreaksAgain => format!("the good end without {fixes} is bad again: {values}"),
        Revert::StillGood => format!("the good end without {fixes} is still good: {values}"),
        Revert::Conflict(said) => {
            format!("the reverts do not apply to the good end together: {}", first_line(said))
        }
        Revert::Stopped(why) => {
            format!("the test of the good end without {fixes} stopped: {}", text::line(why))
        }
        Revert::Absent => "the good end does not have these changes any more".to_owned(),
        Revert::Unknown
        | Revert::Heals
        | Revert::HealsPart
        | Revert::BreaksOther(_)
        | Revert::StillBad => format!("the good end without {fixes} cannot be judged: {values}"),
    }
}

/// What the bad end shows with all fixes.
fn backported(line: &JointBackportLine, fixes: &str) -> String {
    let values = line.joint.trial.as_ref().map(values).unwrap_or_default();
    let patch = line.patch.as_deref().unwrap_or_default();
    match &line.joint.backport {
        Backport::Heals => {
            format!("the bad end with {fixes} is good: {values}; the patch is {patch}")
        }
        Backport::StillBad => format!("the bad end with {fixes} is still bad: {values}"),
        Backport::Unknown => format!("the bad end with {fixes} cannot be judged: {values}"),
        Backport::Stopped(why) => {
            format!("the test of the bad end with {fixes} stopped: {}", text::line(why))
        }
        Backport::Conflict(said) => {
            format!("the fixes do not apply to the bad end together: {}", first_line(said))
        }
        Backport::Present => "the bad end has these changes already".to_owned(),
    }
}

//! The tests of the endpoints with and without the causes of all first bad commits, in words.

use std::collections::BTreeMap;

use crate::evaluation::{Backport, Revert, Trial};
use crate::report::model::Report;
use crate::report::sought::Sought;
use crate::report::tables::Table;

use super::ends::TestedEnd;
use super::trial::{COLUMNS, row};

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
    let revert = report.joint_revert.as_ref().map(|line| {
        let tested = tested(report, line.joint.trial.as_ref(), line.patch.as_deref());
        ("Revert all", tested.reverted(&line.joint.revert, Sought::of(report).newer_end()))
    });
    let backport = report.joint_backport.as_ref().map(|line| {
        let tested = tested(report, line.joint.trial.as_ref(), line.patch.as_deref());
        ("Backport all", tested.backported(&line.joint.backport))
    });
    revert.into_iter().chain(backport).collect()
}

fn tested<'r>(report: &Report, trial: Option<&'r Trial>, patch: Option<&'r str>) -> TestedEnd<'r> {
    let name = all_causes(report);
    TestedEnd { trial, patch, name, is_joint: true }
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
    let newer = Sought::of(report).newer_end();
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

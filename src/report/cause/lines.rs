//! The causes of a finding with the logs of their tests.

use std::collections::BTreeMap;

use crate::evaluation::{Aim, Finding, Trial};
use crate::report::model::{CauseLine, JointBackportLine, JointRevertLine};
use crate::store::{BACKPORT_PATCH, JOINT_BACKPORT_PATCH, JOINT_REVERT_PATCH, REVERT_PATCH};

/// The cause inside the main first bad commit. `logs`: the logs of all tests, by the names of their
/// runs and failed builds.
pub(crate) fn main(
    finding: &Finding,
    aim: Aim,
    logs: BTreeMap<String, String>,
) -> Option<CauseLine> {
    let cause = finding.cause.clone()?;
    let patch = match aim {
        Aim::Regression => cause.reverted().map(|_| REVERT_PATCH.to_owned()),
        Aim::Fix => cause.backported().map(|_| BACKPORT_PATCH.to_owned()),
    };
    Some(CauseLine { cause, logs, patch })
}

/// The causes inside the other first bad commits.
pub(crate) fn others(finding: &Finding, logs: &BTreeMap<String, String>) -> Vec<CauseLine> {
    let causes = finding.other_causes.iter().map(|cause| CauseLine {
        logs: logs_of(&cause.trials, logs),
        cause: cause.clone(),
        patch: None,
    });
    causes.collect()
}

/// The test of the newer end without all causes. It has a patch only in a hunt for a regression.
pub(crate) fn joint_revert(
    finding: &Finding,
    aim: Aim,
    logs: &BTreeMap<String, String>,
) -> Option<JointRevertLine> {
    let joint = finding.joint_revert.clone()?;
    let patch = joint.trial.as_ref().filter(|_| aim.is_regression());
    Some(JointRevertLine {
        logs: logs_of(&joint.trial, logs),
        patch: patch.map(|_| JOINT_REVERT_PATCH.to_owned()),
        joint,
    })
}

/// The test of the bad end with all fixes.
pub(crate) fn joint_backport(
    finding: &Finding,
    logs: &BTreeMap<String, String>,
) -> Option<JointBackportLine> {
    let joint = finding.joint_backport.clone()?;
    Some(JointBackportLine {
        logs: logs_of(&joint.trial, logs),
        patch: joint.trial.as_ref().map(|_| JOINT_BACKPORT_PATCH.to_owned()),
        joint,
    })
}

/// The logs of these tests.
fn logs_of<'t>(
    trials: impl IntoIterator<Item = &'t Trial>,
    all: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let attempts = trials.into_iter().flat_map(|trial| &trial.attempts);
    let logs = attempts.filter_map(|attempt| Some((attempt.clone(), all.get(attempt)?.clone())));
    logs.collect()
}

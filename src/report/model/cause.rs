//! The causes of the first bad commits' steps, with the logs of the tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluation::{Cause, JointBackport, JointRevert};

/// The cause of a first bad commit's step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CauseLine {
    /// The parts and the tests.
    #[serde(flatten)]
    pub cause: Cause,
    /// The logs of the tests' runs and failed builds by name, relative to the hunt's folder.
    pub logs: BTreeMap<String, String>,
    /// The patch that removes the parts from the bad endpoint, or in a hunt for a fix adds them to
    /// it; relative to the hunt's folder, set if it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// The test of the newer endpoint without the causes of all first bad commits.
pub(crate) type JointRevertLine = JointLine<JointRevert>;

/// The test of the bad endpoint with the causes of all first fixed commits.
pub(crate) type JointBackportLine = JointLine<JointBackport>;

/// A test of an endpoint with or without the causes of several commits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JointLine<J> {
    /// The result and the test.
    #[serde(flatten)]
    pub joint: J,
    /// The logs of the test's runs and failed builds by name, relative to the hunt's folder.
    pub logs: BTreeMap<String, String>,
    /// The patch that removes the causes from the bad endpoint, or in a hunt for a fix adds them to
    /// it; relative to the hunt's folder, set if it was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

//! What in the first bad commit makes the step, with the logs of the tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluation::Cause;

/// What in the first bad commit makes the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CauseLine {
    /// The parts and the tests.
    #[serde(flatten)]
    pub cause: Cause,
    /// The logs of the tests' runs and failed builds by their names, relative to the hunt's folder.
    pub logs: BTreeMap<String, String>,
    /// The patch that takes the parts out of the bad endpoint, relative to the hunt's folder; set
    /// if it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

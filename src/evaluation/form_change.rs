//! A commit since which a metric's value comes from another place of the output.

use serde::{Deserialize, Serialize};

use super::{Metric, ValueForms};

/// A metric's value comes from another place of the output at a commit than at its parent, and one
/// of these places is that of one endpoint only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormChange {
    /// The metric.
    pub metric: Metric,
    /// The forms at the parent.
    pub parent: ValueForms,
    /// The forms at the commit.
    pub commit: ValueForms,
}

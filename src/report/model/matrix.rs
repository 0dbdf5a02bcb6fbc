//! A guarded metric of a `[matrix]` with its cells.

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Metric, Value};

/// A guarded metric with all its cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MatrixLine {
    /// The metric without a cell.
    pub metric: Metric,
    /// The names of the axes, in the order of oracle.toml.
    pub axes: Vec<String>,
    /// The cells, sorted by their values.
    pub cells: Vec<CellLine>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellLine {
    /// The metric with its cell.
    pub metric: Metric,
    /// The value of each axis, in the order of `axes`.
    pub values: Vec<String>,
    /// The level at the good endpoint.
    pub baseline: Option<Value>,
    /// The level at the bad endpoint.
    pub bad: Option<Value>,
    /// The tolerance, in the metric's unit.
    pub limit: Option<Value>,
    /// Whether the bad endpoint breaks the cell's guard.
    pub broken: bool,
    /// The confirmed commits that changed the cell, in order of history.
    pub steps: Vec<CellStep>,
}

/// The step of a confirmed commit in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellStep {
    /// The commit.
    pub commit: CommitId,
    /// The step; `None` for a fact.
    pub own_step: Option<Value>,
}

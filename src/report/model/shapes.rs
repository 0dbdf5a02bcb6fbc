//! Where the first bad commit shows its regression, with the logs of the runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluation::Shapes;

/// Where the first bad commit shows its regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ShapesLine {
    /// The cells and the rules.
    #[serde(flatten)]
    pub shapes: Shapes,
    /// The answers in words, one for each sweep, or the reason if there was no sweep.
    pub words: Vec<String>,
    /// The logs of the runs by name, relative to the hunt's folder.
    pub logs: BTreeMap<String, String>,
}

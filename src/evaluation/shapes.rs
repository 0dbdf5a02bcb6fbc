//! The cells of a parameter sweep in which a first bad commit shows its regression, and the
//! simplest rule that separates them.

use serde::{Deserialize, Serialize};

use super::{CommitId, FailureKind, Metric, Properties, ShapeRule, Shows, Value};

/// The cells that show a first bad commit's regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shapes {
    /// The first bad commit.
    pub(crate) commit: CommitId,
    /// The parent with which the commit is compared in each cell.
    pub(crate) parent: CommitId,
    /// One sweep for each measure.
    pub(crate) sweeps: Vec<MeasureSweep>,
    /// Why no cell was tested, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_swept: Option<String>,
}

/// The cells of one measure, and the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeasureSweep {
    /// The measure.
    pub measure: String,
    /// The parameters that the measure names, in the order of the file.
    pub parameters: Vec<String>,
    /// The cells in the order of their tests: first the whole grid, then cells that distinguish
    /// rules.
    pub cells: Vec<SweptCell>,
    /// The result of the sweep.
    pub end: SweepEnd,
}

/// One cell: a measure with a value for each of its parameters, at commit and parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SweptCell {
    /// The measure in this cell: `width[d_in=171]`.
    pub measure: String,
    /// The name of the value of each parameter.
    pub labels: Vec<String>,
    /// The properties that a rule may use.
    pub properties: Properties,
    /// Whether the commit shows its regression here.
    pub shows: Shows,
    /// Why, in words.
    pub reason: String,
    /// The compared metric, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// The result of the parent's runs.
    pub parent: CellSide,
    /// The result of the commit's runs.
    pub commit: CellSide,
}

/// The runs of one commit in a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellSide {
    /// The level of the compared metric, if the runs have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Value>,
    /// The failure of the first failed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
    /// The runs, by their names.
    pub attempts: Vec<String>,
}

/// How a sweep ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SweepEnd {
    /// Each cell that can be judged shows the regression.
    Everywhere,
    /// No cell shows the regression.
    Nowhere,
    /// The rule holds for exactly the cells that show the regression.
    Rule {
        /// The rule that comes first in the order of the search.
        rule: ShapeRule,
        /// Other rules that are equally simple and agree with all cells.
        rivals: Vec<ShapeRule>,
        /// Whether the limit on cells ended the tests that distinguish the rules.
        is_spent: bool,
    },
    /// No rule of at most two conditions agrees with all cells.
    NoRule,
    /// No cell can be judged.
    Unresolved,
    /// The sweep stopped before its grid was complete; the reason, in words.
    Stopped(String),
}

impl MeasureSweep {
    /// Among the cells that `is_meant` accepts and that can be judged: how many show the
    /// regression, and how many there are.
    pub(crate) fn count(&self, is_meant: impl Fn(&Properties) -> bool) -> [usize; 2] {
        let judged = self.cells.iter().filter(|cell| cell.shows != Shows::Unresolved);
        let meant: Vec<_> = judged.filter(|cell| is_meant(&cell.properties)).collect();
        let showing = meant.iter().filter(|cell| cell.shows == Shows::Difference).count();
        [showing, meant.len()]
    }

    /// How many cells cannot be judged.
    pub(crate) fn unresolved(&self) -> usize {
        self.cells.iter().filter(|cell| cell.shows == Shows::Unresolved).count()
    }
}

//! Which levels of the engine, from its kernels up, differ between a first bad commit and its
//! parent.

use serde::{Deserialize, Serialize};

use super::{Metric, Value, number};

/// The result of a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelResult {
    /// The level's name.
    pub name: String,
    /// Whether the level differs: the worst of its checks.
    pub shows: LevelShows,
    /// One entry for each measure.
    pub checks: Vec<LevelCheck>,
}

/// Whether a level differs between commit and parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LevelShows {
    /// No difference beyond the tolerance.
    Passes,
    /// The level cannot be judged.
    Unknown,
    /// The commit fails and the parent does not, or the commit differs by more than the tolerance.
    Fails,
}

/// One measure of a level at commit and parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelCheck {
    /// The measure.
    pub measure: String,
    /// Whether the measure differs.
    pub shows: LevelShows,
    /// The metric that differs most, relative to its tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// The metric's value at the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Value>,
    /// The metric's value at the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Value>,
    /// The allowed difference, in the metric's unit.
    #[serde(default, with = "number", skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// How the commit fails, or why it cannot be judged. For tensors: the name of the tensor that
    /// was chosen, with a remark if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The runs at the parent and at the commit.
    pub attempts: Vec<String>,
}

impl LevelCheck {
    /// A measure that cannot be judged.
    pub(crate) fn unknown(measure: &str, reason: &str) -> Self {
        Self {
            measure: measure.to_owned(),
            shows: LevelShows::Unknown,
            metric: None,
            parent: None,
            commit: None,
            tolerance: None,
            reason: Some(reason.to_owned()),
            attempts: Vec::new(),
        }
    }
}

/// The lowest level that fails, and the levels below it; `None` if no level fails.
pub(crate) fn lowest_failing(levels: &[LevelResult]) -> Option<(&LevelResult, &[LevelResult])> {
    let place = levels.iter().position(|level| level.shows == LevelShows::Fails)?;
    Some((&levels[place], &levels[..place]))
}

//! The state of the machine around the runs of an exclusive measure.

use serde::{Deserialize, Serialize};

/// An exclusive measure, and the state of the machine around the runs that count: the lowest and
/// the highest of each value. Values that no run has are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimedLine {
    /// The measure.
    pub measure: String,
    /// Runs that count.
    pub runs: usize,
    /// Runs that are excluded because the machine throttled.
    pub throttled: usize,
    /// Load average before a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<[f64; 2]>,
    /// Mean frequency of the processor's cores after a run, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_mhz: Option<[f64; 2]>,
    /// The hottest sensor after a run, °C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hottest_c: Option<[f64; 2]>,
    /// Clock of any GPU after a run, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_mhz: Option<[f64; 2]>,
    /// Temperature of any GPU after a run, °C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_c: Option<[f64; 2]>,
}

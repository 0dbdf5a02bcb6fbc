//! How two files with logits differ, in the form of `diff logits --json`, the store and reports.

use serde::{Deserialize, Serialize};

/// Statistics of a base a and a candidate b (docs/logits.md has the formulas). A value is `None` if
/// no position has one, because of values that are not finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogitsDifference {
    /// Rows.
    pub positions: usize,
    /// Values in a row.
    pub vocab: usize,
    /// Whether all stored bits are equal.
    pub identical: bool,
    /// Whether the values are log-probabilities.
    pub log_probabilities: bool,
    /// The largest |b − a|.
    pub max_abs: Option<f64>,
    /// The mean of |b − a| over all values.
    pub mean_abs: Option<f64>,
    /// The root of the mean of (b − a)² over all values.
    pub rms: Option<f64>,
    /// The smallest cosine of a position.
    pub min_cosine: Option<f64>,
    /// The mean cosine of the positions.
    pub mean_cosine: Option<f64>,
    /// The mean KL(a‖b) of the positions, in nats.
    pub mean_kl: Option<f64>,
    /// The KL that 99 % of the positions do not exceed, in nats.
    pub p99_kl: Option<f64>,
    /// The largest KL of a position, in nats.
    pub max_kl: Option<f64>,
    /// The share of the positions with the same top token, 0 … 1.
    pub top1_agreement: Option<f64>,
    /// For each statistic, the first position where its value is beyond the guard's limit; without
    /// a limit, where the value is not the one of equal rows.
    pub(crate) first: Positions,
    /// The position with the worst value of each statistic.
    pub(crate) worst: Positions,
    /// The largest difference of two values.
    pub(crate) largest_difference: Option<LargestDifference>,
    /// Whether the largest difference is above 0.01 and above the rounding of stored values.
    pub beyond_rounding: bool,
    /// Values that are not finite.
    pub(crate) non_finite: Vec<NonFiniteValues>,
    /// Positions without statistics.
    pub positions_left_out: u64,
    /// Values that are −∞ in both files.
    pub masked_values: u64,
}

/// How the logits of a commit differ from its parent's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LogitsChange {
    /// The measure.
    pub measure: String,
    /// From the parent to the commit.
    pub difference: LogitsDifference,
    /// From one run of the parent to another one, if both are comparable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<LogitsDifference>,
    /// The parent's own difference between two numbers of threads, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<ThreadFloor>,
    /// The two runs of the parent, and the run of the commit.
    pub attempts: Vec<String>,
}

/// How a commit's logits differ between two numbers of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThreadFloor {
    /// The usual number of threads, and the other one.
    pub threads: [u32; 2],
    /// From the usual number to the other one.
    pub difference: LogitsDifference,
}

/// One position for each statistic, counted from 0; `None` if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Positions {
    /// Of the largest |b − a|.
    pub max_abs: Option<usize>,
    /// Of the mean of |b − a|.
    pub mean_abs: Option<usize>,
    /// Of the root of the mean of (b − a)².
    pub rms: Option<usize>,
    /// Of the cosine.
    pub cosine: Option<usize>,
    /// Of the KL divergence.
    pub kl: Option<usize>,
    /// Of the top token.
    pub top1: Option<usize>,
}

/// The largest difference of two values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LargestDifference {
    /// The row.
    pub position: usize,
    /// The index in the row: the token.
    pub index: usize,
    /// The base's value.
    pub a: f64,
    /// The candidate's value.
    pub b: f64,
}

/// The non-finite values of one kind in one of the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NonFiniteValues {
    /// The file they are in.
    pub file: LogitsSide,
    /// `nan`, `inf` or `-inf`.
    pub value: String,
    /// How many.
    pub count: u64,
    /// The first row with such a value.
    pub position: usize,
    /// The first index in that row.
    pub index: usize,
}

/// One of two compared files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogitsSide {
    /// The base.
    A,
    /// The candidate.
    B,
}

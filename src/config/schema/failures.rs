//! `[failures]` as types, for the schema alone.
#![expect(dead_code, reason = "only their schema is made; no value ever is")]

use schemars::JsonSchema;

use super::values::{Text, Time};

/// What a commit that cannot be measured counts as.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Failures {
    /// The commit does not build.
    #[schemars(extend("default" = "skip"))]
    build: Option<Policy>,
    /// A signal ends a run, or a run exits with an error.
    #[schemars(extend("default" = "skip"))]
    crash: Option<Policy>,
    /// A run prints NaN or an infinity where a number belongs.
    #[schemars(extend("default" = "bad"))]
    nan: Option<Policy>,
    /// A run takes longer than its time-out.
    #[schemars(extend("default" = "skip"))]
    timeout: Option<Policy>,
    /// A run exits with 0, but there is no value where the parser looks.
    #[schemars(extend("default" = "skip"))]
    unreadable: Option<Policy>,
    /// Texts in a failing command's output that show a fault of the machine.
    #[schemars(extend("default" = ["no CUDA-capable device", "Xid", "uncorrectable ECC"]))]
    transient: Option<Vec<Text>>,
    /// Whether the hunt goes on if the bad end fails although the guards are on metrics. It then
    /// looks for that failure. "ask": on a terminal the user is asked; otherwise the hunt goes on,
    /// and the report says so.
    #[schemars(extend("default" = "ask"))]
    hunt: Option<FailureHunt>,
    /// The pauses before the hunt tries again after a fault of the machine. When all are used up,
    /// the hunt stops with exit code 5 and can be resumed. An empty array: it stops at once.
    #[schemars(extend("default" = ["1s", "5s", "30s", "2m", "10m"]))]
    pauses: Option<Vec<Time>>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum FailureHunt {
    Flag(bool),
    Word(Ask),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum Ask {
    Ask,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RunFailures {
    /// A signal ends a run, or a run exits with an error.
    crash: Option<Policy>,
    /// A run prints NaN or an infinity where a number belongs.
    nan: Option<Policy>,
    /// A run takes longer than its time-out.
    timeout: Option<Policy>,
    /// A run exits with 0, but there is no value where the parser looks.
    unreadable: Option<Policy>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum Policy {
    /// Untestable.
    Skip,
    /// Bad.
    Bad,
}

//! The verdict on a commit. It is derived from stored runs each time and never stored.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Metric;

/// The verdict on a commit, in git's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// The commit breaks no target.
    Good,
    /// The commit breaks a target.
    Bad,
    /// The commit cannot be tested.
    Skip,
    /// Unknown: not measured, or not decided.
    Unknown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Skip => "skip",
            Self::Unknown => "unknown",
        })
    }
}

/// Why a commit was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SkipReason {
    /// It does not build.
    Build,
    /// A patch of the configuration does not apply to it.
    Patch,
    /// The commit's files cannot be checked out on this machine.
    #[serde(alias = "folded-case")]
    Checkout,
    /// A `[[prepare]]` fails.
    Prepare,
    /// It crashes, or exits with an error code.
    Crash,
    /// It exceeds its time-out.
    Timeout,
    /// It prints no value.
    Unreadable,
    /// Its output stops before its end, twice.
    Incomplete,
    /// Its output does not match a `[[require]]` pattern.
    Require,
    /// It prints NaN, and the configuration says to skip such commits.
    Nan,
    /// It read a different amount of text than the good endpoint.
    OtherText,
    /// It printed another unit behind the metric's number than the good endpoint.
    OtherUnit,
    /// Its metric's value comes from another place of the output than at both endpoints.
    OtherForm,
    /// It ran other checks than the good endpoint.
    OtherChecks,
    /// It needs more resources than the machine has: it was killed, and the control run works.
    Resource,
    /// Its runs contradict each other, or do not separate good from bad.
    Unsteady,
    /// The user named it with `--skip`.
    Asked,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Build => "does not build",
            Self::Patch => "rejects a patch",
            Self::Checkout => "cannot be checked out here",
            Self::Prepare => "cannot be prepared",
            Self::Crash => "crashes",
            Self::Timeout => "times out",
            Self::Unreadable => "prints no value",
            Self::Incomplete => "stops before its end",
            Self::Require => "does not match [[require]]",
            Self::Nan => "prints NaN",
            Self::OtherText => "reads another text",
            Self::OtherUnit => "prints another unit",
            Self::OtherForm => "prints its value elsewhere",
            Self::OtherChecks => "runs other checks",
            Self::Resource => "killed: out of resources",
            Self::Unsteady => "its runs disagree",
            Self::Asked => "skipped by the user",
        })
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// Why the commit is skipped, if so.
    pub(crate) skip: Option<SkipReason>,
    /// One sentence for people.
    pub reason: String,
    /// The targets it breaks.
    pub(crate) broken: Vec<Metric>,
}

//! What is concluded about a commit; always derived, never stored as a fact.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Metric;

/// What a commit is, in git's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Breaks no target.
    Good,
    /// Breaks a target.
    Bad,
    /// Cannot be tested.
    Skip,
    /// Not known (not measured, or the answer is out).
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
pub enum SkipReason {
    /// It does not build.
    Build,
    /// A patch of the configuration does not apply to it.
    Patch,
    /// Its files cannot lie where commits are checked out.
    #[serde(alias = "folded-case")]
    Checkout,
    /// A `[[prepare]]` fails.
    Prepare,
    /// It crashes or leaves with an error.
    Crash,
    /// It takes too long.
    Timeout,
    /// It prints no value.
    Unreadable,
    /// Its output stops before its end, twice.
    Incomplete,
    /// It does not show what `[[require]]` asks for.
    Require,
    /// It prints NaN, and the configuration says to skip that.
    Nan,
    /// It read another amount of text than the good end.
    OtherText,
    /// It ran other checks than the good end.
    OtherChecks,
    /// It needs more of the machine than there is (killed, while the control works).
    Resource,
    /// Its runs contradict each other.
    Unsteady,
    /// It was named with `--skip`.
    Asked,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Build => "does not build",
            Self::Patch => "does not take a patch",
            Self::Checkout => "cannot be checked out here",
            Self::Prepare => "cannot be prepared",
            Self::Crash => "crashes",
            Self::Timeout => "times out",
            Self::Unreadable => "prints no value",
            Self::Incomplete => "stops before its end",
            Self::Require => "lacks what is required",
            Self::Nan => "prints NaN",
            Self::OtherText => "reads another text",
            Self::OtherChecks => "runs other checks",
            Self::Resource => "killed for want of a resource",
            Self::Unsteady => "contradicts itself",
            Self::Asked => "asked to skip",
        })
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why skipped, where it was.
    pub skip: Option<SkipReason>,
    /// One sentence for people.
    pub reason: String,
    /// The targets it breaks.
    pub broken: Vec<Metric>,
}

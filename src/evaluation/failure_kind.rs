//! The kinds of failure.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A build command failed.
    Build,
    /// A patch of the configuration does not apply, so there is nothing to build.
    Patch,
    /// The commit's files cannot be checked out on this machine.
    #[serde(alias = "folded-case")]
    Checkout,
    /// A `[[prepare]]` for the measure failed.
    Prepare,
    /// A signal killed the engine, its exit code is not 0, or it could not be started.
    Crash,
    /// The run exceeded its time-out.
    Timeout,
    /// The engine printed NaN (or an infinity) instead of a number.
    Nan,
    /// Exit code 0, but the parser finds no value.
    Unreadable,
    /// Exit code 0, but fewer chunks than announced, or no final value.
    Incomplete,
    /// The output does not match a `[[require]]` pattern.
    Require,
}

impl FailureKind {
    /// Whether the failure comes before any build command: there are no files to build.
    pub(crate) fn leaves_nothing_to_build(self) -> bool {
        matches!(self, Self::Patch | Self::Checkout)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Build => "does not build",
            Self::Patch => "rejects a patch",
            Self::Checkout => "cannot be checked out here",
            Self::Prepare => "cannot be prepared",
            Self::Crash => "crashes",
            Self::Timeout => "times out",
            Self::Nan => "prints NaN",
            Self::Unreadable => "prints no value",
            Self::Incomplete => "stops before its end",
            Self::Require => "does not match [[require]]",
        })
    }
}

//! How a process ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// SIGABRT, which a program sends itself to abort; the same number on every platform.
pub(super) const ABORT: i32 = 6;

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The process exited with this code.
    Exited(i32),
    /// This signal killed the process; this program did not send it.
    Signaled(i32),
    /// This program killed the process at its time-out.
    TimedOut,
    /// No program is at the given path (or in `PATH`).
    NotFound(String),
    /// The program exists but could not be started. The text is the reason.
    NotStarted(String),
    /// This program killed the process because the user or a limit stopped the hunt. Such a run
    /// says nothing about the commit and is not stored.
    Stopped,
}

impl Ended {
    /// Whether the process exited with code 0.
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signaled(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("timed out"),
            Self::NotFound(program) => write!(f, "program not found: {program}"),
            Self::NotStarted(reason) => write!(f, "could not be started: {reason}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

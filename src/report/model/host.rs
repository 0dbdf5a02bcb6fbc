//! A computer on which runs of the hunt were made.

use serde::{Deserialize, Serialize};

use crate::evaluation::Host;

/// A node that only builds (`[executor.build]`), and how many of the hunt's builds it made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuildNodeLine {
    /// Its name.
    pub name: String,
    /// Its builds.
    pub builds: usize,
}

/// A computer, and how many runs of the hunt it made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostLine {
    /// The computer.
    #[serde(flatten)]
    pub host: Host,
    /// The runs that the hunt made there, also those that do not count for a verdict. 0 if all
    /// results of this computer were in the store.
    pub runs: usize,
    /// Set if no further job of the hunt ran there: the reason, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<String>,
}

//! The output of a program: its streams and their lines.

use serde::{Deserialize, Serialize};

/// Maximum line length, in bytes. A longer line is split into pieces of exactly this size and a
/// shorter last one, so that an engine that never ends a line cannot fill the memory.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
    /// The file that the measure is read from.
    File,
}

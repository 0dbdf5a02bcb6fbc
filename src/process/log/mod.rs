//! The kept output of one run: bounded, both streams in one file, the engine's bytes as
//! they are.
//!
//! ```text
//! # command: build/ppl --model model.bin      header, as given by the caller
//! # cwd: /src
//! 1> a line of stdout
//! 2> a line of stderr
//! #> 73401 bytes left out
//! 1> a line a figure came from
//! #> 9120 bytes left out
//! 1| a last line without newline, or a piece of one longer than 1 MiB
//! 3> a line of the file that the measure is read from, all of them
//! ```

mod attach;
mod reader;
mod writer;

pub use crate::evaluation::Stream;
pub use attach::attach;
pub use reader::{Log, read_log};
pub use writer::{LogSummary, LogWriter};

/// Kept from the beginning, in bytes of the file.
const HEAD: usize = 1 << 20;
/// Kept from the end.
const TAIL: usize = 1 << 20;
/// What kept lines between head and tail may take together. An engine that prints a figure
/// in every line of gigabytes must not fill the disk; [`LogSummary::lost`] tells.
const KEPT: usize = 64 << 20;

const HEADER: &[u8] = b"# ";
const MARKER: &[u8] = b"#> ";

/// Whether a line must be in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// A figure came from it: it is kept wherever it stands.
    Yes,
    /// It is kept where it stands in head or tail.
    No,
}

#[cfg(test)]
mod tests;

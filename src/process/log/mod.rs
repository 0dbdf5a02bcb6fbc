//! The log of one run: limited in size, both streams in one file, the engine's bytes unchanged.
//!
//! ```text
//! # command: build/ppl --model model.bin      header, as given by the caller
//! # cwd: /src
//! 1> a line of stdout
//! 2> a line of stderr
//! #> 73401 bytes left out
//! 1> a line that a value was read from
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

/// Size of the log's beginning that is always kept, bytes.
const HEAD: usize = 1 << 20;
/// Size of the log's end that is always kept, bytes.
const TAIL: usize = 1 << 20;
/// Largest total size of [`Keep::Yes`] lines between head and tail, bytes. An engine that prints
/// gigabytes of such lines must not fill the disk; [`LogSummary::lost`] counts the rest.
const KEPT: usize = 64 << 20;

const HEADER: &[u8] = b"# ";
const MARKER: &[u8] = b"#> ";

/// Whether a line must be in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// A value was read from the line, so it is kept everywhere.
    Yes,
    /// The line is kept only in head or tail.
    No,
}

#[cfg(test)]
mod tests;

//! The log of one run: limited in size, both streams in one file, the engine's bytes unchanged.
//! A long log is compressed when it is finished.
//!
//! ```text
//! # command: build/ppl --model model.bin      header, as given by the caller
//! # folder: /src
//! 1> a line of stdout
//! 2> a line of stderr
//! #> 73401 bytes left out
//! 1> a line that a value was read from
//! #> 9120 bytes left out
//! 1| a last line without newline, or a piece of a line longer than 1 MiB
//! 3> a line of the measure's output file
//! ```

mod attach;
mod compressed;
mod format;
mod reader;
mod tail;
mod writer;

pub use crate::evaluation::Stream;
pub(crate) use attach::attach;
pub use compressed::log_bytes;
pub(crate) use compressed::{compress_log, compressed_log, is_compressed_log};
pub use reader::{Log, read_log};
pub(crate) use tail::last_lines;
pub use writer::Keep;
pub(crate) use writer::LogWriter;

#[cfg(test)]
mod tests;

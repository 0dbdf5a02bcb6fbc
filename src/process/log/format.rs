//! The format that the writer and the readers of a log share: size limits and line prefixes.

/// Size of the log's beginning that is always kept, bytes.
pub(super) const HEAD: usize = 1 << 20;
/// Size of the log's end that is always kept, bytes.
pub(super) const TAIL: usize = 1 << 20;
/// Largest total size of [`Keep::Yes`] lines between head and tail, bytes. An engine that prints
/// gigabytes of such lines must not fill the disk; [`LogSummary::lost`] counts the rest.
///
/// [`Keep::Yes`]: super::Keep::Yes
/// [`LogSummary::lost`]: super::writer::LogSummary::lost
pub(super) const KEPT: usize = 64 << 20;

/// Begins a line of the header.
pub(super) const HEADER: &[u8] = b"# ";
/// Begins a line that tells how much was left out.
pub(super) const MARKER: &[u8] = b"#> ";

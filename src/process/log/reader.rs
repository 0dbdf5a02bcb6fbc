//! Reads a log back, so that values can be read from it again.

use std::io;
use std::path::Path;

use super::Stream;
use super::compressed::log_bytes;
use super::format::{HEADER, MARKER};

/// A log in memory. Its size is bounded, see [`super::LogWriter`].
#[derive(Clone, Debug)]
pub struct Log {
    bytes: Vec<u8>,
    /// Offset of the first byte after the header.
    body: usize,
}

/// Reads the log at `path`, compressed or not.
pub fn read_log(path: &Path) -> io::Result<Log> {
    log_bytes(path).map(Log::from)
}

impl From<Vec<u8>> for Log {
    fn from(bytes: Vec<u8>) -> Self {
        let header = |line: &&[u8]| line.starts_with(HEADER);
        let body = entries(&bytes).take_while(header).map(|line| line.len() + 1).sum();
        Self { bytes, body }
    }
}

impl Log {
    /// The header's keys and values.
    pub fn header(&self) -> impl Iterator<Item = (String, String)> {
        entries(&self.bytes[..self.body]).filter_map(|line| {
            let line = String::from_utf8_lossy(line.strip_prefix(HEADER)?);
            let (key, value) = line.split_once(": ")?;
            Some((key.to_owned(), unescape(value)))
        })
    }

    /// The engine's lines in order, without their newlines.
    pub fn lines(&self) -> impl Iterator<Item = (Stream, &[u8])> {
        self.pieces().map(|(stream, line, _)| (stream, line))
    }

    /// As [`Self::lines`], with whether each line ended with a newline. The last line and a piece
    /// of an overlong line may lack one.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Stream, &[u8], bool)> {
        entries(&self.bytes[self.body..]).filter_map(piece)
    }

    /// The kept lines of one stream, byte for byte as printed.
    pub fn stream(&self, wanted: Stream) -> Vec<u8> {
        let mut all = Vec::new();
        for (_, line, whole) in self.pieces().filter(|(stream, ..)| *stream == wanted) {
            all.extend_from_slice(line);
            all.extend(whole.then_some(b'\n'));
        }
        all
    }

    /// How many bytes of the engine's output the log lacks.
    pub fn cut(&self) -> u64 {
        entries(&self.bytes[self.body..])
            .filter_map(|entry| {
                let text = std::str::from_utf8(entry.strip_prefix(MARKER)?).ok()?;
                text.split(' ').next()?.parse::<u64>().ok()
            })
            .sum()
    }
}

/// The engine's line, or the piece of one, in a line of the file; see [`Log::pieces`]. `None` for
/// the log's own marks.
pub(super) fn piece(entry: &[u8]) -> Option<(Stream, &[u8], bool)> {
    let (prefix, line) = entry.split_at_checked(3)?;
    match prefix {
        b"1> " => Some((Stream::Out, line, true)),
        b"1| " => Some((Stream::Out, line, false)),
        b"2> " => Some((Stream::Err, line, true)),
        b"2| " => Some((Stream::Err, line, false)),
        b"3> " => Some((Stream::File, line, true)),
        b"3| " => Some((Stream::File, line, false)),
        _ => None,
    }
}

/// The lines of the file. Text after the last newline is dropped: a crash cut it off.
fn entries(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"))
}

fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                other => text.extend(other),
            },
            c => text.push(c),
        }
    }
    text
}

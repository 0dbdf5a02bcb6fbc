//! Joins the pieces of long lines.

use crate::evaluation::Stream;

/// How much of one line is examined, in bytes. An engine that never ends a line must fill neither
/// the memory nor the log.
const LIMIT: usize = 16 << 20;

/// The unfinished lines of all streams.
#[derive(Debug, Default)]
pub(super) struct Lines {
    out: Unfinished,
    err: Unfinished,
    file: Unfinished,
}

#[derive(Debug, Default)]
struct Unfinished {
    /// At most [`LIMIT`] bytes; the rest of the line is dropped.
    bytes: Vec<u8>,
}

impl Lines {
    /// Calls `on_line` for every line that ends in these bytes: at each `\r` (progress that
    /// overwrites itself), and at the end of the bytes if `whole`. Empty lines are left out, and
    /// bytes that are not UTF-8 become U+FFFD.
    ///
    /// Returns whether the log must keep the bytes to give the same lines again: `on_line`
    /// returned true for one line, or the bytes are a piece of an unfinished line.
    pub(super) fn feed(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        whole: bool,
        mut on_line: impl FnMut(&str) -> bool,
    ) -> bool {
        let line = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
            Stream::File => &mut self.file,
        };
        let mut keep = false;
        let mut parts = bytes.split(|byte| *byte == b'\r').peekable();
        while let Some(part) = parts.next() {
            let ends = whole || parts.peek().is_some();
            // If the line is too long already, only its end matters.
            keep |= if ends { !line.bytes.is_empty() } else { !line.is_full() };
            line.push(part);
            if ends {
                keep |= line.end(&mut on_line);
            }
        }
        keep
    }

    /// At the end of the output, treats the rest as a line.
    pub(super) fn flush(&mut self, mut on_line: impl FnMut(Stream, &str) -> bool) {
        let Self { out, err, file } = self;
        for (stream, line) in [(Stream::Out, out), (Stream::Err, err), (Stream::File, file)] {
            line.end(&mut |text: &str| on_line(stream, text));
        }
    }

    /// The beginnings of unfinished lines.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
        [&self.out, &self.err, &self.file]
            .into_iter()
            .map(|line| String::from_utf8_lossy(&line.bytes))
    }
}

impl Unfinished {
    fn is_full(&self) -> bool {
        self.bytes.len() == LIMIT
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = LIMIT - self.bytes.len();
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end(&mut self, on_line: &mut impl FnMut(&str) -> bool) -> bool {
        let keep = !self.bytes.is_empty() && on_line(&String::from_utf8_lossy(&self.bytes));
        // Very long lines are rare, so their memory is freed.
        self.bytes.clear();
        self.bytes.shrink_to(1 << 16);
        keep
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines_of<'a>(pieces: impl IntoIterator<Item = (&'a str, bool)>) -> Vec<String> {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        for (piece, whole) in pieces {
            lines.feed(Stream::Out, piece.as_bytes(), whole, |line| {
                found.push(line.to_owned());
                false
            });
        }
        lines.flush(|_, line| {
            found.push(line.to_owned());
            false
        });
        found
    }

    #[test]
    fn progress_is_split_and_empty_lines_are_left_out() {
        assert_eq!(
            lines_of([("10%\r20%\r", true), ("", true), ("done", false)]),
            ["10%", "20%", "done"]
        );
    }

    #[test]
    fn streams_do_not_mix() {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        for (stream, piece, whole) in
            [(Stream::Out, "a", false), (Stream::Err, "x", true), (Stream::Out, "b", true)]
        {
            lines.feed(stream, piece.as_bytes(), whole, |line| {
                found.push(line.to_owned());
                false
            });
        }
        assert_eq!(found, ["x", "ab"]);
    }

    #[test]
    fn a_line_without_end_is_neither_remembered_nor_kept() {
        let piece = vec![b'x'; 1 << 20];
        let mut lines = Lines::default();
        let kept: Vec<bool> =
            (0..20).map(|_| lines.feed(Stream::Out, &piece, false, |_| false)).collect();
        assert_eq!(kept, [vec![true; 16], vec![false; 4]].concat());
        let mut length = 0;
        assert!(lines.feed(Stream::Out, b"y\rnext", false, |line| {
            length = line.len();
            false
        }));
        assert_eq!(length, LIMIT);
        assert_eq!(lines.unfinished().next().as_deref(), Some("next"));
    }

    proptest! {
        #[test]
        fn pieces_do_not_change_the_lines(
            pieces in prop::collection::vec(("[ab\ré]{0,5}", any::<bool>()), 0..12),
        ) {
            let text: String = pieces
                .iter()
                .flat_map(|(piece, whole)| [piece.as_str(), if *whole { "\r" } else { "" }])
                .collect();
            let wanted: Vec<_> = text.split('\r').filter(|line| !line.is_empty()).collect();
            let found = lines_of(pieces.iter().map(|(piece, whole)| (piece.as_str(), *whole)));
            prop_assert_eq!(found, wanted);
        }
    }
}

//! Lines put together again from the pieces in which long ones arrive.

use crate::evaluation::Stream;

/// What of one line is looked at, in bytes. An engine that prints without ever ending a line
/// must fill neither the memory nor the log.
const LIMIT: usize = 16 << 20;

/// Both streams' unfinished lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    out: Unfinished,
    err: Unfinished,
}

#[derive(Debug, Default)]
struct Unfinished {
    /// Never longer than [`LIMIT`]; what comes after is dropped.
    bytes: Vec<u8>,
}

impl Lines {
    /// Hands every line that `bytes` ends to `on_line`; a line ends with `\n`, or with the
    /// `\r` by which progress is overwritten, and empty ones are left out. Bytes that are not
    /// UTF-8 become U+FFFD.
    ///
    /// Returns whether `bytes` must be kept for the same lines to come out again: `on_line`
    /// said so of one of them, or it is a piece of a line that goes on.
    pub(super) fn feed(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        mut on_line: impl FnMut(&str) -> bool,
    ) -> bool {
        let line = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        let mut keep = !line.bytes.is_empty() && !line.is_full();
        for part in bytes.split_inclusive(|b| matches!(b, b'\n' | b'\r')) {
            let Some((b'\n' | b'\r', text)) = part.split_last() else {
                keep |= !line.is_full();
                line.push(part);
                break;
            };
            keep |= !line.bytes.is_empty();
            line.push(text);
            keep |= line.end(&mut on_line);
        }
        keep
    }

    /// At the end of the output: what is left counts as a line.
    pub(super) fn flush(&mut self, mut on_line: impl FnMut(&str) -> bool) {
        for line in [&mut self.out, &mut self.err] {
            line.end(&mut on_line);
        }
    }

    /// The lines begun and not ended, so far.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
        [&self.out, &self.err].into_iter().map(|line| String::from_utf8_lossy(&line.bytes))
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
        // A line of many MiB is rare; its memory need not stay.
        self.bytes.clear();
        self.bytes.shrink_to(1 << 16);
        keep
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines_of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        for piece in pieces {
            lines.feed(Stream::Out, piece, |line| {
                found.push(line.to_owned());
                false
            });
        }
        lines.flush(|line| {
            found.push(line.to_owned());
            false
        });
        found
    }

    #[test]
    fn progress_is_split_and_empty_lines_are_left_out() {
        assert_eq!(lines_of([&b"10%\r20%\r\n\ndone"[..]]), ["10%", "20%", "done"]);
    }

    #[test]
    fn streams_do_not_mix() {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        for (stream, piece) in [(Stream::Out, "a"), (Stream::Err, "x\n"), (Stream::Out, "b\n")] {
            lines.feed(stream, piece.as_bytes(), |line| {
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
        let kept: Vec<bool> = (0..20).map(|_| lines.feed(Stream::Out, &piece, |_| false)).collect();
        assert_eq!(kept, [vec![true; 16], vec![false; 4]].concat());
        let mut length = 0;
        assert!(lines.feed(Stream::Out, b"y\nnext", |line| {
            length = line.len();
            false
        }));
        assert_eq!(length, LIMIT);
        assert_eq!(lines.unfinished().next().as_deref(), Some("next"));
    }

    proptest! {
        #[test]
        fn pieces_do_not_change_the_lines(text in "[ab\r\né]{0,40}", size in 1_usize..8) {
            let whole = lines_of([text.as_bytes()]);
            prop_assert_eq!(&lines_of(text.as_bytes().chunks(size)), &whole);
            let ends = text.split(['\r', '\n']).filter(|line| !line.is_empty());
            prop_assert!(ends.eq(whole.iter()));
        }
    }
}

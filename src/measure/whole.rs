//! Collects all of stdout, for parsers that read one document.

use std::borrow::Cow;

use crate::evaluation::{Failure, Stream, Unreadable};

/// Maximum size of stdout, in bytes.
const LIMIT: usize = 64 << 20;

/// Stdout so far.
#[derive(Debug, Default)]
pub(super) struct Whole {
    bytes: Vec<u8>,
    too_long: bool,
}

impl Whole {
    /// Takes a line or a piece of a line. Returns true if the log must keep it: all of stdout, up
    /// to and including the piece that exceeds the limit.
    pub(super) fn feed(&mut self, stream: Stream, bytes: &[u8], whole: bool) -> bool {
        if stream == Stream::Err || self.too_long {
            return false;
        }
        if self.bytes.len() + bytes.len() > LIMIT {
            self.too_long = true;
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
            self.bytes.extend(whole.then_some(b'\n'));
        }
        true
    }

    /// The collected text; bytes that are not UTF-8 become U+FFFD.
    pub(super) fn text(&self) -> Result<Cow<'_, str>, Failure> {
        if self.too_long {
            let detail = format!("more than {} MiB on stdout", LIMIT >> 20);
            return Err(Failure::unreadable(Unreadable::TooLong, detail));
        }
        Ok(String::from_utf8_lossy(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_neither_read_nor_remembered() {
        let mut whole = Whole::default();
        let piece = vec![b' '; LIMIT / 2];
        assert!(whole.feed(Stream::Out, &piece, false));
        assert!(!whole.feed(Stream::Err, b"y", true));
        assert!(whole.feed(Stream::Out, &piece, false));
        assert_eq!(whole.text().unwrap().len(), LIMIT);
        // The log keeps the piece beyond the limit, so that a second read gives the same result.
        assert!(whole.feed(Stream::Out, b"1", true));
        assert!(!whole.feed(Stream::Out, b"1", true));
        assert_eq!(whole.text().unwrap_err().detail, "more than 64 MiB on stdout");
    }
}

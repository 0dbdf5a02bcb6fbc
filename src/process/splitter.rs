//! Splits a stream of bytes into lines.

use crate::evaluation::LONGEST_LINE;

/// Holds the incomplete line of a stream.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    partial: Vec<u8>,
}

impl Splitter {
    /// Adds bytes and calls `line` for each complete line, without its newline and with `true`. An
    /// overlong line comes in pieces, all but the last with `false`.
    pub(super) fn push<E>(
        &mut self,
        mut bytes: &[u8],
        mut line: impl FnMut(&[u8], bool) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            let room = LONGEST_LINE - self.partial.len();
            let window = &bytes[..bytes.len().min(room)];
            if let Some(end) = window.iter().position(|byte| *byte == b'\n') {
                if self.partial.is_empty() {
                    line(&window[..end], true)?;
                } else {
                    self.partial.extend_from_slice(&window[..end]);
                    line(&self.partial, true)?;
                    self.partial.clear();
                }
                bytes = &bytes[end + 1..];
            } else {
                self.partial.extend_from_slice(window);
                bytes = &bytes[window.len()..];
                if self.partial.len() == LONGEST_LINE {
                    line(&self.partial, false)?;
                    self.partial.clear();
                }
            }
        }
        Ok(())
    }

    /// The last line, if the stream ended without a newline.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.partial)).filter(|rest| !rest.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(chunks: &[Vec<u8>]) -> Vec<(Vec<u8>, bool)> {
        let mut splitter = Splitter::default();
        let mut lines = Vec::new();
        for chunk in chunks {
            let keep = |line: &[u8], whole| {
                lines.push((line.to_vec(), whole));
                Ok::<(), ()>(())
            };
            splitter.push(chunk, keep).unwrap();
        }
        lines.extend(splitter.rest().map(|rest| (rest, false)));
        lines
    }

    #[test]
    fn an_overlong_line_comes_in_pieces() {
        let mut text = vec![b'x'; LONGEST_LINE + 5];
        text.extend_from_slice(b"\ny\n");
        let lengths: Vec<_> =
            split(&[text]).iter().map(|(line, whole)| (line.len(), *whole)).collect();
        assert_eq!(lengths, [(LONGEST_LINE, false), (5, true), (1, true)]);
    }

    proptest! {
        #[test]
        fn however_it_arrives_the_lines_are_the_same(
            chunks in proptest::collection::vec("[ab\n]{0,9}", 0..12)
        ) {
            let whole = chunks.concat();
            let chunks: Vec<_> = chunks.into_iter().map(String::into_bytes).collect();
            let text: Vec<u8> = split(&chunks).into_iter().flat_map(|(mut line, whole)| {
                line.extend(whole.then_some(b'\n'));
                line
            }).collect();
            prop_assert_eq!(text, whole.clone().into_bytes());
            prop_assert_eq!(split(&chunks), split(&[whole.into_bytes()]));
        }
    }
}

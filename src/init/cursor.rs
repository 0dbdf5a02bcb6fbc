//! A place in a text that is read from front to back, with its line: what the readers of build
//! files and of sources share. Each adds its own steps where its language is.

/// What is left of a text.
pub(super) struct Cursor<'s> {
    pub(super) rest: &'s str,
    /// The line that `rest` begins in, from 1.
    pub(super) line: usize,
}

impl<'s> Cursor<'s> {
    /// At the beginning of a text.
    pub(super) fn new(text: &'s str) -> Self {
        Self { rest: text, line: 1 }
    }

    /// Steps over that many bytes, and returns them.
    pub(super) fn take(&mut self, bytes: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

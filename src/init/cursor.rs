//! A position in a text that is read from front to back, with its line. The readers of CMake
//! files and of sources share it, and each adds methods for its language.

/// The unread rest of a text.
pub(super) struct Cursor<'s> {
    pub(super) rest: &'s str,
    /// The line where `rest` begins, counted from 1.
    pub(super) line: usize,
}

impl<'s> Cursor<'s> {
    /// At the beginning of a text.
    pub(super) fn new(text: &'s str) -> Self {
        Self { rest: text, line: 1 }
    }

    /// Takes this number of bytes from the rest.
    pub(super) fn take(&mut self, bytes: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

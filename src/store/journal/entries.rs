//! The entries of a journal, shared with the reader that parsed them: a hunt asks for all of them
//! several times a step, and a long hunt has thousands.

use std::ops::Deref;
use std::sync::Arc;

use super::Entry;

/// Entries of a journal, oldest first. A copy shares them.
#[derive(Clone, Debug, Default)]
pub(crate) struct JournalEntries {
    all: Arc<Vec<Entry>>,
    /// How many of the first entries are left out.
    left_out: usize,
}

impl JournalEntries {
    /// Appends entries. Copies of this value keep what they had.
    pub(super) fn append(&mut self, new: Vec<Entry>) {
        if !new.is_empty() {
            Arc::make_mut(&mut self.all).extend(new);
        }
    }

    /// These entries without the first `count` ones.
    pub(in crate::store) fn after(self, count: usize) -> Self {
        Self { left_out: self.left_out + count, ..self }
    }
}

impl From<Vec<Entry>> for JournalEntries {
    fn from(entries: Vec<Entry>) -> Self {
        Self { all: Arc::new(entries), left_out: 0 }
    }
}

impl Deref for JournalEntries {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.all[self.left_out..]
    }
}

impl<'e> IntoIterator for &'e JournalEntries {
    type Item = &'e Entry;
    type IntoIter = std::slice::Iter<'e, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

//! A cache of file texts by blob: a file that many commits share is read once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::evaluation::CommitId;
use crate::git::{BlobId, EntryKind, GitError, History};

use super::text::Text;

/// The longest file that is read, in bytes. No handwritten build file or source is longer.
pub(super) const LONGEST: u64 = 2 * 1024 * 1024;
/// Maximum size of the texts in the cache, in bytes. A full cache is emptied.
const MOST: usize = 128 << 20;

/// A repository's objects, with a cache.
pub(super) struct Objects {
    history: History,
    kept: RefCell<Read>,
}

#[derive(Default)]
struct Read {
    texts: HashMap<BlobId, Option<Rc<Text>>>,
    bytes: usize,
}

impl Objects {
    pub(super) fn new(history: History) -> Rc<Self> {
        Rc::new(Self { history, kept: RefCell::default() })
    }

    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// The text of a file at a commit; `None` if it is not a file, too long, or not in this clone.
    pub(super) fn read(&self, id: &CommitId, path: &str) -> Result<Option<Rc<Text>>, GitError> {
        Ok(match self.history.at(id, path)? {
            EntryKind::File(blob) => self.text(blob),
            EntryKind::Nothing | EntryKind::Other | EntryKind::Unknown => None,
        })
    }

    fn text(&self, id: BlobId) -> Option<Rc<Text>> {
        if let Some(known) = self.kept.borrow().texts.get(&id) {
            return known.clone();
        }
        let bytes = self.history.blob(id, LONGEST);
        let text = bytes.map(|bytes| match std::str::from_utf8(&bytes) {
            Ok(text) => Text::new(text),
            Err(_) => Text::new(String::from_utf8_lossy(&bytes)),
        });
        let mut kept = self.kept.borrow_mut();
        kept.bytes += text.as_ref().map_or(0, |text| text.len());
        if kept.bytes > MOST {
            *kept = Read::default();
        }
        kept.texts.insert(id, text.clone());
        text
    }
}

/// The files of one commit.
pub(super) struct Stored {
    blobs: HashMap<String, BlobId>,
    objects: Rc<Objects>,
}

impl Stored {
    pub(super) fn new(files: Vec<(String, BlobId)>, objects: &Rc<Objects>) -> Self {
        Self { blobs: files.into_iter().collect(), objects: Rc::clone(objects) }
    }

    /// The text of a file; `None` if it is a link, too long, or not in this clone.
    pub(super) fn text(&self, file: &str) -> Option<Rc<Text>> {
        self.objects.text(*self.blobs.get(file)?)
    }
}

//! A cache of file texts by blob, so that a file that many commits share is read once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::evaluation::CommitId;
use crate::git::{BlobId, GitError, Here, History};

use super::literals::{Literal, literals};

/// The longest file that is read, in bytes. No handwritten build file or source is longer.
pub(super) const LONGEST: u64 = 2 * 1024 * 1024;
/// The most bytes of texts in the cache. A full cache is emptied.
const MOST: usize = 128 << 20;

/// A repository's objects, with a cache.
pub(super) struct Objects {
    history: History,
    kept: RefCell<Read>,
}

#[derive(Default)]
struct Read {
    texts: HashMap<BlobId, Option<Rc<str>>>,
    literals: HashMap<BlobId, Rc<[Literal]>>,
    bytes: usize,
}

impl Objects {
    pub(super) fn new(history: History) -> Rc<Self> {
        Rc::new(Self { history, kept: RefCell::default() })
    }

    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// The text of a file at a commit; `None` if it is no file, too long, or not in this clone.
    pub(super) fn read(&self, id: &CommitId, path: &str) -> Result<Option<Rc<str>>, GitError> {
        Ok(match self.history.at(id, path)? {
            Here::File(blob) => self.text(blob),
            Here::Nothing | Here::Other | Here::Unknown => None,
        })
    }

    fn text(&self, id: BlobId) -> Option<Rc<str>> {
        if let Some(known) = self.kept.borrow().texts.get(&id) {
            return known.clone();
        }
        let bytes = self.history.blob(id, LONGEST);
        let text: Option<Rc<str>> = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into());
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
    pub(super) fn text(&self, file: &str) -> Option<Rc<str>> {
        self.objects.text(*self.blobs.get(file)?)
    }

    /// The literals in `text`, which is the text of `file`.
    pub(super) fn literals(&self, file: &str, text: &str) -> Rc<[Literal]> {
        let Some(id) = self.blobs.get(file) else { return Rc::default() };
        if let Some(known) = self.objects.kept.borrow().literals.get(id) {
            return Rc::clone(known);
        }
        let found: Rc<[Literal]> = literals(text).into();
        self.objects.kept.borrow_mut().literals.insert(*id, Rc::clone(&found));
        found
    }
}

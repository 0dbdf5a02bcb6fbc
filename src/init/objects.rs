//! Texts of many commits, each read once: from one commit to the next hardly any file differs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::evaluation::CommitId;
use crate::git::{BlobId, GitError, Here, History};

use super::literals::{Literal, literals};
use super::tree::LONGEST;

/// Bytes of texts that are kept; beyond it all are forgotten, and what is needed is read again.
const MOST: usize = 128 << 20;

/// What was read of a repository's objects.
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

    /// A file of a commit; `None` where it is none, not here, or too long.
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

    /// The text of a file; `None` where it is a link, not here, or too long.
    pub(super) fn text(&self, file: &str) -> Option<Rc<str>> {
        self.objects.text(*self.blobs.get(file)?)
    }

    /// The literals in a file whose text this is.
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

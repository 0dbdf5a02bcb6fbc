//! A named commit that changes a pointer of Git LFS. The hunt's checkouts keep pointers, and what
//! builds read is not watched: they may read the pointer in place of the file.

use crate::differ::is_document;
use crate::evaluation::Culprit;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;

impl Driver<'_> {
    /// Lowers the confidence in a confirmed commit that changes a pointer, unless the pointer is that
    /// of a document, the checkouts have the files, or nothing is built and prepared.
    pub(super) fn doubt_pointers(&self, culprit: &mut Culprit) -> Result<(), HuntError> {
        let config = &self.oracle.recipes.config;
        let is_built = !config.build.commands.is_empty() || !config.prepares.is_empty();
        if config.worktree.lfs || !is_built {
            return Ok(());
        }
        let (parent, commit) = (&culprit.parent, &culprit.info.commit);
        let is_read = |path: &str| !is_document(path);
        culprit.doubts.pointer = self.oracle.history.changed_pointer(parent, commit, is_read)?;
        if culprit.doubts.pointer.is_some() {
            lower_confidence(culprit);
        }
        Ok(())
    }
}

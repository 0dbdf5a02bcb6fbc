//! A named commit that changes a pointer of Git LFS. The hunt's checkouts keep pointers, and what
//! builds read is not watched: they may read the pointer in place of the file. If the user's
//! checkout has the pointer too, runs may read it as well.

use crate::differ::is_document;
use crate::evaluation::Culprit;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;

impl Driver<'_> {
    /// Lowers the confidence in a confirmed commit that changes a pointer, unless the checkouts have
    /// the files, or the pointer is that of a document. If nothing is built and prepared, only a
    /// pointer that the runs read counts.
    pub(super) fn doubt_pointers(&self, culprit: &mut Culprit) -> Result<(), HuntError> {
        let config = &self.oracle.recipes.config;
        let is_built = !config.build.commands.is_empty() || !config.prepares.is_empty();
        if config.worktree.lfs {
            return Ok(());
        }
        let (parent, commit) = (&culprit.parent, &culprit.info.commit);
        let ran = culprit.ran.as_ref();
        let is_read = |path: &str| {
            is_built && !is_document(path) || ran.is_some_and(|ran| ran.has_other(path))
        };
        culprit.doubts.pointer = self.oracle.history.changed_pointer(parent, commit, is_read)?;
        if culprit.doubts.pointer.is_some() {
            lower_confidence(culprit);
        }
        Ok(())
    }
}

//! Notes linked folders that are too large to check before and after each build and run.

use crate::build::Linked;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::store::journal::Event;

impl Driver<'_> {
    /// If linked folders are too large, notes that nobody would notice writes to them.
    pub(crate) fn note_large_links(&mut self) -> Result<(), HuntError> {
        let (links, checkout) = (&self.oracle.recipes.config.worktree.link, &self.oracle.checkout);
        let Some(checkout) = checkout.as_ref().filter(|_| !links.is_empty()) else {
            return Ok(());
        };
        if Linked::at(links.iter().map(|link| checkout.join(link))).is_too_large() {
            let text = format!(
                "[worktree] link ({}) has too many files to check: a build or run that writes there \
                 is not noticed",
                links.join(", ")
            );
            self.oracle.recorder.event(Event::Note { text })?;
        }
        Ok(())
    }
}

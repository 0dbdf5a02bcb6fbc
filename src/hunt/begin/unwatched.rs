//! Notes linked folders that are too large to check before and after each build and run.

use crate::build::Linked;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::store::journal::Event;

impl Driver<'_> {
    /// If linked folders are too large, notes that writes to them would not be noticed.
    pub(crate) fn tell_unwatched(&mut self) -> Result<(), HuntError> {
        let (links, checkout) = (&self.oracle.recipes.config.worktree.link, &self.oracle.checkout);
        let Some(checkout) = checkout.as_ref().filter(|_| !links.is_empty()) else {
            return Ok(());
        };
        if Linked::at(links.iter().map(|link| checkout.join(link))).is_too_large() {
            let text = format!(
                "{} (linked in) has too many files to look at: whether builds or runs write there \
                 is not known",
                links.join(", ")
            );
            self.oracle.recorder.event(Event::Note { text })?;
        }
        Ok(())
    }
}

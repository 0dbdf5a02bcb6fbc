//! Notes inputs that git tracks and that differ between the endpoints: every commit is measured
//! with the file of the user's checkout, so a commit that changes the file changes no result.

use std::path::Path;

use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::store::journal::Event;

impl Driver<'_> {
    /// Notes each input that is a file of the engine and differs between good and bad.
    pub(crate) fn note_tracked_inputs(&mut self) -> Result<(), HuntError> {
        let Some(top) = self.oracle.checkout.clone() else { return Ok(()) };
        let config = &self.oracle.recipes.config;
        let history = &self.oracle.recipes.engine.history;
        let [older, newer] = self.begun.ends();
        let mut notes = Vec::new();
        for (name, path) in &config.inputs {
            let whole = config.base.join(path);
            let whole = whole.canonicalize().unwrap_or(whole);
            let Ok(inside) = whole.strip_prefix(&top) else { continue };
            if history.has_same_file(older, newer, inside) {
                continue;
            }
            notes.push(format!(
                "the input {name} is tracked by git and differs between good and bad, but every \
                 commit is measured with the file of your checkout: `{}` in place of \
                 `{{inputs.{name}}}` measures each commit with its own",
                Path::new("{src}").join(inside).display()
            ));
        }
        for text in notes {
            self.oracle.recorder.event(Event::Note { text })?;
        }
        Ok(())
    }
}

//! Tells of records in the store that were damaged: nothing is left out without a word.

use crate::store::StoreError;
use crate::store::journal::Event;
use crate::ui::Progress;

use super::Oracle;

impl Oracle {
    /// Writes down which records were set aside since the last time; where there is no hunt to
    /// write it down for, it is said at once.
    pub fn tell_damaged(&mut self) -> Result<(), StoreError> {
        for damaged in self.store.take_damaged() {
            let text =
                format!("{damaged}. It counts for nothing and is measured again where needed");
            if self.recorder.hunt().is_none() {
                Progress::new(false).note(&text);
            }
            self.recorder.event(Event::Note { text })?;
        }
        Ok(())
    }
}

//! Tells of records in the store that do not count: nothing is left out without a word.

use crate::store::StoreError;

use super::Oracle;

impl Oracle {
    /// Writes down which records were set aside since the last time, as they were damaged or made
    /// with other libraries; where there is no hunt to write it down for, it is said at once.
    pub fn tell_set_aside(&mut self) -> Result<(), StoreError> {
        let damaged = self.store.take_damaged().into_iter().map(|damaged| {
            format!("{damaged}. It counts for nothing and is measured again where needed")
        });
        let changed = self.present.take_changed().into_iter().map(|path| {
            format!(
                "{path} is another file than when stored runs loaded it: those runs are not \
                 taken over, and what they said is measured again"
            )
        });
        let texts: Vec<String> = damaged.chain(changed).collect();
        texts.into_iter().try_for_each(|text| self.recorder.note_once(text))
    }
}

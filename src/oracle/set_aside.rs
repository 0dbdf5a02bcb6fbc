//! Reports stored records that do not count, so that none is left out silently.

use crate::store::StoreError;

use super::Oracle;

impl Oracle {
    /// Notes which records were excluded since the last call, because they are damaged or used
    /// other libraries. Without a hunt, prints the notes.
    pub(crate) fn tell_set_aside(&mut self) -> Result<(), StoreError> {
        let damaged = self
            .store
            .take_damaged()
            .into_iter()
            .map(|damaged| format!("{damaged}. It is ignored, and measured again if needed"));
        let changed = self.stored.present.take_changed().into_iter().map(|path| {
            format!(
                "{path} has changed since stored runs loaded it: those runs are not reused, and \
                 what they measured is measured again"
            )
        });
        let texts: Vec<String> = damaged.chain(changed).collect();
        texts.into_iter().try_for_each(|text| self.recorder.note_once(text))
    }
}

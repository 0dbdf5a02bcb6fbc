//! Room on the disk, looked for before each build.

use crate::build::{Slot, Slots, make_room};

use super::{Oracle, OracleError};

impl Oracle {
    /// Makes room for a build in this slot. Fails if there is too little, or if the store has more
    /// than `[limits]` allows.
    pub(super) fn make_room(&self, slots: &Slots, slot: &Slot) -> Result<(), OracleError> {
        let limits = &self.recipes.config.limits;
        if let Some(shortage) = make_room(slots, slot, limits)? {
            return Err(OracleError::NoRoom(shortage));
        }
        if let Some(most) = limits.logs {
            over_limit("logs", self.store.log_bytes()?, most)?;
        }
        if let Some(most) = limits.tensors {
            over_limit("tensors", self.store.dump_bytes()?, most)?;
        }
        Ok(())
    }
}

fn over_limit(what: &'static str, taken: u64, most: u64) -> Result<(), OracleError> {
    if taken > most { Err(OracleError::OverLimit { what, taken, most }) } else { Ok(()) }
}

//! A build that a job on another node makes in this process's slot.

use std::path::PathBuf;
use std::sync::Arc;

use crate::build::slot_error::SlotError;
use crate::build::turns::Turns;
use crate::files;

use super::{Slot, Stamp, boot};

impl Slot {
    /// The build with this number in the slot at `root`, whose owner lends it and has given the
    /// build its turn.
    pub(crate) fn lent(root: PathBuf, number: u32) -> Self {
        Self::new(&Arc::new(Turns::new(root, None, None)), number)
    }

    /// The number of the build among those of its slot.
    pub(crate) fn number(&self) -> u32 {
        self.0.number
    }

    /// Whether this node sees the build at the slot's path. After a move, a network disk may show
    /// the build that was there before.
    pub(crate) fn has_turn(&self) -> bool {
        let there = std::fs::read_to_string(self.root().join("turn"));
        there.is_ok_and(|there| there == self.0.number.to_string())
    }

    /// Takes a finished build over from the node that made it: from now on it counts as one of this
    /// machine's. `attempt`: the build's name in the store. Returns whether it was there.
    pub(crate) fn take_over(&self, attempt: &str) -> Result<bool, SlotError> {
        if self.whole_mark().exists() {
            self.set_whole()?;
        }
        let bytes = files::read(&self.folder().join("stamp.json")).unwrap_or_default();
        let stamp = serde_json::from_slice::<Stamp>(&bytes).ok();
        let Some(stamp) = stamp.filter(|stamp| stamp.attempt == attempt) else { return Ok(false) };
        self.set_stamp(&Stamp { boot: boot(), ..stamp })?;
        Ok(true)
    }

    /// Writes everything in the slot to the disk: the node that built it may fail before another
    /// one has read it.
    pub(crate) fn sync(&self) -> Result<(), SlotError> {
        let synced = std::fs::File::open(self.root())
            .and_then(|folder| rustix::fs::syncfs(&folder).map_err(Into::into));
        synced.map_err(SlotError::at(self.root()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::stamp;
    use super::*;
    use crate::build::Slots;

    #[test]
    fn a_build_of_another_node_counts_once_it_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let held = Slots::new(&folder.path().join("slots")).unwrap().lock(|_| false).unwrap();
        let own = held.spare().unwrap();
        own.take_turn().unwrap();
        let lent = Slot::lent(own.root().to_owned(), own.number());
        assert_eq!(lent.folder(), own.folder());
        assert!(lent.has_turn() && !Slot::lent(own.root().to_owned(), own.number() + 1).has_turn());
        lent.set_stamp(&Stamp { boot: "another".to_owned(), ..stamp("k") }).unwrap();
        std::fs::write(lent.whole_mark(), "another").unwrap();
        lent.sync().unwrap();
        assert!(own.stamp().is_none() && !own.is_whole());
        // Not the build that was asked for.
        assert!(!own.take_over("b").unwrap() && own.stamp().is_none());
        assert!(own.take_over("a").unwrap());
        assert_eq!(own.stamp().unwrap().build_key, stamp("k").build_key);
        assert!(own.is_whole());
    }
}

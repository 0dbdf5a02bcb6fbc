//! What processes measure right now, so that two hunts at the same time do not measure the same
//! twice: one of them waits for the other's result.
//!
//! There are at most 256 lock files, named after the beginning of a key. The holder of a lock writes
//! into the file which key it measures, and for which hunt. Two keys with the same beginning do not
//! wait for each other: the process that finds the lock taken measures without it.

use std::fs::File;
use std::io::{ErrorKind, Write};

use crate::files;

use super::{Store, StoreError};

/// The right to measure what a key names; the system frees it when its holder dies.
#[derive(Debug)]
pub(crate) struct InFlight(#[expect(dead_code, reason = "held, never read")] File);

/// The answer to a claim.
#[derive(Debug)]
pub(crate) enum FlightClaim {
    /// Nobody measured this: the lock is held as long as the value lives.
    Held(InFlight),
    /// This other hunt measures it now.
    OtherHunt(String),
    /// The lock does not tell: another process of this hunt has it, or one that measures something
    /// else, or the disk has no locks.
    Untold,
}

impl Store {
    /// Claims what this key names for a hunt.
    pub(crate) fn claim_in_flight(&self, key: &str, hunt: &str) -> Result<FlightClaim, StoreError> {
        let folder = self.root.join("in-flight");
        std::fs::create_dir_all(&folder).map_err(StoreError::at(&folder))?;
        let path = folder.join(&key[..2]);
        let mut file = match files::try_lock_file(&path) {
            Ok(Some(file)) => file,
            Ok(None) => {
                let holder = files::read(&path).map_err(StoreError::at(&path))?;
                return Ok(other_hunt(&holder, key, hunt));
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(FlightClaim::Untold),
            Err(error) => return Err(StoreError::at(&path)(error)),
        };
        // In this order, the file is never empty for those who read it now.
        let line = format!("{key} {hunt}\n");
        let told = file.write_all(line.as_bytes()).and_then(|()| file.set_len(line.len() as u64));
        told.map_err(StoreError::at(&path))?;
        Ok(FlightClaim::Held(InFlight(file)))
    }
}

/// What the file of a lock that another process holds says to the hunt that wants this key.
fn other_hunt(holder: &[u8], key: &str, hunt: &str) -> FlightClaim {
    let text = String::from_utf8_lossy(holder);
    match text.lines().next().and_then(|line| line.split_once(' ')) {
        Some((held, by)) if held == key && by != hunt => FlightClaim::OtherHunt(by.to_owned()),
        _ => FlightClaim::Untold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunt_waits_only_for_the_same_key_of_another_hunt() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        let (key, near) = (format!("ab{}", "0".repeat(62)), format!("ab{}", "1".repeat(62)));
        let claim = |key: &str, hunt: &str| store.claim_in_flight(key, hunt).unwrap();
        let held = claim(&key, "one");
        assert!(matches!(held, FlightClaim::Held(_)), "{held:?}");
        let other = claim(&key, "two");
        assert!(matches!(&other, FlightClaim::OtherHunt(hunt) if hunt == "one"), "{other:?}");
        assert!(matches!(claim(&key, "one"), FlightClaim::Untold), "its own worker");
        assert!(matches!(claim(&near, "two"), FlightClaim::Untold), "another key");
        drop(held);
        let next = claim(&near, "two");
        assert!(matches!(next, FlightClaim::Held(_)));
        assert!(matches!(claim(&key, "one"), FlightClaim::Untold), "another key holds the file");
        let other = claim(&near, "one");
        assert!(matches!(&other, FlightClaim::OtherHunt(hunt) if hunt == "two"), "{other:?}");
    }
}

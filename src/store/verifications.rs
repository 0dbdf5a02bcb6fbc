//! The folders of verifications. Each has a store of its own, so that nothing in it was measured
//! before, and no hunt ever uses what a stranger's report made this machine measure.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::in_use::InUse;
use super::{HuntDir, Store, StoreError};

/// The folder of all verifications.
const ALL: &str = "verifications";
/// The store in the folder of each.
const STORE: &str = "bisect-ppl";

impl Store {
    /// Creates the folder of a verification: an empty store with one hunt. The hunt's name is
    /// unlike that of any other, since build folders are shared and name the hunt that filled them.
    pub(crate) fn for_verification(common_dir: &Path) -> Result<(Self, HuntDir), StoreError> {
        let all = Self::open(common_dir)?.verifications_folder();
        std::fs::create_dir_all(&all).map_err(StoreError::at(&all))?;
        let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
        for count in 0.. {
            let id = if count == 0 { now.clone() } else { format!("{now}-{count}") };
            let folder = all.join(&id);
            match std::fs::create_dir(&folder) {
                Ok(()) => {
                    let store = Self::open_to_measure(&folder)?;
                    let hunt = store.new_hunt_named(&format!("verify-{id}"))?;
                    return Ok((store, hunt));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(source) => return Err(StoreError::Io { path: folder, source }),
            }
        }
        unreachable!("the counter has no end")
    }

    /// The folder of all verifications.
    pub(super) fn verifications_folder(&self) -> PathBuf {
        self.root().join(ALL)
    }

    /// The folders of the verifications that ended before this time.
    pub(super) fn old_verifications(&self, before: Timestamp) -> Vec<PathBuf> {
        let mut old = Vec::new();
        for entry in std::fs::read_dir(self.verifications_folder()).into_iter().flatten().flatten()
        {
            let folder = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && ended(&folder).is_some_and(|ended| ended < before) {
                old.push(folder);
            }
        }
        old.sort();
        old
    }
}

/// When a verification wrote its last event; `None` if it may still run, or if nobody knows.
fn ended(folder: &Path) -> Option<Timestamp> {
    let changed = || Timestamp::try_from(folder.metadata().ok()?.modified().ok()?).ok();
    if !folder.join(STORE).exists() {
        // Killed at once.
        return changed();
    }
    let store = Store::open(folder).ok()?;
    InUse::alone(store.root()).ok()??;
    let mut last = None;
    for hunt in store.hunts().ok()? {
        for entry in hunt.entries().ok()? {
            last = last.max(entry.at.parse::<Timestamp>().ok());
        }
    }
    last.or_else(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::journal::Event;

    #[test]
    fn two_verifications_share_nothing_with_each_other_or_with_hunts() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        let hunt = store.new_hunt().unwrap();
        let [(one, first), (two, second)] =
            [(); 2].map(|()| Store::for_verification(folder.path()).unwrap());
        assert!(one.root() != two.root() && one.root() != store.root());
        assert!(first.id() != second.id() && first.id() != hunt.id());
        assert!(!store.hunts().unwrap().iter().any(|one| one.id() == first.id()));
    }

    #[test]
    fn a_verification_is_old_when_it_has_ended_and_its_last_event_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        let (running, hunt) = Store::for_verification(folder.path()).unwrap();
        hunt.journal().unwrap().append(Event::Resumed { limits: None }).unwrap();
        let top = running.root().parent().unwrap().to_owned();
        std::fs::create_dir(store.verifications_folder().join("never-began")).unwrap();
        std::os::unix::fs::symlink("/", store.verifications_folder().join("link")).unwrap();
        let [past, future] = [-1, 1].map(|hours| Timestamp::now() + jiff::Span::new().hours(hours));
        let never = store.verifications_folder().join("never-began");
        assert_eq!(store.old_verifications(past), Vec::<PathBuf>::new());
        assert_eq!(store.old_verifications(future), std::slice::from_ref(&never));
        drop(running);
        assert_eq!(store.old_verifications(past), Vec::<PathBuf>::new());
        assert_eq!(store.old_verifications(future), [top, never]);
    }
}

//! The folders of verifications. Each verification has a store of its own, so that it measures
//! everything anew. No hunt uses what a stranger's report made this machine measure. An interrupted
//! verification can go on.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::driver::HuntLock;
use super::hunts::{local_time, new_folder};
use super::in_use::InUse;
use super::record_files::read_if_there;
use super::{HuntDir, Store, StoreError, publish};

/// The folder of all verifications.
const ALL: &str = "verifications";
/// The store's folder in the folder of a verification.
const STORE: &str = "bisect-ppl";
/// A file in the folder of the verification's hunt: the digest of what is verified.
const SUBJECT: &str = "subject";
/// A file in the same folder: the result, once there is one.
const RESULT: &str = "result.json";

/// The store of a verification and its only hunt, which this process drives.
#[derive(Debug)]
pub(crate) struct OwnStore {
    pub(crate) store: Store,
    pub(crate) hunt: HuntDir,
    _lock: HuntLock,
}

impl OwnStore {
    fn begin(store: Store, hunt: HuntDir, subject: &str) -> Result<Self, StoreError> {
        let lock = hunt.lock()?;
        publish(&hunt.path().join(SUBJECT), subject.as_bytes())?;
        Ok(Self { store, hunt, _lock: lock })
    }
}

impl HuntDir {
    /// Writes the result of a verification, which ends it.
    pub(crate) fn end_verification(&self, result: &[u8]) -> Result<(), StoreError> {
        publish(&self.path().join(RESULT), result)
    }

    /// Whether this is a verification of this subject that has no result.
    fn is_interrupted_verification(&self, subject: &str) -> Result<bool, StoreError> {
        let known = read_if_there(&self.path().join(SUBJECT))?;
        let is_its = known.is_some_and(|known| known == subject.as_bytes());
        Ok(is_its && !self.path().join(RESULT).exists())
    }
}

impl Store {
    /// Opens the newest verification of this subject that was interrupted and that no other process
    /// drives.
    pub(crate) fn interrupted_verification(
        common_dir: &Path,
        subject: &str,
    ) -> Result<Option<OwnStore>, StoreError> {
        for folder in Self::open(common_dir)?.verifications().into_iter().rev() {
            if !folder.join(STORE).exists() {
                continue;
            }
            let store = Self::open_to_measure(&folder)?;
            for hunt in store.hunts()? {
                if !hunt.is_interrupted_verification(subject)? {
                    continue;
                }
                match OwnStore::begin(store.clone(), hunt, subject) {
                    Err(StoreError::Locked { .. }) => {}
                    begun => return begun.map(Some),
                }
            }
        }
        Ok(None)
    }

    /// Creates the folder of a verification: an empty store with one hunt. No other hunt has the
    /// name of this one: build folders are shared, and each names the hunt that filled it.
    /// `subject`: a digest of what is verified.
    pub(crate) fn for_verification(
        common_dir: &Path,
        subject: &str,
    ) -> Result<OwnStore, StoreError> {
        let all = Self::open(common_dir)?.verifications_folder();
        let id = new_folder(&all, &local_time())?;
        let store = Self::open_to_measure(&all.join(&id))?;
        let hunt = store.new_hunt_named(&format!("verify-{id}"))?;
        OwnStore::begin(store, hunt, subject)
    }

    /// The folder of all verifications.
    pub(super) fn verifications_folder(&self) -> PathBuf {
        self.root().join(ALL)
    }

    /// The folders of the verifications that ended before this time.
    pub(super) fn old_verifications(&self, before: Timestamp) -> Vec<PathBuf> {
        let mut old = self.verifications();
        old.retain(|folder| ended(folder).is_some_and(|ended| ended < before));
        old
    }

    /// The folders of all verifications, the oldest first.
    fn verifications(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.verifications_folder());
        let entries = entries.into_iter().flatten().flatten();
        let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let mut all: Vec<PathBuf> = entries.filter(is_folder).map(|entry| entry.path()).collect();
        all.sort();
        all
    }
}

/// When a verification wrote its last event; `None` if it may still run, or if nobody knows.
fn ended(folder: &Path) -> Option<Timestamp> {
    let changed = || Timestamp::try_from(folder.metadata().ok()?.modified().ok()?).ok();
    if !folder.join(STORE).exists() {
        // The process was killed before it made the store.
        return changed();
    }
    let store = Store::open(folder).ok()?;
    InUse::exclusive(store.root()).ok()??;
    let mut last = None;
    for hunt in store.hunts().ok()? {
        for entry in &hunt.entries().ok()? {
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
        let [one, two] = [(); 2].map(|()| Store::for_verification(folder.path(), "a").unwrap());
        assert!(one.store.root() != two.store.root() && one.store.root() != store.root());
        assert!(one.hunt.id() != two.hunt.id() && one.hunt.id() != hunt.id());
        assert!(!store.hunts().unwrap().iter().any(|known| known.id() == one.hunt.id()));
    }

    #[test]
    fn only_an_interrupted_verification_of_the_same_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let next = |subject: &str| {
            let found = Store::interrupted_verification(folder.path(), subject).unwrap();
            found.map(|own| own.hunt.id().to_owned())
        };
        // One that was killed before its first event has nothing to go on with.
        let begin = || {
            let own = Store::for_verification(folder.path(), "a").unwrap();
            own.hunt
                .journal()
                .unwrap()
                .append(Event::Resumed { limits: None, driver_since: None })
                .unwrap();
            own
        };
        let running = begin();
        let id = running.hunt.id().to_owned();
        assert_eq!(next("a"), None, "another process drives it");
        drop(running);
        assert_eq!(next("b"), None);
        assert_eq!(next("a"), Some(id.clone()));
        let newer = begin().hunt;
        assert_eq!(next("a").as_deref(), Some(newer.id()));
        newer.end_verification(b"{}").unwrap();
        assert_eq!(next("a"), Some(id));
    }

    #[test]
    fn a_verification_is_old_when_it_has_ended_and_its_last_event_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        let running = Store::for_verification(folder.path(), "a").unwrap();
        running
            .hunt
            .journal()
            .unwrap()
            .append(Event::Resumed { limits: None, driver_since: None })
            .unwrap();
        let top = running.store.root().parent().unwrap().to_owned();
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

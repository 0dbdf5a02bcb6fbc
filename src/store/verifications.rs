//! The folders of verifications. Each has a store of its own, so that nothing in it was measured
//! before, and no hunt ever uses what a stranger's report made this machine measure.

use std::io::ErrorKind;
use std::path::Path;

use super::{HuntDir, Store, StoreError};

impl Store {
    /// Creates the folder of a verification: an empty store with one hunt. The hunt's name is
    /// unlike that of any other, since build folders are shared and name the hunt that filled them.
    pub(crate) fn for_verification(common_dir: &Path) -> Result<(Self, HuntDir), StoreError> {
        let all = Self::open(common_dir)?.root().join("verifications");
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

//! Folders that a build or a run gets for itself, in place of ones that all programs share: what one
//! commit leaves in them must not reach another commit.

use std::ffi::OsString;
use std::io::ErrorKind::{PermissionDenied, Unsupported};
use std::path::{Path, PathBuf};

use crate::config::HomeUse;
use crate::evaluation::Phase;

use super::home_links::{home_links, program_folders, user_home, xdg_folders};
use super::home_writes::note_writes;
use super::{Slot, SlotError};

/// Maximum number of folders of one place of the user's that an empty home folder has too.
const MOST_FOLDERS: usize = 200;

/// The variables that name a build's or a run's private folders, which are emptied here. `TMPDIR`
/// is always one of them. If this phase needs an empty home folder and the user has a home folder,
/// `HOME` is one, and so is each `XDG_*_HOME` that the user set to a folder below the home folder.
pub(crate) fn private_folders(
    slot: &Slot,
    home: HomeUse,
    phase: Phase,
) -> Result<Vec<(&'static str, PathBuf)>, SlotError> {
    let own = user_home().filter(|_| home.is_empty_in(phase));
    folders(slot, own, |name| std::env::var_os(name))
}

/// The private folders. `own`: the user's home folder, if it is replaced by an empty one.
/// `variable` reads the environment.
fn folders(
    slot: &Slot,
    own: Option<PathBuf>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<(&'static str, PathBuf)>, SlotError> {
    let temporary = slot.root().join("tmp");
    slot.fresh(&temporary)?;
    let mut variables = vec![("TMPDIR", temporary)];
    if let Some(own) = own {
        let empty = slot.root().join("home");
        let shared = xdg_folders(&own, variable);
        let links = home_links(&own, &shared);
        note_writes(slot, &links)?;
        slot.fresh(&empty)?;
        for entry in links {
            if !link(&own.join(&entry.path), &empty.join(&entry.path))? {
                return Ok(variables);
            }
        }
        for path in kept_folders(&own, &shared) {
            let folder = empty.join(path);
            std::fs::create_dir_all(&folder).map_err(SlotError::at(&folder))?;
        }
        variables.extend(shared.into_iter().map(|(name, path)| (name, empty.join(path))));
        variables.push(("HOME", empty));
    }
    Ok(variables)
}

/// The user's folders that an empty home folder has too, without their files, by their paths below
/// the home folder: some engines keep results only in a folder that exists. `own`: the user's home
/// folder. `shared`: the paths from [`xdg_folders`].
fn kept_folders(own: &Path, shared: &[(&'static str, PathBuf)]) -> Vec<PathBuf> {
    let places = program_folders(shared).filter(|place| own.join(place).is_dir());
    let mut kept = folders_in(own, Path::new(""));
    for place in places {
        kept.push(place.to_owned());
        kept.extend(folders_in(own, place));
    }
    kept
}

/// The folders in `place`, by their paths below the home folder `own`, without links; empty if
/// `place` cannot be read. Only the hidden ones if `place` is the home folder itself.
fn folders_in(own: &Path, place: &Path) -> Vec<PathBuf> {
    let is_home = place.as_os_str().is_empty();
    let entries = std::fs::read_dir(own.join(place)).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.map(|entry| entry.file_name());
    let is_hidden = |name: &OsString| name.as_encoded_bytes().starts_with(b".");
    let kept = names.filter(|name| !is_home || is_hidden(name)).take(MOST_FOLDERS);
    kept.map(|name| place.join(name)).collect()
}

/// Links to a file or folder, if it exists. False if the disk has no links (FAT, exFAT): then the
/// home folder stays the user's.
fn link(to: &Path, at: &Path) -> Result<bool, SlotError> {
    if std::fs::symlink_metadata(to).is_err() {
        return Ok(true);
    }
    if let Some(parent) = at.parent() {
        std::fs::create_dir_all(parent).map_err(SlotError::at(parent))?;
    }
    match std::os::unix::fs::symlink(to, at) {
        Ok(()) => Ok(true),
        // FUSE and the kernel's drivers report different errors.
        Err(error) if matches!(error.kind(), Unsupported | PermissionDenied) => Ok(false),
        Err(error) => Err(SlotError::at(at)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Slots;

    #[test]
    fn an_empty_home_has_tools_and_no_results() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("ada");
        for folder in [
            ".cargo/bin",
            ".cache/ccache",
            ".cache/engine",
            ".config/git",
            ".config/engine",
            ".engine",
            "models",
        ] {
            std::fs::create_dir_all(own.join(folder)).unwrap();
        }
        std::fs::write(own.join(".engine/tables"), "").unwrap();
        let unset = |_: &str| None;
        let slot = Slots::new(&place.path().join("slots")).unwrap().acquire(|_| true).unwrap();
        let found = folders(&slot, Some(own.clone()), unset).unwrap();
        let [("TMPDIR", temporary), ("HOME", home)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(std::fs::read_link(home.join(".cargo")).unwrap(), own.join(".cargo"));
        assert!(home.join(".cache/ccache").is_dir());
        assert!(home.join(".config/git").is_dir());
        // An engine may write where programs usually keep files, and finds nothing there.
        for folder in [".cache/engine", ".config/engine", ".engine"] {
            assert_eq!(std::fs::read_dir(home.join(folder)).unwrap().count(), 0, "{folder}");
        }
        assert!(!home.join("models").exists() && !home.join(".local/share").exists());
        // What the commit before left is gone, and what the links lead to is not.
        std::fs::write(temporary.join("left"), "").unwrap();
        std::fs::write(home.join("left"), "").unwrap();
        folders(&slot, Some(own.clone()), unset).unwrap();
        assert!(!temporary.join("left").exists() && !home.join("left").exists());
        assert!(own.join(".cargo/bin").is_dir() && own.join(".cache/ccache").is_dir());
        assert_eq!(folders(&slot, None, unset).unwrap().len(), 1);
    }

    #[test]
    fn a_variable_that_leads_into_the_home_folder_leads_into_the_empty_one() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("ada");
        for folder in [".local/share/engine", "cfg/git"] {
            std::fs::create_dir_all(own.join(folder)).unwrap();
        }
        let slot = Slots::new(&place.path().join("slots")).unwrap().acquire(|_| true).unwrap();
        let set = |name: &str| match name {
            "XDG_DATA_HOME" => Some(own.join(".local/share").into_os_string()),
            "XDG_CONFIG_HOME" => Some(own.join("cfg").into_os_string()),
            "XDG_STATE_HOME" => Some("/elsewhere".into()),
            _ => None,
        };
        let found = folders(&slot, Some(own.clone()), set).unwrap();
        let of = |name: &str| found.iter().find(|(known, _)| *known == name).map(|(_, at)| at);
        let home = of("HOME").unwrap();
        assert_eq!(of("XDG_DATA_HOME"), Some(&home.join(".local/share")));
        assert!(home.join(".local/share/engine").is_dir());
        assert!(of("XDG_CONFIG_HOME").unwrap().join("git").is_dir());
        assert_eq!(of("XDG_STATE_HOME"), None);
    }
}

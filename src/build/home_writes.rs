//! Finds files that builds and runs wrote into an empty home folder. They tell an engine that keeps
//! results in the home folder from one that only reads settings there: with an empty home folder,
//! the first one has to write what it needs.

use std::path::{Path, PathBuf};

use crate::files::{self, below};

use super::home_links::{HomeLink, home_links, user_home, xdg_folders};
use super::linked::is_compiled_python;
use super::{Slot, SlotError};

/// Maximum number of entries to look at; an empty home folder has few.
const MOST_ENTRIES: usize = 10_000;

/// The first file that the slot's build, steps and runs wrote into an empty home folder, as
/// `~/PATH`. What known tools keep there does not count, and compiled Python modules neither.
pub(crate) fn written_in_home(slot: &Slot) -> Option<String> {
    let own = user_home()?;
    let shared = xdg_folders(&own, |name| std::env::var_os(name));
    written_by(slot, &home_links(&own, &shared))
}

fn written_by(slot: &Slot, links: &[HomeLink]) -> Option<String> {
    let noted = files::read(&note(slot)).ok();
    let noted = noted.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    noted.or_else(|| written_in(&slot.root().join("home"), links))
}

/// Notes in the slot what was written into its home folder, before the folder is emptied. A clean
/// build removes the note.
pub(super) fn note_writes(slot: &Slot, links: &[HomeLink]) -> Result<(), SlotError> {
    let note = note(slot);
    if note.exists() {
        return Ok(());
    }
    match written_in(&slot.root().join("home"), links) {
        Some(path) => std::fs::write(&note, path).map_err(SlotError::at(&note)),
        None => Ok(()),
    }
}

fn note(slot: &Slot) -> PathBuf {
    slot.root().join("wrote-home")
}

fn written_in(home: &Path, links: &[HomeLink]) -> Option<String> {
    let is_tools = |path: &Path| {
        is_compiled_python(path) || links.iter().any(|link| path.starts_with(&link.path))
    };
    let entries = below(home, MOST_ENTRIES, &|| false);
    let mut files = entries.found.iter().filter(|(_, kind)| kind.is_file());
    let (path, _) = files.find(|(path, _)| !is_tools(path))?;
    Some(format!("~/{}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Slots;

    fn write(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn what_an_engine_writes_counts_and_what_tools_keep_does_not() {
        let home = tempfile::tempdir().unwrap();
        let links = home_links(Path::new("/home/ada"), &[]);
        let written = || written_in(home.path(), &links);
        for tool in [".cache/ccache/0/a", ".cargo/registry/a", ".config/git/a", ".engine/b.pyc"] {
            write(&home.path().join(tool));
        }
        std::os::unix::fs::symlink("/etc/hostname", home.path().join(".gitconfig")).unwrap();
        std::fs::create_dir(home.path().join(".empty")).unwrap();
        assert_eq!(written(), None);
        write(&home.path().join(".engine/tuned"));
        assert_eq!(written(), Some("~/.engine/tuned".to_owned()));
        assert_eq!(written_in(&home.path().join("missing"), &links), None);
    }

    #[test]
    fn what_a_build_wrote_is_known_after_a_run_emptied_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let slot = Slots::new(&place.path().join("slots")).unwrap().acquire(|_| true).unwrap();
        let home = slot.root().join("home");
        note_writes(&slot, &[]).unwrap();
        assert!(!note(&slot).exists());
        write(&home.join(".engine/tables"));
        note_writes(&slot, &[]).unwrap();
        slot.fresh(&home).unwrap();
        assert_eq!(written_by(&slot, &[]), Some("~/.engine/tables".to_owned()));
        slot.remove_all_but_checkout().unwrap();
        assert_eq!(written_by(&slot, &[]), None);
    }
}

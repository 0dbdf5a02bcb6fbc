//! What a build or a run asks git. Git appends the steps of its commands to a file beside the
//! checkout, which changes nothing that git prints.

use std::path::PathBuf;

use crate::files;
use crate::git::asked_references;

use super::Slot;

/// The file to which git below a build or a run of this slot writes its steps.
pub(crate) fn git_events(slot: &Slot) -> PathBuf {
    slot.root().join("git-events")
}

/// Removes the file with git's steps, so that only later commands count.
pub(crate) fn forget_git_events(slot: &Slot) {
    // If the file cannot be removed, its old entries count too. At worst this costs a control.
    std::fs::remove_file(git_events(slot)).ok();
}

/// Whether a command asked git which branches or tags lead to HEAD, since the last
/// [`forget_git_events`]. False if git writes no events (before 2.22), or if the file cannot be read.
pub(crate) fn has_asked_references(slot: &Slot) -> bool {
    let Ok(events) = files::read(&git_events(slot)) else { return false };
    let src = slot.src();
    let top = src.canonicalize().unwrap_or(src);
    asked_references(&String::from_utf8_lossy(&events), &top)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Slots;

    #[test]
    fn what_was_asked_before_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let slot = Slots::new(&folder.path().join("slots")).unwrap().acquire(|_| false).unwrap();
        assert!(!has_asked_references(&slot));
        let event = r#"{"event":"start","sid":"a","argv":["git","name-rev","HEAD"]}"#;
        std::fs::write(git_events(&slot), event).unwrap();
        assert!(has_asked_references(&slot));
        forget_git_events(&slot);
        assert!(!has_asked_references(&slot));
    }
}

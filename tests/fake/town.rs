//! The folder in which engines see each other.

use std::fs;
use std::path::{Path, PathBuf};

use crate::script::Script;
use crate::world::log;

/// An engine's file in the town; removed on drop.
pub(crate) struct Guest {
    file: PathBuf,
    wants_to_be_alone: bool,
}

impl Guest {
    pub(crate) fn of(script: &Script, wants_to_be_alone: bool) -> Option<Self> {
        let file = Path::new(script.get("town")?).join(std::process::id().to_string());
        fs::write(&file, script.id()).unwrap();
        let guest = Self { file, wants_to_be_alone };
        guest.look("comes");
        Some(guest)
    }

    fn look(&self, when: &str) {
        let town = self.file.parent().unwrap();
        let there = fs::read_dir(town).unwrap().map(|entry| entry.unwrap().path());
        // A killed engine leaves its file behind.
        let lives = |file: &PathBuf| Path::new("/proc").join(file.file_name().unwrap()).exists();
        let others: Vec<PathBuf> = there.filter(|file| *file != self.file && lives(file)).collect();
        if self.wants_to_be_alone && !others.is_empty() {
            log(&format!("fault not alone when it {when}: {others:?}"));
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.look("goes");
        fs::remove_file(&self.file).unwrap();
    }
}

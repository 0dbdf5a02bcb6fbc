//! The programs of measures that a finished build left in its slot. If one of them is missing
//! later, for example because a cleaner of old files removed it, the build is made again: this is
//! not the commit's fault.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::build::{Slot, Stamp};
use crate::config::{Config, Values};
use crate::files;

/// The file in the folder of the build.
const FILE: &str = "programs.json";

#[derive(Serialize, Deserialize)]
struct BuiltPrograms {
    /// The attempt of the build.
    attempt: String,
    /// Paths of programs.
    programs: Vec<String>,
}

/// Writes down which programs of the recipe's measures a build left. If the file cannot be written,
/// a program that is gone later is not noticed.
pub(super) fn note_programs(slot: &Slot, stamp: &Stamp, recipe: &Config, values: &Values) {
    let words = recipe.measures.iter().filter_map(|measure| measure.command.fill(values).ok());
    let programs = words.filter_map(|words| words.into_iter().next());
    let is_built = |program: &String| {
        let path = Path::new(program);
        [slot.build(), slot.src()].iter().any(|folder| path.starts_with(folder)) && path.is_file()
    };
    let programs = programs.filter(is_built).collect();
    let noted = BuiltPrograms { attempt: stamp.attempt.clone(), programs };
    let bytes = serde_json::to_vec(&noted).expect("names are plain data");
    let _ = std::fs::write(slot.root().join(FILE), bytes);
}

/// Whether the programs that a build left are still there. Builds of older versions have no list,
/// and count as complete.
pub(super) fn has_programs(slot: &Slot, stamp: &Stamp) -> bool {
    let Ok(bytes) = files::read(&slot.root().join(FILE)) else { return true };
    let Ok(noted) = serde_json::from_slice::<BuiltPrograms>(&bytes) else { return true };
    noted.attempt != stamp.attempt || noted.programs.iter().all(|path| Path::new(path).is_file())
}

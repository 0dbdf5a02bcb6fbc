//! Folders of a run that must be fresh.

use std::fs;
use std::path::Path;

use crate::world::{log, world};

pub(crate) const ROOMS: [&str; 3] = ["src=", "cache=", "out="];

/// Whether `out` is empty, or `src` or `cache` holds no mark of another commit.
pub(crate) fn is_fresh(room: &str, id: &str) -> bool {
    let (kind, folder) = room.split_once('=').expect("KIND=FOLDER");
    let folder = Path::new(folder);
    let mark = folder.join("left-behind");
    let old = fs::read_to_string(&mark).ok();
    let fresh = match kind {
        "out" => fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()),
        // A run on a full disk may leave an empty mark.
        _ => folder.is_dir() && old.as_deref().is_none_or(|old| old.is_empty() || old == id),
    };
    if !fresh {
        log(&format!("fault {kind} is not fresh for {id}: {old:?}"));
    }
    // A rename is atomic; the engine may be killed at any moment.
    let made = world().join(format!("mark-{}", std::process::id()));
    fs::write(&made, id).unwrap();
    if fs::rename(&made, &mark).is_err() {
        // The folder is on another disk than the world.
        fs::copy(made, mark).unwrap();
    }
    fresh
}

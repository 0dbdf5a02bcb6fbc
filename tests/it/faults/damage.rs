//! Damaged files of the store.

use std::fs;
use std::path::{Path, PathBuf};

use crate::worlds::dice::Dice;

use super::kinds::{Files, Harm};
use super::site::Site;

/// Damages one or two files, if there are any; returns their paths.
pub(crate) fn some(site: &Site, harm: Harm, files: Files, dice: &mut Dice) -> Vec<PathBuf> {
    let store = site.store();
    let mut all: Vec<PathBuf> = below(&store);
    all.retain(|path| class(&store, path) == Some(files));
    all.retain(|path| path.metadata().unwrap().len() > 0);
    let mut harmed = Vec::new();
    for _ in 0..dice.within(1..=2).min(all.len()) {
        let path = all.swap_remove(dice.below(all.len()));
        let mut bytes = fs::read(&path).unwrap();
        let at = dice.below(bytes.len());
        match harm {
            Harm::Torn => bytes.truncate(at),
            Harm::Flipped => bytes[at] ^= 1 << dice.below(8),
        }
        fs::write(&path, bytes).unwrap();
        println!("{harm:?} at byte {at}: {}", path.strip_prefix(&store).unwrap().display());
        harmed.push(path);
    }
    harmed
}

/// All regular files below a folder, sorted.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(below(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found.sort();
    found
}

/// What a file of the store is; `None` for repositories, locks, and the version of the store: a
/// store of another version is refused.
fn class(store: &Path, path: &Path) -> Option<Files> {
    let name = path.file_name()?.to_string_lossy();
    let relative = path.strip_prefix(store).ok()?.to_string_lossy();
    if relative.contains("bisect.git/") || ["lock", "in-use", "format"].contains(&&*name) {
        return None;
    }
    Some(match relative.split('/').next()? {
        "runs" | "builds" => Files::Records,
        _ if name == "journal.jsonl" => Files::Journal,
        _ => Files::Others,
    })
}

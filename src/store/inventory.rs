//! What a store holds and how much disk space it takes.

use std::collections::HashMap;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{HuntDir, Store, StoreError};

/// A count of items and the bytes they take on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SizeAndCount {
    /// Number of items.
    pub count: usize,
    /// Bytes on the disk; a file with several names counts once.
    pub bytes: u64,
}

/// Contents of a store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inventory {
    /// Each hunt and the bytes of its own files. Logs that are links into the store count for the
    /// runs and builds.
    pub hunts: Vec<(HuntDir, u64)>,
    /// Runs.
    pub runs: SizeAndCount,
    /// Builds: their records and logs, without the built files.
    pub builds: SizeAndCount,
    /// Bytes of the whole store, each file once.
    pub bytes: u64,
}

/// An attempt in the store: its record, its log, or both.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempt {
    pub(super) name: String,
    pub(super) record: Option<PathBuf>,
    pub(super) log: Option<PathBuf>,
}

impl Store {
    /// Counts the whole store.
    pub(crate) fn inventory(&self) -> Result<Inventory, StoreError> {
        let mut inventory = Inventory::default();
        for hunt in self.hunts()? {
            let files = files_below(hunt.path())?;
            let own = files.iter().filter_map(|file| about(file));
            let bytes = own.filter(|file| file.links == 1).map(|file| file.bytes).sum();
            inventory.hunts.push((hunt, bytes));
        }
        inventory.runs = self.size_and_count("runs")?;
        inventory.builds = self.size_and_count("builds")?;
        inventory.bytes = bytes_of(&files_below(self.root())?);
        Ok(inventory)
    }

    /// Bytes of the logs of all runs and builds.
    pub(crate) fn log_bytes(&self) -> Result<u64, StoreError> {
        let attempts = [self.attempts("runs")?, self.attempts("builds")?].concat();
        let logs: Vec<PathBuf> = attempts.into_iter().filter_map(|one| one.log).collect();
        Ok(bytes_of(&logs))
    }

    /// Bytes of the files with tensors that runs wrote.
    pub(crate) fn dump_bytes(&self) -> Result<u64, StoreError> {
        Ok(bytes_of(&files_below(&self.dumps_folder())?))
    }

    fn size_and_count(&self, kind: &str) -> Result<SizeAndCount, StoreError> {
        let attempts = self.attempts(kind)?;
        let files: Vec<PathBuf> =
            attempts.iter().flat_map(|one| one.record.iter().chain(&one.log)).cloned().collect();
        let count = attempts.iter().filter(|one| one.record.is_some()).count();
        Ok(SizeAndCount { count, bytes: bytes_of(&files) })
    }

    /// All attempts of a kind (`runs`, `builds`), in the order of their keys.
    pub(super) fn attempts(&self, kind: &str) -> Result<Vec<Attempt>, StoreError> {
        let mut found: Vec<Attempt> = Vec::new();
        for path in files_below(&self.root().join(kind))? {
            let (Some(stem), Some(end)) = (path.file_stem(), path.extension()) else { continue };
            let name = stem.to_string_lossy().into_owned();
            let is_record = end == "json";
            if !is_record && end != "log" {
                continue;
            }
            let is_same = |other: &Attempt| {
                let of = other.record.as_ref().or(other.log.as_ref());
                other.name == name && of.and_then(|of| of.parent()) == path.parent()
            };
            if !found.last().is_some_and(is_same) {
                found.push(Attempt { name, ..Attempt::default() });
            }
            let one = found.last_mut().expect("one was just there or pushed");
            *(if is_record { &mut one.record } else { &mut one.log }) = Some(path);
        }
        Ok(found)
    }
}

/// File system data of one file.
pub(super) struct About {
    /// Device and inode: they identify the file under all its names.
    pub(super) id: (u64, u64),
    pub(super) links: u64,
    pub(super) bytes: u64,
}

/// Reads the file system data; `None` if the file is gone.
pub(super) fn about(path: &Path) -> Option<About> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    // `st_blocks` counts units of 512 bytes on every file system (stat(2)).
    let bytes = meta.blocks().saturating_mul(512);
    Some(About { id: (meta.dev(), meta.ino()), links: meta.nlink(), bytes })
}

/// Bytes that these files take on the disk, each file once.
fn bytes_of(files: &[PathBuf]) -> u64 {
    let once: HashMap<_, _> =
        files.iter().filter_map(|file| about(file)).map(|file| (file.id, file.bytes)).collect();
    once.values().sum()
}

/// All files below a folder, sorted; links are not followed. A folder that is missing, or is no
/// folder, has none.
pub(super) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if [NotFound, NotADirectory].contains(&error.kind()) => continue,
            Err(source) => return Err(StoreError::Io { path: folder, source }),
        };
        for entry in entries {
            let entry = entry.map_err(StoreError::at(&folder))?;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            (if is_folder { &mut folders } else { &mut files }).push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

//! Stores measurements on disk, in plain files that stay correct without locks: the store may be
//! on a network disk.
//!
//! ```text
//! <git common dir>/bisect-ppl/
//!   format                             the version of this layout
//!   runs/ab/<run key>/<attempt>.json   a run, beside its <attempt>.log
//!   builds/ab/<build key>/<attempt>.json
//!   controls/<attempt>.json            the control's result about a failed run or build
//!   confirmations/<key>.json           a confirmation of a first bad commit
//!   patches/<digest>.diff              patches that hunts apply to commits
//!   setups/<digest>.json               how builds were configured
//!   digests.json                       cached digests of input files
//!   hunts/<id>/                        one hunt: config, journal, logs, reports
//!   in-use                             lock of measuring processes and of removal
//! ```
//! A record has a unique name and never changes. It is written under a temporary name, synced, and
//! renamed. `digests.json` is replaced, since it is only a cache; a hunt's journal is appended to.

mod builds;
mod confirmations;
mod damaged;
mod digests;
mod durable;
mod error;
mod gc;
mod history;
mod hunts;
mod in_use;
mod inside;
mod inventory;
pub mod journal;
mod key;
mod patches;
mod runs;
mod setups;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use builds::{BuildRecord, CacheProgram, CompilerCache};
pub use confirmations::Confirmation;
pub use damaged::{Damage, Damaged};
pub use digests::Digests;
pub use durable::{publish, publish_file};
pub use error::StoreError;
pub use gc::{Limits, Tidying, Waste};
pub use hunts::{Driver, HuntDir, HuntLock, config_digest};
pub use inside::{Inside, Went};
pub use inventory::{Inventory, Pile};
pub use key::{BuildKey, KeyHasher, RunKey, hex};
pub use runs::{Control, PendingLog, StoredRun};

use damaged::Evidence;
use in_use::InUse;

/// Version of the layout that this program reads and writes. Any other version is refused.
pub const FORMAT: u32 = 1;

/// The store of one repository.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// A measuring process holds this lock, so that nobody removes data meanwhile.
    in_use: Option<Arc<InUse>>,
    /// What this process found out about the records.
    evidence: Arc<Evidence>,
}

impl Store {
    /// Opens the store in a repository's common git directory for reading. Creates nothing; a
    /// missing store is empty.
    pub fn open(common_dir: &Path) -> Result<Self, StoreError> {
        let root = common_dir.join("bisect-ppl");
        let format = root.join("format");
        match std::fs::read_to_string(&format) {
            Ok(text) if text.trim() == FORMAT.to_string() => {}
            Ok(text) => {
                return Err(StoreError::Newer { path: root, found: text.trim().to_owned() });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(StoreError::Io { path: format, source }),
        }
        Ok(Self { root, in_use: None, evidence: Arc::default() })
    }

    /// Opens the store for measuring and creates it if needed. Nobody removes anything from it
    /// while this value or a clone of it lives.
    pub fn open_to_measure(common_dir: &Path) -> Result<Self, StoreError> {
        let mut store = Self::open(common_dir)?;
        std::fs::create_dir_all(&store.root).map_err(StoreError::at(&store.root))?;
        let format = store.root.join("format");
        if !format.exists() {
            publish(&format, format!("{FORMAT}\n").as_bytes())?;
        }
        store.in_use = Some(Arc::new(InUse::shared(&store.root)?));
        Ok(store)
    }

    /// The store's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of one key: `kind/ab/abcdef…`.
    fn keyed(&self, kind: &str, key: &str) -> PathBuf {
        self.root.join(kind).join(&key[..2]).join(key)
    }
}

/// A unique name for an attempt: time in microseconds, process, and a counter.
pub fn attempt_name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let now = jiff::Timestamp::now();
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{}-{:x}-{count}", now.as_microsecond(), std::process::id())
}

/// Reads a JSON record.
fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let bytes = std::fs::read(path).map_err(StoreError::at(path))?;
    serde_json::from_slice(&bytes)
        .map_err(|e| StoreError::Corrupt { path: path.to_owned(), reason: e.to_string() })
}

/// The paths of all `*.json` files in a folder, sorted by name, so oldest first. A missing folder
/// is empty.
fn record_files(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::Io { path: folder.to_owned(), source }),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(StoreError::at(folder))?.path();
        if path.extension().is_some_and(|e| e == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

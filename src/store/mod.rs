//! What has been measured, on disk: plain files that are right without locks, since the
//! store may sit on a network disk.
//!
//! ```text
//! <git common dir>/bisect-ppl/
//!   format                             the version of this layout
//!   runs/ab/<run key>/<attempt>.json   a run, beside its <attempt>.log
//!   builds/ab/<build key>/<attempt>.json
//!   controls/<attempt>.json            what the control said of a failed run
//!   confirmations/<key>.json           a confirmation, by what was confirmed
//!   patches/<digest>.diff              what hunts apply to commits
//!   setups/<digest>.json               what builds were configured with
//!   digests.json                       cached digests of input files
//!   hunts/<id>/                        one hunt: config, journal, logs, reports
//!   in-use                             locked by whoever measures, and by whoever tidies up
//! ```
//! Files are written under a temporary name, synced, and renamed; names are unique; nothing
//! is changed in place except `digests.json`, which is only a cache.

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

/// The layout this program reads and writes. A reader refuses what is newer and reads
/// everything older (there is none yet).
pub const FORMAT: u32 = 1;

/// The store of one repository.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Held by whoever measures, so that nobody tidies up below them.
    in_use: Option<Arc<InUse>>,
    /// What was found out about its records.
    evidence: Arc<Evidence>,
}

impl Store {
    /// The store in a repository's common git directory, for whoever reads it. Nothing is made:
    /// one that is not there has nothing in it.
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

    /// The same for whoever measures: it is made when it is not there, and nothing in it is
    /// removed by anybody while this value, or a clone of it, lives.
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

    /// `kind/ab/abcdef…`: a folder of its own for each key, fanned out.
    fn keyed(&self, kind: &str, key: &str) -> PathBuf {
        self.root.join(kind).join(&key[..2]).join(key)
    }
}

/// A name that no other process picks: seconds, process, and a counter.
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

/// The paths of every `*.json` in a folder, oldest name first; a folder that is not there is
/// empty.
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

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
//!   digests.json                       cached digests of input files
//!   hunts/<id>/                        one hunt: config, journal, logs, reports
//! ```
//! Files are written under a temporary name, synced, and renamed; names are unique; nothing
//! is changed in place except `digests.json`, which is only a cache.

mod builds;
mod confirmations;
mod digests;
mod durable;
mod history;
mod hunts;
pub mod journal;
mod key;
mod runs;

use std::path::{Path, PathBuf};

pub use builds::BuildRecord;
pub use confirmations::Confirmation;
pub use digests::Digests;
pub use durable::{publish, publish_file};
pub use hunts::{HuntDir, HuntLock};
pub use key::{BuildKey, KeyHasher, RunKey};
pub use runs::{Control, StoredRun};

/// The layout this program reads and writes. A reader refuses what is newer and reads
/// everything older (there is none yet).
pub const FORMAT: u32 = 1;

/// A store that cannot be used; always the world's fault, never a commit's.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A record does not parse.
    #[error("{}: not a record of this program: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Written by a newer program.
    #[error("{}: store format {found}, this program knows {FORMAT}", path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: String,
    },
    /// No hunt of that name, or none at all.
    #[error("{0}")]
    NoHunt(String),
    /// Somebody else drives this hunt.
    #[error("hunt {0} is being driven by another process")]
    Locked(String),
}

impl StoreError {
    /// For `map_err`: an IO error with the path it happened at.
    pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                Some("free some space, then `bisect-ppl resume`; nothing measured is lost".into())
            }
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                Some("the repository's git directory must be writable".into())
            }
            Self::Newer { .. } => Some("use the newer bisect-ppl, or move that folder away".into()),
            Self::NoHunt(_) => Some("`bisect-ppl start --good REV` begins one".into()),
            Self::Locked(id) => {
                Some(format!("`bisect-ppl status {id}` shows it; `bisect-ppl stop {id}` ends it"))
            }
            _ => None,
        }
    }
}

/// The store of one repository.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// Opens the store in a repository's common git directory, making it when it is not there.
    pub fn open(common_dir: &Path) -> Result<Self, StoreError> {
        let root = common_dir.join("bisect-ppl");
        std::fs::create_dir_all(&root).map_err(StoreError::at(&root))?;
        let format = root.join("format");
        match std::fs::read_to_string(&format) {
            Ok(text) if text.trim() == FORMAT.to_string() => {}
            Ok(text) => {
                return Err(StoreError::Newer { path: root, found: text.trim().to_owned() });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                publish(&format, format!("{FORMAT}\n").as_bytes())?;
            }
            Err(source) => return Err(StoreError::Io { path: format, source }),
        }
        Ok(Self { root })
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

/// Reads every `*.json` in a folder, oldest name first; a folder that is not there is empty.
fn read_all<T: serde::de::DeserializeOwned>(folder: &Path) -> Result<Vec<T>, StoreError> {
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
    paths.iter().map(|path| read_json(path)).collect()
}

//! Errors of the store, and what to do about them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::files::SharedFolder;

use super::Holder;

/// Version of the layout that this program reads and writes. Any other version is refused.
pub(crate) const FORMAT: u32 = 1;

/// An error of the store; never a commit's fault.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A folder of the store is a symbolic link.
    #[error("{}: a folder of the store is a symbolic link, which bisect-ppl never makes", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Other users can change the store.
    #[error("the store {0}")]
    Shared(SharedFolder),
    /// An event of the journal that would not parse again: a fault of this program.
    #[error("{}: cannot store an event that could not be read again: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with the event.
        reason: String,
    },
    /// A file with tensors that a run wrote is damaged, and was renamed.
    #[error("{}: a file with tensors that a run wrote changed since it was stored (another SHA-256)", path.display())]
    DamagedDump {
        /// Where it is now.
        path: PathBuf,
    },
    /// The store has another format, written by a newer program.
    #[error("{}: store format {found}, this program knows {FORMAT}", path.display())]
    Newer {
        /// The store's folder.
        path: PathBuf,
        /// The store's format.
        found: String,
    },
    /// The file with the store's format holds no number.
    #[error("{}: this file is damaged: it must hold the version of the store, a number", path.display())]
    DamagedFormat {
        /// The file.
        path: PathBuf,
    },
    /// The repository has no hunt.
    #[error("there is no hunt in this repository yet")]
    NoHunts,
    /// No hunt has this name.
    #[error("there is no hunt `{name}`; the newest are: {newest}")]
    UnknownHunt {
        /// The name that was asked for.
        name: String,
        /// Names of the newest hunts.
        newest: String,
    },
    /// Several hunts' names begin with this text.
    #[error("`{name}` could be any of: {hunts}")]
    AmbiguousHunt {
        /// The text that was asked for.
        name: String,
        /// Names of the matching hunts.
        hunts: String,
    },
    /// Another process drives this hunt.
    #[error("hunt {hunt} is running already{}", .by.as_ref().map_or_else(String::new, |by| format!(": {by}")))]
    Locked {
        /// The hunt.
        hunt: String,
        /// The process that drives it, if it is known.
        by: Option<Holder>,
    },
    /// A process measures, so nothing may be removed.
    #[error("the store is in use{}", .0.as_ref().map_or_else(String::new, |hunt| format!(": hunt {hunt} is running")))]
    InUse(Option<String>),
}

impl StoreError {
    /// For `map_err`: an IO error with the path where it happened.
    pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// Whether the user can fix this with another command or another store.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            Self::NoHunts
            | Self::UnknownHunt { .. }
            | Self::AmbiguousHunt { .. }
            | Self::Locked { .. }
            | Self::InUse(_)
            | Self::Link { .. }
            | Self::Shared(_)
            | Self::Newer { .. } => true,
            Self::Io { .. }
            | Self::Corrupt { .. }
            | Self::DamagedDump { .. }
            | Self::DamagedFormat { .. } => false,
        }
    }

    /// What the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Io { source, .. } => return io_hint(source),
            // Its run no longer counts and is measured again.
            Self::DamagedDump { .. } => return None,
            Self::Shared(shared) => shared.hint(),
            Self::Link { .. } => {
                "remove the link, or put what it leads to in its place; only the store's own \
                 folder, .git/bisect-ppl, may be a link"
                    .to_owned()
            }
            Self::Corrupt { .. } => {
                "this is a fault of bisect-ppl; please report it with this message".to_owned()
            }
            Self::DamagedFormat { path } => format!(
                "if no newer bisect-ppl was used here: echo {FORMAT} > {}; nothing measured is lost",
                path.display()
            ),
            Self::Newer { .. } => "use the newer bisect-ppl, or move that folder away".to_owned(),
            Self::NoHunts => "`bisect-ppl start --good REV` begins one".to_owned(),
            Self::UnknownHunt { .. } => "`bisect-ppl store ls` lists them all".to_owned(),
            Self::AmbiguousHunt { .. } => "use more of the name".to_owned(),
            Self::Locked { hunt, .. } => format!(
                "`bisect-ppl status --watch {hunt}` shows it; `bisect-ppl stop {hunt}` ends it"
            ),
            Self::InUse(_) => {
                "try again when it has ended; `bisect-ppl status --wait` waits for it".to_owned()
            }
        })
    }
}

fn io_hint(source: &std::io::Error) -> Option<String> {
    let hint = match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "the repository's git directory must be writable: what is measured is kept in it"
        }
        ErrorKind::NotFound => "a file of the store was removed; what it held is measured again",
        ErrorKind::InvalidData => "move it away: bisect-ppl did not make it",
        _ => return None,
    };
    Some(hint.to_owned())
}

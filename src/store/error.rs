//! What is wrong with a store, and the cure.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::FORMAT;

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
    /// No hunt at all.
    #[error("there is no hunt in this repository yet")]
    NoHunts,
    /// No hunt of that name.
    #[error("there is no hunt `{name}`; the newest are: {newest}")]
    UnknownHunt {
        /// What was asked for.
        name: String,
        /// Those that there are.
        newest: String,
    },
    /// Several hunts' names begin so.
    #[error("`{name}` could be any of: {hunts}")]
    AmbiguousHunt {
        /// What was asked for.
        name: String,
        /// Those it could be.
        hunts: String,
    },
    /// Somebody else drives this hunt.
    #[error("hunt {0} is being driven by another process")]
    Locked(String),
    /// Somebody measures, so nothing may be removed.
    #[error("the store is in use{}", .0.as_ref().map_or_else(String::new, |hunt| format!(": hunt {hunt} is running")))]
    InUse(Option<String>),
}

impl StoreError {
    /// For `map_err`: an IO error with the path it happened at.
    pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// Whether other words would have helped, rather than another world.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::NoHunts
            | Self::UnknownHunt { .. }
            | Self::AmbiguousHunt { .. }
            | Self::Locked(_)
            | Self::InUse(_)
            | Self::Newer { .. } => true,
            Self::Io { .. } | Self::Corrupt { .. } => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Io { source, .. } => return io_hint(source),
            Self::Corrupt { path, .. } => format!(
                "remove {}: what it said is measured again when it is needed",
                path.display()
            ),
            Self::Newer { .. } => "use the newer bisect-ppl, or move that folder away".to_owned(),
            Self::NoHunts => "`bisect-ppl start --good REV` begins one".to_owned(),
            Self::UnknownHunt { .. } => "`bisect-ppl store ls` lists them all".to_owned(),
            Self::AmbiguousHunt { .. } => "write more of its name".to_owned(),
            Self::Locked(id) => {
                format!("`bisect-ppl status {id}` shows it; `bisect-ppl stop {id}` ends it")
            }
            Self::InUse(_) => {
                "try again when it has ended; `bisect-ppl status --wait` waits for it".to_owned()
            }
        })
    }
}

fn io_hint(source: &std::io::Error) -> Option<String> {
    let hint = match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space, then `bisect-ppl resume`; nothing measured is lost"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "the repository's git directory must be writable: what is measured is kept in it"
        }
        ErrorKind::NotFound => {
            "something removed a file of this program's; `bisect-ppl resume` measures it again"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

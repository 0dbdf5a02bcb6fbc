//! Why a dump cannot be read, or two dumps cannot be compared.

use std::io;
use std::path::{Path, PathBuf};

/// An error with a file of the user's.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The file cannot be opened.
    #[error("cannot read {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Reading failed after the file was opened and checked: the disk, or another program.
    #[error("reading {} failed at byte {at}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Where reading began.
        at: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is malformed or has an unknown format.
    #[error("{}: {what}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// What to do.
        cure: Option<String>,
    },
    /// Each file can be read, but they do not belong together.
    #[error("the files cannot be compared: {what}")]
    Mismatch {
        /// What differs.
        what: String,
        /// What to do.
        cure: Option<String>,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Stopped,
}

impl DumpError {
    /// An error about the content of a file.
    pub(super) fn format(path: &Path, problem: Problem) -> Self {
        Self::Format { path: path.to_owned(), what: problem.what, cure: problem.cure }
    }

    /// An error about two files.
    pub(super) fn mismatch(what: impl Into<String>, cure: &str) -> Self {
        Self::Mismatch { what: what.into(), cure: Some(cure.to_owned()) }
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open { .. } => Some("check the path, and that you may read the file".to_owned()),
            Self::Read { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof => Some(
                "another program shortened the file; wait until it ends, and try again".to_owned(),
            ),
            Self::Read { .. } => Some("check the disk that the file is on".to_owned()),
            Self::Format { cure, .. } | Self::Mismatch { cure, .. } => cure.clone(),
            Self::Stopped => None,
        }
    }

    /// Whether the machine is the cause, not the arguments or the files.
    pub(crate) fn is_external(&self) -> bool {
        matches!(self, Self::Read { .. })
    }
}

/// What is wrong with a file, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) what: String,
    pub(super) cure: Option<String>,
}

impl Problem {
    pub(super) fn new(what: impl Into<String>, cure: &str) -> Self {
        Self { what: what.into(), cure: Some(cure.to_owned()) }
    }
}

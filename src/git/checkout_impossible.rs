//! Why a commit's files cannot be checked out: two names are equal on the disk, the disk refuses a
//! name, or git refuses it.

use std::io;
use std::path::PathBuf;

/// How many characters of a name or of git's message are shown: a path may be very long.
const LONGEST_SHOWN: usize = 160;

/// Why a commit's files cannot be checked out.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutImpossible {
    /// Two names differ only in case, and the disk ignores case.
    #[error(
        "`{}` and `{}` are the same name on the disk where commits are checked out", .0[0].display(), .0[1].display()
    )]
    FoldedCase([PathBuf; 2]),
    /// The disk refuses a name.
    #[error(
        "the disk where commits are checked out refuses `{}` ({} bytes): {why}; git: {}",
        shortened(&path.to_string_lossy()), path.as_os_str().len(), shortened(said)
    )]
    Name {
        /// The path in the commit's tree.
        path: PathBuf,
        /// The system's error.
        why: io::Error,
        /// Git's message.
        said: String,
    },
    /// Git refuses the name on every disk, since it could do harm.
    #[error("git does not check out such a name: {}", shortened(.0))]
    Refused(String),
}

impl CheckoutImpossible {
    /// What the user can do about it, if known.
    pub(super) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::FoldedCase(_) => {
                Some("set `dir` under [worktree] to a folder on a case-sensitive disk")
            }
            Self::Name { .. } => Some("set `dir` under [worktree] to a folder on another disk"),
            Self::Refused(_) => None,
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

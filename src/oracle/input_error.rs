//! An input that cannot be used.

use std::path::PathBuf;

/// An input that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    /// The input does not exist.
    #[error(transparent)]
    Missing(#[from] crate::config::InputError),
    /// The input exists but cannot be read.
    #[error("inputs.{name}: cannot read {}", path.display())]
    Unreadable {
        /// The input's name in the configuration.
        name: String,
        /// The unreadable file; it may be in a folder that is the input.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The input's content changed since the hunt began.
    #[error("inputs.{name}: {path} changed since the hunt began")]
    Changed {
        /// The input's name in the configuration.
        name: String,
        /// The input's path.
        path: String,
    },
    /// What `[worktree] link` links in changed since the hunt began.
    #[error("[worktree] link: {0} changed since the hunt began")]
    LinkChanged(String),
}

impl InputError {
    /// What the user can do.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Missing(error) => error.hint(),
            Self::Unreadable { .. } => {
                "check its permissions and its disk; your user must be able to read every input"
                    .to_owned()
            }
            Self::LinkChanged(_) => {
                "commits before and after the change would not be built alike: start a new hunt, or \
                 put it back as it was, with its files' times"
                    .to_owned()
            }
            Self::Changed { .. } => {
                "start a new hunt, or put the input back as it was".to_owned()
            }
        }
    }
}

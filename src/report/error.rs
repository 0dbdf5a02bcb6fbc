//! Why a report cannot be made, and what to do about it.

use crate::store::StoreError;

/// A report that cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    /// The hunt's folder cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal has no beginning.
    #[error("hunt {0} has not begun: its journal says nothing yet")]
    NotBegun(String),
    /// A word of a command that cannot be quoted for a shell.
    #[error("{0:?} cannot be written in a shell script")]
    Unquotable(String),
}

impl ReportError {
    /// What the user can do about the error.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Store(error) => return error.hint(),
            Self::NotBegun(_) => {
                "start a new hunt; `bisect-ppl store gc` removes what has not begun".to_owned()
            }
            Self::Unquotable(_) => {
                "take the NUL character out of the command in oracle.toml".to_owned()
            }
        })
    }
}

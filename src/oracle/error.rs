//! Why the oracle has no answer. None of these is ever a commit's fault.

use crate::build::{BuildError, SlotError};
use crate::config::{ConfigError, MissingValue, ResolveError};
use crate::git::GitError;
use crate::process::ProcessError;
use crate::store::StoreError;

use super::InputError;

/// No answer.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A slot failed.
    #[error("slot {0}")]
    Slot(#[from] SlotError),
    /// A build could not be tried, or failed by the machine's fault.
    #[error(transparent)]
    Build(BuildError),
    /// A program could not be supervised.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The frozen configuration cannot be laid out for this commit.
    #[error("the overrides that hold at this commit do not fit together: {0}")]
    Config(ConfigError),
    /// A placeholder has no value here.
    #[error(transparent)]
    Placeholder(#[from] MissingValue),
    /// An input is missing or changed under way.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A run failed, and the good endpoint's kept build failed the same moment.
    #[error("a run of {commit} failed ({what}), and {control}")]
    World {
        /// The commit, abbreviated.
        commit: String,
        /// How.
        what: String,
        /// What the control says, and where to look.
        control: String,
    },
    /// `[statistics] max_runs` are made.
    #[error("the budget of {0} runs is spent")]
    Budget(u32),
    /// We were told to stop, or the driver is gone.
    #[error("stopped")]
    Stopped,
}

impl From<BuildError> for OracleError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Stopped => Self::Stopped,
            other => Self::Build(other),
        }
    }
}

impl From<ResolveError<OracleError>> for OracleError {
    fn from(error: ResolveError<OracleError>) -> Self {
        match error {
            ResolveError::Condition(error) => error,
            ResolveError::Conflict(error) => Self::Config(error),
        }
    }
}

impl OracleError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) | Self::Build(BuildError::Git(error)) => error.hint(),
            Self::Store(error) | Self::Build(BuildError::Store(error)) => error.hint(),
            Self::World { .. } | Self::Build(BuildError::World { .. }) => Some(
                "mend the machine, then `bisect-ppl resume`: nothing measured is lost".to_owned(),
            ),
            Self::Input(_) => Some(
                "put the input back as it was and `bisect-ppl resume`, or start a new hunt"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

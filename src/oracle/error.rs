//! Why the oracle has no answer. None of these errors is a commit's fault.

use std::io::ErrorKind;
use std::path::PathBuf;

use crate::build::{BuildError, Shortage, SlotError, WroteLinked};
use crate::config::{ConfigError, MissingValue, ResolveError};
use crate::evaluation::ReachedLimit;
use crate::git::GitError;
use crate::process::{ProcessError, Stop};
use crate::store::{RecordedFault, StoreError};
use crate::ui::reached_limit;
use crate::ui::text::bytes;

use super::{InputError, MachineLockError};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OracleError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A slot failed.
    #[error("slot {0}")]
    Slot(#[from] SlotError),
    /// A build could not start, or failed because of the machine.
    #[error(transparent)]
    Build(BuildError),
    /// A program could not be supervised.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The overrides of the frozen configuration conflict at this commit.
    #[error("the overrides that apply at this commit conflict: {0}")]
    Config(ConfigError),
    /// The store has no content for a patch that the recipe names.
    #[error("the patch `{0}` was not stored when the measurements began")]
    NoPatch(String),
    /// A placeholder has no value here.
    #[error(transparent)]
    Placeholder(#[from] MissingValue),
    /// An input is missing or unreadable, or it changed during the hunt.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An exclusive run cannot get its lock.
    #[error(transparent)]
    MachineLock(#[from] MachineLockError),
    /// A run or build failed, and the machine is or may be at fault.
    #[error("a run of {commit} failed ({what}), and {control}")]
    MachineFault {
        /// The commit, abbreviated.
        commit: String,
        /// How it failed.
        what: String,
        /// Why the machine is or may be at fault, for example the control run's result.
        control: String,
    },
    /// A run wanted a port on which a program outside the run listens, also without another run
    /// beside it.
    #[error("a run of {measure} at {commit} did not count: {what}")]
    PortTaken {
        /// The measure.
        measure: String,
        /// The commit, abbreviated.
        commit: String,
        /// The program, the port, and what the run says.
        what: String,
    },
    /// A program that a measure starts exists neither in the tree nor in PATH.
    #[error("measure `{measure}` needs the program `{program}`, which was not found")]
    Missing {
        /// The measure.
        measure: String,
        /// The program.
        program: String,
    },
    /// The machine throttles too much to measure times.
    #[error(
        "the machine throttles: {runs} runs of {measure} at {commit} in a row did not count ({why})"
    )]
    Throttled {
        /// How many throttled runs in a row.
        runs: u32,
        /// The measure.
        measure: String,
        /// The commit, abbreviated.
        commit: String,
        /// Why the last of these runs was throttled.
        why: String,
    },
    /// A run loaded files that do not belong to its commit.
    #[error("a run of {measure} at {commit} loaded {} from {whose}, not from the commit's build", path.display())]
    Leak {
        /// The measure.
        measure: String,
        /// The commit, abbreviated.
        commit: String,
        /// The file that it loaded.
        path: PathBuf,
        /// Whose file it is.
        whose: &'static str,
    },
    /// A file from outside the build changed between two runs of the same hunt.
    #[error(
        "a run of {measure} at {commit} loaded {path}, which has changed since a run at {before} \
         loaded it: the two runs did not use the same files"
    )]
    Elsewhere {
        /// The measure.
        measure: String,
        /// The commit, abbreviated.
        commit: String,
        /// The file.
        path: String,
        /// The commit of the earlier run, abbreviated.
        before: String,
    },
    /// A run or a `[[prepare]]` step wrote into a linked folder that all commits share.
    #[error(transparent)]
    Linked(#[from] WroteLinked),
    /// The disk of the slots has less space than the last build took.
    #[error(
        "the disk of {} has {} free, but the last build took {}", .0.folder.display(),
        bytes(.0.free), bytes(.0.needed)
    )]
    NoRoom(Shortage),
    /// The store has more logs or tensors than `[limits]` allows.
    #[error("the {what} in the store take {}, but [limits] {what} allows {}", bytes(*taken), bytes(*most))]
    OverLimit {
        /// The key of `[limits]`.
        what: &'static str,
        /// Bytes on the disk.
        taken: u64,
        /// Bytes that are allowed.
        most: u64,
    },
    /// A job that builds did nothing or is lost.
    #[error("{}", .0.reason)]
    InJob(RecordedFault),
    /// A limit of the hunt is reached: its runs or its time.
    #[error("{}", reached_limit(.0))]
    Limit(ReachedLimit),
    /// The user stopped the hunt, or the driver ended.
    #[error("stopped")]
    Stopped,
}

impl From<BuildError> for OracleError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Stopped => Self::Stopped,
            BuildError::Limit(limit) => Self::Limit(limit),
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

fn slot_hint(error: &SlotError) -> Option<String> {
    let hint = match error.source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space there, or name another place with `dir` under [worktree]; what was \
             measured is kept"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotADirectory => {
            "commits are built there: make it writable, set XDG_CACHE_HOME, or name another \
             place with `dir` under [worktree]"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn missing_hint(program: &str, key: &str) -> String {
    format!(
        "if the name is wrong, correct {key} and start a new hunt; else install `{program}` or \
         add its folder to PATH"
    )
}

fn process_hint(error: &ProcessError) -> Option<String> {
    let hint = match error {
        ProcessError::Log { source, .. } => match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                "free some space"
            }
            _ => "the repository's git directory must be writable: what is measured is kept in it",
        },
        ProcessError::Folder(_) => "correct `cwd` of the measure; it starts from {src}",
        ProcessError::Start(_) | ProcessError::Follow(_) => {
            "the limit of processes or open files may be reached (ulimit -u, ulimit -n): raise it \
             or end other programs"
        }
        ProcessError::Sandbox(error) => error.hint(),
        ProcessError::SupervisorDied | ProcessError::NoSupervisor => return None,
    };
    Some(hint.to_owned())
}

impl OracleError {
    /// The error after `stop` ended a run or a wait: a limit was reached, or a person asked for it.
    pub(crate) fn stopped(stop: &Stop) -> Self {
        stop.limit().map_or(Self::Stopped, |limit| Self::Limit(limit.clone()))
    }

    /// Whether another try may work, because the fault may pass by itself: memory that others use,
    /// a GPU that is reset, a network disk that comes back.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::MachineFault { .. }
            | Self::Build(
                BuildError::MachineFault { .. } | BuildError::Git(GitError::Killed { .. }),
            )
            | Self::Git(GitError::Killed { .. })
            | Self::PortTaken { .. }
            | Self::Throttled { .. }
            | Self::Input(InputError::Missing(_) | InputError::Unreadable { .. }) => true,
            Self::Process(error) | Self::Build(BuildError::Process(error)) => {
                matches!(error, ProcessError::Start(_) | ProcessError::SupervisorDied)
            }
            Self::InJob(fault) => fault.may_pass,
            _ => false,
        }
    }

    /// Whether this hunt cannot go on, and only a new one helps.
    pub(crate) fn needs_new_hunt(&self) -> bool {
        match self {
            Self::Elsewhere { .. }
            | Self::Linked(_)
            | Self::Build(BuildError::Linked(_))
            | Self::Placeholder(_)
            | Self::NoPatch(_)
            | Self::Config(_) => true,
            Self::InJob(fault) => fault.needs_new_hunt,
            _ => false,
        }
    }

    /// The error for another process, which reports it.
    pub(crate) fn recorded(&self) -> RecordedFault {
        RecordedFault {
            reason: self.to_string(),
            hint: self.hint(),
            may_pass: self.may_pass(),
            needs_new_hunt: self.needs_new_hunt(),
        }
    }

    /// What the user can do. Which command goes on after that depends on the command that failed,
    /// and is not in it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) | Self::Build(BuildError::Git(error)) => error.hint(),
            Self::Store(error) | Self::Build(BuildError::Store(error)) => error.hint(),
            Self::MachineFault { .. } | Self::Build(BuildError::MachineFault { .. }) => {
                Some("repair the machine".to_owned())
            }
            Self::PortTaken { .. } => Some(
                "stop that program, let the measure use a port that is free, or give the runs a \
                 network of their own with `sandbox = true` under [run]: clients of the runs may \
                 talk to that program, and not to the commit's"
                    .to_owned(),
            ),
            Self::Missing { measure, program } => {
                Some(missing_hint(program, &format!("measure.{measure}.command")))
            }
            Self::Build(BuildError::Missing(program)) => {
                Some(missing_hint(program, "[build] commands"))
            }
            Self::Throttled { .. } => Some(
                "let the machine cool; check its fans, its power supply and its other programs"
                    .to_owned(),
            ),
            Self::Leak { .. } => Some(
                "look for its folder in LD_LIBRARY_PATH, PYTHONPATH, an rpath or an editable \
                 install, and make the measure load the file below {build} or {src}; if every \
                 commit must load it from your checkout, name it under [worktree] link or [inputs]"
                    .to_owned(),
            ),
            Self::Elsewhere { .. } => Some(
                "if a build installs this file, install below {build} (with CMake: \
                 -DCMAKE_INSTALL_PREFIX={build}/prefix) and run the program from there; or the \
                 file was updated meanwhile; then start a new hunt"
                    .to_owned(),
            ),
            Self::Linked(_) | Self::Build(BuildError::Linked(_)) => Some(WroteLinked::HINT.to_owned()),
            Self::Input(error) => Some(error.hint()),
            Self::Slot(error) | Self::Build(BuildError::Slot(error)) => slot_hint(error),
            Self::Process(error) | Self::Build(BuildError::Process(error)) => process_hint(error),
            Self::Placeholder(_) => Some(
                "start a new hunt that gives such commits a recipe of their own with [[override]], \
                 or leaves them out with --skip"
                    .to_owned(),
            ),
            Self::NoPatch(_) => {
                Some("begin anew: a new hunt, or `git bisect start`, stores it".to_owned())
            }
            Self::Config(_) => Some("correct the overrides, then start a new hunt".to_owned()),
            Self::MachineLock(_) => Some(
                "measures with `exclusive = true` need file locks in the user's cache folder: make \
                 it writable, or set XDG_CACHE_HOME to a folder on a disk that has them"
                    .to_owned(),
            ),
            Self::NoRoom(Shortage { free, needed, .. }) => Some(format!(
                "free at least {} more there, or name another place with `dir` under [worktree]",
                bytes(needed.saturating_sub(*free))
            )),
            Self::OverLimit { .. } => Some(
                "`bisect-ppl store gc --older-than 30d` removes old hunts and what only they \
                 measured"
                    .to_owned(),
            ),
            Self::InJob(fault) => fault.hint.clone(),
            Self::Limit(_)
            | Self::Stopped
            | Self::Build(BuildError::Stopped | BuildError::Limit(_)) => None,
        }
    }
}

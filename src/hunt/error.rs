//! Why a hunt does not begin, or stops without an answer.

use std::path::PathBuf;
use std::time::Duration;

use crate::build::BuildError;
use crate::config::{ConfigError, LoadError, Location};
use crate::evaluation::{Aim, CommitId, ReachedLimit};
use crate::files::SharedFolder;
use crate::git::GitError;
use crate::oracle::{InputError, OracleError, PinError};
use crate::process::{ProcessError, SandboxError, Stop};
use crate::store::{RecordedFault, StoreError};
use crate::ui::reached_limit;

use super::verify::refusal::VerifyRefusal;

/// How much later than git this process may learn of a signal to both.
const SIGNAL_DELAY: Duration = Duration::from_millis(500);

/// A wrong argument or file, reported before the hunt exists.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] LoadError),
    /// A revision or the repository is wrong.
    #[error(transparent)]
    Git(#[from] GitError),
    /// An input is wrong.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Other users can change the folder where commits are built.
    #[error("the cache {0}")]
    Shared(#[from] SharedFolder),
    /// The sandbox that the configuration asks for does not work here.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// `--slots` asks for more slots than `[executor]` lists.
    #[error("--slots {asked}: {file} allows {listed} under [executor]")]
    TooFewSlots {
        /// The configuration's file.
        file: String,
        /// How many the command line asks for.
        asked: usize,
        /// How many the file lists.
        listed: usize,
    },
    /// `--slots` asks for several slots, and the build mode uses one.
    #[error("--slots {asked}: build.mode = \"auto\" builds all commits of a search in one slot")]
    SlotsInModeAuto {
        /// How many the command line asks for.
        asked: usize,
    },
    /// `[executor]` names a CPU that this process may not use.
    #[error("{place}: executor.slots[{slot}].cpus: CPU {cpu} is not among those that this process may use ({})", ranges(.usable))]
    NoSuchCpu {
        /// The place of the slot's list of CPUs.
        place: Location,
        /// The number of the slot, from 1.
        slot: usize,
        /// The CPU.
        cpu: usize,
        /// The usable CPUs, in order.
        usable: Vec<usize>,
    },
    /// A patch that the configuration lays over commits is wrong.
    #[error(transparent)]
    Pin(PinError),
    /// Good and bad are the same commit.
    #[error("good and bad are the same commit, {0}")]
    SameCommit(CommitId),
    /// The end that should be the older one is a descendant of the other end.
    #[error("{old} is a descendant of {new}: the endpoints are reversed")]
    Reversed {
        /// The end that should be the older one, with its name.
        old: String,
        /// The end that should be the newer one, with its name.
        new: String,
        /// Whether the hunt looks for a regression or a fix.
        aim: Aim,
    },
    /// Good and bad have no common ancestor.
    #[error("good ({good}) and bad ({bad}) have no common ancestor: there is no path between them")]
    NoPath {
        /// The good endpoint, abbreviated.
        good: String,
        /// The bad endpoint, abbreviated.
        bad: String,
    },
    /// A path that commands need is not UTF-8.
    #[error("{what} lies in a folder whose path is not UTF-8: {}", .path.display())]
    NotText {
        /// What the folder holds.
        what: &'static str,
        /// The folder.
        path: PathBuf,
    },
    /// `[worktree] descend` names neither a submodule nor a folder.
    #[error("{0} is neither a submodule nor a folder, at good or at bad")]
    NoDependency(String),
    /// No measure yields the metric.
    #[error("no measure yields {metric}; there are: {known}")]
    NoSuchMetric {
        /// The requested metric.
        metric: String,
        /// The metrics that exist.
        known: String,
    },
    /// The paths hide every commit.
    #[error("no commit between good and bad touches {0}")]
    NothingTouches(String),
    /// `[build] ignore` and `paths` hide every commit.
    #[error("[build] ignore and paths of {0} leave out every commit between good and bad")]
    AllIgnored(String),
    /// A report cannot be verified here.
    #[error(transparent)]
    Verify(#[from] VerifyRefusal),
}

impl From<PinError> for UsageError {
    fn from(error: PinError) -> Self {
        match error {
            PinError::Git(error) => Self::Git(error),
            other @ PinError::Patch { .. } => Self::Pin(other),
        }
    }
}

impl UsageError {
    /// What the user can do about the error.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint().map(str::to_owned),
            Self::Git(error) => error.hint(),
            Self::Shared(shared) => Some(shared.hint()),
            Self::Sandbox(error) => Some(error.hint().to_owned()),
            Self::TooFewSlots { .. } => {
                Some("ask for fewer, or allow more under [executor]: `slots`, or `max_jobs` of a cluster".to_owned())
            }
            Self::SlotsInModeAuto { .. } => {
                Some("leave --slots out, or choose another build.mode".to_owned())
            }
            Self::NoSuchCpu { .. } => {
                Some("name CPUs of that list, or leave `cpus` out of all slots".to_owned())
            }
            Self::Reversed { aim: Aim::Regression, .. } => Some(
                "swap --good and --bad, or hunt the commit that mended something with --find-fix"
                    .to_owned(),
            ),
            Self::Reversed { aim: Aim::Fix, .. } => Some(
                "with --find-fix the good revision is the newer one: swap them, or leave --find-fix out"
                    .to_owned(),
            ),
            Self::SameCommit(_) => {
                Some("name two different commits for --good and --bad".to_owned())
            }
            Self::NoPath { .. } => {
                Some("name two commits of one history; in a shallow clone, `git fetch --unshallow` first".to_owned())
            }
            Self::NotText { .. } => Some("move or clone it to a folder whose path is UTF-8".to_owned()),
            Self::NoDependency(_) => Some(
                "correct `descend` under [worktree] to the path of a submodule, or of a folder that \
                 holds another project's sources, or leave it out"
                    .to_owned(),
            ),
            Self::NoSuchMetric { .. } => Some("name one of those, or add a [[measure]]".to_owned()),
            Self::NothingTouches(_) => Some("widen the paths, or leave them out".to_owned()),
            Self::AllIgnored(_) => Some(
                "choose ends that are further apart; or, if the measured program reads a file that \
                 they leave out, correct [build] ignore or paths"
                    .to_owned(),
            ),
            Self::Input(error) => Some(error.hint()),
            Self::Pin(error) => error.hint(),
            Self::Verify(error) => Some(error.hint()),
        }
    }
}

/// Why a hunt has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HuntError {
    /// A usage error, reported before the hunt exists.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// Git, the store, a process or another part of the program failed.
    #[error(transparent)]
    Oracle(OracleError),
    /// A limit of the hunt is reached: its runs or its time.
    #[error("{}", reached_limit(.0))]
    Limit(ReachedLimit),
    /// The user stopped the hunt.
    #[error("stopped")]
    Stopped,
    /// The hunt goes on in a job on another node. The text is the reason.
    #[error("{0}")]
    LeavesNode(String),
    /// The hunt cannot go on, for example because the machine changed or an oracle stopped. The
    /// text is the reason.
    #[error("{0}")]
    Environment(String),
    /// The oracle of a search step stopped, and recorded the reason.
    #[error("{}", .0.reason)]
    OracleStopped(RecordedFault),
    /// The journal does not say how the hunt began.
    #[error("the hunt's journal does not say how it began")]
    NoBeginning,
    /// The frozen configuration is not what it was when the hunt began.
    #[error("{} is not the configuration that the hunt began with: it was changed or removed", .0.display())]
    ConfigurationChanged(PathBuf),
    /// The frozen configuration is invalid.
    #[error(transparent)]
    ConfigurationInvalid(#[from] ConfigError),
}

impl From<OracleError> for HuntError {
    fn from(error: OracleError) -> Self {
        match error {
            OracleError::Stopped => Self::Stopped,
            OracleError::Limit(limit) => Self::Limit(limit),
            other => Self::Oracle(other),
        }
    }
}

impl From<GitError> for HuntError {
    fn from(error: GitError) -> Self {
        Self::Oracle(error.into())
    }
}

impl From<StoreError> for HuntError {
    fn from(error: StoreError) -> Self {
        Self::Oracle(error.into())
    }
}

impl From<ProcessError> for HuntError {
    fn from(error: ProcessError) -> Self {
        Self::Oracle(error.into())
    }
}

impl HuntError {
    /// The error after `stop` ended a wait: a limit or a person asked for that.
    pub(crate) fn stopped(stop: &Stop) -> Self {
        OracleError::stopped(stop).into()
    }

    /// That the hunt was stopped, if this error is git's end by a signal, and a signal asked this
    /// process to end too: whoever ended the process group, as `scancel` and Ctrl-C do, meant the
    /// hunt. Waits up to [`SIGNAL_DELAY`] for the signal to this process.
    pub(super) fn unless_signaled(self, stop: &Stop) -> Self {
        let is_of_git = matches!(
            &self,
            Self::Oracle(
                OracleError::Git(GitError::Killed { .. })
                    | OracleError::Build(BuildError::Git(GitError::Killed { .. }))
            )
        );
        if is_of_git && stop.within(SIGNAL_DELAY) && stop.signal().is_some() {
            return Self::Stopped;
        }
        self
    }

    /// Whether another try may work, because a fault of the machine may pass by itself.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Oracle(error) => error.may_pass(),
            Self::OracleStopped(fault) => fault.may_pass,
            _ => false,
        }
    }

    /// Whether this hunt cannot go on, and only a new one helps.
    pub(crate) fn needs_new_hunt(&self) -> bool {
        match self {
            Self::Oracle(error) => error.needs_new_hunt(),
            Self::OracleStopped(fault) => fault.needs_new_hunt,
            Self::NoBeginning | Self::ConfigurationInvalid(_) | Self::ConfigurationChanged(_) => {
                true
            }
            _ => false,
        }
    }

    /// The error of a hunt with so many slots. A fault of the machine in several slots may be that
    /// the engine works in one process at a time only, so the hint names this too.
    pub(super) fn in_slots(self, slots: usize) -> Self {
        let is_of_machine = match &self {
            Self::Oracle(OracleError::MachineFault { .. } | OracleError::PortTaken { .. }) => true,
            Self::OracleStopped(fault) => fault.may_pass,
            _ => false,
        };
        if slots < 2 || !is_of_machine {
            return self;
        }
        let mut fault = self.recorded();
        let alone = "if the engine works only in one process at a time, start a new hunt with \
                     `--slots 1`";
        fault.hint = Some(match fault.hint.take() {
            Some(hint) => format!("{alone}; else {hint}"),
            None => alone.to_owned(),
        });
        Self::OracleStopped(fault)
    }

    /// The error for another process, which reports it.
    pub(crate) fn recorded(&self) -> RecordedFault {
        match self {
            Self::Oracle(error) => error.recorded(),
            Self::OracleStopped(fault) => fault.clone(),
            other => RecordedFault {
                reason: other.to_string(),
                hint: other.hint(),
                may_pass: false,
                needs_new_hunt: other.needs_new_hunt(),
            },
        }
    }

    /// What the user can do about the error. Which command goes on after that depends on the
    /// command that failed, and is not in it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Usage(error) => error.hint(),
            Self::Oracle(error) => error.hint(),
            Self::OracleStopped(fault) => fault.hint.clone(),
            Self::Stopped | Self::Environment(_) | Self::Limit(_) | Self::LeavesNode(_) => None,
            Self::ConfigurationChanged(_) => Some(
                "start a new hunt with the right configuration, which uses what was measured, or \
                 restore that file"
                    .into(),
            ),
            Self::NoBeginning | Self::ConfigurationInvalid(_) => {
                Some("start a new hunt; what was measured is used again".into())
            }
        }
    }
}

/// CPUs in short: `0-3, 8`.
fn ranges(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let word = |(first, last): (usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.into_iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_machine_in_several_slots_may_be_the_use_of_several() {
        let fault = |slots| {
            let (commit, what, control) = ("c".into(), "busy".into(), "it is at fault".into());
            HuntError::from(OracleError::MachineFault { commit, what, control }).in_slots(slots)
        };
        let hint = fault(3).hint().unwrap();
        assert!(
            hint.contains("`--slots 1`") && hint.ends_with("; else repair the machine"),
            "{hint}"
        );
        assert!(fault(3).may_pass());
        assert_eq!(fault(3).to_string(), fault(1).to_string());
        assert_eq!(fault(1).hint().unwrap(), "repair the machine");
        assert_eq!(HuntError::Stopped.in_slots(3).hint(), None);
    }

    #[test]
    fn a_git_that_a_signal_ended_is_a_fault_unless_this_process_got_one_too() {
        let killed = || {
            let (command, ended) = ("git read-tree".to_owned(), "signal 15".to_owned());
            HuntError::from(GitError::Killed { command, dir: PathBuf::from("/r"), ended })
        };
        let stop = Stop::never();
        assert!(killed().unless_signaled(&stop).may_pass());
        stop.request();
        assert!(killed().unless_signaled(&stop).may_pass(), "a request without a signal");
        let stop = Stop::after_signal(15);
        assert!(matches!(killed().unless_signaled(&stop), HuntError::Stopped));
        let other = HuntError::Environment("no disk".to_owned()).unless_signaled(&stop);
        assert!(matches!(other, HuntError::Environment(_)));
    }
}

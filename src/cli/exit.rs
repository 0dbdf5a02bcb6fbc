//! The exit codes of all commands. Those of `oracle`, which git reads, are in `oracle::exit`.

use std::process::ExitCode;

use anyhow::anyhow;

use crate::evaluation::Outcome;
use crate::hunt::{HuntError, UsageError};
use crate::oracle::{OracleError, exit as oracle};
use crate::store::{RecordedFault, StoreError};
use crate::tensor::DumpError;

/// The command succeeded.
pub(crate) const DONE: u8 = 0;
/// A check failed, or a commit could not be measured.
pub(crate) const FAILED: u8 = 1;
/// Wrong arguments or files; nothing was done.
pub(crate) const USAGE: u8 = 2;
/// Undecided: candidates, a gradual change, or too much noise.
pub(crate) const UNDECIDED: u8 = 3;
/// The endpoints show no regression or cannot be measured.
pub(crate) const NO_HUNT: u8 = 4;
/// Stopped by an external fault, such as a tool or the disk; the hunt can be resumed.
pub(crate) const WORLD: u8 = 5;
/// Interrupted by the user; the hunt can be resumed.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit code of a hunt's outcome.
pub(crate) fn of_outcome(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Culprit => DONE,
        Outcome::Candidates | Outcome::Gradual | Outcome::NoiseTooLarge => UNDECIDED,
        Outcome::NoRegression | Outcome::EndpointUnmeasurable => NO_HUNT,
        Outcome::Interrupted => INTERRUPTED,
    }
}

/// The exit code after clap rejected the arguments or printed help.
pub(crate) fn of_words(is_oracle: bool, is_help: bool) -> ExitCode {
    ExitCode::from(match (is_oracle, is_help) {
        (true, _) => oracle::USAGE,
        (false, true) => DONE,
        (false, false) => USAGE,
    })
}

/// The exit code after a panic, whose message is already on stderr.
pub(crate) fn of_panic(is_oracle: bool) -> ExitCode {
    ExitCode::from(if is_oracle { oracle::USAGE } else { WORLD })
}

/// The error of a command.
#[derive(Debug)]
pub(crate) struct Failed {
    /// The error to print.
    pub error: anyhow::Error,
    /// What the user can do about the error.
    pub hint: Option<String>,
    code: u8,
    needs_new_hunt: bool,
}

impl Failed {
    fn new(error: anyhow::Error, hint: Option<String>, code: u8) -> Self {
        Self { error, hint, code, needs_new_hunt: false }
    }

    /// Wrong arguments or files.
    pub(crate) fn usage(error: anyhow::Error, hint: Option<String>) -> Self {
        Self::new(error, hint, USAGE)
    }

    /// The command ran to its end, but the result is not the expected one.
    pub(crate) fn unmet(error: anyhow::Error) -> Self {
        Self::new(error, None, FAILED)
    }

    /// An external fault, such as a tool or the disk.
    pub(crate) fn world(error: anyhow::Error, hint: Option<String>) -> Self {
        Self::new(error, hint, WORLD)
    }

    /// Standard output cannot be written.
    pub(crate) fn stdout(error: std::io::Error) -> Self {
        let error = anyhow::Error::new(error).context("cannot write to standard output");
        Self::world(error, Some("free some space there, and run the command again".into()))
    }

    /// An error of the store: a usage error if a hunt does not exist, else an external fault.
    pub(crate) fn store(error: StoreError) -> Self {
        let code = if error.is_usage() { USAGE } else { WORLD };
        let hint = error.hint();
        Self::new(error.into(), hint, code)
    }

    /// An error with dumps: usually the files, sometimes the disk.
    pub(crate) fn dump(error: DumpError) -> Self {
        let code = match &error {
            DumpError::Stopped => INTERRUPTED,
            error if error.is_external() => WORLD,
            _ => USAGE,
        };
        let hint = error.hint();
        Self::new(error.into(), hint, code)
    }

    /// An error of a hunt that did not begin, or that stopped.
    pub(crate) fn hunt(error: HuntError) -> Self {
        let code = match &error {
            HuntError::Usage(UsageError::Git(error)) if !error.is_usage() => WORLD,
            HuntError::Usage(UsageError::Sandbox(_)) => WORLD,
            HuntError::Oracle(OracleError::Store(error)) if error.is_usage() => USAGE,
            HuntError::Usage(_) | HuntError::NoBeginning | HuntError::ConfigurationInvalid(_) => {
                USAGE
            }
            HuntError::Stopped => INTERRUPTED,
            HuntError::Limit(_) => UNDECIDED,
            HuntError::Oracle(_)
            | HuntError::Environment(_)
            | HuntError::LeavesNode(_)
            | HuntError::OracleStopped(_)
            | HuntError::ConfigurationChanged(_) => WORLD,
        };
        let (hint, needs_new_hunt) = (error.hint(), error.needs_new_hunt());
        Self { error: error.into(), hint, code, needs_new_hunt }
    }

    /// An external fault that another process recorded.
    pub(crate) fn recorded(fault: &RecordedFault) -> Self {
        let RecordedFault { reason, hint, needs_new_hunt, .. } = fault.clone();
        Self { error: anyhow!(reason), hint, code: WORLD, needs_new_hunt }
    }

    /// The error is about a hunt that is on disk and can be resumed.
    pub(crate) fn hunt_under_way(error: HuntError) -> Self {
        Self::hunt(error).resumable()
    }

    /// The same error of a hunt that is on disk: the hint says how to go on.
    #[must_use]
    pub(crate) fn resumable(self) -> Self {
        if self.code == UNDECIDED {
            return self.with_hint(
                "`bisect-ppl resume` with a later --deadline, or with --max-runs or --max-hours, \
                 goes on",
            );
        }
        self.going_on("`bisect-ppl resume`")
    }

    /// The same error of work that `command` goes on with. The hint says so, unless only a new
    /// hunt helps.
    #[must_use]
    pub(crate) fn going_on(self, command: &str) -> Self {
        if self.needs_new_hunt || !matches!(self.code, WORLD | INTERRUPTED | UNDECIDED) {
            return self;
        }
        let hint = match &self.hint {
            Some(cure) => format!("{cure}; after that, {command} goes on where it was"),
            None => format!("{command} goes on where it was; nothing measured is lost"),
        };
        self.with_hint(&hint)
    }

    /// An error of the oracle, which gave no verdict.
    pub(crate) fn oracle(error: OracleError) -> Self {
        Self::hunt(error.into())
    }

    /// The same error with another hint.
    #[must_use]
    pub(crate) fn with_hint(self, hint: &str) -> Self {
        Self { hint: Some(hint.to_owned()), ..self }
    }

    /// The exit code. For `oracle` git never reads this code as a verdict.
    pub(crate) fn code_for(&self, is_oracle: bool) -> u8 {
        match (is_oracle, self.code) {
            (false, code) => code,
            (true, USAGE) => oracle::USAGE,
            (true, _) => oracle::STOP,
        }
    }
}

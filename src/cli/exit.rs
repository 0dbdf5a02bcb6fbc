//! The exit codes, all of them; `oracle`'s own are an API to git and live in its room.

use std::process::ExitCode;

use crate::evaluation::Outcome;
use crate::hunt::{HuntError, UsageError};
use crate::oracle::{OracleError, exit as oracle};
use crate::store::StoreError;

/// The command did what it says.
pub const DONE: u8 = 0;
/// A check failed, a commit could not be measured.
pub const FAILED: u8 = 1;
/// Wrong words or files, told before anything was done.
pub const USAGE: u8 = 2;
/// Undecided: candidates, a gradual rise, too much noise.
pub const UNDECIDED: u8 = 3;
/// The endpoints do not bear a hunt.
pub const NO_HUNT: u8 = 4;
/// Stopped by the world; can be resumed.
pub const WORLD: u8 = 5;
/// Interrupted by a person; can be resumed.
pub const INTERRUPTED: u8 = 130;

/// The code of a hunt's outcome.
pub fn of_outcome(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Culprit => DONE,
        Outcome::Candidates | Outcome::Gradual | Outcome::NoiseTooLarge => UNDECIDED,
        Outcome::NoRegression | Outcome::EndpointUnmeasurable => NO_HUNT,
        Outcome::Interrupted => INTERRUPTED,
    }
}

/// The code after words that clap did not take, or help that it gave.
pub fn of_words(is_oracle: bool, is_help: bool) -> ExitCode {
    ExitCode::from(match (is_oracle, is_help) {
        (true, _) => oracle::USAGE,
        (false, true) => DONE,
        (false, false) => USAGE,
    })
}

/// The code after a panic, which has told of itself on stderr.
pub fn of_panic(is_oracle: bool) -> ExitCode {
    ExitCode::from(if is_oracle { oracle::USAGE } else { WORLD })
}

/// A command that did not do what it says.
#[derive(Debug)]
pub struct Failed {
    /// What to print.
    pub error: anyhow::Error,
    /// What to do about it.
    pub hint: Option<String>,
    code: u8,
}

impl Failed {
    /// Wrong words or files.
    pub fn usage(error: anyhow::Error, hint: Option<String>) -> Self {
        Self { error, hint, code: USAGE }
    }

    /// What was asked for was done, and did not come out as it must.
    pub fn unmet(error: anyhow::Error) -> Self {
        Self { error, hint: None, code: FAILED }
    }

    /// The world's fault.
    pub fn world(error: anyhow::Error, hint: Option<String>) -> Self {
        Self { error, hint, code: WORLD }
    }

    /// What was asked for cannot be said.
    pub fn stdout(error: std::io::Error) -> Self {
        let error = anyhow::Error::new(error).context("cannot write to standard output");
        Self::world(error, Some("free some space where it is written to, and ask again".into()))
    }

    /// The store: a hunt that is not there is a wrong word, everything else the world's fault.
    pub fn store(error: StoreError) -> Self {
        let code = if error.is_usage() { USAGE } else { WORLD };
        let hint = error.hint();
        Self { error: error.into(), hint, code }
    }

    /// A hunt that did not begin, or stopped.
    pub fn hunt(error: HuntError) -> Self {
        let code = match &error {
            HuntError::Usage(UsageError::Git(error)) if !error.is_usage() => WORLD,
            HuntError::Oracle(OracleError::Store(error)) if error.is_usage() => USAGE,
            HuntError::Usage(_) | HuntError::NoBeginning | HuntError::Frozen(_) => USAGE,
            HuntError::Stopped => INTERRUPTED,
            HuntError::Budget(_) => UNDECIDED,
            HuntError::Oracle(_) | HuntError::World(_) | HuntError::Altered(_) => WORLD,
        };
        let hint = error.hint();
        Self { error: error.into(), hint, code }
    }

    /// A hunt that is on disk, so that whatever stopped it, it can go on.
    pub fn hunt_under_way(error: HuntError) -> Self {
        let failed = Self::hunt(error);
        let resume = "once that is mended, `bisect-ppl resume` goes on where it was";
        let hint = failed.hint.or_else(|| (failed.code == WORLD).then(|| resume.to_owned()));
        Self { hint, ..failed }
    }

    /// An oracle without an answer.
    pub fn oracle(error: OracleError) -> Self {
        Self::hunt(error.into())
    }

    /// The exit code; for `oracle` never one that git would read as a verdict.
    pub fn code_for(&self, is_oracle: bool) -> u8 {
        match (is_oracle, self.code) {
            (false, code) => code,
            (true, USAGE) => oracle::USAGE,
            (true, _) => oracle::STOP,
        }
    }
}

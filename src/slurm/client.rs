//! Calls of Slurm's programs. Each has a time-out of its own: a controller that is down makes them
//! wait for a long time.

use std::time::Duration;

use crate::evaluation::Ended;
use crate::process::{Invocation, ToolOutput, tool};
use crate::store::StoreError;

/// How long one call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Why a job was not submitted, or why nothing is known of jobs.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SlurmError {
    /// A program of Slurm is missing on this machine.
    #[error("{0} is not in PATH on this machine")]
    Missing(&'static str),
    /// The controller did not answer. Nothing is known of the jobs.
    #[error("Slurm's controller does not answer {program}: {said}")]
    Unanswered {
        /// The program that asked.
        program: &'static str,
        /// Its last line, or how it ended.
        said: String,
    },
    /// The controller does not accept the job.
    #[error("sbatch: {0}")]
    Refused(String),
    /// A file of the attempt cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Runs a program of Slurm. Its environment has no variables of the job that this process is in:
/// they would become options of the next job.
pub(super) fn call(
    program: &'static str,
    words: impl IntoIterator<Item = String>,
) -> Result<ToolOutput, SlurmError> {
    let mut invocation =
        Invocation::own(program).args(words).timeout(Some(CALL_TIMEOUT)).env("LC_ALL", "C");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("SLURM_") && text != "SLURM_CONF" {
            invocation = invocation.env_remove(name);
        }
    }
    let unanswered = |said: String| SlurmError::Unanswered { program, said };
    let output = tool(&invocation).map_err(|error| unanswered(error.to_string()))?;
    match output.ended {
        Ended::NotFound(_) => Err(SlurmError::Missing(program)),
        _ => Ok(output),
    }
}

/// As [`call`], for a call that must succeed; returns what the program printed.
pub(super) fn answer(
    program: &'static str,
    words: impl IntoIterator<Item = String>,
) -> Result<String, SlurmError> {
    let output = call(program, words)?;
    if output.ended.is_success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(SlurmError::Unanswered { program, said: last_line(&output) })
}

/// The last line of a call's errors, or how it ended if it said nothing.
pub(super) fn last_line(output: &ToolOutput) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    line.map_or_else(|| output.ended.to_string(), str::to_owned)
}

/// Asks Slurm to end the jobs of this name. A job that is gone is no error.
pub(crate) fn cancel(token: &str) -> Result<(), SlurmError> {
    answer("scancel", [format!("--name={token}")]).map(drop)
}

/// The version of sbatch, as it prints it. Asks no controller.
pub(crate) fn check_sbatch() -> Result<String, SlurmError> {
    Ok(answer("sbatch", ["--version".to_owned()])?.trim().to_owned())
}

/// The state of a partition, such as `up`; `None` if the cluster does not have it. Without a name:
/// the default partition.
pub(crate) fn check_partition(name: Option<&str>) -> Result<Option<String>, SlurmError> {
    let said = answer("sinfo", ["-h", "-o", "%P %a"].map(str::to_owned))?;
    let mut partitions = said.lines().filter_map(|line| line.split_once(' '));
    let found = partitions.find(|(partition, _)| match name {
        Some(name) => partition.trim_end_matches('*') == name,
        None => partition.ends_with('*'),
    });
    Ok(found.map(|(_, state)| state.trim().to_owned()))
}

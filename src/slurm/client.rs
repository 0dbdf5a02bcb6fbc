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

impl SlurmError {
    /// What the user can do about a job that sbatch refused with these words, and whether only a
    /// new hunt helps: a hunt keeps its configuration. `table`: where the job's options are.
    pub(crate) fn refusal_cure(said: &str, table: &str) -> (String, bool) {
        // Slurm says the same of a job that asks for too much and of one job too many.
        if said.contains("policy") {
            let cure = format!(
                "if the job asks for too much, correct {table} and start a new hunt; else wait \
                 until your other jobs have ended"
            );
            return (cure, false);
        }
        (format!("correct {table}, then start a new hunt"), true)
    }
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
    let line =
        said.lines().map(|line| without_prefixes(line.trim())).rfind(|line| !line.is_empty());
    line.map_or_else(|| output.ended.to_string(), str::to_owned)
}

/// What Slurm's programs write before a complaint. Our messages name the program themselves.
const PREFIXES: [&str; 5] = ["sbatch: ", "squeue: ", "scancel: ", "sinfo: ", "error: "];

fn without_prefixes(line: &str) -> &str {
    let shorter = PREFIXES.iter().find_map(|prefix| line.strip_prefix(prefix));
    shorter.map_or(line, without_prefixes)
}

/// Asks Slurm to end the jobs of this name. A job that is gone is no error.
pub(crate) fn cancel(token: &str) -> Result<(), SlurmError> {
    answer("scancel", [format!("--name={token}")]).map(drop)
}

/// The version of sbatch, as it prints it. Asks no controller.
pub(crate) fn check_sbatch() -> Result<String, SlurmError> {
    Ok(answer("sbatch", ["--version".to_owned()])?.trim().to_owned())
}

/// The first letters of the states in which a node takes no jobs.
const OUT_OF_SERVICE: [&str; 5] = ["down", "drain", "fail", "error", "reboot"];

/// The state of a node that takes no jobs, with the reason that was given, such as
/// `drained (bad disk)`; `None` if it takes jobs.
pub(super) fn node_out_of_service(name: &str) -> Result<Option<String>, SlurmError> {
    let said = answer("sinfo", ["-h", "-N", "-n", name, "-o", "%T|%E"].map(str::to_owned))?;
    // One line for each partition of the node.
    Ok(said.lines().find_map(out_of_service))
}

/// Reads a line `STATE|REASON`. A sign may follow the state: `down*`.
fn out_of_service(line: &str) -> Option<String> {
    let (state, reason) = line.split_once('|')?;
    let state = state.trim().trim_end_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let reason = reason.trim();
    OUT_OF_SERVICE.iter().any(|out| state.starts_with(out)).then(|| match reason {
        "" | "none" => state,
        reason => format!("{state} ({reason})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_has_no_name_of_a_program_before_it() {
        let line = "Batch job submission failed: Invalid partition name specified";
        assert_eq!(without_prefixes(&format!("sbatch: error: {line}")), line);
        assert_eq!(without_prefixes(&format!("sbatch: sbatch: error: {line}")), line);
        let other = "slurm_load_jobs error: Invalid job id specified";
        assert_eq!(without_prefixes(other), other);
    }

    #[test]
    fn a_refused_job_needs_a_new_hunt_unless_it_may_only_be_one_too_many() {
        let cure = |said| SlurmError::refusal_cure(said, "[executor.build]");
        let (hint, needs_new_hunt) = cure("Batch job submission failed: Invalid partition name");
        assert_eq!(hint, "correct [executor.build], then start a new hunt");
        assert!(needs_new_hunt);
        let (hint, needs_new_hunt) = cure("Job violates accounting/QOS policy (job submit limit)");
        assert!(hint.ends_with("else wait until your other jobs have ended") && !needs_new_hunt);
    }

    #[test]
    fn a_node_that_takes_no_jobs_has_its_state_and_reason() {
        assert_eq!(out_of_service("drained|bad disk").as_deref(), Some("drained (bad disk)"));
        assert_eq!(out_of_service("down*|lost power").as_deref(), Some("down (lost power)"));
        assert_eq!(out_of_service("draining|none").as_deref(), Some("draining"));
        for takes in ["idle|none", "mixed|none", "allocated|none", "completing|none", "idle"] {
            assert_eq!(out_of_service(takes), None, "{takes}");
        }
    }
}

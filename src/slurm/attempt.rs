//! One submission of a job, as files in a folder of its own. Attempts share no file, so a job that
//! was given up and still runs cannot change what a later one reports.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Phase};
use crate::files;
use crate::store::{StoreError, attempt_name, publish};

use super::job_time::JobTime;

/// The exit code of a job whose command was asked to end.
const INTERRUPTED: u8 = 130;

/// The nodes that differ from the machine on which the hunt began. Jobs on these nodes reported it.
pub(crate) fn nodes_set_aside(jobs: &Path) -> BTreeSet<String> {
    nodes_that_refused(jobs, |refusal| matches!(refusal, Refusal::OtherMachine { .. }))
}

/// The nodes whose builds would differ from those of the node on which the hunt's builds began.
pub(crate) fn build_nodes_set_aside(jobs: &Path) -> BTreeSet<String> {
    nodes_that_refused(jobs, |refusal| matches!(refusal, Refusal::OtherBuildNode { .. }))
}

fn nodes_that_refused(jobs: &Path, why: impl Fn(&Refusal) -> bool) -> BTreeSet<String> {
    let results = Attempt::all(jobs).into_iter().filter_map(|attempt| attempt.result());
    let others = results.filter(|result| result.refusal.as_ref().is_some_and(&why));
    others.map(|result| result.node).collect()
}

/// What a job is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum Purpose {
    /// Drives the hunt.
    Drive,
    /// Builds a commit, or says what builds on its node depend on.
    Build,
    /// Measures a commit ahead.
    Ahead {
        /// The commit.
        commit: CommitId,
        /// What it is measured for.
        phase: Phase,
    },
}

/// Why a job did nothing on its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum Refusal {
    /// The node differs from the machine on which the hunt began.
    OtherMachine {
        /// The difference, in a sentence.
        what: String,
    },
    /// The node's builds would differ from those of the node on which the hunt's builds began.
    OtherBuildNode {
        /// The difference, in a sentence.
        what: String,
    },
    /// The node does not see that another machine holds the lock of the hunt.
    LockUnseen,
    /// Another job of the hunt does not end.
    Busy,
    /// A later attempt took this one's place.
    Superseded,
}

/// What a job reports at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobResult {
    /// The attempt's token.
    pub token: String,
    /// How often Slurm had begun the job again.
    pub restarts: u32,
    /// The name of the node.
    pub node: String,
    /// The exit code of its command.
    pub exit_code: u8,
    /// Set if the job did nothing: the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

impl JobResult {
    /// Whether the job's command was asked to end before its work was done, by us or by Slurm.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.exit_code == INTERRUPTED
    }
}

/// What is written down before the job is submitted.
#[derive(Debug, Serialize)]
struct Begun {
    token: String,
    purpose: Purpose,
    at: String,
}

/// A lock that is held while a process waits for a job. The system frees it if the process dies.
#[derive(Debug)]
pub(crate) struct Waiter(#[expect(dead_code, reason = "held, never read")] File);

/// One submission.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    token: String,
    folder: PathBuf,
}

impl Attempt {
    /// Begins an attempt: creates its folder, and a token that no other job has. Both are on disk
    /// before Slurm hears of the job.
    pub(crate) fn begin(jobs: &Path, purpose: Purpose) -> Result<Self, StoreError> {
        let token = format!("bisect-ppl-{}", attempt_name());
        let attempt = Self { folder: jobs.join(&token), token: token.clone() };
        let at = jiff::Timestamp::now().to_string();
        let bytes = serde_json::to_vec(&Begun { token, purpose, at }).expect("it is plain data");
        publish(&attempt.folder.join("attempt.json"), &bytes)?;
        Ok(attempt)
    }

    /// The attempt with this token.
    pub(crate) fn named(jobs: &Path, token: &str) -> Self {
        Self { token: token.to_owned(), folder: jobs.join(token) }
    }

    /// All attempts of a hunt. A folder that cannot be read has none.
    pub(crate) fn all(jobs: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(jobs).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let is_there = |attempt: &Self| files::read(&attempt.folder.join("attempt.json")).is_ok();
        names.map(|name| Self::named(jobs, &name)).filter(is_there).collect()
    }

    /// The name of the job in Slurm.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The script of the job.
    pub(super) fn script(&self) -> PathBuf {
        self.folder.join("script")
    }

    /// The output of the job.
    pub(crate) fn output(&self) -> PathBuf {
        self.folder.join("output")
    }

    /// What the job reported; `None` if it did not yet.
    pub(crate) fn result(&self) -> Option<JobResult> {
        let bytes = files::read(&self.folder.join("result.json")).ok()?;
        let result: JobResult = serde_json::from_slice(&bytes).ok()?;
        (result.token == self.token).then_some(result)
    }

    /// Writes what the job reports; the job calls this, on its node.
    pub(crate) fn report(&self, result: &JobResult) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(result).expect("a result is plain data");
        publish(&self.folder.join("result.json"), &bytes)
    }

    /// Writes for how long the job worked.
    pub(super) fn put_time(&self, time: &JobTime) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(time).expect("a time is plain data");
        publish(&self.folder.join("time.json"), &bytes)
    }

    /// For how long the job worked; `None` if it never began.
    pub(crate) fn time(&self) -> Option<JobTime> {
        let bytes = files::read(&self.folder.join("time.json")).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes what a job that builds is asked for.
    pub(crate) fn put_order(&self, bytes: &[u8]) -> Result<(), StoreError> {
        publish(&self.folder.join("order.json"), bytes)
    }

    /// What a job that builds is asked for.
    pub(crate) fn order(&self) -> Option<Vec<u8>> {
        files::read(&self.folder.join("order.json")).ok()
    }

    /// Writes what a job that builds did. It counts once the job has reported.
    pub(crate) fn put_answer(&self, bytes: &[u8]) -> Result<(), StoreError> {
        publish(&self.folder.join("answer.json"), bytes)
    }

    /// What a job that builds did.
    pub(crate) fn answer(&self) -> Option<Vec<u8>> {
        files::read(&self.folder.join("answer.json")).ok()
    }

    /// The last line that the job printed.
    pub(crate) fn last_line(&self) -> String {
        let bytes = files::read(&self.output()).unwrap_or_default();
        let said = String::from_utf8_lossy(&bytes);
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        last.unwrap_or_default().to_owned()
    }

    /// Says that this process waits for the job, as long as the returned value lives. `None` if
    /// another process waits already.
    pub(crate) fn await_job(&self) -> Result<Option<Waiter>, StoreError> {
        let path = self.folder.join("waiter");
        let lock = files::try_lock_file(&path).map_err(StoreError::at(&path))?;
        Ok(lock.map(Waiter))
    }

    /// Asks the job to end by itself. The job then ends its engine first, so that it loses least.
    pub(crate) fn ask_to_end(&self) -> Result<(), StoreError> {
        publish(&self.folder.join("cancel"), b"")
    }

    /// Whether the job was asked to end.
    pub(crate) fn is_asked_to_end(&self) -> bool {
        self.folder.join("cancel").exists()
    }

    /// Notes that no job of this attempt is left, so that nobody looks for one again.
    pub(crate) fn close(&self) -> Result<(), StoreError> {
        publish(&self.folder.join("closed"), b"")
    }

    /// Whether a job of this attempt may still run or wait.
    pub(crate) fn is_open(&self) -> bool {
        self.result().is_none() && !self.folder.join("closed").exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_open_until_its_own_job_reports() {
        let folder = tempfile::tempdir().unwrap();
        let attempt = Attempt::begin(folder.path(), Purpose::Drive).unwrap();
        let other = Attempt::begin(folder.path(), Purpose::Drive).unwrap();
        assert_ne!(attempt.token(), other.token());
        assert!(attempt.is_open() && !attempt.is_asked_to_end());
        let result = JobResult {
            token: other.token().to_owned(),
            restarts: 0,
            node: "n1".to_owned(),
            exit_code: 0,
            refusal: None,
        };
        // The result of another job does not count.
        attempt.report(&result).unwrap();
        assert_eq!(attempt.result(), None);
        let own = JobResult { token: attempt.token().to_owned(), ..result };
        attempt.report(&own).unwrap();
        assert_eq!(attempt.result(), Some(own));
        other.ask_to_end().unwrap();
        assert!(!attempt.is_open() && other.is_open() && other.is_asked_to_end());
        other.close().unwrap();
        assert!(!other.is_open());
        assert_eq!(Attempt::all(folder.path()).len(), 2);
    }
}

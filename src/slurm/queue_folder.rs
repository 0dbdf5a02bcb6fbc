//! The jobs that all processes of one user watch in one store, and the last answer of `squeue`
//! about them. The folder is on a disk that the nodes share. Locks say whether a process still
//! watches its job, and whether a process asks now: clocks of machines may differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::files;
use crate::store::{attempt_name, replace};

use super::fate::Look;
use super::listing::Listed;

/// Least time between two calls.
const LEAST_INTERVAL: Duration = Duration::from_millis(1500);

/// Most time between two calls.
const MOST_INTERVAL: Duration = Duration::from_secs(15);

/// The time until the next call, as a multiple of the duration of the last one.
const BACK_OFF: u32 = 5;

/// One answer of the controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// A name that no other answer has.
    pub name: String,
    /// The tokens of the jobs that the controller was asked about. The answer says nothing about
    /// other jobs, for example those that were submitted later.
    asked: BTreeSet<String>,
    /// The jobs that it listed; `None` if it did not answer.
    listed: Option<Vec<Listed>>,
    /// How long the call took, milliseconds.
    took_ms: u64,
}

impl Answer {
    /// The answer about these jobs (token and number).
    pub(super) fn new(
        jobs: BTreeMap<String, String>,
        listed: Option<Vec<Listed>>,
        took: Duration,
    ) -> Self {
        let asked = jobs.into_keys().collect();
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Self { name: attempt_name(), asked, listed, took_ms }
    }

    /// How long the call took.
    pub(super) fn took(&self) -> Duration {
        Duration::from_millis(self.took_ms)
    }

    /// How long to wait before the next call: longer if the controller answers slowly.
    pub(super) fn interval(&self) -> Duration {
        self.took().saturating_mul(BACK_OFF).clamp(LEAST_INTERVAL, MOST_INTERVAL)
    }

    /// Whether the controller was asked about this job.
    pub(super) fn is_about(&self, token: &str) -> bool {
        self.asked.contains(token)
    }

    /// All jobs that it listed.
    pub(super) fn listed(&self) -> &[Listed] {
        self.listed.as_deref().unwrap_or_default()
    }

    /// What it says of a job.
    pub(super) fn of(&self, token: &str) -> Look {
        let Some(all) = self.listed.as_ref().filter(|_| self.is_about(token)) else {
            return Look::Unknown;
        };
        // The name too: after a crash of the controller a number may be another job's.
        let job = all.iter().find(|job| job.name == token);
        job.map_or(Look::Missing, |job| Look::Listed(job.clone()))
    }
}

/// A watched job, as other processes see it. Its file disappears when this value is dropped; if
/// the process is killed, the lock is free, and whoever asks next removes the file.
#[derive(Debug)]
pub(super) struct Entry {
    path: PathBuf,
    #[expect(dead_code, reason = "held, never read")]
    lock: File,
}

impl Entry {
    /// Whether other processes see it.
    pub(super) fn is_there(&self) -> bool {
        self.path.exists()
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).ok();
    }
}

/// The right to ask the controller, as long as this value lives.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "held, never read")] File);

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct QueueFolder(PathBuf);

impl QueueFolder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    fn watched(&self) -> PathBuf {
        self.0.join("watched")
    }

    /// Lets whoever asks next ask about this job too.
    pub(super) fn watch(&self, token: &str, id: &str) -> io::Result<Entry> {
        std::fs::create_dir_all(self.watched())?;
        let path = self.watched().join(format!("{id}.{token}"));
        match files::try_lock_file(&path)? {
            Some(lock) => Ok(Entry { path, lock }),
            // Whoever asks now tests this lock.
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// The jobs that living processes watch: token and number. Removes those of dead ones.
    pub(super) fn jobs(&self) -> io::Result<BTreeMap<String, String>> {
        let mut jobs = BTreeMap::new();
        for entry in std::fs::read_dir(self.watched())? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let Some((id, token)) = name.split_once('.') else { continue };
            let path = self.watched().join(&name);
            match files::try_lock_file(&path) {
                Ok(Some(_lock)) => drop(std::fs::remove_file(&path)),
                Ok(None) => drop(jobs.insert(token.to_owned(), id.to_owned())),
                // One file that cannot be opened hides no other job.
                Err(_) => {}
            }
        }
        Ok(jobs)
    }

    /// Takes the right to ask; `None` if another process asks now.
    pub(super) fn turn(&self) -> io::Result<Option<Turn>> {
        std::fs::create_dir_all(&self.0)?;
        Ok(files::try_lock_file(&self.0.join("lock"))?.map(Turn))
    }

    /// The last answer; `None` if there is none that can be read.
    pub(super) fn answer(&self) -> Option<Answer> {
        serde_json::from_slice(&files::read(&self.0.join("answer.json")).ok()?).ok()
    }

    /// Gives an answer to all processes. `_turn`: only one process may write.
    pub(super) fn put(&self, answer: &Answer, _turn: &Turn) -> io::Result<()> {
        let bytes = serde_json::to_vec(answer).expect("an answer is plain data");
        replace(&self.0.join("answer.json"), &bytes, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_controller_is_asked_less_often() {
        let interval = |ms| {
            Answer::new(BTreeMap::new(), None, Duration::from_millis(ms)).interval().as_millis()
        };
        assert_eq!([interval(7), interval(1000), interval(20_000)], [1500, 5000, 15_000]);
    }

    #[test]
    fn an_answer_says_nothing_of_a_job_that_it_was_not_asked_about() {
        let jobs = BTreeMap::from([("a".to_owned(), "7".to_owned())]);
        let answer = Answer::new(jobs.clone(), Some(Vec::new()), Duration::ZERO);
        assert_eq!([answer.of("a"), answer.of("b")], [Look::Missing, Look::Unknown]);
        let none = Answer::new(jobs, None, Duration::ZERO);
        assert_eq!(none.of("a"), Look::Unknown);
    }

    #[test]
    fn a_job_is_watched_as_long_as_its_process_lives() {
        let place = tempfile::tempdir().unwrap();
        let folder = QueueFolder::new(place.path().join("squeue"));
        let entry = folder.watch("bisect-ppl-1-a-0", "7").unwrap();
        // A killed process leaves its file, without a lock.
        let left = place.path().join("squeue/watched/8.bisect-ppl-1-b-0");
        std::fs::write(&left, "").unwrap();
        let jobs = folder.jobs().unwrap();
        assert_eq!(jobs, BTreeMap::from([("bisect-ppl-1-a-0".to_owned(), "7".to_owned())]));
        assert!(!left.exists() && entry.is_there());
        drop(entry);
        assert!(folder.jobs().unwrap().is_empty());
    }
}

//! Looks at the jobs of one process, with one call of `squeue` for all of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::client::{SlurmError, call, last_line};
use super::fate::Look;
use super::listing::{COLUMNS, Listed, listed};

/// Time between two calls.
const POLL_INTERVAL: Duration = Duration::from_millis(1500);

/// The jobs that are watched. Clones share one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue(Arc<Mutex<Watched>>);

#[derive(Debug, Default)]
struct Watched {
    /// The number of each job, by its token.
    jobs: BTreeMap<String, String>,
    /// When the controller was last asked, and its answer.
    last: Option<(Instant, Option<Vec<Listed>>)>,
}

impl Queue {
    /// Watches a job.
    pub(super) fn add(&self, token: &str, id: &str) {
        self.with(|watched| {
            watched.jobs.insert(token.to_owned(), id.to_owned());
            // The last answer does not have the job.
            watched.last = None;
        });
    }

    /// Watches a job no longer.
    pub(super) fn remove(&self, token: &str) {
        self.with(|watched| drop(watched.jobs.remove(token)));
    }

    /// What the controller says of a watched job. Asks it only if its last answer is old.
    pub(super) fn look(&self, token: &str) -> Look {
        self.with(|watched| {
            let is_new = |(at, _): &(Instant, _)| at.elapsed() < POLL_INTERVAL;
            if !watched.last.as_ref().is_some_and(is_new) {
                let ids: Vec<String> = watched.jobs.values().cloned().collect();
                // A controller that gave no answer is asked again after the same time.
                let answer = ask(&ids).ok();
                watched.last = Some((Instant::now(), answer));
            }
            let Some((_, Some(all))) = &watched.last else { return Look::Unknown };
            // The name too: after a crash of the controller a number may be another job's.
            let is_it = |job: &&Listed| job.name == token;
            all.iter().find(is_it).map_or(Look::Missing, |job| Look::Listed(job.clone()))
        })
    }

    fn with<T>(&self, action: impl FnOnce(&mut Watched) -> T) -> T {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The jobs with these numbers that the controller knows.
fn ask(ids: &[String]) -> Result<Vec<Listed>, SlurmError> {
    let words = ["-h", "-t", "all", "-j", &ids.join(","), "-O", COLUMNS].map(str::to_owned);
    let output = call("squeue", words)?;
    let said = last_line(&output);
    // squeue leaves out unknown numbers among known ones. If it knows none of them, it fails.
    if !output.ended.is_success() && !said.contains("Invalid job id") {
        return Err(SlurmError::Unanswered { program: "squeue", said });
    }
    Ok(listed(&String::from_utf8_lossy(&output.stdout)))
}

/// The job with this name, if the controller knows one.
pub(super) fn named(token: &str) -> Result<Option<Listed>, SlurmError> {
    let words = ["-h", "-t", "all", "-n", token, "-O", COLUMNS].map(str::to_owned);
    let text = super::client::answer("squeue", words)?;
    Ok(listed(&text).into_iter().find(|job| job.name == token))
}

//! Looks at jobs, with one call of `squeue`, and if needed of `sinfo`, for all processes of one user
//! and store.
//!
//! A process that watches a job says so in a folder that all processes see. The one whose answer is
//! old takes the turn, asks about all watched jobs, and writes the answer into the folder. An
//! answer counts from the moment when a process first sees it, so clocks are never compared.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::client::{SlurmError, call, last_line};
use super::fate::Look;
use super::listing::{COLUMNS, Listed, listed};
use super::missing_nodes::name_missing_nodes;
use super::partition::NodeStates;
use super::queue_folder::{Answer, Entry, QueueFolder};

/// Time between two looks for a new answer in the folder.
const READ_INTERVAL: Duration = Duration::from_millis(200);

/// For how long an answer is taken for the state of the jobs now.
const FRESH: Duration = Duration::from_secs(3);

/// How long another process may have the turn without a new answer; a call has a shorter time-out.
/// After that, this process asks about its own jobs alone: the other one may be suspended.
const LATE: Duration = Duration::from_secs(30);

/// The jobs that a process watches. Clones share one state.
#[derive(Clone, Debug)]
pub(crate) struct Queue(Arc<Mutex<Watched>>);

/// The jobs that the controller listed, of those with these numbers; `None` if it did not answer.
/// Gets the jobs of the last answer too.
type Ask<'a> = &'a mut dyn FnMut(&[String], &[Listed]) -> Option<Vec<Listed>>;

#[derive(Debug)]
struct Watched {
    folder: QueueFolder,
    /// By token.
    jobs: BTreeMap<String, Job>,
    /// The last answer, and when this process first saw it.
    last: Option<(Instant, Answer)>,
    /// The name of the last answer that was read from the folder.
    read: Option<String>,
    /// When the folder was last looked at.
    read_at: Option<Instant>,
    /// Since when another process has had the turn without a new answer.
    blocked_since: Option<Instant>,
}

#[derive(Debug)]
struct Job {
    id: String,
    /// `None` if the folder does not have it yet.
    entry: Option<Entry>,
}

impl Queue {
    /// No job yet. `folder`: the one that all processes of this user and store share.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self(Arc::new(Mutex::new(Watched::new(folder))))
    }

    /// Watches a job.
    pub(super) fn add(&self, token: &str, id: &str) {
        self.with(|watched| watched.add(token, id));
    }

    /// Watches a job no longer.
    pub(super) fn remove(&self, token: &str) {
        self.with(|watched| drop(watched.jobs.remove(token)));
    }

    /// What the controller says of a watched job. Asks it only if the last answer is old and no
    /// other process asks.
    pub(super) fn look(&self, token: &str) -> Look {
        let mut ask = |ids: &[String], last: &[Listed]| {
            let jobs = call_squeue(ids).ok()?;
            // If sinfo does not answer, Slurm's reasons alone are told.
            Some(name_missing_nodes(jobs, last, || NodeStates::ask().unwrap_or_default()))
        };
        self.with(|watched| watched.look(token, Instant::now(), &mut ask))
    }

    /// The name of the last answer.
    pub(super) fn last_answer(&self) -> Option<String> {
        self.with(|watched| watched.last.as_ref().map(|(_, answer)| answer.name.clone()))
    }

    fn with<T>(&self, action: impl FnOnce(&mut Watched) -> T) -> T {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Watched {
    fn new(folder: PathBuf) -> Self {
        Self {
            folder: QueueFolder::new(folder),
            jobs: BTreeMap::new(),
            last: None,
            read: None,
            read_at: None,
            blocked_since: None,
        }
    }

    fn add(&mut self, token: &str, id: &str) {
        let entry = self.folder.watch(token, id).ok();
        self.jobs.insert(token.to_owned(), Job { id: id.to_owned(), entry });
    }

    fn look(&mut self, token: &str, now: Instant, ask: Ask<'_>) -> Look {
        if self.read_at.is_none_or(|at| now.saturating_duration_since(at) >= READ_INTERVAL) {
            self.read_at = Some(now);
            self.refresh(now, ask);
        }
        match &self.last {
            Some((at, answer)) if now.saturating_duration_since(*at) <= FRESH => answer.of(token),
            _ => Look::Unknown,
        }
    }

    fn refresh(&mut self, now: Instant, ask: Ask<'_>) {
        self.take_new(now);
        self.show_all();
        if let Some((at, answer)) = &self.last
            && now.saturating_duration_since(*at) < answer.interval()
        {
            return;
        }
        match self.folder.turn() {
            Ok(Some(turn)) => {
                self.blocked_since = None;
                // Another process may have asked before this one got its turn.
                if self.take_new(now) {
                    return;
                }
                let mut jobs = self.folder.jobs().unwrap_or_default();
                jobs.extend(self.own());
                let answer = self.asked(jobs, ask);
                // If the disk is full, this process has the answer alone, and the folder an older
                // one.
                if self.folder.put(&answer, &turn).is_ok() {
                    self.read = Some(answer.name.clone());
                }
                self.last = Some((now + answer.took(), answer));
            }
            Ok(None) => {
                let since = *self.blocked_since.get_or_insert(now);
                if now.saturating_duration_since(since) >= LATE {
                    self.ask_alone(now, ask);
                }
            }
            // A disk without locks shares no answers.
            Err(_) => self.ask_alone(now, ask),
        }
    }

    fn ask_alone(&mut self, now: Instant, ask: Ask<'_>) {
        self.blocked_since = None;
        let answer = self.asked(self.own(), ask);
        self.last = Some((now + answer.took(), answer));
    }

    /// Takes over an answer of another process; returns whether there is a new one.
    fn take_new(&mut self, now: Instant) -> bool {
        let Some(answer) = self.folder.answer() else { return false };
        if self.read.as_ref() == Some(&answer.name) {
            return false;
        }
        self.read = Some(answer.name.clone());
        self.blocked_since = None;
        self.last = Some((now, answer));
        true
    }

    /// Makes a job's file again if it is gone and the last answer was not about this job. Another
    /// process may have removed the file, as one that a dead process left.
    fn show_all(&mut self) {
        for (token, job) in &mut self.jobs {
            let is_known = self.last.as_ref().is_some_and(|(_, answer)| answer.is_about(token));
            if !is_known && !job.entry.as_ref().is_some_and(Entry::is_there) {
                job.entry = None;
                job.entry = self.folder.watch(token, &job.id).ok();
            }
        }
    }

    fn own(&self) -> BTreeMap<String, String> {
        self.jobs.iter().map(|(token, job)| (token.clone(), job.id.clone())).collect()
    }

    /// Asks about these jobs (token and number).
    fn asked(&self, jobs: BTreeMap<String, String>, ask: Ask<'_>) -> Answer {
        let ids: Vec<String> = jobs.values().cloned().collect();
        let last = self.last.as_ref().map_or(&[][..], |(_, answer)| answer.listed());
        let begun = Instant::now();
        let listed = ask(&ids, last);
        Answer::new(jobs, listed, begun.elapsed())
    }
}

/// The jobs with these numbers that the controller knows.
fn call_squeue(ids: &[String]) -> Result<Vec<Listed>, SlurmError> {
    let words = ["-h", "-t", "all", "-j", &ids.join(","), "-O", COLUMNS].map(str::to_owned);
    let output = call("squeue", words)?;
    let said = last_line(&output);
    // squeue leaves out unknown numbers among known ones. If it knows none of them, it fails.
    if !output.ended.is_success() && !said.contains("Invalid job id") {
        return Err(SlurmError::Unanswered { program: "squeue", said });
    }
    Ok(listed(&String::from_utf8_lossy(&output.stdout)))
}

/// The job with this name, if the controller knows one. Asks by itself: for a job whose number got
/// lost.
pub(super) fn named(token: &str) -> Result<Option<Listed>, SlurmError> {
    let words = ["-h", "-t", "all", "-n", token, "-O", COLUMNS].map(str::to_owned);
    let text = super::client::answer("squeue", words)?;
    Ok(listed(&text).into_iter().find(|job| job.name == token))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::slurm::listing::State;

    /// A controller that runs each job it is asked about, under the names `a7` for number 7; and
    /// the numbers of each call.
    fn answering(
        calls: &RefCell<Vec<Vec<String>>>,
    ) -> impl FnMut(&[String], &[Listed]) -> Option<Vec<Listed>> {
        move |ids: &[String], _: &[Listed]| {
            calls.borrow_mut().push(ids.to_vec());
            let job = |id: &String| Listed {
                id: id.clone(),
                state: State::Alive,
                reason: String::new(),
                restarts: 0,
                partition: String::new(),
                name: format!("a{id}"),
            };
            Some(ids.iter().map(job).collect())
        }
    }

    /// Processes that share a folder, each with one job: `a0`, `a1`, …
    fn processes(place: &tempfile::TempDir, number: usize) -> Vec<Watched> {
        let process = |id: usize| {
            let mut process = Watched::new(place.path().join("squeue"));
            process.add(&format!("a{id}"), &id.to_string());
            process
        };
        (0..number).map(process).collect()
    }

    fn after(begun: Instant, ms: u64) -> Instant {
        begun + Duration::from_millis(ms)
    }

    #[test]
    fn many_processes_ask_together_at_most_once_a_second() {
        let place = tempfile::tempdir().unwrap();
        let mut all = processes(&place, 40);
        let (begun, calls) = (Instant::now(), RefCell::default());
        let mut ask = answering(&calls);
        let mut looks = Vec::new();
        for ms in (0..10_000).step_by(100) {
            looks.clear();
            for (id, process) in all.iter_mut().enumerate() {
                looks.push(process.look(&format!("a{id}"), after(begun, ms), &mut ask));
            }
        }
        assert!(looks.iter().all(|look| matches!(look, Look::Listed(_))), "{looks:?}");
        let calls = calls.borrow();
        assert!((5..=10).contains(&calls.len()), "{} calls in 10 s", calls.len());
        assert!(calls.iter().all(|ids| ids.len() == 40), "{calls:?}");
    }

    #[test]
    fn a_job_that_was_submitted_after_an_answer_is_not_missing_from_it() {
        let place = tempfile::tempdir().unwrap();
        let (begun, calls) = (Instant::now(), RefCell::default());
        let mut ask = answering(&calls);
        let mut first = processes(&place, 1).remove(0);
        assert!(matches!(first.look("a0", begun, &mut ask), Look::Listed(_)));
        // A new process sees the answer, however old it is.
        let mut second = Watched::new(place.path().join("squeue"));
        second.add("a7", "7");
        assert_eq!(second.look("a7", after(begun, 60_000), &mut ask), Look::Unknown);
        let look = second.look("a7", after(begun, 62_000), &mut ask);
        assert!(matches!(look, Look::Listed(job) if job.id == "7"));
        let calls = calls.borrow();
        assert_eq!(*calls, [vec!["0".to_owned()], vec!["0".to_owned(), "7".to_owned()]]);
    }

    #[test]
    fn an_answer_that_cannot_be_written_is_not_replaced_by_an_older_one() {
        let place = tempfile::tempdir().unwrap();
        let (begun, calls) = (Instant::now(), RefCell::default());
        let mut ask = answering(&calls);
        let mut process = processes(&place, 1).remove(0);
        process.look("a0", begun, &mut ask);
        std::fs::create_dir(place.path().join("squeue/answer.json.new")).unwrap();
        for ms in [2000, 2300] {
            process.look("a0", after(begun, ms), &mut ask);
        }
        assert_eq!(calls.borrow().len(), 2);
        let (_, last) = process.last.unwrap();
        assert_ne!(last.name, process.folder.answer().unwrap().name);
    }

    #[test]
    fn an_answer_that_nobody_renews_says_nothing() {
        let place = tempfile::tempdir().unwrap();
        let (begun, calls) = (Instant::now(), RefCell::default());
        let mut ask = answering(&calls);
        let mut process = processes(&place, 1).remove(0);
        assert!(matches!(process.look("a0", begun, &mut ask), Look::Listed(_)));
        // Another process asks, and is suspended.
        let turn = process.folder.turn().unwrap().unwrap();
        assert!(matches!(process.look("a0", after(begun, 2000), &mut ask), Look::Listed(_)));
        assert_eq!(process.look("a0", after(begun, 9000), &mut ask), Look::Unknown);
        let look = process.look("a0", after(begun, 40_000), &mut ask);
        assert!(matches!(look, Look::Listed(_)), "nobody asks for ever: {look:?}");
        // A killed process blocks nobody: the system frees its lock.
        drop(turn);
        assert!(matches!(process.look("a0", after(begun, 42_000), &mut ask), Look::Listed(_)));
        assert_eq!(calls.borrow().len(), 3);
    }
}

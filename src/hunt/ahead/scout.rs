//! Measures ahead while git drives a search: a thread of the driver watches git's session, asks git
//! what it would choose after each answer, and gives these commits to workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::evaluation::{CommitId, Verdict};
use crate::git::{BisectSession, log_with};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::strategy::SearchStrategy;
use crate::hunt::terms::SearchTerms;
use crate::oracle::measures_of;

use super::crew::{Crew, PAUSE};
use super::forecast::{Answer, forecast};
use super::job::AheadJob;

/// Time between two looks whether workers that wait for nodes have begun.
const QUEUE_PAUSE: Duration = Duration::from_millis(300);

/// The thread that measures ahead. Dropping this value ends the thread and its workers.
pub(crate) struct Scout {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Scout {
    /// Starts the thread; `None` if the hunt has one slot, or measures speed in a cluster.
    pub(crate) fn begin(
        driver: &mut Driver<'_>,
        session: &BisectSession,
        search_range: &SearchRange,
        strategy: &SearchStrategy,
    ) -> Result<Option<Self>, HuntError> {
        if driver.needs_one_node(&strategy.targets) {
            return Ok(None);
        }
        let Some(mut crew) = driver.crew()? else { return Ok(None) };
        let measures = measures_of(&strategy.targets);
        let may_check = strategy.noisy().is_none() && !driver.is_any_exclusive(&measures);
        // The endpoints are measured.
        if may_check && driver.needs_slot_check(&measures, true)? {
            crew.start(&driver.slot_check(&measures));
        }
        let path = driver.hunt.ahead_repository();
        let trial =
            BisectSession::open(driver.oracle.history.repository(), &path, &search_range.newer)?;
        let mut work = Work {
            session: session.clone(),
            trial,
            crew,
            terms: search_range.terms,
            tried: BTreeSet::new(),
            known: BTreeMap::new(),
            asked: BTreeMap::new(),
            log: String::new(),
            held_back: None,
        };
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_over);
        let watch = move || {
            let mut result = Ok(());
            while result.is_ok() && !flag.load(Ordering::SeqCst) {
                result = work.look();
                std::thread::sleep(PAUSE);
            }
            // An error here is ignored: the search measures by itself what is missing.
            let ended = work.crew.end();
            drop((result, ended));
        };
        let thread = std::thread::Builder::new().name("scout".to_owned()).spawn(watch).ok();
        Ok(Some(Self { is_over, thread }))
    }
}

impl Drop for Scout {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

struct Work {
    /// The session that git drives.
    session: BisectSession,
    /// A second session, in which git is asked what it would choose.
    trial: BisectSession,
    crew: Crew,
    terms: SearchTerms,
    /// The commits that a worker measured or failed to measure.
    tried: BTreeSet<CommitId>,
    /// The verdicts of workers in this search.
    known: BTreeMap<CommitId, Verdict>,
    /// For each log of marks that git was given: the commit that git would ask about next.
    asked: BTreeMap<String, Option<CommitId>>,
    /// The log of the session at the last look.
    log: String,
    /// When workers were last kept from starting, because others wait for nodes.
    held_back: Option<Instant>,
}

impl Work {
    /// Looks at the session and the workers, and acts if something changed.
    fn look(&mut self) -> Result<(), HuntError> {
        let log = self.session.log();
        let is_answered = log != self.log;
        let ended = self.crew.reap()?;
        if !is_answered && ended.is_empty() && !self.is_time_to_start_more() {
            return Ok(());
        }
        let ended = ended.into_iter().filter_map(|(commit, verdict)| Some((commit, verdict?)));
        self.known.extend(ended.filter(|(_, verdict)| *verdict != Verdict::Unknown));
        if is_answered {
            let open = self.session.open_among(self.crew.commits())?;
            self.crew.cancel(|commit| !open.contains(commit));
            self.log = log;
        }
        let (free, room) = (self.crew.free(), self.crew.room());
        self.held_back = (room < free).then(Instant::now);
        if room == 0 {
            return Ok(());
        }
        let (trial, asked, log) = (&self.trial, &mut self.asked, &self.log);
        let aim = self.terms.aim();
        let next = |answers: &[Answer]| -> Result<_, HuntError> {
            let marks = log_with(log, aim, answers);
            if let Some(next) = asked.get(&marks) {
                return Ok(next.clone());
            }
            let next = trial.would_ask(&marks)?;
            asked.insert(marks, next.clone());
            Ok(next)
        };
        let known = |commit: &CommitId| self.known.get(commit).copied();
        let busy: Vec<CommitId> = self.crew.commits().cloned().collect();
        let most = room + busy.len();
        // A commit that an earlier worker built, or began to build, gets a worker again, also if the
        // search asks for it now: the build is in a worker's slot, or is made again there.
        let has_worker = |commit: &CommitId| {
            busy.contains(commit) || (!self.tried.contains(commit) && self.crew.has_build(commit))
        };
        let wanted = forecast(most, next, known, has_worker)?;
        let new: Vec<CommitId> = wanted
            .into_iter()
            .filter(|commit| !busy.contains(commit) && !self.tried.contains(commit))
            .take(room)
            .collect();
        for commit in new {
            // Workers that were just cancelled may still have their slots. What finds no slot now
            // gets one when they have ended.
            if !self.crew.start(&AheadJob::of_search(commit.clone())) {
                break;
            }
            self.tried.insert(commit);
        }
        Ok(())
    }

    /// Whether workers that were kept from starting may start now. Looks only now and then: each look
    /// reads a file of each worker.
    fn is_time_to_start_more(&mut self) -> bool {
        let Some(since) = self.held_back else { return false };
        if since.elapsed() < QUEUE_PAUSE {
            return false;
        }
        let has_room = self.crew.room() > 0;
        self.held_back = (!has_room).then(Instant::now);
        has_room
    }
}

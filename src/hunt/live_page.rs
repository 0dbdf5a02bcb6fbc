//! Writes `report.html` again and again while a hunt runs, from the hunt's folder.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use crate::evaluation::CommitId;
use crate::git::{History, Repository};
use crate::hunt::begin::open::{begun, history};
use crate::hunt::beside::place_beside;
use crate::oracle::{Activity, Task};
use crate::process::last_lines;
use crate::report::{self, Now, Pace, Report};
use crate::store::journal::LimitsInForce;
use crate::store::{HuntDir, Store, replace};

/// How often to look whether something changed.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Shortest time between two pages.
const SHORTEST: Duration = Duration::from_secs(1);

/// Longest time between two pages: the time in the page shows that the hunt lives.
const LONGEST: Duration = Duration::from_secs(5);

/// If reading the journal for the page took a time t, the journal is not read again for this many
/// times t. So the page takes at most 2 % of one core, and leaves the rest to the measured
/// programs.
const PAUSE: u32 = 50;

/// How far the modification time of a live page is set back. A web server answers "not modified" if
/// the file's time is in the same second as that of the reader's copy. The last page, which is
/// written without this, must not be in the same second as a live one: nobody would see it.
const AGE: Duration = Duration::from_secs(2);

/// Most lines of output in the page.
const MOST_LINES: usize = 8;

/// A thread that writes the page while this value lives.
pub(crate) struct LivePage {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LivePage {
    /// Starts the thread. It writes nothing but the page. If it fails, the hunt goes on.
    pub(crate) fn begin(repository: &Repository, hunt: &HuntDir) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&over);
        let (repository, hunt) = (repository.clone(), hunt.clone());
        let write = move || {
            let mut writer = Writer::new(&repository, hunt);
            while !flag.load(Ordering::Relaxed) {
                writer.look();
                std::thread::park_timeout(POLL_INTERVAL);
            }
        };
        let thread = std::thread::Builder::new().name("page".to_owned()).spawn(write).ok();
        Self { over, thread }
    }
}

impl Drop for LivePage {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The message of a panic is on stderr; the hunt goes on without a page.
            let _ = thread.join();
        }
    }
}

struct Writer {
    hunt: HuntDir,
    store: Option<Store>,
    history: Option<History>,
    subjects: BTreeMap<CommitId, String>,
    page: Option<report::LivePage>,
    pace: Pace,
    limits: LimitsInForce,
    /// The length of the journal from which the page was made.
    length: u64,
    /// When the page was made from the journal, and how long that took.
    made: Option<(Instant, Duration)>,
    written: Option<Instant>,
    /// What the written page shows.
    shown: (Option<Activity>, Vec<String>),
}

impl Writer {
    fn new(repository: &Repository, hunt: HuntDir) -> Self {
        let begun = begun(&hunt).ok();
        Self {
            store: Store::open(repository.common_dir()).ok(),
            history: begun.and_then(|begun| history(repository, &begun).ok()),
            hunt,
            subjects: BTreeMap::new(),
            page: None,
            pace: Pace::default(),
            limits: LimitsInForce::default(),
            length: 0,
            made: None,
            written: None,
            shown: (None, Vec::new()),
        }
    }

    /// Writes the page if something changed and enough time has passed.
    fn look(&mut self) {
        let written = self.written.map(|at| at.elapsed());
        if written.is_some_and(|ago| ago < SHORTEST) {
            return;
        }
        let is_made = self.make();
        let Some(page) = &self.page else { return };
        let doing = Activity::read(&self.hunt.now_path());
        let lines = doing.as_ref().map(|doing| self.lines(doing)).unwrap_or_default();
        let ahead = self.ahead();
        let shown = (doing, lines);
        if !is_made && shown == self.shown && written.is_some_and(|ago| ago < LONGEST) {
            return;
        }
        let now = shown.0.as_ref().and_then(|doing| {
            let measure = Some(doing.measure.as_deref()).filter(|_| doing.waits.is_none());
            Some(Now {
                doing: words(doing),
                at: doing.at.as_ref().map(|(commit, phase)| {
                    let subject = subject(&mut self.subjects, self.history.as_ref(), commit);
                    (commit.clone(), subject, *phase)
                }),
                since: doing.since.parse().ok()?,
                usual: measure.and_then(|measure| self.pace.usual(measure)),
                ahead: ahead.clone(),
                lines: shown.1.clone(),
            })
        });
        let text = page.at(now.as_ref(), &self.pace, &self.limits);
        let file = self.hunt.path().join("report.html");
        // A page that cannot be written now is written at the next change; the disk may be full.
        replace(&file, text.as_bytes(), Some(SystemTime::now() - AGE)).ok();
        self.written = Some(Instant::now());
        self.shown = shown;
    }

    /// Makes the page from the journal if the journal has grown and the pause is over; returns
    /// whether it did.
    fn make(&mut self) -> bool {
        let length = std::fs::metadata(self.hunt.journal_path()).map_or(0, |meta| meta.len());
        let is_early = self.made.is_some_and(|(at, took)| at.elapsed() < took * PAUSE);
        if length == self.length || is_early {
            return false;
        }
        let begun = Instant::now();
        let (Ok(entries), Ok(report)) = (self.hunt.entries(), Report::of(&self.hunt)) else {
            return false;
        };
        self.page = report::LivePage::of(&report);
        self.pace = Pace::of(&entries);
        self.limits = LimitsInForce::of(&entries);
        self.length = length;
        self.made = Some((begun, begun.elapsed()));
        true
    }

    /// What happens in the other slots: `slot 2: run ppl at 1a2b3c4d5e`; `None` if there are none.
    fn ahead(&self) -> Option<Vec<String>> {
        let slots = self.hunt.slots_at_work().ok()??.into_iter();
        let doing = slots.filter_map(|(slot, path)| Some((slot, Activity::read(&path)?)));
        let words = doing.map(|(slot, doing)| {
            let place = place_beside(&self.hunt, slot);
            let at = doing.at.as_ref();
            let at = at.map_or_else(String::new, |(commit, _)| format!(" at {}", commit.short()));
            format!("{place}: {}{at}", words(&doing))
        });
        Some(words.collect())
    }

    fn lines(&self, doing: &Activity) -> Vec<String> {
        let output = self.store.as_ref().and_then(|store| store.output_now(doing.process));
        output.and_then(|path| last_lines(&path, MOST_LINES).ok()).unwrap_or_default()
    }
}

/// `build, 12 of 345`, `run ppl`, or what the hunt waits for.
fn words(doing: &Activity) -> String {
    if let Some(why) = &doing.waits {
        return why.clone();
    }
    let measure = doing.measure.as_ref().map_or_else(String::new, |measure| format!(" {measure}"));
    let build = doing.build.map_or_else(String::new, |progress| format!(", {progress}"));
    let task: Task = doing.doing;
    format!("{task}{measure}{build}")
}

fn subject(
    known: &mut BTreeMap<CommitId, String>,
    history: Option<&History>,
    commit: &CommitId,
) -> String {
    let read = || history.and_then(|history| Some(history.info(commit).ok()?.subject));
    known.entry(commit.clone()).or_insert_with(|| read().unwrap_or_default()).clone()
}

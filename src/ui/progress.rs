//! The progress of a hunt: a moving line on a terminal, finished lines elsewhere.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::evaluation::{CommitId, Verdict};

use super::sanitize::for_terminal;
use super::wrap::wrap;
use super::{style, text};

/// The current activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Builds a commit.
    Building {
        /// The commit.
        commit: CommitId,
        /// First line of its message.
        subject: String,
        /// How far the build is, in a few words.
        progress: Option<String>,
    },
    /// Runs a measure at a commit.
    Running {
        /// The measure.
        measure: String,
        /// Number of the run, from 1, and the number of all runs, if known.
        run: Option<(u32, u32)>,
        /// The commit.
        commit: CommitId,
        /// First line of its message.
        subject: String,
    },
    /// Anything else, in a few words.
    Other(String),
}

/// The progress display. Clones are cheap and share one line.
#[derive(Clone)]
pub(crate) struct Progress {
    status: Arc<Mutex<Status>>,
    sink: Sink,
}

#[derive(Clone)]
enum Sink {
    Bar(ProgressBar),
    Plain(Arc<Mutex<dyn Write + Send>>),
}

#[derive(Clone, Debug, Default)]
struct Status {
    activity: Option<Activity>,
    since: Option<Instant>,
    /// When the hunt would have begun if it had never been interrupted: now minus the time it ran.
    begun: Option<Instant>,
    /// What follows a search, in a word.
    after_search: Option<&'static str>,
    steps_done: usize,
    left: Option<(usize, Option<usize>)>,
    time_left: Option<(Duration, Instant)>,
}

impl Progress {
    /// A display on stderr; `tty` tells whether stderr is a terminal (see
    /// [`Ui::is_terminal`](super::Ui::is_terminal)).
    pub(crate) fn new(tty: bool) -> Self {
        if !tty {
            return Self::plain(std::io::stderr());
        }
        let status = Arc::new(Mutex::new(Status::default()));
        let shown = Arc::clone(&status);
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // indicatif cuts `wide_msg` to the width of the terminal, but not the clock.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {clock}") {
            let clock = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = out.write_str(&lock(&shown).clock(Instant::now()));
            };
            bar.set_style(style.with_key("clock", clock));
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { status, sink: Sink::Bar(bar) }
    }

    /// A display without a moving line, on any writer.
    pub(super) fn plain(writer: impl Write + Send + 'static) -> Self {
        Self { status: Arc::default(), sink: Sink::Plain(Arc::new(Mutex::new(writer))) }
    }

    /// Sets the current activity, which began this long ago.
    pub(crate) fn now(&self, activity: Activity, ago: Duration) {
        self.change(|status| {
            status.activity = Some(activity);
            status.since = Instant::now().checked_sub(ago);
        });
    }

    /// Sets how long the hunt took so far.
    pub(crate) fn ran(&self, so_far: Duration) {
        self.change(|status| status.begun = Instant::now().checked_sub(so_far));
    }

    /// Begins a search: `commits` may be the first bad one, and about `steps` steps find it; `None`
    /// if the search makes no steps. `made`: the steps that an interrupted search made before, with
    /// the commits and steps that are left.
    pub(crate) fn search(
        &self,
        commits: usize,
        steps: Option<usize>,
        made: Option<(usize, (usize, usize))>,
    ) {
        self.change(|status| {
            status.after_search = None;
            (status.steps_done, status.left) = match made {
                Some((done, (commits, steps))) => (done, Some((commits, Some(steps)))),
                None => (0, Some((commits, steps))),
            };
        });
    }

    /// Ends a step: this many commits and steps are left.
    pub(crate) fn left(&self, commits: usize, steps: usize) {
        self.change(|status| {
            status.steps_done += 1;
            status.left = Some((commits, Some(steps)));
        });
    }

    /// Ends a search: the commit that it found is measured afresh.
    pub(crate) fn confirm(&self) {
        self.change(|status| {
            status.after_search = Some("confirming");
            status.left = None;
        });
    }

    /// Begins the measurements of other commits that follow a confirmation. `what`: their purpose,
    /// in a few words.
    pub(crate) fn check(&self, what: &'static str) {
        self.change(|status| {
            status.after_search = Some(what);
            (status.left, status.time_left) = (None, None);
        });
    }

    /// Begins the search for the cause inside a commit.
    pub(crate) fn localize(&self) {
        self.change(|status| {
            status.after_search = Some("localizing");
            (status.left, status.time_left) = (None, None);
        });
    }

    /// Sets the time left, which then counts down.
    pub(crate) fn time_left(&self, left: Option<Duration>) {
        self.change(|status| status.time_left = left.map(|left| (left, Instant::now())));
    }

    fn change(&self, change: impl FnOnce(&mut Status)) {
        let mut status = lock(&self.status);
        change(&mut status);
        let words = status.words();
        // Drawing the bar locks the status again.
        drop(status);
        if let Sink::Bar(bar) = &self.sink {
            bar.set_message(words);
        }
    }

    /// Prints a line that stays. The caller has cleaned the text.
    pub(crate) fn done_line(&self, line: &str) {
        match &self.sink {
            Sink::Bar(bar) => {
                let line = broken(line);
                bar.suspend(|| to(&mut anstream::stderr().lock(), &line));
            }
            Sink::Plain(writer) => to(&mut *lock(writer), line),
        }
    }

    /// Prints a line that ends with a subject; cuts it to the width of a terminal.
    pub(crate) fn row(&self, line: &str) {
        match &self.sink {
            Sink::Bar(_) => self.done_line(&cut(line)),
            Sink::Plain(_) => self.done_line(line),
        }
    }

    /// Prints the line of a judged commit, which begins with the verdict and ends with the subject;
    /// cuts and colours it on a terminal.
    pub(crate) fn verdict(&self, verdict: Verdict, line: &str) {
        match &self.sink {
            // Cut before it is coloured: colours have no width.
            Sink::Bar(bar) => {
                let line = style::verdict(verdict, &cut(line));
                bar.suspend(|| to(&mut anstream::stderr().lock(), &line));
            }
            Sink::Plain(_) => self.done_line(line),
        }
    }

    /// Prints a note that stays.
    pub(crate) fn note(&self, sentence: &str) {
        self.done_line(&format!("note: {}", text::line(sentence)));
    }

    /// Hides the moving line while `action` prints or asks.
    pub(crate) fn suspend<T>(&self, action: impl FnOnce() -> T) -> T {
        match &self.sink {
            Sink::Bar(bar) => bar.suspend(action),
            Sink::Plain(_) => action(),
        }
    }

    /// Removes the moving line.
    pub(crate) fn finish(&self) {
        if let Sink::Bar(bar) = &self.sink {
            bar.finish_and_clear();
        }
    }
}

/// Locks a mutex even if another thread panicked: the display must go on.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A line broken at words for the terminal at stderr.
fn broken(line: &str) -> String {
    let columns = style::columns(std::io::stderr());
    columns.map_or_else(|| line.to_owned(), |columns| wrap(line, columns))
}

/// A line cut to the width of the terminal at stderr.
fn cut(line: &str) -> String {
    let columns = style::columns(std::io::stderr());
    columns.map_or_else(|| line.to_owned(), |columns| text::shorten(line, columns))
}

/// Writes a line. Ignores errors: without stderr there is no place to report them.
fn to(writer: &mut dyn Write, line: &str) {
    let _ = writeln!(writer, "{}", for_terminal(line)).and_then(|()| writer.flush());
}

impl Status {
    /// `step 3 of about 6 · 12 commits left · building 1a2b3c4d5e subject`, without unknown parts.
    fn words(&self) -> String {
        let mut parts = Vec::new();
        if let Some(stage) = self.after_search {
            parts.push(stage.to_owned());
        } else if let Some((commits, steps)) = self.left.filter(|(commits, _)| *commits > 0) {
            if let Some(steps) = steps {
                let step = self.steps_done + 1;
                parts.push(format!("step {step} of about {}", self.steps_done + steps.max(1)));
            }
            let left = if steps.is_some() { " left" } else { "" };
            parts.push(format!("{}{left}", text::plural(commits, "commit")));
        }
        parts.extend(self.activity.as_ref().map(Activity::words));
        parts.join(" · ")
    }

    /// `· 0:12 (3:05 in all) · about 2 min left`, without unknown parts.
    fn clock(&self, now: Instant) -> String {
        let mut shown = String::new();
        if let Some(since) = self.since {
            let _ = write!(shown, "· {}", text::clock(now.saturating_duration_since(since)));
        }
        if let Some(begun) = self.begun {
            let _ =
                write!(shown, " ({} in all)", text::clock(now.saturating_duration_since(begun)));
        }
        if let Some((left, set_at)) = self.time_left {
            let left = left.saturating_sub(now.saturating_duration_since(set_at));
            let _ = write!(shown, " · {}", text::about(left));
        }
        shown
    }
}

impl Activity {
    fn words(&self) -> String {
        match self {
            Self::Building { commit, subject, progress } => {
                let progress = progress.iter().map(|progress| format!(", {progress}"));
                let progress: String = progress.collect();
                let name = text::commit(commit, &text::shorten(subject, 40));
                format!("building{progress}: {name}")
            }
            Self::Running { measure, run, commit, subject } => {
                let mut words = format!("running {measure}");
                if let Some((this, all)) = run {
                    let _ = write!(words, " {this}/{all}");
                }
                format!("{words} at {}", text::commit(commit, &text::shorten(subject, 40)))
            }
            Self::Other(words) => text::line(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit() -> CommitId {
        "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d".parse().unwrap()
    }

    #[test]
    fn the_status_line_says_where_the_hunt_is() {
        let now = Instant::now();
        let later = now + Duration::from_secs(12);
        let mut status = Status {
            activity: Some(Activity::Building {
                commit: commit(),
                subject: "kv: \x1b[2Jpad".into(),
                progress: Some("12 of 345".into()),
            }),
            since: Some(now),
            begun: Some(now),
            after_search: None,
            steps_done: 2,
            left: Some((12, Some(4))),
            time_left: Some((Duration::from_secs(130), now)),
        };
        assert_eq!(
            status.words(),
            "step 3 of about 6 · 12 commits left · building, 12 of 345: 1a2b3c4d5e kv: pad"
        );
        assert_eq!(status.clock(later), "· 0:12 (0:12 in all) · about 2 min left");
        status.activity = Some(Activity::Running {
            measure: "ppl".into(),
            run: Some((1, 3)),
            commit: commit(),
            subject: String::new(),
        });
        status.left = Some((1, Some(0)));
        status.time_left = None;
        status.begun = None;
        assert_eq!(
            status.words(),
            "step 3 of about 3 · 1 commit left · running ppl 1/3 at 1a2b3c4d5e"
        );
        assert_eq!(status.clock(later), "· 0:12");
        status.after_search = Some("confirming");
        assert_eq!(status.words(), "confirming · running ppl 1/3 at 1a2b3c4d5e");
        assert_eq!(Status::default().words() + &Status::default().clock(now), "");
    }

    #[test]
    fn without_a_terminal_only_finished_lines_come_out() {
        #[derive(Clone, Default)]
        struct Shared(Arc<Mutex<Vec<u8>>>);
        impl Write for Shared {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.lock().unwrap().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let written = Shared::default();
        let progress = Progress::plain(written.clone());
        progress.search(12, Some(4), None);
        progress.now(Activity::Other("looking".into()), Duration::ZERO);
        progress.left(6, 3);
        progress.confirm();
        progress.done_line("good     1a2b3c4d5e");
        progress.note("a thing\nworth \x1b[1mknowing");
        progress.suspend(|| ());
        progress.finish();
        let written = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert_eq!(written, "good     1a2b3c4d5e\nnote: a thing worth knowing\n");
    }
}

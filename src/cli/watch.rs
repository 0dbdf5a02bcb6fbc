//! Shows a running hunt from its journal and its current activity. `start`, `resume` and
//! `status --watch` use the same view.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::evaluation::{
    CommitId, ExclusionReason, GuardTarget, Judgement, Phase, Resource, Target, Value,
};
use crate::hunt::steps_of;
use crate::oracle::{Activity as Doing, Task};
use crate::report;
use crate::store::HuntDir;
use crate::store::journal::{Event, Plan, RunDone, SearchEnd};
use crate::ui::{Activity, Estimate, Progress, text};

/// How often the watcher reads the journal.
const LOOK: Duration = Duration::from_millis(150);

/// Most values shown per run; the others are counted. A dump of tensors has thousands.
const MOST_FIGURES: usize = 12;

/// A thread that shows a hunt.
pub struct Watch {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts the thread.
    pub fn begin(hunt: &HuntDir, is_terminal: bool) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let mut view = View::new(hunt.clone(), is_terminal);
        let flag = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            while !flag.load(Ordering::Relaxed) {
                view.look();
                std::thread::park_timeout(LOOK);
            }
            view.look();
            view.progress.finish();
        });
        Self { over, thread: Some(thread) }
    }

    /// Shows the remaining events and ends the thread.
    pub fn end(mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Wakes the thread, so that the end of the hunt does not wait for the next look.
            thread.thread().unpark();
            // The thread only prints; the message of a panic is already on stderr.
            let _ = thread.join();
        }
    }
}

/// The state of the hunt, from its journal.
struct View {
    hunt: HuntDir,
    progress: Progress,
    seen: usize,
    /// The journal's length in bytes when last read: an unchanged journal is not read again.
    length: u64,
    subjects: BTreeMap<CommitId, String>,
    targets: Vec<Target>,
    /// The targets of a search on a shorter text, if that is the current search.
    short: Option<Vec<Target>>,
    runs: Vec<RunDone>,
    builds: Vec<f64>,
    steps: usize,
    doing: Option<Doing>,
    has_waited: bool,
}

impl View {
    fn new(hunt: HuntDir, is_terminal: bool) -> Self {
        Self {
            hunt,
            progress: Progress::new(is_terminal),
            seen: 0,
            length: 0,
            subjects: BTreeMap::new(),
            targets: Vec::new(),
            short: None,
            runs: Vec::new(),
            builds: Vec::new(),
            steps: 0,
            doing: None,
            has_waited: false,
        }
    }

    fn look(&mut self) {
        let length = std::fs::metadata(self.hunt.journal_path()).map_or(0, |meta| meta.len());
        if length != self.length {
            self.length = length;
            // A journal that cannot be read now is read again after it grows.
            let entries = self.hunt.entries().unwrap_or_default();
            for entry in entries.iter().skip(self.seen) {
                if let Event::Plan(plan) = &entry.event {
                    self.plan(plan, &entry.at);
                }
                self.show(&entry.event);
            }
            self.seen = self.seen.max(entries.len());
        }
        let doing = std::fs::read(self.hunt.now_path())
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Doing>(&bytes).ok());
        if doing != self.doing {
            if let Some(doing) = &doing {
                self.progress.now(self.activity(doing));
                // Note only the first wait: a hunt that shares the machine waits before many
                // runs, and the moving line shows each wait.
                if doing.doing == Task::Wait && !std::mem::replace(&mut self.has_waited, true) {
                    self.progress.note(waits(doing));
                }
                self.progress.time_left(self.time_left());
            }
            self.doing = doing;
        }
    }

    fn activity(&self, doing: &Doing) -> Activity {
        let commit = doing.commit.clone();
        let subject = self.subject(&commit);
        match (doing.doing, &doing.measure) {
            (Task::Wait, _) => {
                Activity::Other(format!("{} {}", waits(doing), text::commit(&commit, &subject)))
            }
            (Task::Build, _) => Activity::Building { commit, subject },
            (Task::Run | Task::WarmUp, Some(measure)) => {
                Activity::Running { measure: measure.clone(), run: None, commit, subject }
            }
            (other, _) => Activity::Other(format!("{other} {}", commit.short())),
        }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Begun(begun) => {
                self.subjects.insert(begun.good.commit.clone(), begun.good.subject.clone());
                self.subjects.insert(begun.bad.commit.clone(), begun.bad.subject.clone());
                self.progress.done_line(&format!(
                    "good {}  bad {}  {} between",
                    text::commit(&begun.good.commit, &begun.good.subject),
                    text::commit(&begun.bad.commit, &begun.bad.subject),
                    text::plural(begun.commits, "commit")
                ));
            }
            Event::Build(build) => {
                if !build.reused {
                    self.builds.push(build.wall_s);
                }
            }
            Event::Run(run) => self.run(run),
            Event::Targets { targets, .. } => {
                self.targets.clone_from(targets);
                for target in targets {
                    self.progress.done_line(&target_line(target));
                }
            }
            Event::Search { commits, targets, chunks, .. } => {
                self.short = chunks.is_some().then(|| targets.clone());
                let whole = first_guard(&self.targets).and_then(|target| target.text);
                if let (Some(chunks), Some(whole)) = (chunks, whole) {
                    self.progress.done_line(&format!(
                        "reading  the first {chunks} of {} chunks, which are enough for the search",
                        whole.chunks
                    ));
                }
                self.steps = steps_of(*commits);
                self.progress.search(*commits, self.steps);
            }
            // The endpoints' runs are already shown, and their verdicts are given.
            Event::Judged(judged) if judged.phase == Phase::Endpoint => {}
            Event::Judged(judged) => {
                self.subjects.insert(judged.commit.clone(), judged.subject.clone());
                let line = self.verdict(&judged.commit, &judged.judgement);
                self.progress.verdict(judged.judgement.verdict, &line);
                if let Some((commits, steps)) = judged.left {
                    self.steps = steps;
                    self.progress.left(commits, steps);
                }
            }
            Event::SearchEnd { end, .. } => match end {
                SearchEnd::FirstBad(commit) => {
                    self.steps = 0;
                    let text = format!("measuring {} and its parents afresh", commit.short());
                    self.progress.done_line(&text);
                }
                SearchEnd::Candidates(commits) => self.progress.done_line(&format!(
                    "only untestable commits are left among {}",
                    text::plural(commits.len(), "candidate")
                )),
            },
            Event::Weighed(weighed) => self.progress.done_line(&format!(
                "95 % sure: {} left after {} of {}",
                text::plural(weighed.smallest_set.len(), "commit"),
                text::plural(weighed.runs, "run"),
                weighed.metric
            )),
            Event::Contradicted { commit, reason } => self.progress.note(&format!(
                "{} did not stand up: {}",
                commit.short(),
                text::line(reason)
            )),
            Event::Note { text } => self.progress.note(&text::line(text)),
            Event::Resumed => self.progress.done_line("taken up where it was"),
            Event::Plan(_) | Event::Confirmed(_) | Event::Stopped { .. } | Event::Ended { .. } => {}
        }
    }

    /// Shows the plan; a long one also as a note.
    fn plan(&self, plan: &Plan, at: &str) {
        self.progress.done_line(&format!("plan     {}", report::plan(plan)));
        let long = at.parse().ok().and_then(|at| report::long_plan(plan, at));
        if let Some(long) = long {
            self.progress.note(&long);
        }
    }

    fn run(&mut self, run: &RunDone) {
        if matches!(run.phase, Phase::Endpoint | Phase::Ruler) {
            let mut figures: Vec<String> = run
                .values
                .iter()
                .filter(|(metric, _)| Resource::of(metric).is_none())
                .map(|(metric, value)| format!("{metric} {}", text::value(value)))
                .collect();
            let more = figures.len().saturating_sub(MOST_FIGURES);
            if more > 0 {
                figures.truncate(MOST_FIGURES);
                figures.push(format!("and {more} more"));
            }
            if let Some(failure) = &run.failure {
                figures.push(text::line(&failure.detail));
            }
            let how = match &run.apart {
                Some(ExclusionReason::WarmUp) => "warm-up",
                Some(ExclusionReason::Throttled(_)) => "void",
                Some(ExclusionReason::Ruler) => "ruler",
                None if run.reused => "known",
                None => "endpoint",
            };
            self.progress.done_line(&format!(
                "{how:<8} {}  {}",
                run.commit.short(),
                figures.join("  ")
            ));
        }
        // A run with another commit's ruler does not count as a value of this commit.
        if run.phase != Phase::Ruler {
            self.runs.push(run.clone());
        }
    }

    /// `good  1a2b3c4d5e  ppl 6.1234  (threshold 6.18)  subject`; a skipped commit has the reason
    /// in place of a value.
    fn verdict(&self, commit: &CommitId, judgement: &Judgement) -> String {
        let subject = self.subject(commit);
        if let Some(why) = judgement.skip {
            let word = judgement.verdict;
            return format!("{word:<7}  {}  {:<32}  {}", commit.short(), why, text::line(&subject));
        }
        let (measured, limit) = self.figure(commit);
        let figure = measured.as_ref().map(|(name, value)| (name.as_str(), value));
        text::verdict_line(judgement.verdict, commit, figure, limit, &subject)
    }

    /// The latest value of the first targeted metric at a commit, and the threshold.
    fn figure(&self, commit: &CommitId) -> (Option<(String, Value)>, Option<f64>) {
        let Some(target) = first_guard(&self.targets) else { return (None, None) };
        let metric = &target.guard.metric;
        let mut runs =
            self.runs.iter().rev().filter(|run| run.commit == *commit && run.apart.is_none());
        let last = runs.find_map(|run| Some((run, run.values.get(metric)?)));
        // A run on a shorter text is compared with the levels of that text.
        let read = last.and_then(|(run, _)| run.text);
        let short = self.short.as_deref().and_then(first_guard);
        let target = short.filter(|short| read.is_some() && short.text == read).unwrap_or(target);
        let limit = target.threshold.or_else(|| {
            let baseline = target.baseline.number()?;
            let sign =
                if target.guard.worsening(baseline, baseline + 1.0) > 0.0 { 1.0 } else { -1.0 };
            Some(baseline + sign * target.limit)
        });
        (last.map(|(_, value)| (metric.to_string(), value.clone())), limit)
    }

    fn subject(&self, commit: &CommitId) -> String {
        self.subjects.get(commit).cloned().unwrap_or_default()
    }

    fn time_left(&self) -> Option<Duration> {
        let fresh = || self.runs.iter().filter(|run| !run.reused);
        let seconds: Vec<f64> = fresh().map(|run| run.wall_s).collect();
        let estimate = Estimate {
            build: Estimate::mean(&self.builds),
            runs: Estimate::mean(&seconds),
            steps: u32::try_from(self.steps).unwrap_or(u32::MAX),
            confirm_commits: 2,
            confirm_runs: 1,
            elapsed: Duration::ZERO,
        };
        if self.targets.is_empty() { None } else { estimate.left() }
    }
}

/// What the hunt waits for.
fn waits(doing: &Doing) -> &str {
    doing.waits.as_deref().unwrap_or("waits")
}

fn target_line(target: &Target) -> String {
    match target {
        Target::Guard(guard) => format!(
            "hunting  {}  {} → {}  (tolerance {})",
            guard.guard.metric,
            text::value(&guard.baseline),
            text::value(&guard.bad),
            text::figure(guard.limit)
        ),
        Target::Failure { failure, .. } => format!(
            "hunting a failure, not a change of a metric: the bad endpoint {} ({}). Commits that \
             fail alike are bad, other failures are untestable",
            failure.kind,
            text::line(&failure.detail)
        ),
    }
}

fn first_guard(targets: &[Target]) -> Option<&GuardTarget> {
    targets.iter().find_map(|target| match target {
        Target::Guard(target) => Some(target),
        Target::Failure { .. } => None,
    })
}

//! The state of a hunt that is shown, from its journal, and the lines that its events give.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::evaluation::{CommitId, Limits, Phase, Target, TextLength, Value};
use crate::oracle::{Activity as Doing, Task};
use crate::report::{self, Clock, Pace};
use crate::search::steps_of;
use crate::store::HuntDir;
use crate::store::journal::{
    Begun, BuildDone, Event, Judged, Plan, RunDone, SearchEnd, SearchMethod,
};
use crate::ui::{Activity, Progress, Ui, Verbosity, text};

use super::announced::Announced;
use super::lines;
use super::newest_search::NewestSearch;
use super::results::Results;

/// The state of the hunt, from its journal.
pub(super) struct View {
    hunt: HuntDir,
    is_verbose: bool,
    pub(super) progress: Progress,
    seen: usize,
    /// How many of the journal's entries are from before this process resumed the hunt.
    old: usize,
    /// The journal's length in bytes when last read: an unchanged journal is not read again.
    length: u64,
    subjects: BTreeMap<CommitId, String>,
    /// The good and the bad end.
    ends: Option<[CommitId; 2]>,
    targets: Vec<Target>,
    newest_search: NewestSearch,
    announced: Announced,
    results: Results,
    pace: Pace,
    doing: Option<Doing>,
    has_waited: bool,
}

impl View {
    /// `old`: how many of the journal's entries are from before this process resumed the hunt.
    pub(super) fn new(hunt: HuntDir, ui: Ui, old: usize) -> Self {
        Self {
            hunt,
            is_verbose: ui.verbosity() == Verbosity::Verbose,
            progress: Progress::new(Ui::is_terminal()),
            seen: 0,
            old,
            length: 0,
            subjects: BTreeMap::new(),
            ends: None,
            targets: Vec::new(),
            newest_search: NewestSearch::default(),
            announced: Announced::default(),
            results: Results::default(),
            pace: Pace::default(),
            doing: None,
            has_waited: false,
        }
    }

    /// Shows what the journal and the activity have since the last look.
    pub(super) fn look(&mut self) {
        let length = std::fs::metadata(self.hunt.journal_path()).map_or(0, |meta| meta.len());
        if length != self.length {
            self.length = length;
            // A journal that cannot be read now is read again after it grows.
            let entries = self.hunt.entries().unwrap_or_default();
            for (number, entry) in entries.iter().enumerate().skip(self.seen) {
                let is_old = number < self.old;
                if let Event::Plan(plan) = &entry.event {
                    self.plan(plan, &entry.at, is_old);
                }
                self.pace.see(entry);
                self.announced.see(&entry.event);
                match &entry.event {
                    // These are about moments that are over.
                    Event::Note { .. } if is_old => {}
                    Event::Resumed { limits, .. } if is_old => self.limits(limits.as_ref()),
                    event => self.show(event),
                }
            }
            self.seen = self.seen.max(entries.len());
            self.progress.ran(seconds(self.pace.seconds(Some(jiff::Timestamp::now()))));
        }
        let doing = Doing::read(&self.hunt.now_path());
        if doing != self.doing {
            if let Some(doing) = &doing {
                self.progress.now(self.activity(doing), seconds(doing.seconds()));
                // Note only the first wait: a hunt that shares the machine waits before many
                // runs, and the moving line shows each wait. A wait with a note in the journal is
                // shown already.
                let is_news = doing.doing == Task::Wait && !doing.is_noted;
                if is_news && !std::mem::replace(&mut self.has_waited, true) {
                    self.progress.note(lines::waits(doing));
                }
                let left = self.pace.seconds_left(doing.seconds());
                self.progress.time_left(left.map(seconds));
            }
            self.doing = doing;
        }
    }

    fn activity(&self, doing: &Doing) -> Activity {
        let Some((commit, _)) = doing.at.clone() else {
            return Activity::Other(lines::waits(doing).to_owned());
        };
        let subject = self.subject(&commit);
        match (doing.doing, &doing.measure) {
            (Task::Wait, _) => Activity::Other(format!(
                "{}; next: {}",
                lines::waits(doing),
                text::commit(&commit, &subject)
            )),
            (Task::Build, _) => {
                let progress = doing.build.map(|progress| progress.to_string());
                Activity::Building { commit, subject, progress }
            }
            (Task::Run | Task::WarmUp, Some(measure)) => {
                Activity::Running { measure: measure.clone(), run: None, commit, subject }
            }
            (other, _) => Activity::Other(format!("{other} {}", commit.short())),
        }
    }

    fn build(&mut self, build: &BuildDone) {
        if self.is_verbose {
            self.details(&lines::build(build), &build.commands, &build.log);
        }
        self.results.built(build);
    }

    fn show(&mut self, event: &Event) {
        match event {
            // `resume` found another environment; the endpoints are the same.
            Event::Begun(_) if !self.subjects.is_empty() => {}
            Event::Begun(begun) => self.begun(begun),
            Event::Build(build) => self.build(build),
            Event::Run(run) => {
                self.run(run);
                if self.is_verbose {
                    self.details(&lines::run(run), std::slice::from_ref(&run.argv), &run.log);
                }
            }
            // A driver that goes on with a hunt finds them again.
            Event::Targets { targets, .. } if *targets == self.targets => {}
            Event::Targets { targets, .. } => {
                self.targets.clone_from(targets);
                for target in targets {
                    self.progress.done_line(&lines::target(target));
                }
            }
            Event::Search { commits, targets, chunks, method, .. } => {
                self.begin_search(targets, *chunks);
                let is_bisect = *method != Some(SearchMethod::Posterior);
                let steps = is_bisect.then(|| steps_of(*commits));
                self.progress.search(*commits, steps, self.pace.steps_made());
            }
            // The endpoints' runs are already shown, and their verdicts are given.
            Event::Judged(judged) if judged.phase == Phase::Endpoint => {}
            Event::Judged(judged) => self.judged(judged),
            Event::SearchEnd { end, .. } => self.search_end(end),
            Event::Weighed(weighed) => self.progress.done_line(&format!(
                "95 % sure: {} left after {} of {}",
                text::plural(weighed.smallest_set.len(), "commit"),
                text::plural(weighed.runs, "run"),
                weighed.metric
            )),
            Event::Contradicted { commit, reason } => self.progress.note(&format!(
                "{} is not confirmed: {}",
                commit.short(),
                text::line(reason)
            )),
            Event::Confirmed(_) => self.progress.check(self.pace.stage().words()),
            Event::Neighbours { of, side, most } => {
                self.progress.check(self.pace.stage().words());
                if let Some(line) = self.announced.line(of, *side, *most) {
                    self.progress.done_line(&line);
                }
            }
            Event::Neighbour { commit, subject, .. } => {
                self.subjects.insert(commit.clone(), subject.clone());
                let (figure, _) = self.figure(commit);
                let line = lines::neighbour(commit, figure.as_ref(), subject);
                let (stored_at, same_as) = self.results.of_commit(commit);
                self.progress.row(&(line + &lines::taken_from(stored_at, same_as)));
            }
            Event::Localizing { commit, files } => {
                let files = text::plural(*files, "file");
                self.inside(&format!("testing  the {files} of {} in parts", commit.short()));
            }
            Event::EndWithout { commits } => {
                self.progress.check(self.pace.stage().words());
                self.progress.done_line(&lines::end_without(commits));
            }
            Event::Level(level) => self.progress.done_line(&lines::level(level)),
            Event::Sweeping { commit, cells } => {
                let cells = text::plural(*cells, "cell");
                self.inside(&format!("sweeping {} and its parent in {cells}", commit.short()));
            }
            Event::Swept(cell) => self.progress.done_line(&lines::cell(cell)),
            Event::Tensors(change) => self.progress.done_line(&lines::tensors(change)),
            Event::Trial(trial) => self.progress.done_line(&lines::trial(trial)),
            Event::Unread(unread) => {
                self.progress
                    .done_line(&format!("unread   {}", text::line(&report::unread(unread))));
            }
            Event::Note { text } => self.progress.note(&text::line(text)),
            Event::Resumed { limits, .. } => {
                self.progress.done_line("resumed where the hunt stopped");
                self.limits(limits.as_ref());
            }
            Event::FailureHunt { .. }
            | Event::Ahead(_)
            | Event::TookOver { .. }
            | Event::Plan(_)
            | Event::Stopped { .. }
            | Event::Home { .. }
            | Event::HomeChecked
            | Event::GitFolder(_)
            | Event::PutBack(_)
            | Event::NoDirectMode
            | Event::ChecksLeftOut { .. }
            | Event::MachineChanged { .. }
            | Event::WarmsUp { .. }
            | Event::OneSlot { .. }
            | Event::NodeSetAside { .. }
            | Event::ConfirmsElsewhere { .. }
            | Event::Ended { .. } => {}
        }
    }

    /// Shows the verdict of a commit of the search.
    fn judged(&mut self, judged: &Judged) {
        self.subjects.insert(judged.commit.clone(), judged.subject.clone());
        let line = self.verdict(judged);
        let (stored_at, same_as) = self.results.of_verdict(judged);
        let line = line + &lines::taken_from(stored_at, same_as);
        self.progress.verdict(judged.judgement.verdict, &line);
        if let Some((commits, steps)) = judged.left {
            self.progress.left(commits, steps);
        }
    }

    /// Says what the hunt tests inside a found commit.
    fn inside(&mut self, line: &str) {
        self.progress.localize();
        self.progress.done_line(line);
    }

    /// Notes what a search is about, and says if it reads only the beginning of the text.
    fn begin_search(&mut self, targets: &[Target], chunks: Option<u32>) {
        let (targets, reads_beginning) = (targets.to_vec(), chunks.is_some());
        self.newest_search = NewestSearch { targets, reads_beginning, is_over: false };
        if let (Some(chunks), Some(whole)) = (chunks, self.whole_text()) {
            self.progress.done_line(&format!(
                "reading  the first {chunks} of {} chunks, which are enough for the search",
                whole.chunks
            ));
        }
    }

    fn begun(&mut self, begun: &Begun) {
        self.ends = Some([begun.good.commit.clone(), begun.bad.commit.clone()]);
        self.subjects.insert(begun.good.commit.clone(), begun.good.subject.clone());
        self.subjects.insert(begun.bad.commit.clone(), begun.bad.subject.clone());
        for (label, end) in [("good end", &begun.good), ("bad end", &begun.bad)] {
            let name = text::commit(&end.commit, &end.subject);
            self.progress.row(&format!("{label:<8} {name}"));
        }
        let commits = text::plural(begun.commits, "commit");
        self.progress.done_line(&format!("{:<8} {commits}", "range"));
        self.limits(Some(&begun.options.limits));
        for change in &begun.options.changes {
            self.progress.done_line(&lines::change(change));
        }
    }

    fn limits(&self, limits: Option<&Limits>) {
        if let Some(words) = limits.and_then(|it| report::limits_in_words(it, Clock::Here)) {
            self.progress.done_line(&format!("{:<8} {words}", "limits"));
        }
    }

    /// Shows the plan. If the hunt will take long, also prints it as a note, unless the plan is from
    /// before the hunt was resumed (`is_old`): its times are over.
    fn plan(&self, plan: &Plan, at: &str, is_old: bool) {
        self.progress.done_line(&format!("plan     {}", report::plan(plan)));
        for part in report::plan_parts(plan) {
            self.progress.done_line(&format!("         {part}"));
        }
        let long = at.parse().ok().and_then(|at| report::long_plan(plan, at));
        if let Some(long) = long.filter(|_| !is_old) {
            self.progress.note(&long);
        }
    }

    fn run(&mut self, run: &RunDone) {
        if matches!(run.phase, Phase::Endpoint | Phase::Ruler) {
            self.progress.done_line(&lines::endpoint(self.which_end(run), run));
        }
        self.results.ran(run);
    }

    fn which_end(&self, run: &RunDone) -> &'static str {
        match &self.ends {
            _ if run.phase == Phase::Ruler => "ruler",
            Some([good, _]) if *good == run.commit => "good end",
            Some([_, bad]) if *bad == run.commit => "bad end",
            _ => "endpoint",
        }
    }

    /// A build or run with its commands and its log.
    fn details(&self, what: &str, commands: &[Vec<String>], log: &str) {
        self.progress.done_line(what);
        for words in commands.iter().filter(|words| !words.is_empty()) {
            self.progress.done_line(&format!("  $ {}", text::line(&text::typed(words))));
        }
        if !log.is_empty() {
            let log = self.hunt.path().join(log).display().to_string();
            self.progress.done_line(&format!("  log: {}", text::line(&log)));
        }
    }

    fn search_end(&mut self, end: &SearchEnd) {
        self.newest_search.is_over = true;
        match end {
            SearchEnd::FirstBad(commit) => {
                self.progress.confirm();
                let text = format!("comparing {} with its parents", commit.short());
                self.progress.done_line(&text);
            }
            SearchEnd::Candidates(commits) => self.progress.done_line(&format!(
                "only untestable commits are left among {}",
                text::plural(commits.len(), "candidate")
            )),
        }
    }

    /// `good  1a2b3c4d5e  ppl 6.1234  (threshold 6.18)  subject`; a skipped commit has the reason
    /// in place of a value. A verdict that is given after the search has no threshold here: it may
    /// belong to another range, with other levels.
    fn verdict(&self, judged: &Judged) -> String {
        let Judged { commit, judgement, phase, .. } = judged;
        let subject = self.subject(commit);
        if let Some(why) = judgement.skip {
            return text::skip_line(judgement.verdict, commit, &why.to_string(), &subject);
        }
        let (measured, limit) = self.figure(commit);
        let is_of_search = *phase != Phase::Search || !self.newest_search.is_over;
        let limit = limit.filter(|_| is_of_search);
        let figure = measured.as_ref().map(|(name, value)| (name.as_str(), value));
        text::verdict_line(judgement.verdict, commit, figure, limit, &subject)
    }

    /// The whole text that the first guard reads, if it reads one.
    fn whole_text(&self) -> Option<TextLength> {
        self.targets.iter().find_map(Target::guard).and_then(|target| target.text)
    }

    /// The latest value of the first targeted metric at a commit, and the threshold of the search.
    fn figure(&self, commit: &CommitId) -> (Option<(String, Value)>, Option<f64>) {
        let NewestSearch { targets, reads_beginning, .. } = &self.newest_search;
        let searched = targets.iter().find_map(Target::guard);
        let whole = self.targets.iter().find_map(Target::guard);
        let Some(target) = searched.or(whole) else { return (None, None) };
        // Its rate decides, not a value.
        if target.failure.is_some() {
            return (None, None);
        }
        let metric = &target.guard.metric;
        let last = self.results.latest(commit, metric);
        // Levels on a shorter text hold for runs on that text alone.
        let read = last.and_then(|(run, _)| run.text);
        let is_of_search = !reads_beginning || (read.is_some() && target.text == read);
        let target = if is_of_search { target } else { whole.unwrap_or(target) };
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
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

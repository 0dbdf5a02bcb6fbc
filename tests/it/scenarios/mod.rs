//! The table of scenarios. A row is a history, what is peculiar about the place, what must come
//! out, and what it may cost:
//!
//! ```text
//! hunt(line("g g b b")).finds("2").costs(RUNS, BUILDS)
//! ```
//! Costs are exact. Two runs of each endpoint come from one build, and four where there is no
//! regression to hunt (in noise four or more). A commit of the search costs a run and a build,
//! and two runs where its value was not seen before. A confirmation takes a fresh build of the
//! first bad commit and of each parent, and as many fresh runs of each as the claim needs:
//! mostly three, two where other commits say the same often enough, four or more where little
//! else speaks for it. Where two builds of one commit are not known to give the same files, each
//! of these runs has a build of its own. A commit or two more are run to see whether the change
//! lasts, where the bad end's value is not the commit's or the change left the tree on the way.
//! Besides, every row must leave the user's repository byte for byte as it was, and no process
//! behind; see [`Row::costs`].

mod again;
mod answer;
mod differences;
mod endpoints;
mod engines;
mod failures;
mod fixes;
mod hindsight;
mod inside;
mod isolation;
mod laid;
mod lines;
mod loaded;
mod matrix;
mod mended;
mod merges;
mod names;
mod noise;
mod odd_commits;
mod parsers;
mod prepare;
mod ranges;
mod recipes;
mod repositories;
mod ruler;
mod settings;
mod several;
mod short;
mod short_at_random;
mod texts;
mod world;

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;

use self::answer::Answer;
use crate::kit::{History, Hunt, Oracle, Plan, Snapshot, TestEnvironment, line, other_git};

/// A place to hunt in, and what must come out.
#[must_use = "a row ends with what it costs"]
pub struct Row {
    pub env: TestEnvironment,
    pub history: History,
    oracle: Oracle,
    /// Instead of `oracle.toml` at the top of the checkout.
    config: Option<PathBuf>,
    /// Where the hunt is started, from the top of the checkout.
    folder: PathBuf,
    good: String,
    bad: String,
    more: Vec<String>,
    variables: Vec<(String, OsString)>,
    says: Vec<String>,
    may_fetch: bool,
    /// `resume` instead of `start`.
    goes_on: bool,
    /// What the report counts, where that is not what this process started.
    totals: Option<[usize; 2]>,
    answer: Option<Answer>,
}

/// A hunt that came to what it had to.
pub struct Told {
    pub row: Row,
    pub hunt: Hunt,
}

/// A hunt in this history, from its first commit (`v1`) to its last (`main`).
pub fn hunt(plan: Plan) -> Row {
    Row::of(TestEnvironment::new(), plan)
}

fn labels(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// What is peculiar about the row.
impl Row {
    fn of(env: TestEnvironment, plan: Plan) -> Self {
        let history = plan.build(&env);
        let oracle = Oracle::new(&env);
        Self {
            env,
            history,
            oracle,
            config: None,
            folder: PathBuf::new(),
            good: "v1".to_owned(),
            bad: "main".to_owned(),
            more: Vec::new(),
            variables: Vec::new(),
            says: Vec::new(),
            may_fetch: false,
            goes_on: false,
            totals: None,
            answer: None,
        }
    }

    /// The endpoints, as labels.
    pub fn between(mut self, good: &str, bad: &str) -> Self {
        self.good = self.history.commit(good).to_owned();
        self.bad = self.history.commit(bad).to_owned();
        self
    }

    /// The newer end is good and the older bad, and the fix is hunted.
    pub fn for_the_fix(mut self) -> Self {
        std::mem::swap(&mut self.good, &mut self.bad);
        self.with(&["--find-fix"])
    }

    /// More words of the command line.
    pub fn with(mut self, words: &[&str]) -> Self {
        self.more.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// `--skip` for these commits.
    pub fn skipping(mut self, text: &str) -> Self {
        for label in labels(text) {
            self.more.extend(["--skip".to_owned(), self.history.commit(label).to_owned()]);
        }
        self
    }

    /// Another `oracle.toml`.
    pub fn oracle(mut self, change: impl FnOnce(Oracle) -> Oracle) -> Self {
        self.oracle = change(self.oracle);
        self
    }

    /// The `oracle.toml` lies there.
    pub fn config_at(mut self, path: PathBuf) -> Self {
        self.config = Some(path);
        self
    }

    /// The hunt is started in this folder of the checkout.
    pub fn in_folder(mut self, folder: &str) -> Self {
        self.folder = folder.into();
        self.config_at("../oracle.toml".into())
    }

    /// A variable of the product's environment.
    pub fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// No variable of that name any more.
    pub fn unset(mut self, name: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    /// Does something to the place before the hunt.
    pub fn given(mut self, change: impl FnOnce(&mut TestEnvironment, &History)) -> Self {
        change(&mut self.env, &self.history);
        self
    }

    /// Git may fetch objects that are missing.
    pub fn may_fetch(mut self) -> Self {
        self.may_fetch = true;
        self
    }

    /// What the report counts, where that is not what is started here: the runs before `resume`,
    /// and those for which there was no program to start.
    pub fn counting(mut self, runs: usize, builds: usize) -> Self {
        self.totals = Some([runs, builds]);
        self
    }

    /// Words that must be among what is said, in whatever case.
    pub fn saying(mut self, words: &[&str]) -> Self {
        self.says.extend(words.iter().map(|word| word.to_lowercase()));
        self
    }
}

/// What must come out.
impl Row {
    pub fn finds(self, text: &str) -> Self {
        self.comes_to(Answer::FirstBad(labels(text)))
    }

    pub fn leaves(self, text: &str) -> Self {
        self.comes_to(Answer::OneOf(labels(text)))
    }

    pub fn blames_nobody_for(self, text: &str) -> Self {
        self.comes_to(Answer::Gradual(labels(text)))
    }

    pub fn drowns_in_noise(self) -> Self {
        self.comes_to(Answer::TooNoisy)
    }

    pub fn shows_no_regression(self) -> Self {
        self.comes_to(Answer::NoRegression)
    }

    pub fn cannot_be_measured(self) -> Self {
        self.comes_to(Answer::Unmeasurable)
    }

    pub fn gets_refused(self, words: &[&str]) -> Self {
        self.comes_to(Answer::Refused).saying(words)
    }

    pub fn gets_stopped(self) -> Self {
        self.comes_to(Answer::Stopped)
    }

    fn comes_to(mut self, answer: Answer) -> Self {
        self.answer = Some(answer);
        self
    }

    /// Hunts, whatever comes out.
    fn hunted(self) -> (Hunt, History) {
        self.write_oracle();
        (self.run(), self.history)
    }

    /// Hunts, and fails with everything that differs: exit code, outcome, who is named, so many
    /// runs and builds, the report's own count of them, the user's repository and worktrees,
    /// processes that are left.
    #[track_caller]
    pub fn costs(self, runs: usize, builds: usize) -> Told {
        self.write_oracle();
        let before = Snapshot::of(&self.env);
        let known = counted(&self.env);
        let hunt = self.run();
        let now = counted(&self.env);
        let cost = [now[0] - known[0], now[1] - known[1]];

        let mut wrong = self.what_differs(&hunt);
        if cost != [runs, builds] {
            let [made, built] = cost;
            let text = format!("{made} runs and {built} builds instead of {runs} and {builds}");
            wrong.push(text);
        }
        if let Some(totals) = hunt.report["totals"].as_object()
            && [&totals["runs"], &totals["builds"]]
                != self.totals.unwrap_or([runs, builds]).each_ref()
        {
            wrong.push(format!("the report counts {} and {}", totals["runs"], totals["builds"]));
        }
        let mut snapshots = [before, Snapshot::of(&self.env)];
        if self.may_fetch {
            snapshots = snapshots.map(Snapshot::without_objects);
        }
        let changed = snapshots[0].changes(&snapshots[1]);
        if !changed.is_empty() {
            wrong.push(format!("changed in the user's repository: {changed:?}"));
        }
        if !self.env.is_left_alone() {
            wrong.push(format!("still running: {:?}", self.env.processes()));
        }
        assert!(wrong.is_empty(), "{}", self.account_of(&wrong, &hunt));
        Told { row: self, hunt }
    }
}

#[test]
fn the_git_that_was_asked_for_is_the_one_that_hunts() {
    let told = hunt(line("g b")).finds("1").costs(6, 4);
    let asked = other_git().unwrap_or_else(|| "git".into());
    let said = told.env().tool(&told.env().repo(), asked.to_str().unwrap(), &["version"]).stdout;
    let version = said.split_whitespace().nth(2).unwrap();
    assert_eq!(told.hunt.report["git"], version);
}

fn counted(env: &TestEnvironment) -> [usize; 2] {
    let starts = env.starts();
    ["run", "build"].map(|kind| starts.iter().filter(|start| start.kind == kind).count())
}

impl Row {
    fn write_oracle(&self) {
        let name = self.config.clone().unwrap_or_else(|| "oracle.toml".into());
        self.oracle.write_to(&self.env.repo().join(&self.folder).join(name));
    }

    fn arguments(&self) -> Vec<OsString> {
        if self.goes_on {
            return vec!["resume".into()];
        }
        let mut words: Vec<OsString> =
            ["start", "--good", &self.good, "--bad", &self.bad].map(Into::into).to_vec();
        if let Some(config) = &self.config {
            words.extend(["--config".into(), config.into()]);
        }
        words.extend(self.more.iter().map(Into::into));
        words
    }

    fn run(&self) -> Hunt {
        let folder = self.env.repo().join(&self.folder);
        let output = self.env.run_with(&folder, &self.arguments(), &self.variables);
        Hunt::of(&self.env, output)
    }

    /// What differs in what was said.
    fn what_differs(&self, hunt: &Hunt) -> Vec<String> {
        let answer = self.answer.as_ref().expect("a row says what must come out");
        let mut wrong = Vec::new();
        let found = hunt.output.code();
        if found != Some(answer.exit_code()) {
            wrong.push(format!("exit code {found:?} instead of {}", answer.exit_code()));
        }
        let outcome = hunt.report["outcome"].as_str();
        if outcome != answer.outcome() {
            wrong.push(format!("outcome {outcome:?} instead of {:?}", answer.outcome()));
        }
        let said = [("culprits", "commit"), ("candidates", "")]
            .map(|(list, field)| self.named(&hunt.report[list], field));
        if !answer.is_told_by(&said) {
            wrong.push(format!("culprits and candidates {said:?} instead of {answer:?}"));
        }
        let text = format!("{}\n{}", hunt.output.stderr, hunt.output.stdout).to_lowercase();
        let missing = self.says.iter().filter(|word| !text.contains(*word));
        wrong.extend(missing.map(|word| format!("it does not say `{word}`")));
        if *answer != Answer::Refused && !hunt.output.stderr.starts_with("hunt: ") {
            wrong.push("its first word is not `hunt: ID`".to_owned());
        }
        if *answer == Answer::Refused && self.env.git_folder().join("bisect-ppl/hunts").exists() {
            wrong.push("a hunt was begun".to_owned());
        }
        if text.contains("panicked") {
            wrong.push("it panicked".to_owned());
        }
        wrong
    }

    /// Labels of a list of commits in the report.
    fn named(&self, list: &Value, field: &str) -> Vec<String> {
        let commit = |one: &Value| if field.is_empty() { one.clone() } else { one[field].clone() };
        let label = |one: &Value| self.history.label(commit(one).as_str().unwrap()).to_owned();
        list.as_array().map(|list| list.iter().map(label).collect()).unwrap_or_default()
    }

    fn account_of(&self, wrong: &[String], hunt: &Hunt) -> String {
        let mut text = String::new();
        for difference in wrong {
            writeln!(text, "\n* {difference}").unwrap();
        }
        let starts = self.env.starts();
        let started: Vec<_> = starts.iter().map(|s| format!("{} {}", s.kind, s.label)).collect();
        writeln!(text, "\n--- started: {}", started.join(", ")).unwrap();
        let (report, output) = (&hunt.report, &hunt.output);
        writeln!(text, "--- report: {}\n{:#}", report["summary"], report["notes"]).unwrap();
        writeln!(text, "--- stderr\n{}\n--- stdout\n{}", output.stderr, output.stdout).unwrap();
        text
    }
}

impl Told {
    /// Another hunt in the same place.
    pub fn again(self) -> Row {
        Row { answer: None, says: Vec::new(), goes_on: false, totals: None, ..self.row }
    }

    /// `resume`, after a hunt that was stopped.
    pub fn resumed(self) -> Row {
        Row { goes_on: true, ..self.again() }
    }

    /// The entry of `commits` for a commit.
    #[track_caller]
    pub fn commit(&self, label: &str) -> &Value {
        self.hunt.commit(&self.row.history, label)
    }

    #[track_caller]
    pub fn verdict(&self, label: &str) -> String {
        self.hunt.verdict(&self.row.history, label)
    }

    /// The label of the commit there in the report.
    #[track_caller]
    pub fn label(&self, commit: &Value) -> &str {
        self.row.history.label(commit.as_str().unwrap())
    }

    pub fn env(&self) -> &TestEnvironment {
        &self.row.env
    }
}

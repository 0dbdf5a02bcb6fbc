//! The table of scenarios. A row is a history, the special conditions of the hunt, the expected
//! answer, and the cost:
//!
//! ```text
//! hunt(line("g g b b")).finds("2").costs(RUNS, BUILDS)
//! ```
//! Costs are exact. Each endpoint costs one build and two runs. If there is no regression it costs
//! four runs (in noise four or more), and if both ends show the same, another build and run. Each
//! commit of the search costs a build and a run, or two runs if its value is new. A confirmation
//! builds the first bad commit and each parent anew, and runs each of them as often as the claim
//! needs: mostly three or four times, less often if other commits already say the same, more often
//! if little else supports the claim. If two builds of one commit are not known to give the same
//! files, each of these runs has its own build. One to four later commits are run to check that the
//! change lasts, if the bad end has another value than the first bad commit or if the change is
//! missing from the tree of a later commit. Each row must also leave the user's repository byte for
//! byte as it was, and leave no process behind: see [`Row::costs`].

mod again;
mod answer;
mod differences;
mod endpoints;
mod engines;
mod failures;
mod faults;
mod fixes;
mod hindsight;
mod inside;
mod isolation;
mod laid;
mod lines;
mod loaded;
mod matrix;
mod mended;
mod merge_bases;
mod merges;
mod names;
mod noise;
mod odd_commits;
mod old_branches;
mod one_off;
mod parsers;
mod prepare;
mod ranges;
mod recipes;
mod repositories;
mod retried;
mod ruler;
mod settings;
mod several;
mod short;
mod short_at_random;
mod texts;
mod timeouts;
mod world;

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;

use self::answer::Answer;
use crate::kit::{History, Hunt, Oracle, Plan, Snapshot, TestEnvironment, line, other_git};

/// A hunt to run, its environment, and the expected answer.
#[must_use = "a row ends with what it costs"]
pub(crate) struct Row {
    pub env: TestEnvironment,
    pub history: History,
    oracle: Oracle,
    /// The configuration, if not `oracle.toml` at the top of the checkout.
    config: Option<PathBuf>,
    /// The folder in which the hunt starts, from the top of the checkout.
    folder: PathBuf,
    good: String,
    bad: String,
    more: Vec<String>,
    variables: Vec<(String, OsString)>,
    says: Vec<String>,
    may_fetch: bool,
    /// Whether to run `resume` instead of `start`.
    goes_on: bool,
    /// The report's runs and builds, if they are not those that this row starts.
    totals: Option<[usize; 2]>,
    answer: Option<Answer>,
}

/// A hunt that gave the expected answer, and its row.
pub(crate) struct PassedHunt {
    pub row: Row,
    pub hunt: Hunt,
}

/// A hunt in this history, from its first commit (`v1`) to its last (`main`).
pub(crate) fn hunt(plan: Plan) -> Row {
    Row::of(TestEnvironment::new(), plan)
}

fn labels(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The special conditions of the row.
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
    pub(crate) fn between(mut self, good: &str, bad: &str) -> Self {
        self.good = self.history.commit(good).to_owned();
        self.bad = self.history.commit(bad).to_owned();
        self
    }

    /// Hunts the fix: the newer end is good, the older end bad.
    pub(crate) fn for_the_fix(mut self) -> Self {
        std::mem::swap(&mut self.good, &mut self.bad);
        self.with(&["--find-fix"])
    }

    /// More arguments of the command line.
    pub(crate) fn with(mut self, words: &[&str]) -> Self {
        self.more.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// `--skip` for these commits.
    pub(crate) fn skipping(mut self, text: &str) -> Self {
        for label in labels(text) {
            self.more.extend(["--skip".to_owned(), self.history.commit(label).to_owned()]);
        }
        self
    }

    /// Changes the `oracle.toml`.
    pub(crate) fn oracle(mut self, change: impl FnOnce(Oracle) -> Oracle) -> Self {
        self.oracle = change(self.oracle);
        self
    }

    /// Puts the `oracle.toml` at this path.
    pub(crate) fn config_at(mut self, path: PathBuf) -> Self {
        self.config = Some(path);
        self
    }

    /// Starts the hunt in this folder of the checkout.
    pub(crate) fn in_folder(mut self, folder: &str) -> Self {
        self.folder = folder.into();
        self.config_at("../oracle.toml".into())
    }

    /// Sets a variable in the product's environment.
    pub(crate) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Removes this variable again.
    pub(crate) fn unset(mut self, name: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    /// Changes the environment before the hunt.
    pub(crate) fn given(mut self, change: impl FnOnce(&mut TestEnvironment, &History)) -> Self {
        change(&mut self.env, &self.history);
        self
    }

    /// Lets git fetch missing objects.
    pub(crate) fn may_fetch(mut self) -> Self {
        self.may_fetch = true;
        self
    }

    /// The report's runs and builds, if they are not those that this row starts: the report
    /// counts runs before `resume`, and runs without a program to start.
    pub(crate) fn counting(mut self, runs: usize, builds: usize) -> Self {
        self.totals = Some([runs, builds]);
        self
    }

    /// Words that the output must contain, in any case.
    pub(crate) fn saying(mut self, words: &[&str]) -> Self {
        self.says.extend(words.iter().map(|word| word.to_lowercase()));
        self
    }
}

/// The expected answer.
impl Row {
    pub(crate) fn finds(self, text: &str) -> Self {
        self.comes_to(Answer::FirstBad(labels(text)))
    }

    pub(crate) fn leaves(self, text: &str) -> Self {
        self.comes_to(Answer::OneOf(labels(text)))
    }

    pub(crate) fn blames_nobody_for(self, text: &str) -> Self {
        self.comes_to(Answer::Gradual(labels(text)))
    }

    pub(crate) fn drowns_in_noise(self) -> Self {
        self.comes_to(Answer::TooNoisy)
    }

    pub(crate) fn shows_no_regression(self) -> Self {
        self.comes_to(Answer::NoRegression)
    }

    pub(crate) fn cannot_be_measured(self) -> Self {
        self.comes_to(Answer::Unmeasurable)
    }

    pub(crate) fn gets_refused(self, words: &[&str]) -> Self {
        self.comes_to(Answer::Refused).saying(words)
    }

    pub(crate) fn gets_stopped(self) -> Self {
        self.comes_to(Answer::Stopped)
    }

    fn comes_to(mut self, answer: Answer) -> Self {
        self.answer = Some(answer);
        self
    }

    /// Hunts, and accepts any answer.
    fn hunted(self) -> (Hunt, History) {
        self.write_oracle();
        (self.run(), self.history)
    }

    /// Hunts, and fails with all differences: exit code, outcome, named commits, number of runs
    /// and builds, the report's count of both, the user's repository and worktrees, processes
    /// left behind.
    #[track_caller]
    pub(crate) fn costs(self, runs: usize, builds: usize) -> PassedHunt {
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
        PassedHunt { row: self, hunt }
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

    /// The differences in the output and the report.
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

impl PassedHunt {
    /// Another hunt in the same environment.
    pub(crate) fn again(self) -> Row {
        Row { answer: None, says: Vec::new(), goes_on: false, totals: None, ..self.row }
    }

    /// A `resume` of the stopped hunt.
    pub(crate) fn resumed(self) -> Row {
        Row { goes_on: true, ..self.again() }
    }

    /// The entry of a commit in the report's `commits`.
    #[track_caller]
    pub(crate) fn commit(&self, label: &str) -> &Value {
        self.hunt.commit(&self.row.history, label)
    }

    #[track_caller]
    pub(crate) fn verdict(&self, label: &str) -> String {
        self.hunt.verdict(&self.row.history, label)
    }

    /// The label of a commit that the report names.
    #[track_caller]
    pub(crate) fn label(&self, commit: &Value) -> &str {
        self.row.history.label(commit.as_str().unwrap())
    }

    pub(crate) fn env(&self) -> &TestEnvironment {
        &self.row.env
    }
}

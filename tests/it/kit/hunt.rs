//! A hunt that ran: its output and its report.

use std::path::PathBuf;

use serde_json::Value;

use super::{History, Output, TestEnvironment};

/// A `start` or `resume` that ended.
pub(crate) struct Hunt {
    pub output: Output,
    /// The hunt's folder; empty if there was no hunt.
    pub folder: PathBuf,
    /// report.json, or null.
    pub report: Value,
}

impl Hunt {
    pub(crate) fn of(env: &TestEnvironment, output: Output) -> Self {
        let hunts = env.git_folder().join("bisect-ppl/hunts");
        let line = output.stderr.lines().next().unwrap_or_default();
        let id =
            line.strip_prefix("hunt: ").map(str::trim).map_or_else(|| newest(&hunts), Into::into);
        let folder = if id.is_empty() { PathBuf::new() } else { hunts.join(&id) };
        let report = std::fs::read(folder.join("report.json"))
            .ok()
            .map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).expect("report.json"));
        Self { output, folder, report }
    }

    /// Fails with the whole output unless exit code and outcome are these.
    #[track_caller]
    pub(crate) fn expect(self, code: i32, outcome: &str) -> Self {
        let Self { output, folder, report } = self;
        let output = output.expect(code);
        let found = report["outcome"].as_str().unwrap_or("no report");
        assert_eq!(found, outcome, "{}\n{}", output.stdout, output.stderr);
        Self { output, folder, report }
    }

    pub(crate) fn id(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The main culprit's full hash.
    #[track_caller]
    pub(crate) fn culprit(&self) -> &str {
        self.report["culprit"]["commit"].as_str().unwrap_or_else(|| panic!("{:#}", self.report))
    }

    /// Fails unless the hunt names this commit.
    #[track_caller]
    pub(crate) fn names(self, history: &History, label: impl ToString) -> Self {
        let hunt = self.expect(0, "culprit");
        assert_eq!(history.label(hunt.culprit()), label.to_string(), "{}", hunt.output.stderr);
        hunt
    }

    /// Labels of `culprits`, in order.
    pub(crate) fn culprits(&self, history: &History) -> Vec<String> {
        labels(history, self.report["culprits"].as_array().unwrap(), |c| &c["commit"])
    }

    /// Labels of `candidates`, sorted.
    pub(crate) fn candidates(&self, history: &History) -> Vec<String> {
        let mut names = labels(history, self.report["candidates"].as_array().unwrap(), |c| c);
        names.sort();
        names
    }

    /// The entry of `commits` for a commit.
    #[track_caller]
    pub(crate) fn commit<'r>(&'r self, history: &History, label: impl ToString) -> &'r Value {
        let sha = history.commit(label);
        let commits = self.report["commits"].as_array().unwrap();
        let found = commits.iter().find(|c| c["commit"] == sha);
        found.unwrap_or_else(|| panic!("{sha} is not in the report: {:#}", self.report["commits"]))
    }

    pub(crate) fn verdict(&self, history: &History, label: impl ToString) -> String {
        self.commit(history, label)["verdict"].as_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
}

/// The events of this kind in a hunt's journal.
pub(crate) fn events(hunt: &Hunt, kind: &str) -> Vec<Value> {
    let journal = hunt.file("journal.jsonl");
    let entries = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter(|entry| entry["event"] == kind).collect()
}

fn labels<'r>(
    history: &History,
    entries: &'r [Value],
    commit: impl Fn(&'r Value) -> &'r Value,
) -> Vec<String> {
    entries.iter().map(|e| history.label(commit(e).as_str().unwrap()).to_owned()).collect()
}

/// The name of the newest hunt. `resume` does not always print which hunt it resumes.
fn newest(hunts: &std::path::Path) -> String {
    let mut names: Vec<String> = std::fs::read_dir(hunts)
        .map(|entries| entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    names.sort();
    names.pop().unwrap_or_default()
}

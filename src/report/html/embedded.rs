//! The logs inside the page, so that its links still work if only the page is sent to somebody.
//!
//! A link leads to an element inside a folded `<details>`. Browsers open the `<details>` around
//! such an element (HTML standard, "ancestor details revealing algorithm"); they do not if the
//! `<details>` itself is the target.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::evaluation::CommitId;
use crate::files;
use crate::report::links::{Logs, SCRIPT};
use crate::report::model::{MeasuredCommit, Report};
use crate::ui::text;

use super::excerpt::{Excerpt, WHOLE};
use super::records::what;

/// Maximum bytes of all logs together, as they are in the page.
const MOST: usize = 2 << 20;

/// Id of the script's element.
const SCRIPT_ID: &str = "reproduce";

/// The logs in the page.
pub(super) struct Embedded {
    /// Where the logs are, in a sentence; empty if there are no logs.
    pub(super) sentence: String,
    /// `reproduce.sh`: its id and text.
    pub(super) script: Option<(&'static str, String)>,
    /// The logs of each commit, in order of history.
    pub(super) commits: Vec<CommitLogs>,
}

/// The logs of a commit.
pub(super) struct CommitLogs {
    /// Short id of the commit.
    pub(super) commit: String,
    pub(super) subject: String,
    pub(super) count: String,
    pub(super) logs: Vec<LogView>,
}

/// A log.
pub(super) struct LogView {
    pub(super) id: String,
    pub(super) title: String,
    /// Path relative to the hunt's folder.
    pub(super) file: String,
    pub(super) text: Excerpt,
    /// How much of the log is left out, and the link to the whole log; `None` if `text` is whole.
    pub(super) cut: Option<(String, String)>,
}

/// A log that the report refers to.
struct Source<'r> {
    commit: &'r MeasuredCommit,
    log: &'r str,
    title: String,
    is_build: bool,
    has_failed: bool,
}

impl Embedded {
    /// Reads the logs that are in the page, and turns the links to them into links within the page.
    pub(super) fn of(report: &Report, logs: &Logs) -> (Self, Logs) {
        let sources = sources(report, logs);
        let chosen = Chosen::from(report, &sources);
        let mut ids: BTreeMap<String, String> = BTreeMap::new();
        let mut commits: Vec<CommitLogs> = Vec::new();
        let mut last = None;
        for (at, source) in sources.iter().enumerate() {
            let Some(text) = chosen.texts.get(&at) else { continue };
            let id = format!("log-{}", ids.len() + 1);
            ids.insert(source.log.to_owned(), id.clone());
            let cut =
                (text.left_out > 0).then(|| (text::bytes(text.left_out), logs.path(source.log)));
            let file = text::line(source.log);
            let view = LogView { id, title: source.title.clone(), file, text: text.clone(), cut };
            if last != Some(&source.commit.commit) {
                last = Some(&source.commit.commit);
                commits.push(CommitLogs::of(source.commit));
            }
            commits.last_mut().expect("pushed above").logs.push(view);
        }
        for commit in &mut commits {
            commit.count = text::plural(commit.logs.len(), "log");
        }
        for (at, same) in &chosen.same {
            let id = ids[sources[*same].log].clone();
            ids.insert(sources[*at].log.to_owned(), id);
        }
        let sentence = sentence(sources.len(), ids.len());
        let script = script(report).filter(|_| logs.href(SCRIPT).is_some());
        ids.extend(script.is_some().then(|| (SCRIPT.to_owned(), SCRIPT_ID.to_owned())));
        let script = script.map(|text| (SCRIPT_ID, text));
        (Self { sentence, script, commits }, logs.clone().within_page(ids))
    }

    /// No logs: the page is in the hunt's folder, beside them.
    pub(super) fn none() -> Self {
        Self { sentence: String::new(), script: None, commits: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.script.is_none()
    }
}

impl CommitLogs {
    fn of(commit: &MeasuredCommit) -> Self {
        Self {
            commit: commit.commit.short().to_owned(),
            subject: text::line(commit.subject.as_deref().unwrap_or_default()),
            count: String::new(),
            logs: Vec::new(),
        }
    }
}

/// A sentence that says where the logs are: `inside` of `all` logs are in the page.
fn sentence(all: usize, inside: usize) -> String {
    match (inside, all - inside) {
        (0, 0) => String::new(),
        (_, 0) => "Each link to output leads to a log at the end of this page.".into(),
        (inside, outside) => format!(
            "The page contains {inside} of {all} logs, at its end. The links to the other {outside} \
             lead to files of the hunt's folder, which is not part of the page."
        ),
    }
}

/// The logs that the report refers to and that exist, each once, in order of history.
fn sources<'r>(report: &'r Report, logs: &Logs) -> Vec<Source<'r>> {
    let mut sources = Vec::new();
    for commit in &report.commits {
        sources.extend(commit.builds.iter().map(|build| Source {
            commit,
            log: &build.log,
            title: format!("{}, {}", what(build), build.phase),
            is_build: true,
            has_failed: build.failure.is_some(),
        }));
        let failed: HashSet<&str> = commit
            .samples
            .iter()
            .filter(|sample| sample.failure.is_some())
            .map(|sample| sample.log.as_str())
            .collect();
        sources.extend(commit.runs.iter().map(|run| Source {
            commit,
            log: &run.log,
            title: format!("{}, {}", text::line(&run.measure), run.phase),
            is_build: false,
            has_failed: failed.contains(run.log.as_str()),
        }));
    }
    let mut seen = HashSet::new();
    sources.retain(|source| logs.href(source.log).is_some() && seen.insert(source.log));
    sources
}

/// The logs that fit into the page.
#[derive(Default)]
struct Chosen {
    /// The texts, by place in the list of sources.
    texts: BTreeMap<usize, Excerpt>,
    /// Logs whose text is in the page already: the place of the log, and of the equal one.
    same: Vec<(usize, usize)>,
}

impl Chosen {
    /// Takes the logs that matter most first, as long as they fit.
    fn from(report: &Report, sources: &[Source<'_>]) -> Self {
        let found: HashSet<&CommitId> = answer(report).collect();
        let ends = [&report.good.commit, &report.bad.commit];
        let quoted: HashSet<&str> = report.failed.iter().map(|one| one.log.as_str()).collect();
        let rank = |source: &Source<'_>| {
            let commit = &source.commit.commit;
            let place = if quoted.contains(source.log) {
                0
            } else if found.contains(commit) {
                1
            } else if ends.contains(&commit) {
                2
            } else if source.has_failed {
                3
            } else {
                4
            };
            (place, !source.has_failed, source.is_build)
        };
        let mut order: Vec<usize> = (0..sources.len()).collect();
        order.sort_by_key(|at| rank(&sources[*at]));
        let mut chosen = Self::default();
        let mut known = HashMap::new();
        let mut room = MOST;
        for at in order {
            let Some(text) = Excerpt::read(&report.folder, sources[at].log, room) else { continue };
            if let Some(same) = known.get(&text) {
                chosen.same.push((at, *same));
                continue;
            }
            room -= text.size();
            known.insert(text.clone(), at);
            chosen.texts.insert(at, text);
        }
        chosen
    }
}

/// The commits that the answer is about: first bad commits with their parents, and candidates.
fn answer(report: &Report) -> impl Iterator<Item = &CommitId> {
    let first =
        report.culprits.iter().flat_map(|first| first.parents.iter().chain([&first.commit]));
    first.chain(report.candidates.iter())
}

/// The text of `reproduce.sh`; `None` if the page cannot show it whole and unchanged, because
/// readers copy it and run it.
fn script(report: &Report) -> Option<String> {
    let text = String::from_utf8(files::read(&report.folder.join(SCRIPT)).ok()?).ok()?;
    (text.len() <= WHOLE && text::lines(&text) == text).then_some(text)
}

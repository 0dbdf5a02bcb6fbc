//! A bisect session of our own, in a bare repository.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use crate::evaluation::{Aim, CommitId, Verdict, is_deceptive};
use crate::process::Invocation;

use super::bisect_repository::BisectRepository;
use super::command::Call;
use super::error::io_error;
use super::{BisectState, GitError, History, Range, Remaining, Repository};

impl Aim {
    /// The session's terms for its older and newer end. A hunt for a fix cannot swap `good` and
    /// `bad`: git refuses that.
    pub(crate) fn terms(self) -> (&'static str, &'static str) {
        match self {
            Self::Regression => ("good", "bad"),
            Self::Fix => ("broken", "fixed"),
        }
    }

    /// The subcommand of `git bisect` that marks a commit with this verdict; `None` for an unknown
    /// verdict.
    pub(crate) fn word(self, verdict: Verdict) -> Option<&'static str> {
        let (old, new) = self.terms();
        match verdict {
            Verdict::Good | Verdict::Bad => Some(if verdict == self.older() { old } else { new }),
            Verdict::Skip => Some("skip"),
            Verdict::Unknown => None,
        }
    }

    pub(super) fn from_new_term(term: &str) -> Self {
        if term == Self::Fix.terms().1 { Self::Fix } else { Self::Regression }
    }

    /// The arguments of `git bisect start` that set the terms.
    fn arguments(self) -> Vec<String> {
        match self {
            Self::Regression => Vec::new(),
            Self::Fix => {
                let (old, new) = self.terms();
                vec![format!("--term-old={old}"), format!("--term-new={new}")]
            }
        }
    }
}

/// A session of `git bisect` in a bare repository of its own. It has no files that a build could
/// change and none of the user's references, so it does not disturb a session of the user.
#[derive(Clone, Debug)]
pub(crate) struct BisectSession {
    place: BisectRepository,
}

impl BisectSession {
    /// Opens the session's repository at this path and creates it if needed. HEAD names `commit`,
    /// which may be any commit.
    pub(crate) fn open(
        repository: &Repository,
        path: &Path,
        commit: &CommitId,
    ) -> Result<Self, GitError> {
        Ok(Self { place: BisectRepository::open(repository, path, commit)? })
    }

    /// Starts a session; ends the current one first.
    pub(crate) fn start(&self, range: &Range, aim: Aim) -> Result<(), GitError> {
        self.reset()?;
        let call = self.bisect("start").arg("--no-checkout");
        self.run_to_an_end(&call.args(start_arguments(range, aim)))
    }

    /// Tells git a verdict; an unknown one changes nothing.
    pub(crate) fn mark(&self, verdict: Verdict, commit: &CommitId) -> Result<(), GitError> {
        let terms = BisectState::read_terms(self.place.git_dir());
        let aim = terms.map_or(Aim::Regression, |(_, new)| Aim::from_new_term(&new));
        let Some(word) = aim.word(verdict) else { return Ok(()) };
        self.run_to_an_end(&self.bisect(word).arg(commit.as_str()))
    }

    /// Ends the session, if there is one.
    pub(crate) fn reset(&self) -> Result<(), GitError> {
        // Git asks the same, and does nothing without a session.
        let start = self.place.git_dir().join("BISECT_START");
        if std::fs::metadata(start).is_ok_and(|metadata| metadata.len() > 0) {
            self.bisect("reset").ok()?;
        }
        Ok(())
    }

    /// Whether there is a session. Needs no call of git.
    pub(crate) fn is_open(&self) -> bool {
        BisectState::read_terms(self.place.git_dir()).is_some()
    }

    /// The state of the session on disk; `None` before the start.
    pub(crate) fn state(&self) -> Result<Option<BisectState>, GitError> {
        BisectState::read(self.place.git_dir())
    }

    /// The commit to test next and the remaining size, for an oracle that git calls.
    pub(crate) fn step(&self) -> Result<Option<(CommitId, Option<Remaining>)>, GitError> {
        let git_dir = self.place.git_dir();
        let Some(state) = BisectState::read_open(git_dir)? else { return Ok(None) };
        let Some(current) = state.current.clone() else { return Ok(None) };
        Ok(Some((current, state.remaining(git_dir)?)))
    }

    /// For each commit that can still be the first bad one, how many of them an answer there rules
    /// out at least, by git's count; the best one first. Empty if commits were skipped: git then
    /// chooses in another way.
    pub(crate) fn splits(&self) -> Result<Vec<(CommitId, usize)>, GitError> {
        let git_dir = self.place.git_dir();
        match BisectState::read_open(git_dir)? {
            Some(state) if state.skipped.is_empty() => state.splits(git_dir),
            _ => Ok(Vec::new()),
        }
    }

    /// Git's log of the session; empty before the start.
    pub(crate) fn log(&self) -> String {
        let bytes = std::fs::read(self.place.git_dir().join("BISECT_LOG")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Replays this log and returns the commit that git wants to test next; `None` if the session
    /// has ended. The log replaces the state of this session.
    pub(crate) fn would_ask(&self, log: &str) -> Result<Option<CommitId>, GitError> {
        let path = self.place.git_dir().join("asked.log");
        std::fs::write(&path, log).map_err(io_error("write", &path))?;
        self.run_to_an_end(&self.bisect("replay").arg(&path))?;
        let Some(state) = BisectState::read_open(self.place.git_dir())? else { return Ok(None) };
        Ok(if state.logged_end().is_none() { state.current } else { None })
    }

    /// Those of `commits` that git may still want to test: ancestors of the new end that are not
    /// skipped and not ancestors of a commit marked as old.
    pub(crate) fn open_among<'a>(
        &self,
        commits: impl Iterator<Item = &'a CommitId>,
    ) -> Result<BTreeSet<CommitId>, GitError> {
        let mut open = BTreeSet::new();
        let Some(state) = BisectState::read_open(self.place.git_dir())? else { return Ok(open) };
        let Some(new) = &state.new else { return Ok(open) };
        let is_ancestor = |old: &CommitId, new: &CommitId| -> Result<bool, GitError> {
            let words = ["merge-base", "--is-ancestor", old.as_str(), new.as_str()];
            Ok(self.place.call().args(words).run()?.code == 0)
        };
        'commits: for commit in commits {
            if commit == new || state.skipped.contains(commit) || !is_ancestor(commit, new)? {
                continue;
            }
            for old in &state.old {
                if is_ancestor(commit, old)? {
                    continue 'commits;
                }
            }
            open.insert(commit.clone());
        }
        Ok(open)
    }

    /// `git bisect run` with this oracle in this session. The caller runs the invocation with live
    /// output. Git quotes the arguments for its shell, so they may hold any text. The exit code
    /// does not tell the result: read [`Self::state`].
    pub(crate) fn run_invocation<W: AsRef<OsStr>>(
        &self,
        oracle: impl IntoIterator<Item = W>,
    ) -> Invocation {
        self.bisect("run").args(oracle).invocation()
    }

    /// Removes the session at this path with all its references, if there is one.
    pub(crate) fn remove(path: &Path) -> Result<(), GitError> {
        BisectRepository::remove(path)
    }

    /// Runs a call that may end the session. Git exits with 2 if only skipped commits are left, 3
    /// if a merge base is bad, and 4 if no commit is left to test: these are results, not
    /// failures. Git may also fail to show the commit it found, so the state decides.
    fn run_to_an_end(&self, call: &Call) -> Result<(), GitError> {
        let output = call.run()?;
        if [0, 2, 3, 4].contains(&output.code) || self.state()?.is_some_and(|s| s.end.is_some()) {
            Ok(())
        } else {
            Err(call.failed(&output))
        }
    }

    fn bisect(&self, command: &str) -> Call {
        self.place.call().args(["bisect", command])
    }
}

/// The `git bisect …` lines of a session's log, with these answers added at the end.
pub(crate) fn log_with(log: &str, aim: Aim, answers: &[(CommitId, Verdict)]) -> String {
    let marks = log.split_inclusive('\n').filter(|line| line.starts_with("git bisect "));
    let mut all: String = marks.collect();
    for (commit, verdict) in answers {
        if let Some(word) = aim.word(*verdict) {
            all.extend(["git bisect ", word, " ", commit.as_str(), "\n"]);
        }
    }
    all
}

impl History {
    /// A log for `git bisect replay` in any clone with these commits: full names with subjects,
    /// options and pathspecs quoted.
    ///
    /// `marks` keep their order, except those of the newer side. Git takes the last one of that
    /// side as the end of the range, so these are sorted, newest commit first.
    pub(crate) fn replay_log(
        &self,
        range: &Range,
        aim: Aim,
        marks: &[(CommitId, Verdict)],
    ) -> Result<String, GitError> {
        let (old_word, new_word) = aim.terms();
        let mut log = String::new();
        let note = |log: &mut String, word: &str, id: &CommitId| -> Result<(), GitError> {
            let subject = one_line(&self.info(id)?.subject);
            log.push_str(format!("# {word}: [{id}] {subject}").trim_end());
            log.push('\n');
            Ok(())
        };
        note(&mut log, new_word, &range.new)?;
        for old in &range.old {
            note(&mut log, old_word, old)?;
        }
        let words: Vec<String> =
            start_arguments(range, aim).iter().map(|word| quoted(word)).collect();
        log.extend(["git bisect start ", &words.join(" "), "\n"]);
        let mut newer: Vec<&CommitId> = marks
            .iter()
            .filter(|(_, v)| aim.word(*v) == Some(new_word))
            .map(|(id, _)| id)
            .collect();
        let order =
            self.commits(&Range { paths: Vec::new(), first_parent: false, ..range.clone() })?;
        // Oldest first, so that `pop` returns the newest. Commits outside the range count as
        // newest.
        newer.sort_by_cached_key(|id| order.iter().position(|o| o == *id).unwrap_or(usize::MAX));
        for (id, verdict) in marks {
            let Some(word) = aim.word(*verdict) else { continue };
            let id = if word == new_word { newer.pop().unwrap_or(id) } else { id };
            note(&mut log, word, id)?;
            log.extend(["git bisect ", word, " ", id.as_str(), "\n"]);
        }
        Ok(log)
    }
}

/// The arguments after `git bisect start [--no-checkout]`.
fn start_arguments(range: &Range, aim: Aim) -> Vec<String> {
    let mut arguments = aim.arguments();
    if range.first_parent {
        arguments.push("--first-parent".to_owned());
    }
    arguments.push(range.new.to_string());
    arguments.extend(range.old.iter().map(CommitId::to_string));
    if !range.paths.is_empty() {
        arguments.push("--".to_owned());
        arguments.extend(range.paths.iter().cloned());
    }
    arguments
}

/// Quotes a word in single quotes, the only form that git's replay reads.
fn quoted(word: &str) -> String {
    let mut quoted = String::from("'");
    for c in word.chars() {
        match c {
            '\'' | '!' => quoted.extend(["'\\", c.to_string().as_str(), "'"]),
            _ => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// Replaces control characters by spaces, since a newline would end the log's comment. Leaves out
/// invisible characters, which could make the line look like another one.
fn one_line(text: &str) -> String {
    let seen = text.chars().filter(|c| !is_deceptive(*c));
    seen.map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;

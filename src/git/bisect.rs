//! A bisect session of our own, in a repository without files.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::evaluation::{Aim, CommitId, Verdict};
use crate::process::Invocation;

use super::bisect_repository::BisectRepository;
use super::command::Call;
use super::error::io_error;
use super::{BisectState, GitError, History, Range, Remaining, Repository};

impl Aim {
    /// What the session calls its older and its newer end. In a hunt for a fix not good and
    /// bad the other way round: git refuses swapped terms.
    pub fn terms(self) -> (&'static str, &'static str) {
        match self {
            Self::Regression => ("good", "bad"),
            Self::Fix => ("broken", "fixed"),
        }
    }

    /// The word git is told; `None` while the answer is out.
    pub fn word(self, verdict: Verdict) -> Option<&'static str> {
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

    /// The arguments of `git bisect start` that make it so.
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

/// `git bisect` in a repository of its own, which has no files that a build could dirty, and
/// none of the user's references: a session that they have going is not disturbed.
#[derive(Debug)]
pub struct BisectSession {
    place: BisectRepository,
}

impl BisectSession {
    /// A session at this path (made anew, or taken up after a killed process). `commit` is any
    /// commit, for HEAD to name.
    pub fn open(repository: &Repository, path: &Path, commit: &CommitId) -> Result<Self, GitError> {
        Ok(Self { place: BisectRepository::open(repository, path, commit)? })
    }

    /// Begins a session; one that is there already ends.
    pub fn start(&self, range: &Range, aim: Aim) -> Result<(), GitError> {
        self.reset()?;
        let call = self.bisect("start").arg("--no-checkout");
        run_to_an_end(&call.args(start_arguments(range, aim)))
    }

    /// Tells git a verdict; an unknown one says nothing.
    pub fn mark(&self, verdict: Verdict, commit: &CommitId) -> Result<(), GitError> {
        let aim = self.state()?.map_or(Aim::Regression, |state| state.aim());
        let Some(word) = aim.word(verdict) else { return Ok(()) };
        run_to_an_end(&self.bisect(word).arg(commit.as_str()))
    }

    /// Ends the session that is there and builds it anew from a log, of [`History::replay_log`]
    /// or git's own.
    pub fn replay(&self, log: &str) -> Result<(), GitError> {
        // Ours has no files; a log that is for others does not say so.
        let log: String = log
            .lines()
            .map(|line| match line.strip_prefix("git bisect start") {
                Some(rest) if !rest.contains("'--no-checkout'") => {
                    format!("git bisect start '--no-checkout'{rest}\n")
                }
                _ => format!("{line}\n"),
            })
            .collect();
        let file = self.place.git_dir().join("bisect-ppl-replay");
        fs::write(&file, log).map_err(io_error("write", &file))?;
        let replayed = run_to_an_end(&self.bisect("replay").arg(&file));
        // A leftover is overwritten by the next replay.
        let _ = fs::remove_file(&file);
        replayed
    }

    /// Ends the session; without one nothing happens.
    pub fn reset(&self) -> Result<(), GitError> {
        self.bisect("reset").ok()?;
        Ok(())
    }

    /// The commit git wants tested.
    pub fn current(&self) -> Result<Option<CommitId>, GitError> {
        Ok(self.state()?.and_then(|state| state.current))
    }

    /// The session as it stands on disk; `None` before it was started.
    pub fn state(&self) -> Result<Option<BisectState>, GitError> {
        BisectState::read(self.place.git_dir())
    }

    /// What git wants tested and how much is left, for an oracle that git calls.
    pub fn step(&self) -> Result<Option<(CommitId, Option<Remaining>)>, GitError> {
        let git_dir = self.place.git_dir();
        let Some(state) = BisectState::read_open(git_dir)? else { return Ok(None) };
        let Some(current) = state.current.clone() else { return Ok(None) };
        Ok(Some((current, state.remaining(git_dir)?)))
    }

    /// How much is left, as git estimates it; `None` before both ends are known.
    pub fn remaining(&self) -> Result<Option<Remaining>, GitError> {
        match self.state()? {
            Some(state) => state.remaining(self.place.git_dir()),
            None => Ok(None),
        }
    }

    /// `git bisect run` with this oracle in this session, to be run with its output live. Git
    /// quotes each word for the shell it uses, so words may hold anything. What it leaves
    /// behind, its exit code does not tell: read [`Self::state`].
    pub fn run_invocation<W: AsRef<OsStr>>(
        &self,
        oracle: impl IntoIterator<Item = W>,
    ) -> Invocation {
        self.bisect("run").args(oracle).invocation()
    }

    /// Removes the session at this path with all its references; without one nothing happens.
    pub fn remove(path: &Path) -> Result<(), GitError> {
        BisectRepository::remove(path)
    }

    fn bisect(&self, command: &str) -> Call {
        self.place.call().args(["bisect", command])
    }
}

impl History {
    /// A log that `git bisect replay` takes in any clone that has the commits: full names,
    /// each with its subject, options and pathspecs quoted.
    ///
    /// `marks` stay in their order but for those of the newer side: git takes the last of them
    /// for the end of the range, so they come newest first whatever the order they were found
    /// in.
    pub fn replay_log(
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
        // Oldest first, so that popping gives the newest; what is outside the range comes first.
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

/// What follows `git bisect start [--no-checkout]`.
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

/// Git leaves with 2 when only skipped commits are left, with 3 when a merge base is bad, and
/// with 4 when no commit is left to test: ends, not failures. The state tells which.
fn run_to_an_end(call: &Call) -> Result<(), GitError> {
    let output = call.run()?;
    if [0, 2, 3, 4].contains(&output.code) { Ok(()) } else { Err(call.failed(&output)) }
}

/// A word in single quotes, the way git quotes and the only way its replay reads.
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

/// A subject as part of a comment: nothing in it may begin a line of its own.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;

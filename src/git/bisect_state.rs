//! What a bisect session has come to, read from what git keeps on disk.

use std::fs;
use std::path::Path;

use crate::evaluation::{Aim, CommitId};

use super::command::Call;
use super::history::{Range, commit_list};
use super::{GitError, Repository};

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Git named the first commit on the new side.
    FirstBad(CommitId),
    /// Only skipped commits are left: the first bad one is among these.
    Candidates(Vec<CommitId>),
    /// No commit is left that the path filter lets through; what did it is outside.
    NoTestable,
    /// A common ancestor of the ends is itself on the new side.
    MergeBaseBad(CommitId),
}

/// How much of a search is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// Commits left to test after the current one, in the worse case, as git says it.
    pub revisions: usize,
    /// Steps left, as git estimates them.
    pub steps: usize,
    /// Commits that can still be the first bad one.
    pub candidates: usize,
}

/// A bisect session as it stands. `old` and `new` are git's neutral words: good and bad in a
/// hunt for a regression, broken and fixed in a hunt for a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BisectState {
    /// What the ends are called: old, then new.
    pub terms: (String, String),
    /// The commits marked as old.
    pub old: Vec<CommitId>,
    /// The last commit marked as new.
    pub new: Option<CommitId>,
    /// The commits marked as untestable.
    pub skipped: Vec<CommitId>,
    /// Only first parents are followed.
    pub first_parent: bool,
    /// The pathspecs it is limited to.
    pub paths: Vec<String>,
    /// What git wants tested: `BISECT_HEAD`, or else `HEAD`.
    pub current: Option<CommitId>,
    /// Git's own log.
    pub log: String,
    /// How it ended, once it has.
    pub end: Option<End>,
}

impl BisectState {
    /// Whether it hunts a regression or a fix.
    pub fn aim(&self) -> Aim {
        Aim::from_new_term(&self.terms.1)
    }

    /// The commits still in question, once both ends are known.
    pub fn range(&self) -> Option<Range> {
        if self.old.is_empty() {
            return None;
        }
        Some(Range {
            old: self.old.clone(),
            new: self.new.clone()?,
            first_parent: self.first_parent,
            paths: self.paths.clone(),
        })
    }

    /// Reads the session of the worktree with this git folder; `None` where there is none.
    pub(super) fn read(git_dir: &Path) -> Result<Option<Self>, GitError> {
        let Some(mut state) = Self::read_open(git_dir)? else { return Ok(None) };
        state.end = state.find_end(git_dir)?;
        Ok(Some(state))
    }

    /// The same of a session that goes on: whether it has ended, which takes a look at the
    /// graph, is not found out.
    pub(super) fn read_open(git_dir: &Path) -> Result<Option<Self>, GitError> {
        let text = |name: &str| {
            fs::read(git_dir.join(name)).ok().map(|b| String::from_utf8_lossy(&b).into_owned())
        };
        if text("BISECT_START").is_none() {
            return Ok(None);
        }
        let terms = text("BISECT_TERMS").unwrap_or_default();
        let mut terms = terms.lines().map(str::to_owned);
        let new_term = terms.next().unwrap_or_else(|| "bad".to_owned());
        let old_term = terms.next().unwrap_or_else(|| "good".to_owned());
        let mut state = Self {
            old: Vec::new(),
            new: None,
            skipped: Vec::new(),
            first_parent: git_dir.join("BISECT_FIRST_PARENT").exists(),
            paths: paths(&text("BISECT_NAMES").unwrap_or_default()),
            current: current(git_dir)?,
            log: text("BISECT_LOG").unwrap_or_default(),
            end: None,
            terms: (old_term, new_term),
        };
        state.read_marks(git_dir)?;
        Ok(Some(state))
    }

    fn read_marks(&mut self, git_dir: &Path) -> Result<(), GitError> {
        let call = Call::on(git_dir)
            .args(["for-each-ref", "--format=%(objectname) %(refname)"])
            .arg("refs/bisect/");
        let (command, output) = (call.shown(), call.ok()?);
        let (old_prefix, skip_prefix) = (format!("{}-", self.terms.0), "skip-");
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let unreadable =
                || GitError::Unreadable { command: command.clone(), what: line.to_owned() };
            let (id, name) = line.split_once(' ').ok_or_else(unreadable)?;
            let id: CommitId = id.parse().map_err(|_| unreadable())?;
            let name = name.trim_start_matches("refs/bisect/");
            if name == self.terms.1 {
                self.new = Some(id);
            } else if name.starts_with(&old_prefix) {
                self.old.push(id);
            } else if name.starts_with(skip_prefix) {
                self.skipped.push(id);
            }
        }
        Ok(())
    }

    /// The end, from the log where git writes it down, else from the graph: the exit codes
    /// that tell the other two (4 and 3) are gone with the process.
    fn find_end(&self, git_dir: &Path) -> Result<Option<End>, GitError> {
        if let Some(end) = self.logged_end() {
            return Ok(Some(end));
        }
        let Some(range) = self.range() else { return Ok(None) };
        for old in &range.old {
            let (new, old) = (range.new.as_str(), old.as_str());
            let ancestor = ["merge-base", "--is-ancestor", new, old];
            if new != old && Call::on(git_dir).args(ancestor).run()?.code == 0 {
                return Ok(Some(End::MergeBaseBad(range.new)));
            }
        }
        let first = Call::on(git_dir).args(["rev-list", "--max-count=1"]).args(range.arguments());
        Ok(commit_list(first)?.is_empty().then_some(End::NoTestable))
    }

    /// `# first bad commit: [SHA] …` or `# possible first bad commit: [SHA] …`, as long as no
    /// mark came after it.
    fn logged_end(&self) -> Option<End> {
        let after = match self.log.rfind("\ngit bisect ") {
            Some(at) => &self.log[at + 1..],
            None => &self.log,
        };
        let mut candidates: Vec<CommitId> = Vec::new();
        let named = |line: &str, words: &str| -> Option<CommitId> {
            let rest = line.strip_prefix(&format!("# {words} {} commit: [", self.terms.1))?;
            rest.get(..40)?.parse().ok()
        };
        for line in after.lines() {
            if let Some(id) = named(line, "first") {
                return Some(End::FirstBad(id));
            }
            // Asked twice, git writes them twice.
            candidates.extend(named(line, "possible first").filter(|id| !candidates.contains(id)));
        }
        (!candidates.is_empty()).then_some(End::Candidates(candidates))
    }

    /// How much is left, as git would say after the last mark; `None` before both ends are
    /// known. Skipped commits still count, as they do for git.
    pub(super) fn remaining(&self, git_dir: &Path) -> Result<Option<Remaining>, GitError> {
        let Some(range) = self.range() else { return Ok(None) };
        let call = Call::on(git_dir).args(["rev-list", "--bisect-vars"]).args(range.arguments());
        let command = call.shown();
        let said = call.ok()?;
        let said = String::from_utf8_lossy(&said.stdout);
        let number = |key: &str| -> Result<usize, GitError> {
            let line = said.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            // `-1` where nothing is left.
            line.and_then(|n| n.parse::<i64>().ok())
                .map(|n| usize::try_from(n).unwrap_or(0))
                .ok_or_else(|| GitError::Unreadable {
                    command: command.clone(),
                    what: said.to_string(),
                })
        };
        Ok(Some(Remaining {
            revisions: number("bisect_nr")?,
            steps: number("bisect_steps")?,
            candidates: number("bisect_all")?,
        }))
    }
}

impl Repository {
    /// The bisect session of the worktree the user stands in; `None` where there is none. This
    /// is what `git bisect run bisect-ppl oracle` finds without a hunt.
    pub fn bisect_state_here(&self) -> Result<Option<BisectState>, GitError> {
        BisectState::read(self.git_dir())
    }
}

/// What git wants tested now.
fn current(git_dir: &Path) -> Result<Option<CommitId>, GitError> {
    // A file of one line, unless references are kept elsewhere: then git is asked.
    let head = fs::read_to_string(git_dir.join("BISECT_HEAD")).ok();
    if let Some(id) = head.and_then(|text| text.parse().ok()) {
        return Ok(Some(id));
    }
    for name in ["BISECT_HEAD", "HEAD"] {
        let call = Call::on(git_dir).args(["rev-parse", "--verify", "--quiet"]);
        if let Ok(id) = call.arg(format!("{name}^{{commit}}")).run()?.line().parse() {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// The pathspecs in `BISECT_NAMES`: quoted words, after `--` if there are any.
fn paths(names: &str) -> Vec<String> {
    let words = shlex::split(names).unwrap_or_default();
    words.into_iter().skip_while(|word| word == "--").collect()
}

#[cfg(test)]
mod tests;

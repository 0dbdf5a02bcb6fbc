//! The state of a bisect session, read from git's files and references.

use std::fs;
use std::io;
use std::path::Path;

use crate::evaluation::{Aim, CommitId};
use crate::files;

use super::command::Call;
use super::history::{Range, commit_list};
use super::{GitError, Repository};

/// The result of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The first commit on the new side.
    FirstBad(CommitId),
    /// Only skipped commits are left; the first bad commit is one of these.
    Candidates(Vec<CommitId>),
    /// The path filter lets no commit through; the first bad commit is outside the filter.
    NoTestable,
    /// This merge base of the ends is itself on the new side.
    MergeBaseBad(CommitId),
}

/// The remaining size of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remaining {
    /// Commits left to test after the current one in the worse case, by git's count.
    pub revisions: usize,
    /// Steps left, by git's estimate.
    pub steps: usize,
    /// Commits that can still be the first bad one.
    pub candidates: usize,
}

/// The state of a bisect session. `old` and `new` are git's neutral terms: good and bad in a hunt
/// for a regression, broken and fixed in a hunt for a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BisectState {
    /// The session's words for old and new.
    pub terms: (String, String),
    /// The commits marked as old.
    pub old: Vec<CommitId>,
    /// The last commit marked as new.
    pub new: Option<CommitId>,
    /// The commits marked as untestable.
    pub skipped: Vec<CommitId>,
    /// Whether only first parents are followed.
    pub first_parent: bool,
    /// Pathspecs of the session.
    pub paths: Vec<String>,
    /// The commit to test next: `BISECT_HEAD`, or `HEAD` without one.
    pub current: Option<CommitId>,
    /// Git's own log.
    pub log: String,
    /// The result, if the session has ended.
    pub end: Option<End>,
}

impl BisectState {
    /// Whether the session looks for a regression or a fix.
    pub(crate) fn aim(&self) -> Aim {
        Aim::from_new_term(&self.terms.1)
    }

    /// The commits still in question, once both ends are known.
    pub(crate) fn range(&self) -> Option<Range> {
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

    /// The first commits marked as old and as new, from git's log. The references do not tell: git
    /// moves the one of the new end with each step, and sorts those of the old ends by name.
    pub(crate) fn first_ends(&self) -> [Option<CommitId>; 2] {
        let first = |term: &str| {
            let mark = format!("# {term}: [");
            let mut lines = self.log.lines();
            lines.find_map(|line| line.strip_prefix(&mark)?.get(..40)?.parse().ok())
        };
        [first(&self.terms.0), first(&self.terms.1)]
    }

    /// Reads the session of this git folder; `None` if there is none.
    pub(super) fn read(git_dir: &Path) -> Result<Option<Self>, GitError> {
        let Some(mut state) = Self::read_open(git_dir)? else { return Ok(None) };
        state.end = state.find_end(git_dir)?;
        Ok(Some(state))
    }

    /// Reads the session but not its result: leaves `end` empty, since finding the result may take
    /// several git calls.
    pub(super) fn read_open(git_dir: &Path) -> Result<Option<Self>, GitError> {
        let text = |name: &str| {
            fs::read(git_dir.join(name)).ok().map(|b| String::from_utf8_lossy(&b).into_owned())
        };
        let Some(terms) = Self::read_terms(git_dir) else { return Ok(None) };
        let mut state = Self {
            old: Vec::new(),
            new: None,
            skipped: Vec::new(),
            first_parent: git_dir.join("BISECT_FIRST_PARENT").exists(),
            paths: paths(&text("BISECT_NAMES").unwrap_or_default()),
            current: current(git_dir)?,
            log: text("BISECT_LOG").unwrap_or_default(),
            end: None,
            terms,
        };
        state.read_marks(git_dir)?;
        Ok(Some(state))
    }

    /// The words of this git folder's session for old and new; `None` if there is no session.
    /// Needs no call of git.
    pub(super) fn read_terms(git_dir: &Path) -> Option<(String, String)> {
        fs::read(git_dir.join("BISECT_START")).ok()?;
        let terms = fs::read(git_dir.join("BISECT_TERMS")).unwrap_or_default();
        let terms = String::from_utf8_lossy(&terms);
        let mut terms = terms.lines().map(str::to_owned);
        let new_term = terms.next().unwrap_or_else(|| "bad".to_owned());
        let old_term = terms.next().unwrap_or_else(|| "good".to_owned());
        Some((old_term, new_term))
    }

    fn read_marks(&mut self, git_dir: &Path) -> Result<(), GitError> {
        if let Some(marks) = marks_in_files(git_dir) {
            for (name, id) in marks {
                self.add_mark(&name, id);
            }
            return Ok(());
        }
        let call = Call::on(git_dir)
            .args(["for-each-ref", "--format=%(objectname) %(refname)"])
            .arg("refs/bisect/");
        let (command, output) = (call.shown(), call.ok()?);
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let unreadable =
                || GitError::Unreadable { command: command.clone(), what: line.to_owned() };
            let (id, name) = line.split_once(' ').ok_or_else(unreadable)?;
            let id: CommitId = id.parse().map_err(|_| unreadable())?;
            self.add_mark(name.trim_start_matches("refs/bisect/"), id);
        }
        Ok(())
    }

    /// Adds a commit that a reference below `refs/bisect` names.
    fn add_mark(&mut self, name: &str, id: CommitId) {
        if name == self.terms.1 {
            self.new = Some(id);
        } else if name.starts_with(&format!("{}-", self.terms.0)) {
            self.old.push(id);
        } else if name.starts_with("skip-") {
            self.skipped.push(id);
        }
    }

    /// Finds the result in git's log, or else in the graph. Git logs a found commit and candidates.
    /// It reports [`End::NoTestable`] and [`End::MergeBaseBad`] only by exit code (4 and 3), which
    /// is not stored.
    fn find_end(&self, git_dir: &Path) -> Result<Option<End>, GitError> {
        if let Some(end) = self.logged_end() {
            return Ok(Some(end));
        }
        let Some(range) = self.range() else { return Ok(None) };
        let left = Call::on(git_dir).args(["rev-list", "--max-count=2"]).args(range.arguments());
        match commit_list(left)?.as_slice() {
            // If the new end is an ancestor of an old one, no commit is left. So git is asked for
            // that only then.
            [] if has_newer_old_end(git_dir, &range)? => Ok(Some(End::MergeBaseBad(range.new))),
            [] => Ok(Some(End::NoTestable)),
            // Git shows the commit's change before it logs the result. If a partial clone lacks one
            // of the files, git fails before it logs the result.
            [only] if *only == range.new && is_decided(git_dir, &range)? => {
                Ok(Some(End::FirstBad(range.new)))
            }
            _ => Ok(None),
        }
    }

    /// Reads `# first bad commit: [SHA] …` or `# possible first bad commit: [SHA] …`, if no mark
    /// follows.
    pub(super) fn logged_end(&self) -> Option<End> {
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
            // Git may log the same candidate several times.
            candidates.extend(named(line, "possible first").filter(|id| !candidates.contains(id)));
        }
        (!candidates.is_empty()).then_some(End::Candidates(candidates))
    }

    /// The remaining size by git's count after the last mark; `None` before both ends are known.
    /// Like git, counts skipped commits.
    pub(super) fn remaining(&self, git_dir: &Path) -> Result<Option<Remaining>, GitError> {
        let Some(range) = self.range() else { return Ok(None) };
        let call = Call::on(git_dir).args(["rev-list", "--bisect-vars"]).args(range.arguments());
        let command = call.shown();
        let said = call.ok()?;
        let said = String::from_utf8_lossy(&said.stdout);
        let number = |key: &str| -> Result<usize, GitError> {
            let line = said.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            // Git prints `-1` if nothing is left.
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

    /// How well each commit splits the range; empty before both ends are known.
    pub(super) fn splits(&self, git_dir: &Path) -> Result<Vec<(CommitId, usize)>, GitError> {
        let Some(range) = self.range() else { return Ok(Vec::new()) };
        let call = Call::on(git_dir).args(["rev-list", "--bisect-all"]).args(range.arguments());
        let command = call.shown();
        let said = call.ok()?;
        let said = String::from_utf8_lossy(&said.stdout);
        let split = |line: &str| {
            let unreadable =
                || GitError::Unreadable { command: command.clone(), what: line.to_owned() };
            read_split(line).ok_or_else(unreadable)
        };
        said.lines().map(split).collect()
    }
}

/// Reads `SHA (refs/bisect/bad, dist=3)`.
fn read_split(line: &str) -> Option<(CommitId, usize)> {
    let (commit, rest) = line.split_once(' ')?;
    let (_, split) = rest.rsplit_once("dist=")?;
    Some((commit.parse().ok()?, split.strip_suffix(')')?.parse().ok()?))
}

impl Repository {
    /// The bisect session of the user's worktree; `None` if there is none. `git bisect run
    /// bisect-ppl oracle` without a hunt uses this session.
    pub(crate) fn bisect_state_here(&self) -> Result<Option<BisectState>, GitError> {
        BisectState::read(self.git_dir())
    }
}

/// The references of a session with their names below `refs/bisect`, sorted by name. `None` if git
/// must be asked: git never packs these references, but another program may.
fn marks_in_files(git_dir: &Path) -> Option<Vec<(String, CommitId)>> {
    if git_dir.join("packed-refs").symlink_metadata().is_ok() {
        return None;
    }
    let entries = match fs::read_dir(git_dir.join("refs/bisect")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(Vec::new()),
        Err(_) => return None,
    };
    let mut marks = Vec::new();
    for entry in entries {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        // Git writes a reference into a file with this ending first.
        if name.strip_suffix(".lock").is_none() {
            let text = String::from_utf8(files::read(&entry.path()).ok()?).ok()?;
            marks.push((name, text.parse().ok()?));
        }
    }
    marks.sort();
    Some(marks)
}

/// Whether the range's new end is an ancestor of one of its old ends, and another commit.
fn has_newer_old_end(git_dir: &Path, range: &Range) -> Result<bool, GitError> {
    for old in range.old.iter().filter(|old| **old != range.new) {
        let ancestor = ["merge-base", "--is-ancestor", range.new.as_str(), old.as_str()];
        if Call::on(git_dir).args(ancestor).run()?.code == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether git has no merge base left to ask about: every merge base is marked as old.
fn is_decided(git_dir: &Path, range: &Range) -> Result<bool, GitError> {
    for old in &range.old {
        let bases = Call::on(git_dir).args(["merge-base", "--all", old.as_str()]);
        let bases = commit_list(bases.arg(range.new.as_str()))?;
        if bases.is_empty() || bases.iter().any(|base| !range.old.contains(base)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The commit to test next.
fn current(git_dir: &Path) -> Result<Option<CommitId>, GitError> {
    // `BISECT_HEAD` is usually a file with one line. With another reference storage, git reads it.
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

/// Reads `BISECT_NAMES`: quoted pathspecs, after `--` if there are any.
fn paths(names: &str) -> Vec<String> {
    let words = shlex::split(names).unwrap_or_default();
    words.into_iter().skip_while(|word| word == "--").collect()
}

#[cfg(test)]
mod tests;

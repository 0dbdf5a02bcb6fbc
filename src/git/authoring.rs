//! Makes the demo's repository; the only module that writes commits.
//!
//! The user's configuration has no effect, so the same steps give the same commit ids everywhere.

use std::path::{Path, PathBuf};

use crate::evaluation::CommitId;

use super::GitError;
use super::command::Call;

/// A commit's author and date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Author {
    pub name: String,
    pub email: String,
    /// ISO 8601 with offset.
    pub date: String,
}

/// Name and address of the committer; the date is the author's.
const COMMITTER: (&str, &str) = ("bisect-ppl demo", "demo@example.org");

/// Settings that a user's or a system's configuration must not change.
const SETTINGS: [&str; 8] = [
    "-c",
    "core.autocrlf=false",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "merge.ff=true",
];

/// A repository under construction.
#[derive(Debug)]
pub(crate) struct DemoRepositoryWriter {
    top: PathBuf,
}

impl DemoRepositoryWriter {
    /// A new repository in this folder, on a branch `main` without commits.
    pub(crate) fn init(top: &Path) -> Result<Self, GitError> {
        let made = Self { top: top.to_owned() };
        made.call().args(["init", "--quiet", "--initial-branch=main"]).ok()?;
        Ok(made)
    }

    /// Commits everything in the folder.
    pub(crate) fn commit_all(&self, author: &Author, message: &str) -> Result<(), GitError> {
        self.call().args(["add", "--all"]).ok()?;
        self.by(author).args(["commit", "--quiet", "--message", message]).ok()?;
        Ok(())
    }

    /// Applies a patch as a commit with the patch's author and date.
    pub(crate) fn apply(&self, patch: &Path) -> Result<(), GitError> {
        let call = self.call().args(["am", "--quiet", "--committer-date-is-author-date"]);
        call.arg("--keep-cr").arg(patch).ok()?;
        Ok(())
    }

    /// Creates a branch at a revision, or at HEAD, and switches to it.
    pub(crate) fn branch(&self, name: &str, at: Option<&str>) -> Result<(), GitError> {
        self.call().args(["switch", "--quiet", "--create", name]).args(at).ok()?;
        Ok(())
    }

    /// Switches to a branch.
    pub(crate) fn switch(&self, name: &str) -> Result<(), GitError> {
        self.call().args(["switch", "--quiet", name]).ok()?;
        Ok(())
    }

    /// Merges a branch into the current one, always with a merge commit.
    pub(crate) fn merge(
        &self,
        branch: &str,
        author: &Author,
        message: &str,
    ) -> Result<(), GitError> {
        let call = self.by(author).args(["merge", "--quiet", "--no-ff", "--message", message]);
        call.arg(branch).ok()?;
        Ok(())
    }

    /// Tags the current commit.
    pub(crate) fn tag(&self, name: &str) -> Result<(), GitError> {
        self.call().args(["tag", name]).ok()?;
        Ok(())
    }

    /// The commit that a revision names.
    pub(crate) fn resolve(&self, revision: &str) -> Result<CommitId, GitError> {
        let call =
            self.call().args(["rev-parse", "--verify"]).arg(format!("{revision}^{{commit}}"));
        let command = call.shown();
        let output = call.ok()?;
        String::from_utf8_lossy(&output.stdout)
            .parse()
            .map_err(|what| GitError::Unreadable { command, what: format!("{what}") })
    }

    fn call(&self) -> Call {
        Call::new(&self.top)
            .args(SETTINGS)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_COMMITTER_NAME", COMMITTER.0)
            .env("GIT_COMMITTER_EMAIL", COMMITTER.1)
    }

    fn by(&self, author: &Author) -> Call {
        self.call()
            .env("GIT_AUTHOR_NAME", &author.name)
            .env("GIT_AUTHOR_EMAIL", &author.email)
            .env("GIT_AUTHOR_DATE", &author.date)
            .env("GIT_COMMITTER_DATE", &author.date)
    }
}

//! The one place where this room calls git.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::GitError;

/// What every call carries, so that nothing of the user's setup runs or lingers: no hooks, no
/// file-system monitor daemon, no garbage collection in the background, and submodules only
/// where we ask for them.
pub(super) const SETTINGS: [&str; 10] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "submodule.recurse=false",
];

/// What `git bisect run`, a hook or an alias may have left in our environment, and what would
/// point git at another repository or change how it reads paths.
pub(super) const REMOVED: [&str; 16] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_EXTERNAL_DIFF",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// English words whatever the user's language, no question on the terminal, and no lock taken
/// (nor index rewritten) by commands that only look.
pub(super) const ENVIRONMENT: [(&str, &str); 4] =
    [("LC_ALL", "C"), ("LANGUAGE", ""), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0")];

/// One call of git that is being put together.
#[derive(Clone, Debug)]
pub(super) struct Call {
    dir: PathBuf,
    git_dir: Option<PathBuf>,
    work_tree: bool,
    args: Vec<OsString>,
}

/// What a call left behind.
#[derive(Debug)]
pub(super) struct Output {
    /// Its exit code; a signal is an error before it comes to this.
    pub(super) code: i32,
    /// What it printed.
    pub(super) stdout: Vec<u8>,
    /// What it complained about.
    pub(super) stderr: Vec<u8>,
}

impl Call {
    /// Git in this folder, with the repository found from there.
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), git_dir: None, work_tree: false, args: Vec::new() }
    }

    /// Git on this repository, for what needs no files.
    pub(super) fn on(git_dir: &Path) -> Self {
        Self { git_dir: Some(git_dir.to_owned()), ..Self::new(git_dir) }
    }

    /// Git on these files with this repository, both named outright: were the link between them
    /// lost (a build may well delete `.git`), git would look further up, find a repository of
    /// the user's, and `reset --hard` that.
    pub(super) fn in_worktree(git_dir: &Path, top: &Path) -> Self {
        Self { git_dir: Some(git_dir.to_owned()), work_tree: true, ..Self::new(top) }
    }

    /// One more argument.
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Several more arguments.
    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// The command without our settings, as it could be typed.
    pub(super) fn shown(&self) -> String {
        let mut bytes = b"git".to_vec();
        for arg in &self.args {
            bytes.push(b' ');
            let quoted = shlex::bytes::try_quote(arg.as_bytes());
            bytes.extend(quoted.as_deref().unwrap_or_else(|_| arg.as_bytes()));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Everything that follows the word `git`.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = SETTINGS.iter().map(OsString::from).collect();
        if let Some(git_dir) = &self.git_dir {
            arguments.extend(["--git-dir".into(), git_dir.into()]);
        }
        if self.work_tree {
            arguments.extend(["--work-tree".into(), self.dir.clone().into()]);
        }
        arguments.extend(self.args.iter().cloned());
        arguments
    }

    /// Runs it; any exit code is an answer.
    #[expect(clippy::disallowed_methods, reason = "until the process room runs tools for us")]
    pub(super) fn run(&self) -> Result<Output, GitError> {
        let mut command = Command::new("git");
        command.args(self.arguments()).current_dir(&self.dir).stdin(Stdio::null());
        for name in REMOVED {
            command.env_remove(name);
        }
        command.envs(ENVIRONMENT);
        #[cfg(test)]
        command.envs(super::tests::SEALED);
        let output = command.output().map_err(|source| self.not_started(source))?;
        match output.status.code() {
            Some(code) => Ok(Output { code, stdout: output.stdout, stderr: output.stderr }),
            None => Err(GitError::Command {
                command: self.shown(),
                ended: format!("signal {}", output.status.signal().unwrap_or_default()),
                said: said(&output.stderr),
                dir: self.dir.clone(),
            }),
        }
    }

    /// Runs it; anything but exit code 0 is an error with git's own words.
    pub(super) fn ok(self) -> Result<Output, GitError> {
        let output = self.run()?;
        if output.code == 0 { Ok(output) } else { Err(self.failed(&output)) }
    }

    /// Runs it for the one line it prints.
    pub(super) fn line(self) -> Result<String, GitError> {
        Ok(self.ok()?.line())
    }

    /// Runs it for the one path it prints, which need not be UTF-8.
    pub(super) fn path(self) -> Result<PathBuf, GitError> {
        let mut bytes = self.ok()?.stdout;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        Ok(PathBuf::from(OsString::from_vec(bytes)))
    }

    /// The error that this outcome of this call is.
    pub(super) fn failed(&self, output: &Output) -> GitError {
        let said = said(&output.stderr);
        if said.contains("No space left on device") || said.contains("Disk quota exceeded") {
            return GitError::NoSpace { command: self.shown(), said };
        }
        if said.contains("dubious ownership") {
            return GitError::DubiousOwnership { path: self.dir.clone(), said };
        }
        GitError::Command {
            command: self.shown(),
            dir: self.dir.clone(),
            ended: format!("exit code {}", output.code),
            said,
        }
    }

    fn not_started(&self, source: io::Error) -> GitError {
        // A missing working folder reads as "not found" too.
        if source.kind() == io::ErrorKind::NotFound && self.dir.is_dir() {
            GitError::Missing
        } else {
            GitError::NotStarted { command: self.shown(), source }
        }
    }
}

impl Output {
    /// What it printed, as one line.
    pub(super) fn line(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()
    }
}

/// Git's own words: all of them if few, else the lines that name the trouble.
fn said(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let telling: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|l| l.starts_with("fatal:") || l.starts_with("error:"))
        .collect();
    let kept = if lines.len() > 4 && !telling.is_empty() { &telling } else { &lines };
    match kept.len() {
        0 => "(no message)".to_owned(),
        n => kept[n.saturating_sub(6)..].join("; "),
    }
}

//! Builds and runs every git call of this module.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::evaluation::{Ended, was_caused_by_program};
use crate::files;
use crate::process::{Invocation, tool, tool_with_input};

use super::GitError;
use super::disk::Disk;

/// Settings of every call, besides those of [`Invocation::git`]: no garbage collection in the
/// background, and no submodules unless we ask for them.
const SETTINGS: [&str; 6] =
    ["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "submodule.recurse=false"];

/// Settings of every call that a user may have set otherwise, and that would change what `git log`
/// and `git diff` print. A relative `diff.orderFile` is looked for in the working folder, and git
/// fails without it. Options of single calls cover the settings that have one for every git.
const PRINTED_ALIKE: [&str; 9] = [
    "diff.orderFile=/dev/null",
    "diff.relative=false",
    "diff.suppressBlankEmpty=false",
    "log.diffMerges=separate",
    "log.follow=false",
    "log.showRoot=true",
    "log.showSignature=false",
    "color.ui=false",
    "color.diff=false",
];

/// Settings for our worktrees, whatever the user has configured. A build may change a file and
/// restore its old time, or tell git to ignore it. So git compares everything that `lstat` returns
/// and caches nothing outside the index.
const IN_OURS: [&str; 6] = [
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "sparse.expectFilesOutsideOfPatterns=false",
];

/// The index of our worktree. Builds get a copy named `index`, so their changes (`git update-index
/// --skip-worktree`, `git add`) do not reach ours.
pub(super) const PRIVATE_INDEX: &str = "index-of-bisect-ppl";

/// Variables that would change how git reads paths or prints changes. `GIT_DIFF_OPTS` overrides
/// `--unified`.
const REMOVED: [&str; 6] = [
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
];

/// Upper bound for a list of all files of a large repository, bytes.
pub(super) const LONGEST_LIST: usize = 256 << 20;

/// Time limit of a call. Even a clone of a submodule is faster; a silent remote must not block a
/// whole night.
const LIMIT: Duration = Duration::from_hours(1);

/// A git call under construction.
#[derive(Clone, Debug)]
pub(super) struct Call {
    dir: PathBuf,
    git_dir: Option<PathBuf>,
    work_tree: bool,
    args: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
    /// Bytes of output to keep; `None` means the default of [`Invocation::git`].
    capture: Option<usize>,
    /// What git reads from its stdin; `None` for nothing.
    input: Option<Vec<u8>>,
    /// Whether Git LFS files stay pointers.
    leaves_lfs: bool,
    /// Whether the call works in a worktree of ours.
    in_ours: bool,
    /// Properties of the disk, if they should override the repository's configuration.
    disk: Option<Disk>,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct Output {
    /// The exit code. A signal is an error instead.
    pub(super) code: i32,
    /// The bytes on stdout.
    pub(super) stdout: Vec<u8>,
    /// The bytes on stderr.
    pub(super) stderr: Vec<u8>,
}

impl Call {
    /// A call in this folder; git finds the repository from there.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            git_dir: None,
            work_tree: false,
            args: Vec::new(),
            env: Vec::new(),
            capture: None,
            input: None,
            leaves_lfs: false,
            in_ours: false,
            disk: None,
        }
    }

    /// A call on this repository that needs no files.
    pub(super) fn on(git_dir: &Path) -> Self {
        Self { git_dir: Some(git_dir.to_owned()), ..Self::new(git_dir) }
    }

    /// Sets the working folder of git and of the programs it starts.
    pub(super) fn standing_in(self, dir: &Path) -> Self {
        Self { dir: dir.to_owned(), ..self }
    }

    /// A call on this repository and these files, both given explicitly. If a build deleted
    /// `.git`, git would otherwise search the parent folders, find a repository of the user, and
    /// `reset --hard` that one.
    pub(super) fn in_worktree(git_dir: &Path, top: &Path) -> Self {
        Self { git_dir: Some(git_dir.to_owned()), work_tree: true, ..Self::new(top) }
    }

    /// As [`Self::in_worktree`], for a worktree of ours with [`PRIVATE_INDEX`].
    pub(super) fn in_ours(git_dir: &Path, top: &Path) -> Self {
        let index = git_dir.join(PRIVATE_INDEX);
        Self { in_ours: true, ..Self::in_worktree(git_dir, top) }.env("GIT_INDEX_FILE", index)
    }

    /// Adds an argument.
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub(super) fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name, value.as_ref().to_owned()));
        self
    }

    /// Sets how many bytes of output to keep.
    pub(super) fn capture(self, bytes: usize) -> Self {
        Self { capture: Some(bytes), ..self }
    }

    /// Whether the call would keep all of this output.
    pub(super) fn keeps(&self, output: &[u8]) -> bool {
        self.capture.is_none_or(|most| output.len() <= most)
    }

    /// Sets what git reads from its stdin.
    pub(super) fn input(self, text: impl Into<Vec<u8>>) -> Self {
        Self { input: Some(text.into()), ..self }
    }

    /// Sets whether Git LFS files stay the pointers that commits hold, even if the LFS filter is
    /// installed.
    pub(super) fn leaving_lfs(self, leaves_lfs: bool) -> Self {
        Self { leaves_lfs, ..self }
    }

    /// Sets the properties of the disk. The repository's configuration describes the disk where it
    /// was made.
    pub(super) fn on_disk(self, disk: Disk) -> Self {
        Self { disk: Some(disk), ..self }
    }

    /// Whether the disk is known to ignore case in names.
    pub(super) fn folds_case(&self) -> bool {
        self.disk.is_some_and(|disk| disk.folds_case)
    }

    /// The arguments, without our settings.
    pub(super) fn arguments(&self) -> &[OsString] {
        &self.args
    }

    /// The command as a user could type it, without our settings.
    pub(super) fn shown(&self) -> String {
        let mut bytes = b"git".to_vec();
        for arg in &self.args {
            bytes.push(b' ');
            let quoted = shlex::bytes::try_quote(arg.as_bytes());
            bytes.extend(quoted.as_deref().unwrap_or_else(|_| arg.as_bytes()));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The call as an invocation, without what it reads from stdin.
    pub(super) fn invocation(&self) -> Invocation {
        let mut invocation = Invocation::git(SETTINGS).cwd(&self.dir);
        for setting in PRINTED_ALIKE {
            invocation = invocation.arg("-c").arg(setting);
        }
        if let Some(git_dir) = &self.git_dir {
            invocation = invocation.arg("--git-dir").arg(git_dir);
        }
        if self.work_tree {
            invocation = invocation.arg("--work-tree").arg(&self.dir);
        }
        if self.leaves_lfs {
            let settings = ["smudge=", "process=", "clean=", "required=false"];
            for setting in settings {
                invocation = invocation.arg("-c").arg(format!("filter.lfs.{setting}"));
            }
        }
        let ours = IN_OURS.iter().filter(|_| self.in_ours).map(|setting| (*setting).to_owned());
        for setting in ours.chain(self.disk.into_iter().flat_map(Disk::settings)) {
            invocation = invocation.arg("-c").arg(setting);
        }
        for name in REMOVED {
            invocation = invocation.env_remove(name);
        }
        #[cfg(test)]
        for (name, value) in super::tests::SEALED {
            invocation = invocation.env(name, value);
        }
        for (name, value) in &self.env {
            invocation = invocation.env(name, value);
        }
        if let Some(bytes) = self.capture {
            invocation = invocation.capture(bytes);
        }
        invocation.args(&self.args)
    }

    /// Runs the call; every exit code is a result.
    pub(super) fn run(&self) -> Result<Output, GitError> {
        let invocation = self.invocation().timeout(Some(LIMIT));
        let output = match &self.input {
            Some(input) => tool_with_input(&invocation, input),
            None => tool(&invocation),
        };
        let output = output.map_err(|source| GitError::NotStarted {
            command: self.shown(),
            source: Box::new(source),
        })?;
        let command = self.shown();
        match output.ended {
            Ended::Exited(_) if output.truncated => {
                Err(GitError::Unreadable { command, what: "the output is too long".to_owned() })
            }
            Ended::Exited(code) => {
                Ok(Output { code, stdout: output.stdout, stderr: output.stderr })
            }
            Ended::NotFound(_) => Err(GitError::Missing),
            Ended::Signaled(_) if !was_caused_by_program(&output.ended) => {
                let ended = output.ended.to_string();
                Err(GitError::Killed { command, dir: self.dir.clone(), ended })
            }
            ended => Err(GitError::Command {
                command,
                dir: self.dir.clone(),
                ended: ended.to_string(),
                said: said(&output.stderr),
            }),
        }
    }

    /// Runs the call; an exit code other than 0 is an error with git's message.
    pub(super) fn ok(self) -> Result<Output, GitError> {
        let output = self.run()?;
        if output.code == 0 { Ok(output) } else { Err(self.failed(&output)) }
    }

    /// Runs the call; returns the line it prints.
    pub(super) fn line(self) -> Result<String, GitError> {
        Ok(self.ok()?.line())
    }

    /// Runs the call; returns the path it prints, which need not be UTF-8.
    pub(super) fn path(self) -> Result<PathBuf, GitError> {
        let mut bytes = self.ok()?.stdout;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        Ok(PathBuf::from(OsString::from_vec(bytes)))
    }

    /// The error for a failed result of this call.
    pub(super) fn failed(&self, output: &Output) -> GitError {
        let said = said(&output.stderr);
        let told = ["No space left on device", "Disk quota exceeded"];
        // Git may fail on a full disk without a word, or without the reason.
        let hides_the_reason = output.stderr.is_empty() || said.contains("unable to write");
        let disks = || self.git_dir.as_deref().into_iter().chain([self.dir.as_path()]);
        if told.iter().any(|words| said.contains(words))
            || wrote_to_a_full_disk(&said)
            || (hides_the_reason && disks().any(files::is_full))
        {
            return GitError::NoSpace { command: self.shown(), said };
        }
        if said.contains("dubious ownership") {
            return GitError::DubiousOwnership { path: self.dir.clone(), said };
        }
        if said.contains("from promisor remote") {
            return GitError::Promised { command: self.shown(), said };
        }
        GitError::Command {
            command: self.shown(),
            dir: self.dir.clone(),
            ended: format!("exit code {}", output.code),
            said,
        }
    }
}

/// Whether git failed to write a file on a full disk. For a reference, git's message names only
/// the file, not the reason.
fn wrote_to_a_full_disk(said: &str) -> bool {
    let Some((_, rest)) = said.split_once("write '") else { return false };
    let file = Path::new(rest.split('\'').next().unwrap_or_default());
    let folder = file.ancestors().skip(1).find(|folder| folder.is_dir());
    folder.is_some_and(files::is_full)
}

impl Output {
    /// Stdout as one line.
    pub(super) fn line(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()
    }
}

/// Git's message: at most its last six lines. Of a message with more than four lines, only the
/// `fatal:` and `error:` lines count, if there are any.
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

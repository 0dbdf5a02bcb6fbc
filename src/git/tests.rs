//! Fixtures: real repositories in temporary folders, isolated from the machine's git
//! configuration.

/// Environment that hides the machine's git configuration from a test's git calls.
pub(super) const SEALED: [(&str, &str); 15] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    // Submodules of the tests are local folders, which git refuses as remotes by default.
    ("GIT_CONFIG_COUNT", "3"),
    ("GIT_CONFIG_KEY_0", "protocol.file.allow"),
    ("GIT_CONFIG_VALUE_0", "always"),
    ("GIT_CONFIG_KEY_1", "init.defaultBranch"),
    ("GIT_CONFIG_VALUE_1", "main"),
    ("GIT_CONFIG_KEY_2", "user.useConfigOnly"),
    ("GIT_CONFIG_VALUE_2", "true"),
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.org"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.org"),
    ("GIT_AUTHOR_DATE", "2024-05-06T07:08:09+0530"),
    ("GIT_COMMITTER_DATE", "2024-05-06T07:08:09+0530"),
];

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::command::Call;
use super::{History, Range, Repository};
use crate::evaluation::CommitId;

/// The user's repository in a folder with room for clones and worktrees.
pub(super) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    /// An empty repository.
    pub(super) fn new() -> Self {
        let fixture = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(fixture.user()).unwrap();
        fixture.git(&["init", "--quiet"]);
        fixture
    }

    /// A repository whose commit N (from 1) writes N into the file `n`.
    pub(super) fn line(length: usize) -> (Self, Vec<CommitId>) {
        let fixture = Self::new();
        let commits =
            (1..=length).map(|n| fixture.commit(&format!("step {n}"), &[("n", &n.to_string())]));
        let commits = commits.collect();
        (fixture, commits)
    }

    /// The user's checkout.
    pub(super) fn user(&self) -> PathBuf {
        self.beside("user repo")
    }

    /// A path outside the user's checkout.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Runs git in the user's checkout; returns its output.
    pub(super) fn git(&self, args: &[&str]) -> String {
        git_in(&self.user(), args)
    }

    /// Writes files, then commits everything in the checkout.
    pub(super) fn commit(&self, subject: &str, files: &[(&str, &str)]) -> CommitId {
        for (path, text) in files {
            write(&self.user().join(path), text);
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.head()
    }

    pub(super) fn head(&self) -> CommitId {
        self.git(&["rev-parse", "HEAD"]).parse().unwrap()
    }

    pub(super) fn repository(&self) -> Repository {
        Repository::discover(&self.user()).unwrap()
    }

    pub(super) fn history(&self) -> History {
        History::open(&self.repository()).unwrap()
    }

    /// All files of the user that a hunt must not change: the checkout, and `.git` without the
    /// objects and our worktrees.
    pub(super) fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.user(), &mut files);
        let git = self.user().join(".git");
        files.retain(|path, _| {
            !path.starts_with(git.join("objects")) && !path.starts_with(git.join("worktrees"))
        });
        files.insert("refs".into(), self.git(&["for-each-ref"]).into());
        files.insert("stash".into(), self.git(&["stash", "list"]).into());
        files.insert("status".into(), self.git(&["status", "--porcelain=v2"]).into());
        files
    }

    /// As [`Self::snapshot`], with git's records of worktrees: shows that our worktrees left none.
    pub(super) fn snapshot_with_worktrees(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = self.snapshot();
        collect(&self.user().join(".git/worktrees"), &mut files);
        files.insert("worktrees".into(), self.git(&["worktree", "list", "--porcelain"]).into());
        files
    }
}

pub(super) fn git_in(folder: &Path, args: &[&str]) -> String {
    Call::new(folder).args(args).line().unwrap()
}

pub(super) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(super) fn write_program(path: &Path, text: &str) {
    write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every file and link below a folder, with contents or target.
fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            collect(&path, files);
        } else if kind.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            files.insert(path, target.into_os_string().into_encoded_bytes());
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// Paths of all files in a worktree without `.git`, relative to its top.
pub(super) fn listing(top: &Path) -> Vec<String> {
    let mut files = BTreeMap::new();
    collect(top, &mut files);
    let names = files.keys().map(|p| p.strip_prefix(top).unwrap().display().to_string());
    names.filter(|name| name != ".git" && !name.ends_with("/.git")).collect()
}

pub(super) fn range(old: &CommitId, new: &CommitId) -> Range {
    Range::between(old, new)
}

//! Everything of the user's repository that a hunt must leave unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::TestEnvironment;

/// The checkout's files, git's own files (index, HEAD, refs, reflogs, stash, config, objects,
/// bisect state, other worktrees), each with its mode, and what git says of refs and worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, (u32, Vec<u8>)>);

impl Snapshot {
    pub(crate) fn of(env: &TestEnvironment) -> Self {
        let mut files = BTreeMap::new();
        let shared = env.git_folder();
        collect(&env.repo(), Path::new("here"), &mut files);
        if !shared.starts_with(env.repo()) {
            collect(&shared, Path::new("git"), &mut files);
        }
        files.retain(|path, (_, content)| !is_empty_pack(path, content));
        for args in [&["for-each-ref"][..], &["worktree", "list", "--porcelain"]] {
            let name = PathBuf::from(format!("git {}", args.join(" ")));
            files.insert(name, (0, env.git(args).into_bytes()));
        }
        Self(files)
    }

    /// The snapshot without objects: git may fetch missing ones.
    #[must_use]
    pub(crate) fn without_objects(mut self) -> Self {
        self.0.retain(|path, _| !path.iter().any(|part| part == "objects"));
        self
    }

    /// Names of what differs, sorted. New objects are no difference: a modified tree that was
    /// checked out leaves some, and nothing refers to them.
    pub(crate) fn changes(&self, now: &Self) -> Vec<PathBuf> {
        let mut names: Vec<&PathBuf> = self.0.keys().chain(now.0.keys()).collect();
        names.retain(|name| self.0.get(*name) != now.0.get(*name));
        names.retain(|name| self.0.contains_key(*name) || !is_object(name));
        names.sort();
        names.dedup();
        names.into_iter().cloned().collect()
    }

    /// Fails with the names of what changed.
    #[track_caller]
    pub(crate) fn assert_unchanged(&self, env: &TestEnvironment) {
        let changed = self.changes(&Self::of(env));
        assert!(changed.is_empty(), "changed in the user's repository: {changed:#?}");
    }
}

/// Git 2.39 writes `packed-refs` whenever it deletes a reference, even with nothing to pack.
fn is_empty_pack(path: &Path, content: &[u8]) -> bool {
    let first = content.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    path.ends_with("packed-refs") && first.starts_with(b"#") && first.len() == content.len()
}

/// Whether a path is that of an object in a file of its own.
fn is_object(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::parent);
    folder.is_some_and(|folder| folder.ends_with("objects"))
        && path.parent().and_then(Path::file_name).is_some_and(|name| name.len() == 2)
}

/// Whether a path is the store's; all other paths are the user's.
fn is_ours(path: &Path) -> bool {
    ["here/.git/bisect-ppl", "here/bisect-ppl", "git/bisect-ppl"]
        .iter()
        .any(|ours| path == Path::new(ours))
}

fn collect(folder: &Path, name: &Path, files: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = name.join(path.file_name().unwrap());
        if is_ours(&name) {
            continue;
        }
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            collect(&path, &name, files);
            continue;
        }
        let content = if metadata.is_symlink() {
            fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
        } else {
            fs::read(&path).unwrap()
        };
        files.insert(name, (metadata.permissions().mode(), content));
    }
}

//! Everything of the user's repository that a hunt must leave as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::TestEnvironment;

/// The checkout's files, git's own files (index, HEAD, refs, stash, config, bisect state), and
/// what git says of refs and worktrees.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<String, Vec<u8>>);

impl Snapshot {
    pub fn of(env: &TestEnvironment) -> Self {
        let mut files = BTreeMap::new();
        collect(&env.repo(), "", &mut files);
        for args in
            [&["for-each-ref"][..], &["worktree", "list", "--porcelain"], &["stash", "list"]]
        {
            files.insert(format!("git {}", args.join(" ")), env.git(args).into_bytes());
        }
        Self(files)
    }

    /// Fails with the names of what changed.
    #[track_caller]
    pub fn assert_unchanged(&self, env: &TestEnvironment) {
        let now = Self::of(env);
        let names = self.0.keys().chain(now.0.keys());
        let changed: Vec<_> = names.filter(|n| self.0.get(*n) != now.0.get(*n)).collect();
        assert!(changed.is_empty(), "changed in the user's repository: {changed:#?}");
    }
}

/// Objects may be added, and the store is ours; all else is the user's.
fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if [".git/objects", ".git/bisect-ppl", ".git/worktrees"].contains(&name.as_str()) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else if entry.file_type().unwrap().is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            files.insert(name, target.to_string_lossy().into_owned().into_bytes());
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

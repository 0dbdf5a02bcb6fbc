//! Watches the git folder that all worktrees of a repository share. A build or run that keeps tables
//! there would carry results from one commit to another, and what it writes stays in the user's
//! repository. So the files there are compared before and after each build and run.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::evaluation::{ChangedDuring, CommitId, GitFolderChange};
use crate::files::FileState;

use super::Repository;

/// Maximum number of entries to compare. In a folder with more, no change is seen.
const MOST_ENTRIES: usize = 2_000;

/// Maximum number of paths that a change names.
const MOST_PATHS: usize = 3;

/// Largest file whose content is compared, bytes.
const LARGEST: u64 = 64 << 10;

/// Sections of git's configuration that git writes in the user's ordinary work, and for submodules
/// of a checkout.
const ORDINARY_SECTIONS: [&str; 5] = ["branch", "lfs", "maintenance", "remote", "submodule"];

/// Entries at the top of the folder that git writes in the user's ordinary work, those of known
/// extensions of git, and our own. What is below them does not count either.
const ORDINARY: [&str; 21] = [
    "ADD_EDIT.patch",
    "AUTO_MERGE",
    "EDIT_DESCRIPTION",
    "HEAD",
    "addp-hunk-edit.diff",
    "bisect-ppl",
    "gc.log",
    "gc.pid",
    "index",
    "lfs",
    "logs",
    "modules",
    "objects",
    "packed-refs",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "rr-cache",
    "sequencer",
    "shallow",
    "worktrees",
];

/// Beginnings of further names of such entries.
const ORDINARY_STARTS: [&str; 8] = [
    "BISECT_",
    "MERGE_",
    "NOTES_",
    "fsmonitor--daemon",
    "index.",
    "packed-refs.",
    "sharedindex.",
    "shallow.",
];

/// What a snapshot has of one file.
#[derive(Debug)]
struct FileEntry {
    state: FileState,
    /// SHA-256 of what counts in the file, and of whether it is executable; `None` for a file that
    /// is not read.
    digest: Option<Vec<u8>>,
}

impl FileEntry {
    /// `path`: below the folder `top`.
    fn of(top: &Path, path: &Path, meta: &Metadata) -> Self {
        Self { state: FileState::from(meta), digest: digest(top, path, meta) }
    }

    /// Whether nobody wrote the file between both snapshots, or with the content that it had.
    fn is_same(&self, before: &Self) -> bool {
        self.state == before.state || (self.digest.is_some() && self.digest == before.digest)
    }
}

/// A snapshot of the files in the common git folder, without git's ordinary data and our own.
#[derive(Debug)]
pub(crate) struct CommonFiles {
    top: PathBuf,
    /// `None` if there are more than [`MOST_ENTRIES`].
    files: Option<BTreeMap<PathBuf, FileEntry>>,
}

impl CommonFiles {
    /// Takes a snapshot of the repository's common git folder.
    pub(crate) fn of(repository: &Repository) -> Self {
        Self::at(repository.common_dir())
    }

    fn at(top: &Path) -> Self {
        Self { top: top.to_owned(), files: files(top) }
    }

    /// The files that were changed, created, or removed since the snapshot, while this went on at
    /// this commit; `None` if there are none. Perhaps the user changed them, and not the commit.
    pub(crate) fn change(
        &self,
        commit: &CommitId,
        during: ChangedDuring,
    ) -> Option<GitFolderChange> {
        let mut paths = self.changed();
        if paths.is_empty() {
            return None;
        }
        let more = paths.len().saturating_sub(MOST_PATHS);
        paths.truncate(MOST_PATHS);
        Some(GitFolderChange { during, commit: Some(commit.clone()), paths, more })
    }

    /// All paths that changed, in order.
    fn changed(&self) -> Vec<String> {
        let (Some(before), Some(now)) = (&self.files, files(&self.top)) else { return Vec::new() };
        let is_same = |path: &PathBuf, file: &FileEntry| {
            before.get(path).is_some_and(|before| file.is_same(before))
        };
        let written = now.iter().filter(|(path, file)| !is_same(path, file));
        let removed = before.keys().filter(|path| !now.contains_key(*path));
        let mut changed: Vec<&PathBuf> = written.map(|(path, _)| path).chain(removed).collect();
        changed.sort();
        changed.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }
}

/// The files and links below the folder that count, with their state. Links are not followed.
fn files(top: &Path) -> Option<BTreeMap<PathBuf, FileEntry>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    let mut seen = 0;
    while let Some(inner) = folders.pop() {
        let entries = fs::read_dir(top.join(&inner)).into_iter().flatten().flatten();
        for entry in entries {
            let path = inner.join(entry.file_name());
            if is_ordinary(&path) {
                continue;
            }
            seen += 1;
            if seen > MOST_ENTRIES {
                return None;
            }
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                folders.push(path);
            } else {
                let file = FileEntry::of(top, &path, &meta);
                found.insert(path, file);
            }
        }
    }
    Some(found)
}

/// The digest of a small file that git reads: the configuration, hooks and `info`. Install scripts
/// write these again with the content that is there. `path`: below the folder `top`.
fn digest(top: &Path, path: &Path, meta: &Metadata) -> Option<Vec<u8>> {
    let is_config = path == Path::new("config");
    let folder = path.parent().and_then(Path::to_str);
    let is_read = match folder {
        Some("") => is_config || path == Path::new("config.worktree"),
        Some("hooks") => path.extension().is_none_or(|end| end != "sample"),
        Some("info") => true,
        _ => false,
    };
    if !is_read || !meta.is_file() || meta.len() > LARGEST {
        return None;
    }
    let text = fs::read(top.join(path)).ok()?;
    let text = if is_config { without_ordinary_sections(&text) } else { text };
    let is_executable = meta.mode() & 0o111 != 0;
    let hasher = Sha256::new().chain_update([u8::from(is_executable)]).chain_update(&text);
    Some(hasher.finalize().to_vec())
}

/// The lines of a git configuration without empty ones and without [`ORDINARY_SECTIONS`].
fn without_ordinary_sections(config: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut is_skipped = false;
    for line in config.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if let Some(header) = line.strip_prefix(b"[") {
            let mut parts = header.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
            let name = parts.next().unwrap_or_default();
            is_skipped =
                ORDINARY_SECTIONS.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
        }
        if !is_skipped && !line.is_empty() {
            kept.extend_from_slice(line);
            kept.push(b'\n');
        }
    }
    kept
}

/// Whether git writes this entry in the user's ordinary work, or this program does. `path`: below
/// the common git folder.
fn is_ordinary(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let is_lock = path.extension().is_some_and(|end| end == "lock");
    // `git gc` writes `info/refs`, for servers without git.
    if is_lock || text.starts_with("info/refs") {
        return true;
    }
    let is_message = text.contains("_EDITMSG") || text.ends_with("_MSG");
    let is_top = path.components().count() == 1;
    is_top
        && (ORDINARY.iter().any(|name| *name == text)
            || ORDINARY_STARTS.iter().any(|start| text.starts_with(start))
            || is_message
            || text.ends_with("_HEAD"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::tests::{Fixture, write};
    use super::*;

    fn change(before: &CommonFiles) -> Option<GitFolderChange> {
        before.change(&"1".repeat(40).parse().unwrap(), ChangedDuring::Build)
    }

    #[test]
    fn what_a_build_writes_counts_and_gits_own_data_does_not() {
        let (fixture, _) = Fixture::line(2);
        let repository = fixture.repository();
        let top = repository.common_dir().to_owned();
        write(&top.join("tuned/deep/old"), "1");
        let before = CommonFiles::of(&repository);
        for own in ["bisect-ppl/runs/a", "worktrees/src/tuned", "lfs/a", "modules/a/config"] {
            write(&top.join(own), "1");
        }
        for own in ["gc.log", "MERGE_MSG", ".COMMIT_EDITMSG.swp", "config.lock", "info/refs"] {
            write(&top.join(own), "1");
        }
        assert_eq!(before.changed(), [""; 0]);
        write(&top.join("tuned/deep/new"), "1");
        write(&top.join("hooks/pre-push"), "1");
        fs::remove_file(top.join("tuned/deep/old")).unwrap();
        write(&top.join("config.worktree"), "");
        let paths = ["config.worktree", "hooks/pre-push", "tuned/deep/new", "tuned/deep/old"];
        assert_eq!(before.changed(), paths);
        let told = change(&before).unwrap();
        assert_eq!(told.paths, paths[..3]);
        assert_eq!((told.more, told.during), (1, ChangedDuring::Build));
        assert_eq!(change(&CommonFiles::of(&repository)), None);
    }

    #[test]
    fn the_users_own_work_is_no_change_and_a_setting_is() {
        let (fixture, _) = Fixture::line(2);
        let before = CommonFiles::of(&fixture.repository());
        fixture.commit("another", &[("a", "1")]);
        fixture.git(&["branch", "topic"]);
        fixture.git(&["pack-refs", "--all"]);
        fixture.git(&["gc", "--quiet"]);
        assert_eq!(before.changed(), [""; 0]);
        fixture.git(&["config", "engine.tuned", "7.5"]);
        assert_eq!(before.changed(), ["config"]);
    }

    #[test]
    fn what_is_written_again_with_the_same_content_is_no_change() {
        let (fixture, _) = Fixture::line(2);
        let repository = fixture.repository();
        let top = repository.common_dir().to_owned();
        let again = |name: &str, text: &str| {
            fs::remove_file(top.join(name)).unwrap();
            write(&top.join(name), text);
        };
        fixture.git(&["config", "engine.tuned", "7.5"]);
        for name in ["hooks/pre-push", "info/attributes", "tuned"] {
            write(&top.join(name), "1");
        }
        let before = CommonFiles::of(&repository);
        fixture.git(&["config", "engine.tuned", "7.5"]);
        again("hooks/pre-push", "1");
        again("info/attributes", "1");
        write(&top.join("EDIT_DESCRIPTION"), "1");
        assert_eq!(before.changed(), [""; 0]);
        again("tuned", "1");
        again("hooks/pre-push", "2");
        assert_eq!(before.changed(), ["hooks/pre-push", "tuned"]);
        let before = CommonFiles::of(&repository);
        let hook = top.join("hooks/pre-push");
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        again("info/attributes", &"1".repeat(100_000));
        assert_eq!(before.changed(), ["hooks/pre-push", "info/attributes"]);
    }

    #[test]
    fn sections_of_branches_and_remotes_are_the_users_ordinary_work() {
        let (fixture, _) = Fixture::line(2);
        let before = CommonFiles::of(&fixture.repository());
        fixture.git(&["config", "branch.topic.remote", "origin"]);
        fixture.git(&["config", "remote.origin.url", "elsewhere"]);
        fixture.git(&["config", "submodule.lib.active", "true"]);
        fixture.git(&["config", "maintenance.auto", "false"]);
        assert_eq!(before.changed(), [""; 0]);
        fixture.git(&["config", "branches.tuned", "7.5"]);
        assert_eq!(before.changed(), ["config"]);
    }

    #[test]
    fn what_counts_in_a_configuration_are_the_lines_of_other_sections() {
        let text = b"[core]\n\tbare = false\n[Branch \"a [core]\"]\n\tmerge = a\n\n[lfs]\n\tx = 1\n\
                     [remote.old]\nurl = a\n[lfs-cache] a = 1\n[engine \"submodule\"]\n\ttuned = 7.5";
        let kept =
            b"[core]\nbare = false\n[lfs-cache] a = 1\n[engine \"submodule\"]\ntuned = 7.5\n";
        assert_eq!(without_ordinary_sections(text), kept);
    }

    #[test]
    fn a_file_of_the_same_size_and_a_folder_with_too_many_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tuned/1");
        write(&path, "7.5");
        let before = CommonFiles::at(folder.path());
        fs::remove_file(&path).unwrap();
        write(&path, "7.6");
        assert_eq!(before.changed(), ["tuned/1"]);
        for number in 0..=MOST_ENTRIES {
            fs::write(folder.path().join(format!("{number}")), "").unwrap();
        }
        assert_eq!(before.changed(), [""; 0]);
        assert_eq!(change(&CommonFiles::at(folder.path())), None);
    }
}

//! A repository of our own in which layers are put over a commit's tree.

use std::path::Path;

use git2::{ErrorCode, FileFavor, Index, IndexConflict, MergeOptions, Oid};

use crate::evaluation::{CommitId, EntryContent, TreeEntry};

use super::bisect_repository::BisectRepository;
use super::checkout_failure::is_refused;
use super::command::Call;
use super::error::io_error;
use super::history::open_bare;
use super::overlay::{
    LaidTree, Layer, OverlayFailure, OverlayFailureCause, OverlayResult, pathspec,
};
use super::parts::SUBMODULE;
use super::raw_path::os;
use super::{GitError, vendored};

/// Maximum number of entries for one git call: a command line is limited.
const MOST_ENTRIES: usize = 500;

/// Maximum number of new files that a merge compares with removed ones to find renames.
const MOST_RENAMES: u32 = 1000;

/// What becomes of lines that a merged change and the tree both alter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflicts {
    /// They stay conflicts.
    Stay,
    /// The merged change replaces them. A file that it deletes and that the tree edited stays a
    /// conflict.
    LinesReplaced,
    /// The same, and a file that the merged change deletes is deleted, whatever the tree made of
    /// it.
    Replaced,
}

/// What a merge of trees gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MergedTree {
    /// This tree.
    Tree(String),
    /// There are conflicts that stay.
    Conflict,
    /// No merge was made; why, in words.
    Failed(String),
}

/// A bare repository, an index, and an empty folder for git commands that need a worktree.
#[derive(Debug)]
pub(super) struct ScratchRepository {
    pub(super) folder: tempfile::TempDir,
    pub(super) bare: BisectRepository,
}

impl ScratchRepository {
    pub(super) fn apply_layers(
        &self,
        commit: &CommitId,
        layers: &[Layer],
    ) -> Result<OverlayResult, GitError> {
        if let Some(said) = self.read(commit)? {
            let state = (commit.to_string(), "itself".to_owned());
            return Ok(OverlayResult::Refused(OverlayFailure {
                what: OverlayFailureCause::Commit,
                said,
                state,
            }));
        }
        for layer in layers {
            match layer {
                Layer::Pin { path, to } => {
                    let entry = format!("{SUBMODULE},{to},{path}");
                    self.call().args(["update-index", "--add", "--cacheinfo", &entry]).ok()?;
                }
                Layer::Inline { path, from } => vendored::inline(|| self.call(), path, from)?,
                Layer::Vendored { folder, from, files } => {
                    vendored::exchange(|| self.call(), folder, from, files)?;
                }
                Layer::Entries(entries) => self.entries(entries)?,
                Layer::Patch { name, digest, file } => {
                    if let Some((tree, said)) = self.patch(file)? {
                        let what = OverlayFailureCause::Patch(name.clone());
                        let state = (tree, digest.clone());
                        return Ok(OverlayResult::Refused(OverlayFailure { what, said, state }));
                    }
                }
                Layer::Files { from, paths } => self.files(from, paths)?,
            }
        }
        let objects = self.bare.git_dir().join("objects");
        Ok(OverlayResult::Tree(LaidTree { id: self.write_tree()?, objects }))
    }

    /// Reads the commit's tree into the index; returns git's message if git refuses the tree.
    fn read(&self, commit: &CommitId) -> Result<Option<String>, GitError> {
        let call = self.call().args(["read-tree", "--reset", commit.as_str()]);
        let read = call.run()?;
        if read.code == 0 {
            return Ok(None);
        }
        if is_refused(|| self.call(), commit.as_str())? {
            return Ok(Some(String::from_utf8_lossy(&read.stderr).into_owned()));
        }
        Err(call.failed(&read))
    }

    /// Applies a patch; an already applied one changes nothing. If the patch does not apply,
    /// returns the tree and git's message.
    fn patch(&self, file: &Path) -> Result<Option<(String, String)>, GitError> {
        // The user's settings must not decide whether a patch applies.
        let strictly = ["-c", "apply.ignoreWhitespace=no", "apply", "--whitespace=nowarn"];
        let apply = |how: &[&str]| {
            let call = self.call().args(strictly).arg("--cached").args(how);
            call.arg("--").arg(file).run()
        };
        // The check below tells nothing about a patch of modes: if a mode is another one than the
        // patch expects, git only warns.
        let is_of_modes = std::fs::read(file).is_ok_and(|patch| has_only_modes(&patch));
        if !is_of_modes && apply(&["--check", "--reverse"])?.code == 0 {
            // Repeated code: the patch applies at one place, and at another one the tree seems to
            // have it already. A merge of the whole files finds the right place.
            if apply(&["--check"])?.code != 0 || !self.has_old_files(file)? {
                return Ok(None);
            }
            let tree = self.write_tree()?;
            let merged = apply(&["--3way"])?;
            match merged.code {
                0 => return Ok(None),
                1 => {
                    return Ok(Some((tree, String::from_utf8_lossy(&merged.stderr).into_owned())));
                }
                // Git before 2.32 cannot do that. The plain call below takes the nearest place.
                _ => {}
            }
        }
        let plain = apply(&[])?;
        match plain.code {
            0 => return Ok(None),
            // 1: the patch does not apply. A larger code is an error of git.
            1 => {}
            _ => return Err(self.call().args(["apply", "--cached"]).arg(file).failed(&plain)),
        }
        let tree = self.write_tree()?;
        // Before 2.32 git cannot combine `--3way` with `--cached`: the patch then counts as not
        // applying.
        if apply(&["--3way"])?.code == 0 {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&plain.stderr).into_owned();
        Ok(Some((tree, said)))
    }

    /// Merges the change between two trees into `tree`, as `git revert` and `git cherry-pick` do: a
    /// file that was renamed meanwhile is found under its new name.
    ///
    /// Uses libgit2: git itself can do this without a checkout only since version 2.43.
    pub(super) fn merged(
        &self,
        tree: &str,
        [from, to]: [&String; 2],
        conflicts: Conflicts,
    ) -> Result<MergedTree, GitError> {
        let objects = open_bare(self.bare.git_dir())?;
        let mut options = MergeOptions::new();
        options.find_renames(true).target_limit(MOST_RENAMES);
        if conflicts != Conflicts::Stay {
            options.file_favor(FileFavor::Theirs);
        }
        let find = |name: &str| Oid::from_str(name).and_then(|tree| objects.find_tree(tree));
        let merge = || -> Result<MergedTree, git2::Error> {
            let (base, ours, theirs) = (find(from)?, find(tree)?, find(to)?);
            let mut merged = objects.merge_trees(&base, &ours, &theirs, Some(&options))?;
            if conflicts == Conflicts::Replaced {
                for path in edited_and_deleted(&merged)? {
                    merged.conflict_remove(Path::new(os(&path)))?;
                }
            }
            if merged.has_conflicts() {
                return Ok(MergedTree::Conflict);
            }
            let tree = merged.write_tree_to(&objects)?;
            Ok(MergedTree::Tree(tree.to_string()))
        };
        Ok(merge().unwrap_or_else(|error| MergedTree::Failed(why_not_merged(&error))))
    }

    /// Whether git has all the files from which a patch was made, by the object names in the patch.
    fn has_old_files(&self, patch: &Path) -> Result<bool, GitError> {
        let Ok(text) = std::fs::read(patch) else { return Ok(false) };
        let heads = text.split(|byte| *byte == b'\n').filter_map(|line| {
            let old = line.strip_prefix(b"index ")?.split(|byte| *byte == b'.').next()?;
            std::str::from_utf8(old).ok()
        });
        let mut is_any = false;
        for old in heads.filter(|old| old.bytes().any(|digit| digit != b'0')) {
            if self.call().args(["cat-file", "-e", old]).run()?.code != 0 {
                return Ok(false);
            }
            is_any = true;
        }
        Ok(is_any)
    }

    /// Puts files into the index or removes them. Removals come first: a file may become a folder.
    fn entries(&self, entries: &[TreeEntry]) -> Result<(), GitError> {
        let (kept, gone): (Vec<_>, Vec<_>) = entries.iter().partition(|one| one.file.is_some());
        for some in gone.chunks(MOST_ENTRIES) {
            let call = self.call().args(["update-index", "--force-remove", "--"]);
            call.args(some.iter().map(|entry| os(&entry.path))).ok()?;
        }
        for some in kept.chunks(MOST_ENTRIES) {
            let mut call = self.call().args(["update-index", "--add", "--replace"]);
            for entry in some {
                let Some(file) = &entry.file else { continue };
                let object = match &file.content {
                    EntryContent::Object(object) => object.clone(),
                    EntryContent::Bytes(bytes) => self.blob(bytes)?,
                };
                let head = format!("{},{object},", file.mode);
                call = call.arg("--cacheinfo").arg(os(&[head.as_bytes(), &entry.path].concat()));
            }
            call.ok()?;
        }
        Ok(())
    }

    /// Writes a blob; returns its name.
    fn blob(&self, bytes: &[u8]) -> Result<String, GitError> {
        let file = self.folder.path().join("blob");
        std::fs::write(&file, bytes).map_err(io_error("write", &file))?;
        self.call().args(["hash-object", "-w", "--no-filters", "--"]).arg(&file).line()
    }

    fn files(&self, from: &CommitId, paths: &[String]) -> Result<(), GitError> {
        let call = self.call().args(["reset", "--quiet", from.as_str(), "--"]);
        call.args(paths.iter().map(|path| pathspec(path))).ok().map(drop)
    }

    fn write_tree(&self) -> Result<String, GitError> {
        // A partial clone may lack files that the tree names.
        self.call().args(["write-tree", "--missing-ok"]).line()
    }

    pub(super) fn call(&self) -> Call {
        let folder = self.folder.path();
        let call = Call::in_worktree(self.bare.git_dir(), &folder.join("nothing"));
        call.env("GIT_INDEX_FILE", folder.join("index"))
    }
}

/// The files that a merged change deletes and that the tree edited.
fn edited_and_deleted(merged: &Index) -> Result<Vec<Vec<u8>>, git2::Error> {
    let mut paths = Vec::new();
    for conflict in merged.conflicts()? {
        // A file that was renamed too has conflicts under both names, none of them with two sides.
        if let IndexConflict { ancestor: Some(_), our: Some(our), their: None } = conflict? {
            paths.push(our.path);
        }
    }
    Ok(paths)
}

/// Why libgit2 could not merge. Libgit2 fetches nothing that a partial clone lacks.
fn why_not_merged(error: &git2::Error) -> String {
    let said = error.message();
    if error.code() == ErrorCode::NotFound {
        format!("this clone lacks a file of the merge; a clone without --filter has it: {said}")
    } else {
        format!("the trees could not be merged: {said}")
    }
}

/// Whether a patch changes modes of files and nothing else.
fn has_only_modes(patch: &[u8]) -> bool {
    let mut lines = patch.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let is_header = |line: &[u8]| {
        let headers: [&[u8]; 3] = [b"diff --git ", b"old mode ", b"new mode "];
        headers.iter().any(|header| line.starts_with(header))
    };
    !patch.is_empty() && lines.all(is_header)
}

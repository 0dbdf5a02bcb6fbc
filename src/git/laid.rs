//! Modified trees: a commit's tree with layers over it, such as another commit of a dependency,
//! patches, or files of another revision.
//!
//! Git makes these trees in an index and a bare repository of our own. The user's repository gets
//! the objects of a tree only when the tree is checked out (`laid_commit`). The tree's name covers
//! all its content, so two commits with the same modified tree are built once.

mod checks;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::evaluation::CommitId;

use super::bisect_repository::BisectRepository;
use super::command::Call;
use super::error::io_error;
use super::overlay::{Layer, OverlayResult};
use super::scratch_repository::{Conflicts, MergedTree, ScratchRepository};
use super::{GitError, Repository};

/// Makes modified trees, each once.
#[derive(Debug)]
pub(crate) struct OverlayBuilder {
    repository: Repository,
    /// The working folder is made in this folder when first needed.
    parent: PathBuf,
    /// Objects of a submodule.
    others: Option<PathBuf>,
    scratch: OnceCell<ScratchRepository>,
    known: RefCell<BTreeMap<(CommitId, Vec<Layer>), OverlayResult>>,
}

impl OverlayBuilder {
    /// Makes modified trees of this repository. Creates its working folder below `parent` when
    /// first needed and removes it on drop.
    pub(crate) fn new(repository: &Repository, parent: &Path) -> Self {
        Self {
            repository: repository.clone(),
            parent: parent.to_owned(),
            others: None,
            scratch: OnceCell::new(),
            known: RefCell::new(BTreeMap::new()),
        }
    }

    /// The same with the objects of a submodule, given its git folder.
    #[must_use]
    pub(crate) fn with_submodule(self, git_dir: &Path) -> Self {
        Self { others: Some(git_dir.join("objects")), ..self }
    }

    /// Adds the objects of a submodule, given its git folder. `commit`: any commit of this
    /// repository.
    pub(crate) fn add_submodule(&self, commit: &CommitId, git_dir: &Path) -> Result<(), GitError> {
        self.scratch(commit)?.bare.add_objects(&git_dir.join("objects"))
    }

    /// The commit's tree with the layers applied in order.
    pub(crate) fn apply_layers(
        &self,
        commit: &CommitId,
        layers: &[Layer],
    ) -> Result<OverlayResult, GitError> {
        let asked = (commit.clone(), layers.to_vec());
        if let Some(laid) = self.known.borrow().get(&asked) {
            return Ok(laid.clone());
        }
        let laid = self.scratch(commit)?.apply_layers(commit, layers)?;
        self.known.borrow_mut().insert(asked, laid.clone());
        Ok(laid)
    }

    /// The change from one tree to another as a patch for `git apply`. Both trees were made here or
    /// are trees of the repository.
    pub(crate) fn difference(&self, from: &str, to: &str) -> Result<Vec<u8>, GitError> {
        let Some(scratch) = self.scratch.get() else { return Ok(Vec::new()) };
        patch_of(scratch.call(), from, to)
    }

    /// Merges the changes between these pairs of trees into `tree`, one after the other, as
    /// `git revert` does.
    pub(crate) fn merged(
        &self,
        tree: &str,
        changes: &[[String; 2]],
        conflicts: Conflicts,
    ) -> Result<MergedTree, GitError> {
        let Some(scratch) = self.scratch.get() else { return Ok(MergedTree::Conflict) };
        let mut merged = tree.to_owned();
        for [from, to] in changes.iter().filter(|[from, to]| from != to) {
            match scratch.merged(&merged, [from, to], conflicts)? {
                MergedTree::Tree(next) => merged = next,
                other => return Ok(other),
            }
        }
        Ok(MergedTree::Tree(merged))
    }

    fn scratch(&self, commit: &CommitId) -> Result<&ScratchRepository, GitError> {
        if let Some(scratch) = self.scratch.get() {
            return Ok(scratch);
        }
        let parent = &self.parent;
        std::fs::create_dir_all(parent).map_err(io_error("make", parent))?;
        let made = tempfile::Builder::new().prefix("laid-").tempdir_in(parent);
        let folder = made.map_err(io_error("make a folder in", parent))?;
        let nothing = folder.path().join("nothing");
        std::fs::create_dir(&nothing).map_err(io_error("make", nothing))?;
        let bare = BisectRepository::open(&self.repository, &folder.path().join("git"), commit)?;
        bare.merge_line_by_line()?;
        self.others.iter().try_for_each(|objects| bare.add_objects(objects))?;
        Ok(self.scratch.get_or_init(|| ScratchRepository { folder, bare }))
    }
}

/// The change from one tree to another as a patch. It goes through a file, since a call keeps only
/// the beginning of a long output.
fn patch_of(call: Call, from: &str, to: &str) -> Result<Vec<u8>, GitError> {
    let file = tempfile::NamedTempFile::new().map_err(io_error("make", "a patch"))?;
    let mut output = OsString::from("--output=");
    output.push(file.path());
    let call = call.args(["diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames"]);
    let call = call.args(["--no-ext-diff", "--no-textconv", "--no-color"]);
    let call = call.args(["--submodule=short", "--ignore-submodules=none"]);
    let call = call.args(["--src-prefix=a/", "--dst-prefix=b/"]).arg(output);
    call.args([from, to, "--"]).ok()?;
    std::fs::read(file.path()).map_err(io_error("read", file.path()))
}

#[cfg(test)]
mod tests;

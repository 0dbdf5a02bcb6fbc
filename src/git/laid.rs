//! Modified trees: a commit's tree with layers over it, such as another commit of a dependency,
//! patches, or files of another revision.
//!
//! Git makes these trees in an index and a bare repository of our own, so the user's repository
//! never gets our objects. The tree's name covers all its content, so two commits with the same
//! modified tree are built once.

mod checks;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, EntryContent, TreeEntry};

use super::bisect_repository::{BisectRepository, quoted};
use super::checkout_failure::is_refused;
use super::command::Call;
use super::error::io_error;
use super::raw_path::os;
use super::{GitError, Repository, vendored};

/// Maximum number of entries for one git call: a command line is limited.
const MOST_ENTRIES: usize = 500;

/// One change of a commit's tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// A submodule at another commit.
    Pin {
        /// The submodule's path.
        path: String,
        /// The new commit, in the submodule's repository.
        to: CommitId,
    },
    /// A submodule as plain files, which other layers can change.
    Inline {
        /// The submodule's path.
        path: String,
        /// The commit with the files, in the submodule's repository.
        from: CommitId,
    },
    /// Files of a vendored folder (a copy of another project), taken from a commit of that
    /// project.
    Vendored {
        /// The vendored folder.
        folder: String,
        /// The project's commit.
        from: CommitId,
        /// The files' paths in the project. A file that the project's commit lacks is removed.
        files: Vec<String>,
    },
    /// Files put over the commit, or removed, exactly.
    Entries(Arc<Vec<TreeEntry>>),
    /// A unified diff; skipped if the tree already contains this change.
    Patch {
        /// The patch's name for people.
        name: String,
        /// Digest of the patch.
        digest: String,
        /// Path of the patch.
        file: PathBuf,
    },
    /// Files of another commit. Matching files that the other commit lacks are removed.
    Files {
        /// The commit to take the files from.
        from: CommitId,
        /// Pathspecs; `:(top,glob)` is put before them.
        paths: Vec<String>,
    },
}

/// Result of [`OverlayBuilder::apply_layers`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OverlayResult {
    /// The tree.
    Tree(LaidTree),
    /// The layers do not fit the commit.
    Refused(OverlayFailure),
}

/// Why the layers do not fit the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OverlayFailure {
    /// What failed.
    pub what: OverlayFailureCause,
    /// Git's message.
    pub said: String,
    /// The tree before the failed layer, and the patch's digest. For
    /// [`OverlayFailureCause::Commit`]: the commit.
    state: (String, String),
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OverlayFailureCause {
    /// This patch does not apply.
    Patch(String),
    /// Git does not accept names in the commit's own tree.
    Commit,
}

impl OverlayFailure {
    /// Identifies the attempt: it differs for another tree or another patch.
    pub(crate) fn id(&self) -> String {
        format!("{} refuses {}", self.state.0, self.state.1)
    }
}

impl OverlayResult {
    /// Identifies the tree, or the refusal, in a build key.
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Tree(tree) => tree.id.clone(),
            Self::Refused(refusal) => refusal.id(),
        }
    }
}

/// A modified tree and the folder of its objects. It can be checked out while the
/// [`OverlayBuilder`] that made it lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LaidTree {
    id: String,
    objects: PathBuf,
}

impl LaidTree {
    /// The tree's object name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Adds the tree's objects to those that the call finds.
    pub(super) fn known_to(&self, call: Call) -> Call {
        // Git splits this variable at colons, so the path is quoted.
        let path = OsString::from_vec(quoted(self.objects.as_os_str().as_bytes()));
        call.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", path)
    }
}

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

/// A bare repository, an index, and an empty folder for git commands that need a worktree.
#[derive(Debug)]
struct ScratchRepository {
    folder: tempfile::TempDir,
    bare: BisectRepository,
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
        self.others.iter().try_for_each(|objects| bare.add_objects(objects))?;
        Ok(self.scratch.get_or_init(|| ScratchRepository { folder, bare }))
    }
}

impl ScratchRepository {
    fn apply_layers(&self, commit: &CommitId, layers: &[Layer]) -> Result<OverlayResult, GitError> {
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
                    let entry = format!("160000,{to},{path}");
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

    fn call(&self) -> Call {
        let folder = self.folder.path();
        let call = Call::in_worktree(self.bare.git_dir(), &folder.join("nothing"));
        call.env("GIT_INDEX_FILE", folder.join("index"))
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
    let call = call.args(["--src-prefix=a/", "--dst-prefix=b/"]).arg(output);
    call.args([from, to, "--"]).ok()?;
    std::fs::read(file.path()).map_err(io_error("read", file.path()))
}

/// Turns a pattern of the configuration into a git pathspec.
pub(crate) fn pathspec(path: &str) -> String {
    format!(":(top,glob){path}")
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

#[cfg(test)]
mod tests;

//! Trees that no commit has: a commit's own, with a dependency moved, patches applied, and files
//! of another revision laid over it.
//!
//! They are made by git in an index of their own and in a bare repository of our own, so that
//! no object of ours ever lies among the user's. A tree's name says all that is in it: two
//! commits that come out alike are built once.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::evaluation::CommitId;

use super::bisect_repository::{BisectRepository, quoted};
use super::changes::EMPTY_TREE;
use super::command::Call;
use super::error::io_error;
use super::misfit::is_refused;
use super::{GitError, History, LONGEST_LIST, Repository, vendored};

/// One thing that is laid over a commit's tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// A submodule at another commit of its own.
    Pin {
        /// Where it lies.
        path: String,
        /// The commit, in the submodule's repository.
        to: CommitId,
    },
    /// Files of a folder as another project has them, of which it holds a copy.
    Vendored {
        /// Where the project's top lies.
        folder: String,
        /// The project's commit.
        from: CommitId,
        /// Which files, by their paths in the project; one that it does not have goes.
        files: Vec<String>,
    },
    /// A unified diff. Where its content is there already, it is passed over.
    Patch {
        /// What people call it.
        name: String,
        /// The digest of its content.
        digest: String,
        /// Where it lies.
        file: PathBuf,
    },
    /// What matches is exactly as at that commit: what it does not have is removed.
    Files {
        /// Whose files.
        from: CommitId,
        /// Pathspecs; `:(top,glob)` is put before them.
        paths: Vec<String>,
    },
}

/// What came of laying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Laid {
    /// The tree.
    Tree(LaidTree),
    /// There is no such tree.
    Refused(Refusal),
}

/// Why there is no such tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is refused.
    pub what: Refused,
    /// Git's own words.
    pub said: String,
    /// The tree that it was to be laid over, and its digest.
    state: (String, String),
}

/// What is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A patch, by what people call it: it does not apply.
    Patch(String),
    /// The commit itself, which has names that git does not take.
    Commit,
}

impl Refusal {
    /// A name for what was tried: another tree or another patch has another one.
    pub fn id(&self) -> String {
        format!("{} refuses {}", self.state.0, self.state.1)
    }
}

impl Laid {
    /// The tree, where there is one.
    pub fn tree(&self) -> Option<&LaidTree> {
        match self {
            Self::Tree(tree) => Some(tree),
            Self::Refused(_) => None,
        }
    }

    /// What a key takes for the tree's name.
    pub fn id(&self) -> String {
        match self {
            Self::Tree(tree) => tree.id.clone(),
            Self::Refused(refusal) => refusal.id(),
        }
    }
}

/// A tree that was made, and where its objects are. It can be checked out while the
/// [`Laying`] that made it lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaidTree {
    id: String,
    objects: PathBuf,
}

impl LaidTree {
    /// Its name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A call that finds its objects besides the repository's own.
    pub(super) fn known_to(&self, call: Call) -> Call {
        // A plain path would end at its first colon.
        let path = OsString::from_vec(quoted(self.objects.as_os_str().as_bytes()));
        call.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", path)
    }
}

/// Makes such trees, each once.
#[derive(Debug)]
pub struct Laying {
    repository: Repository,
    /// Where the folder to work in is made, once it is needed.
    parent: PathBuf,
    workshop: OnceCell<Workshop>,
    known: RefCell<BTreeMap<(CommitId, Vec<Layer>), Laid>>,
}

/// A bare repository, an index, and a folder without files for commands that want one.
#[derive(Debug)]
struct Workshop {
    folder: tempfile::TempDir,
    bare: BisectRepository,
}

impl Laying {
    /// For this repository. Nothing is made before it is needed; what is made lies below
    /// `parent` and is gone with this value.
    pub fn new(repository: &Repository, parent: &Path) -> Self {
        Self {
            repository: repository.clone(),
            parent: parent.to_owned(),
            workshop: OnceCell::new(),
            known: RefCell::new(BTreeMap::new()),
        }
    }

    /// The commit's tree with the layers over it, the first lowest.
    pub fn lay(&self, commit: &CommitId, layers: &[Layer]) -> Result<Laid, GitError> {
        let asked = (commit.clone(), layers.to_vec());
        if let Some(laid) = self.known.borrow().get(&asked) {
            return Ok(laid.clone());
        }
        let laid = self.workshop(commit)?.lay(commit, layers)?;
        self.known.borrow_mut().insert(asked, laid.clone());
        Ok(laid)
    }

    fn workshop(&self, commit: &CommitId) -> Result<&Workshop, GitError> {
        if let Some(workshop) = self.workshop.get() {
            return Ok(workshop);
        }
        let parent = &self.parent;
        std::fs::create_dir_all(parent).map_err(io_error("make", parent))?;
        let made = tempfile::Builder::new().prefix("laid-").tempdir_in(parent);
        let folder = made.map_err(io_error("make a folder in", parent))?;
        let nothing = folder.path().join("nothing");
        std::fs::create_dir(&nothing).map_err(io_error("make", nothing))?;
        let bare = BisectRepository::open(&self.repository, &folder.path().join("git"), commit)?;
        Ok(self.workshop.get_or_init(|| Workshop { folder, bare }))
    }
}

impl Workshop {
    fn lay(&self, commit: &CommitId, layers: &[Layer]) -> Result<Laid, GitError> {
        if let Some(said) = self.read(commit)? {
            let state = (commit.to_string(), "itself".to_owned());
            return Ok(Laid::Refused(Refusal { what: Refused::Commit, said, state }));
        }
        for layer in layers {
            match layer {
                Layer::Pin { path, to } => {
                    let entry = format!("160000,{to},{path}");
                    self.call().args(["update-index", "--add", "--cacheinfo", &entry]).ok()?;
                }
                Layer::Vendored { folder, from, files } => {
                    vendored::exchange(|| self.call(), folder, from, files)?;
                }
                Layer::Patch { name, digest, file } => {
                    if let Some((tree, said)) = self.patch(file)? {
                        let what = Refused::Patch(name.clone());
                        let state = (tree, digest.clone());
                        return Ok(Laid::Refused(Refusal { what, said, state }));
                    }
                }
                Layer::Files { from, paths } => self.files(from, paths)?,
            }
        }
        let objects = self.bare.git_dir().join("objects");
        Ok(Laid::Tree(LaidTree { id: self.write_tree()?, objects }))
    }

    /// Takes the commit's own tree, or says why git does not.
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

    /// Applies a patch, or says to which tree it does not apply, and why.
    fn patch(&self, file: &Path) -> Result<Option<(String, String)>, GitError> {
        // Somebody's setting must not make it apply where others' git refuses it.
        let strictly = ["-c", "apply.ignoreWhitespace=no", "apply", "--whitespace=nowarn"];
        let apply = |how: &[&str]| {
            let call = self.call().args(strictly).arg("--cached").args(how);
            call.arg("--").arg(file).run()
        };
        if apply(&["--check", "--reverse"])?.code == 0 {
            return Ok(None);
        }
        let plain = apply(&[])?;
        match plain.code {
            0 => return Ok(None),
            // It does not apply; anything above is git's own trouble.
            1 => {}
            _ => return Err(self.call().args(["apply", "--cached"]).arg(file).failed(&plain)),
        }
        let tree = self.write_tree()?;
        // A git before 2.32 does not do this in an index, and says so: then it does not apply.
        if apply(&["--3way"])?.code == 0 {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&plain.stderr).into_owned();
        Ok(Some((tree, said)))
    }

    fn files(&self, from: &CommitId, paths: &[String]) -> Result<(), GitError> {
        let call = self.call().args(["reset", "--quiet", from.as_str(), "--"]);
        call.args(paths.iter().map(|path| pathspec(path))).ok().map(drop)
    }

    fn write_tree(&self) -> Result<String, GitError> {
        // A partial clone need not have the files to name their tree.
        self.call().args(["write-tree", "--missing-ok"]).line()
    }

    fn call(&self) -> Call {
        let folder = self.folder.path();
        let call = Call::in_worktree(self.bare.git_dir(), &folder.join("nothing"));
        call.env("GIT_INDEX_FILE", folder.join("index"))
    }
}

/// A pattern of the configuration as git takes it.
pub fn pathspec(path: &str) -> String {
    format!(":(top,glob){path}")
}

impl History {
    /// Refuses what cannot be laid over other commits: a pattern that nothing matches at `from`,
    /// and submodules.
    pub fn check_layer(&self, from: &CommitId, paths: &[String]) -> Result<(), GitError> {
        let index = tempfile::NamedTempFile::new().map_err(io_error("make", "an index"))?;
        // An empty file is no index; git makes its own.
        let place = index.into_temp_path();
        let call = || self.repository().shared_call().env("GIT_INDEX_FILE", &place);
        std::fs::remove_file(&place).map_err(io_error("remove", &*place))?;
        call().args(["read-tree", from.as_str()]).ok()?;
        for path in paths {
            let listed = call().args(["ls-files", "--stage", "-z", "--", &pathspec(path)]);
            let said = listed.capture(LONGEST_LIST).ok()?.stdout;
            if said.is_empty() {
                let (path, from) = (path.clone(), from.clone());
                return Err(GitError::NothingToLay { path, from });
            }
            // MODE SP OBJECT SP STAGE TAB PATH
            let submodule = said.split(|b| *b == 0).find(|record| record.starts_with(b"160000 "));
            if let Some(record) = submodule {
                let path = record.splitn(2, |b| *b == b'\t').nth(1).unwrap_or_default();
                let path = String::from_utf8_lossy(path).into_owned();
                return Err(GitError::SubmoduleToLay { path, from: from.clone() });
            }
        }
        Ok(())
    }

    /// What a commit changes against its first parent, as a patch that holds all of it.
    pub fn as_patch(&self, commit: &CommitId) -> Result<Vec<u8>, GitError> {
        let info = self.info(commit)?;
        let parent = match info.parents.first() {
            Some(parent) => parent.as_str(),
            None if info.is_root => EMPTY_TREE,
            None => {
                let said = "its parent is not in this shallow clone".to_owned();
                return Err(GitError::NotAPatch { name: commit.short().to_owned(), said });
            }
        };
        let file = tempfile::NamedTempFile::new().map_err(io_error("make", "a patch"))?;
        let mut output = OsString::from("--output=");
        output.push(file.path());
        let call = self.repository().shared_call().args(["diff-tree", "-p", "--binary"]);
        let call = call.args(["--full-index", "--no-renames", "--no-ext-diff", "--no-textconv"]);
        let call = call.args(["--no-color", "--src-prefix=a/", "--dst-prefix=b/"]).arg(output);
        call.args([parent, commit.as_str(), "--"]).ok()?;
        std::fs::read(file.path()).map_err(io_error("read", file.path()))
    }

    /// Refuses what is no patch, or one that changes nothing.
    pub fn check_patch(&self, name: &str, patch: &[u8]) -> Result<(), GitError> {
        let file = tempfile::NamedTempFile::new().map_err(io_error("make", "a patch"))?;
        std::fs::write(file.path(), patch).map_err(io_error("write", file.path()))?;
        let call = self.repository().shared_call().args(["apply", "--numstat", "-z", "--"]);
        let output = call.arg(file.path()).run()?;
        if output.code == 0 && !output.stdout.is_empty() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("it changes nothing");
        let said = said.trim_start_matches("error: ").trim_start_matches("fatal: ").to_owned();
        Err(GitError::NotAPatch { name: name.to_owned(), said })
    }
}

#[cfg(test)]
mod tests;

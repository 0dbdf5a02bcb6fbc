//! Proof of what ran: lists the programs, shared objects and files that a run loaded, and finds
//! files that belong to another build.

mod copies;
mod external_files;
mod file_kind;
mod lfs_pointer;
mod modules;
mod opened;
mod present;
mod python_copies;
mod survey;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::build::{GitWatch, Slot, SlotError};
use crate::evaluation::{InstalledCopy, Loaded};
use crate::store::{Digests, Store, StoreError};

use self::copies::{HiddenFile, LoadedFrom};
pub(super) use self::external_files::{ExternalFiles, is_given};
use self::file_kind::{is_binary, is_executable};
pub(super) use self::lfs_pointer::is_lfs_pointer;
use self::modules::{Modules, source_of};
use self::opened::Opened;
pub(crate) use self::present::Present;
use self::survey::{Survey, survey};

/// The watch on one run, begun before the run.
#[derive(Debug)]
pub(super) struct LoadWatch {
    opened: Opened,
    modules: Modules,
    names: String,
    /// The commit's executable files.
    programs: Vec<PathBuf>,
    /// The commit's shared objects.
    libraries: Vec<PathBuf>,
    /// The commit's Python sources.
    sources: Vec<PathBuf>,
    git: GitWatch,
}

/// Where a run may load files from.
pub(super) struct AllowedPaths<'a> {
    pub(super) slot: &'a Slot,
    /// The user's checkout, whose own build and modules no run may load.
    pub(super) checkout: Option<&'a Path>,
    /// The exceptions in the checkout: linked folders, and inputs.
    pub(super) allowed: Vec<PathBuf>,
}

/// A loaded file that does not belong to the run's commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leak {
    pub(super) path: PathBuf,
    pub(super) whose: &'static str,
}

impl LoadWatch {
    /// Begins to watch a slot.
    pub(super) fn begin(slot: &Slot) -> Result<Self, SlotError> {
        let modules = Modules::below(slot.root())
            .map_err(|source| SlotError { path: slot.root().to_owned(), source })?;
        let Survey { folders, names, programs, libraries, sources } = survey(&tops(slot));
        let opened = Opened::of(folders);
        let git = GitWatch::begin(slot);
        Ok(Self { opened, modules, names, programs, libraries, sources, git })
    }

    /// Variables to add to the run's environment; `python_path`: its own `PYTHONPATH`.
    pub(super) fn variables(&self, python_path: Option<OsString>) -> [(&'static str, OsString); 2] {
        self.modules.variables(python_path)
    }

    /// The files that `program` loaded, or the first forbidden one. `mapped`: files in the kernel's
    /// memory maps. `library_path`: the run's `LD_LIBRARY_PATH`.
    pub(super) fn finish(
        self,
        ground: &AllowedPaths<'_>,
        program: &str,
        mapped: &[PathBuf],
        library_path: Option<&OsStr>,
        store: &Store,
    ) -> Result<Result<Loaded, Leak>, StoreError> {
        let asked_git = self.git.finish();
        let opened = self.opened.finish();
        let modules = self.modules.loaded();
        if let Some(leak) = mapped.iter().chain(&modules).find_map(|path| ground.leak(path)) {
            return Ok(Err(leak));
        }
        let is_known = opened.is_some();
        let sources = opened.into_iter().flatten().map(|path| source_of(&path));
        let all = sources.chain(modules.iter().cloned()).chain(mapped.iter().cloned());
        let own: BTreeSet<PathBuf> = all.filter(|path| ground.is_commits(path)).collect();
        // The commit's program must be among the files. If it is not, the watch missed it. If the
        // run asked git something, the answer comes from the repository, which is not watched.
        let is_program = |path: &PathBuf| modules.contains(path) || is_binary(path);
        let has_opened_git = own.iter().any(|path| path.file_name() == Some(OsStr::new(".git")));
        let is_whole = is_known && own.iter().any(is_program) && !has_opened_git;
        let root = ground.slot.root();
        let copies = if is_known {
            let from = LoadedFrom { root, src: &ground.slot.src(), own: &own };
            let mut copies = from.python(&modules, &self.sources);
            copies.extend(from.libraries(&self.libraries, mapped, library_path));
            copies.retain(|copy, _| !ground.is_chosen(copy));
            installed_copies(copies, ground.slot)?
        } else {
            Vec::new()
        };
        let elsewhere: BTreeSet<PathBuf> =
            mapped.iter().filter(|path| !path.starts_with(root)).cloned().collect();
        let elsewhere = digests(&mut Digests::open(store), elsewhere)?;
        let below = |path: &Path| {
            named(path.strip_prefix(root).expect("the commit's own lies in its slot"))
        };
        let build = ground.slot.build();
        let shadowed = if own.is_empty() {
            named_like(program, ground.slot)
        } else if own.iter().any(|path| path.starts_with(&build)) {
            None
        } else {
            let of_build = self.programs.iter().filter(|path| path.starts_with(&build));
            installed(of_build, elsewhere.keys()).map(below)
        };
        let pointers = own.iter().filter(|path| is_lfs_pointer(path)).map(|path| below(path));
        let pointers = pointers.collect();
        let own = slot_digests(ground.slot).of_built(&existing(own))?;
        let executable = own.keys().filter(|path| is_executable(path)).map(|path| below(path));
        Ok(Ok(Loaded {
            executable: Some(executable.collect()),
            without_path: own
                .iter()
                .filter_map(|(path, digests)| Some((below(path), digests.without_path.clone()?)))
                .collect(),
            own: own.into_iter().map(|(path, digests)| (below(&path), digests.sha256)).collect(),
            elsewhere: elsewhere.iter().map(|(path, sha)| (named(path), sha.clone())).collect(),
            names: self.names,
            is_whole,
            is_watched: is_known,
            shadowed,
            copies,
            pointers,
            // The sockets tell this.
            answered_by: None,
            asked_git,
        }))
    }
}

/// These installed copies, by path, with the digests of the commit's files that they hide.
fn installed_copies(
    found: BTreeMap<PathBuf, HiddenFile>,
    slot: &Slot,
) -> Result<Vec<InstalledCopy>, StoreError> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let own = found.values().map(|hidden| hidden.path.clone());
    let of_own = slot_digests(slot).of_built(&existing(own))?;
    let copy = |(path, hidden): (PathBuf, HiddenFile)| {
        let digests = of_own.get(&hidden.path)?;
        Some(InstalledCopy {
            path: named(&path),
            own: named(hidden.path.strip_prefix(slot.root()).ok()?),
            sha256: digests.without_path.as_ref().unwrap_or(&digests.sha256).clone(),
            is_unlike: !hidden.is_alike,
        })
    };
    Ok(found.into_iter().filter_map(copy).collect())
}

/// Whether the file was there before this time, as it is now. False for a file that is gone.
pub(super) fn is_older(path: &Path, time: Timestamp) -> bool {
    let written = std::fs::metadata(path)
        .ok()
        .and_then(|meta| Timestamp::new(meta.ctime(), i32::try_from(meta.ctime_nsec()).ok()?).ok());
    written.is_some_and(|written| written < time)
}

fn named(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The folders of the commit's own files.
fn tops(slot: &Slot) -> [PathBuf; 2] {
    [slot.src(), slot.build()]
}

/// The commit's executable file with the same name as `program`, as a path below the slot. Of
/// several, the one with the shallowest path, then the first by name.
fn named_like(program: &str, slot: &Slot) -> Option<String> {
    let name = Path::new(program).file_name()?;
    let is_program = |file: &PathBuf| {
        std::fs::metadata(file)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let mut folders: Vec<PathBuf> = vec![slot.build(), slot.src()];
    while !folders.is_empty() {
        if let Some(found) = folders.iter().map(|f| f.join(name)).find(is_program) {
            return found.strip_prefix(slot.root()).ok().map(named);
        }
        let below =
            folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
        let below = below.flatten().filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut next: Vec<PathBuf> =
            below.filter(|e| e.file_name() != ".git").map(|e| e.path()).collect();
        next.sort();
        folders = next;
    }
    None
}

/// The first of these programs, which a build made and a run did not open, whose name a file from
/// elsewhere has that the run had in memory. If there is none, the first one whose name is found in
/// PATH: a short run may end before its program is seen in memory.
fn installed<'p>(
    mut built: impl Iterator<Item = &'p PathBuf> + Clone,
    elsewhere: impl Iterator<Item = &'p PathBuf>,
) -> Option<&'p Path> {
    let mapped: BTreeSet<&OsStr> = elsewhere.filter_map(|path| path.file_name()).collect();
    let is_mapped = |path: &&PathBuf| path.file_name().is_some_and(|name| mapped.contains(name));
    let found = built.clone().find(is_mapped);
    found.or_else(|| built.find(|path| is_in_path(path))).map(PathBuf::as_path)
}

/// Whether a built program has the name of one in PATH.
fn is_in_path(program: &Path) -> bool {
    let (Some(name), Some(path)) = (program.file_name(), std::env::var_os("PATH")) else {
        return false;
    };
    std::env::split_paths(&path).any(|folder| is_binary(&folder.join(name))) && is_binary(program)
}

/// The files in a slot, to compare with runs made in other slots.
pub(super) struct SlotContents<'a> {
    slot: &'a Slot,
    names: String,
}

impl<'a> SlotContents<'a> {
    /// Lists the files that are in the slot now.
    pub(super) fn in_slot(slot: &'a Slot) -> Self {
        Self { slot, names: survey(&tops(slot)).names }
    }

    /// Whether a run here would load identical files.
    pub(super) fn would_load(&self, loaded: &Loaded) -> Result<bool, StoreError> {
        if !loaded.is_whole || self.names != loaded.names {
            return Ok(false);
        }
        let at = |path: &String| self.slot.root().join(path);
        // `names` covers the executable bits of all files, loaded or not.
        let here = digests(&mut slot_digests(self.slot), loaded.own.keys().map(at))?;
        Ok(loaded.own.iter().all(|(path, sha)| here.get(&at(path)) == Some(sha)))
    }
}

fn slot_digests(slot: &Slot) -> Digests {
    Digests::of_slot(&slot.root().join("digests.json"), slot.root())
}

/// Digests of the files that still exist. A file that is gone was a temporary file of the run.
fn digests(
    cache: &mut Digests,
    files: impl IntoIterator<Item = PathBuf>,
) -> Result<BTreeMap<PathBuf, String>, StoreError> {
    cache.of_each(&existing(files))
}

/// The files that still exist.
fn existing(files: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    files.into_iter().filter(|path| path.is_file()).collect()
}

impl AllowedPaths<'_> {
    /// Whether the file is in the commit's source or build folder.
    fn is_commits(&self, path: &Path) -> bool {
        path.starts_with(self.slot.src()) || path.starts_with(self.slot.build())
    }

    /// Whether the user gave the file to the runs: an input, or a file of a linked folder. Packages
    /// that are installed in a linked environment are no files of that kind.
    fn is_chosen(&self, path: &Path) -> bool {
        let is_packages = |name: &OsStr| name == "site-packages" || name == "dist-packages";
        self.is_allowed(path) && !path.iter().any(is_packages)
    }

    /// Whether the file is in `allowed`, or below a folder that is.
    fn is_allowed(&self, path: &Path) -> bool {
        self.allowed.iter().any(|allowed| path.starts_with(allowed))
    }

    fn leak(&self, path: &Path) -> Option<Leak> {
        let slots = self.slot.root().parent();
        let whose = if path.starts_with(self.slot.root()) || self.is_allowed(path) {
            return None;
        } else if slots.is_some_and(|slots| path.starts_with(slots)) {
            "the slot of another build"
        } else if self.checkout.is_some_and(|checkout| path.starts_with(checkout)) {
            "your own checkout"
        } else {
            return None;
        };
        Some(Leak { path: path.to_owned(), whose })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Slots;

    #[test]
    fn what_belongs_to_no_commit_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("repo/.slots")).unwrap();
        let slot = slots.acquire(|_| false).unwrap();
        let checkout = folder.path().canonicalize().unwrap().join("repo");
        let ground = AllowedPaths {
            slot: &slot,
            checkout: Some(&checkout),
            allowed: vec![checkout.join(".venv"), checkout.join("eval.py")],
        };
        let whose = |path: PathBuf| ground.leak(&path).map(|leak| leak.whose);
        assert_eq!(whose(slot.build().join("ppl")), None);
        assert_eq!(whose(PathBuf::from("/usr/lib/libm.so.6")), None);
        assert_eq!(whose(checkout.join(".venv/lib/libomp.so")), None);
        assert_eq!(whose(checkout.join("eval.py")), None);
        assert_eq!(whose(checkout.join("build/libggml.so")), Some("your own checkout"));
        let other = slots.folder().join("7/build/libggml.so");
        assert_eq!(whose(other), Some("the slot of another build"));
        // Installed packages may be copies of the commit's, also in a linked environment.
        assert!(ground.is_chosen(&checkout.join(".venv/lib/libomp.so")));
        let packages = checkout.join(".venv/lib/python3.11/site-packages");
        assert!(!ground.is_chosen(&packages.join("eng/__init__.py")));
        assert!(!ground.is_chosen(Path::new("/opt/eng/__init__.py")));
    }
}

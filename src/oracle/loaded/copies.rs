//! Finds installed copies: files from outside the slot that a run loaded in place of the commit's
//! own. An older release of the engine among the installed Python packages, or a library in
//! `LD_LIBRARY_PATH`, which comes before the program's RUNPATH.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use object::read::elf::{ElfFile, FileHeader};
use object::{File, elf};

use super::file_kind::{is_binary, stem};

/// Where a repository has its own packages, below `{src}`. A package below another folder, such as
/// `third_party`, is a copy of another project, or a helper of tests.
const PLACES: [&str; 4] = ["", "src", "python", "lib"];

/// Folders of other projects that a build builds too: a system's library may be used on purpose.
const VENDORED: [&str; 12] = [
    "third_party",
    "thirdparty",
    "3rdparty",
    "vendor",
    "vendored",
    "external",
    "extern",
    "deps",
    "_deps",
    "contrib",
    "submodules",
    "subprojects",
];

/// Largest program to read, bytes.
const LARGEST: u64 = 512 << 20;

/// The files that a run loaded, and where the commit's own are.
pub(super) struct LoadedFrom<'a> {
    /// The slot's folder.
    pub(super) root: &'a Path,
    /// `{src}`.
    pub(super) src: &'a Path,
    /// The files of the slot that the run opened.
    pub(super) own: &'a BTreeSet<PathBuf>,
}

impl LoadedFrom<'_> {
    /// The `__init__.py` of each of these modules' packages that is also a package of the commit,
    /// with the commit's file. A package of which the run loaded a module of the commit does not
    /// count: the copy may be there for a comparison.
    pub(super) fn packages(&self, modules: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, PathBuf> {
        let own = |file: &PathBuf| Some((file.clone(), self.own_package(file)?));
        modules.iter().filter_map(own).collect()
    }

    fn own_package(&self, file: &Path) -> Option<PathBuf> {
        let folder = file.parent().filter(|_| file.ends_with("__init__.py"))?;
        let (name, above) = (folder.file_name()?, folder.parent()?);
        let is_inner = above.join("__init__.py").is_file();
        // An editable install may lead into the slot.
        let is_commits = folder.canonicalize().is_ok_and(|real| real.starts_with(self.root));
        if is_inner || is_commits || file.starts_with(self.root) || is_standard(above) {
            return None;
        }
        let init = Path::new(name).join("__init__.py");
        let mut places = PLACES.iter().map(|place| self.src.join(place).join(name));
        let package = places.find(|package| package.join("__init__.py").is_file())?;
        let is_module =
            |path: &Path| path.extension().is_some_and(|kind| kind == "py" || kind == "so");
        let is_of_package = |path: &PathBuf| {
            path.ends_with(&init) || (path.starts_with(&package) && is_module(path))
        };
        (!self.own.iter().any(is_of_package)).then(|| package.join("__init__.py"))
    }

    /// The shared objects from outside that the run loaded in place of one of `built`, with the
    /// commit's file: a program of the commit asks for this name, and the run opened no file of the
    /// commit with it. `mapped`: files that were seen in memory. A short run may end before its
    /// files are seen; then the copy is looked for in `library_path`, where the loader looks first.
    pub(super) fn libraries(
        &self,
        built: &[PathBuf],
        mapped: &[PathBuf],
        library_path: Option<&OsStr>,
    ) -> BTreeMap<PathBuf, PathBuf> {
        let opened: BTreeSet<&str> = self.own.iter().filter_map(|path| stem(path)).collect();
        let mut needed: Option<BTreeSet<Vec<u8>>> = None;
        let mut found = BTreeMap::new();
        for file in built {
            let (Some(name), Some(own_stem)) = (file.file_name(), stem(file)) else { continue };
            if opened.contains(own_stem) || self.is_vendored(file) {
                continue;
            }
            let is_it =
                |path: &&PathBuf| stem(path) == Some(own_stem) && !path.starts_with(self.root);
            let copy = mapped.iter().find(is_it).cloned();
            let Some(copy) = copy.or_else(|| self.in_library_path(name, library_path?)) else {
                continue;
            };
            // Programs are only read if there is a copy.
            let needed: &BTreeSet<Vec<u8>> = needed
                .get_or_insert_with(|| self.own.iter().flat_map(|path| needed_by(path)).collect());
            if needed.contains(name.as_encoded_bytes()) {
                found.insert(copy, file.clone());
            }
        }
        found
    }

    fn is_vendored(&self, file: &Path) -> bool {
        let below = file.strip_prefix(self.root).unwrap_or(file);
        below.components().any(|part| VENDORED.iter().any(|name| part.as_os_str() == *name))
    }

    /// The first file of this name in the folders; `None` if it is the commit's.
    fn in_library_path(&self, name: &OsStr, folders: &OsStr) -> Option<PathBuf> {
        let mut files = std::env::split_paths(folders).map(|folder| folder.join(name));
        let file = files.find(|file| file.is_absolute() && file.is_file())?.canonicalize().ok()?;
        (!file.starts_with(self.root)).then_some(file)
    }
}

/// Whether the folder has Python's standard library: `lib/python3.11`.
fn is_standard(folder: &Path) -> bool {
    let is_python = |name: &OsStr| name.as_encoded_bytes().starts_with(b"python3.");
    let above = folder.parent().and_then(Path::file_name);
    folder.file_name().is_some_and(is_python)
        && above.is_some_and(|above| above.as_encoded_bytes().starts_with(b"lib"))
}

/// The names of the shared objects that an ELF file asks for (`DT_NEEDED`).
fn needed_by(path: &Path) -> Vec<Vec<u8>> {
    let is_small = std::fs::metadata(path).is_ok_and(|about| about.len() <= LARGEST);
    if !is_small || !is_binary(path) {
        return Vec::new();
    }
    let bytes = std::fs::read(path).unwrap_or_default();
    let names = match File::parse(bytes.as_slice()) {
        Ok(File::Elf64(file)) => needed_names(&file),
        Ok(File::Elf32(file)) => needed_names(&file),
        _ => None,
    };
    names.unwrap_or_default()
}

fn needed_names<Elf: FileHeader>(file: &ElfFile<'_, Elf>) -> Option<Vec<Vec<u8>>> {
    let table = file.elf_section_table().dynamic_table(file.endian(), file.data()).ok()?;
    let needed = table.iter().filter(|entry| entry.tag == elf::DT_NEEDED);
    needed.map(|entry| table.string(entry).ok().map(<[u8]>::to_vec)).collect()
}

#[cfg(test)]
mod tests;

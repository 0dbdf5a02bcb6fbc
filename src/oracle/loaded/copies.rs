//! Finds installed copies: files from outside the slot that a run loaded in place of the commit's
//! own. Here: shared objects, such as one in `LD_LIBRARY_PATH`, which comes before the program's
//! RUNPATH. `python_copies` finds packages and modules.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use object::read::elf::{ElfFile, FileHeader};
use object::{File, elf};
use regex::bytes::Regex;

use super::file_kind::{is_binary, stem};

/// Folders of other projects' files: an installed file of that name may be used on purpose.
const VENDORED: [&str; 13] = [
    "third_party",
    "thirdparty",
    "3rdparty",
    "vendor",
    "vendored",
    "_vendor",
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

/// Largest other file to read, bytes: a script.
const LARGEST_SCRIPT: u64 = 4 << 20;

/// The files that a run loaded, and where the commit's own are.
pub(super) struct LoadedFrom<'a> {
    /// The slot's folder.
    pub(super) root: &'a Path,
    /// `{src}`.
    pub(super) src: &'a Path,
    /// The files of the slot that the run opened.
    pub(super) own: &'a BTreeSet<PathBuf>,
}

/// The commit's file that an installed copy hides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HiddenFile {
    pub(super) path: PathBuf,
    /// Whether the copy resembles the commit's file. Another project's package may have its name.
    pub(super) is_alike: bool,
}

impl LoadedFrom<'_> {
    /// The shared objects from outside that the run loaded in place of one of `built`, with the
    /// commit's file: a program of the commit asks for this name, or a file of the commit that the
    /// run opened contains it (`dlopen`), and the run opened no file of the commit with it. `mapped`: files that were seen in memory. A short run may end before its
    /// files are seen; then the copy is looked for in `library_path`, where the loader looks first.
    pub(super) fn libraries(
        &self,
        built: &[PathBuf],
        mapped: &[PathBuf],
        library_path: Option<&OsStr>,
    ) -> BTreeMap<PathBuf, HiddenFile> {
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
            if needed.contains(name.as_encoded_bytes()) || self.is_named(name) {
                found.insert(copy, HiddenFile { path: file.clone(), is_alike: true });
            }
        }
        found
    }

    /// Whether a file of the commit that the run opened contains this name of a shared object.
    fn is_named(&self, library: &OsStr) -> bool {
        let Some(name) = library.to_str().map(regex::escape) else { return false };
        let whole = Regex::new(&format!(r"(?-u)(?:^|[^\w.+-]){name}(?:[^\w.+-]|$)"));
        whole.is_ok_and(|name| self.own.iter().any(|file| name.is_match(&code_of(file))))
    }

    /// Whether the commit's file is below a folder of other projects.
    pub(super) fn is_vendored(&self, file: &Path) -> bool {
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

/// The content of a program or script; empty for a file that is too large to be one.
fn code_of(path: &Path) -> Vec<u8> {
    let largest = if is_binary(path) { LARGEST } else { LARGEST_SCRIPT };
    let is_small = std::fs::metadata(path).is_ok_and(|about| about.len() <= largest);
    if is_small { std::fs::read(path).unwrap_or_default() } else { Vec::new() }
}

/// The names of the shared objects that an ELF file asks for (`DT_NEEDED`).
fn needed_by(path: &Path) -> Vec<Vec<u8>> {
    if !is_binary(path) {
        return Vec::new();
    }
    let bytes = code_of(path);
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

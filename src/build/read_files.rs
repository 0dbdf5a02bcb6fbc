//! Finds which files a build read: from the dependency records of compilers and ninja, and from
//! CMake's list of its own files. Says so if the records do not cover all that was compiled.

mod linked_sources;
mod make_rules;
mod ninja_log;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::differ::{absolute, is_source};
use crate::evaluation::ReadFiles;

use super::Slot;
use super::text_file::read_text;
use linked_sources::linked_sources;
use make_rules::Rule;

/// Reads the bytes as each kind of record of dependencies, for a fuzzer.
#[cfg(feature = "fuzzing")]
pub(crate) fn parse_dependencies(bytes: &[u8]) {
    for rule in make_rules::rules(&String::from_utf8_lossy(bytes)) {
        assert!(!rule.targets.is_empty(), "a rule has a target");
    }
    let rules = ninja_log::rules(bytes).unwrap_or_default();
    assert!(rules.len() <= bytes.len());
}

/// Files that stand in the folders where build systems run compilers.
const RECIPES: [&str; 8] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "Cargo.toml",
    "meson.build",
    "build.ninja",
    "configure",
];

/// Files that tell what a build read, and those that it made.
#[derive(Default)]
pub(super) struct Records {
    /// Rules for make.
    rules: Vec<PathBuf>,
    /// `.ninja_deps`.
    logs: Vec<PathBuf>,
    /// Lists of the files that CMake or Meson read.
    lists: Vec<PathBuf>,
    /// Rust libraries.
    crates: Vec<PathBuf>,
    /// Programs and shared libraries.
    programs: Vec<PathBuf>,
    /// Source files.
    sources: Vec<PathBuf>,
    /// Folders with a recipe: relative paths in rules may start there.
    folders: BTreeSet<PathBuf>,
}

impl Records {
    /// Takes a file, if it is of one of these kinds.
    pub(super) fn take(&mut self, path: PathBuf, name: &str) {
        if RECIPES.contains(&name) {
            self.folders.extend(path.parent().map(Path::to_owned));
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match (name, ending) {
            (".ninja_deps", _) => self.logs.push(path),
            ("build.ninja" | "Makefile.cmake", _) => self.lists.push(path),
            (_, "d" | "Po" | "Plo") => self.rules.push(path),
            (_, "rlib" | "rmeta") => self.crates.push(path),
            _ if is_source(name) => self.sources.push(path),
            _ if is_program(&path, name) => self.programs.push(path),
            _ => {}
        }
    }
}

fn is_program(path: &Path, name: &str) -> bool {
    // CMake tries the compiler with programs of its own.
    let is_trial = path.components().any(|part| part.as_os_str() == "CMakeFiles");
    fs::symlink_metadata(path).is_ok_and(|about| {
        let can_run = about.permissions().mode() & 0o111 != 0 || name.contains(".so");
        about.is_file() && can_run && !is_trial
    })
}

/// What a build in this slot read; `None` if it left nothing that was compiled.
pub(super) fn read_files(slot: &Slot, records: &Records, objects: &[PathBuf]) -> Option<ReadFiles> {
    if objects.is_empty() && records.crates.is_empty() {
        return None;
    }
    let mut reader = Reader::new(slot, records, objects);
    for path in &records.rules {
        let rules = read_text(path).map(|text| make_rules::rules(&text)).unwrap_or_default();
        for rule in &rules {
            reader.rule(path, rule);
        }
    }
    for path in &records.logs {
        let rules = fs::read(path).ok().and_then(|bytes| ninja_log::rules(&bytes));
        match rules.as_deref() {
            Some(rules) => rules.iter().for_each(|rule| reader.below(folder(path), rule)),
            None => reader.miss(|shown| format!("{shown} cannot be read"), path),
        }
    }
    for path in &records.lists {
        reader.list(path);
    }
    reader.check(records, objects);
    Some(reader.found)
}

/// Device and inode: Cargo links its programs to a second name.
type FileId = (u64, u64);

struct Reader<'r> {
    /// `{src}` and the folder of the slot, each as it was given and without links.
    src: [PathBuf; 2],
    root: [PathBuf; 2],
    /// Where relative paths may start.
    folders: &'r BTreeSet<PathBuf>,
    objects: &'r [PathBuf],
    /// Files with a dependency record.
    recorded: BTreeSet<FileId>,
    seen: BTreeSet<PathBuf>,
    found: ReadFiles,
}

impl<'r> Reader<'r> {
    fn new(slot: &Slot, records: &'r Records, objects: &'r [PathBuf]) -> Self {
        let both = |path: &Path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            [path.to_owned(), real]
        };
        Self {
            src: both(&slot.src()),
            root: both(slot.root()),
            folders: &records.folders,
            objects,
            recorded: BTreeSet::new(),
            seen: BTreeSet::new(),
            found: ReadFiles::default(),
        }
    }

    /// Takes a rule that a compiler wrote to this file. Its relative paths start in a folder that
    /// the rule does not name.
    fn rule(&mut self, at: &Path, rule: &Rule) {
        let relative = rule.needs.iter().any(|need| Path::new(need).is_relative());
        if !relative && rule.targets.iter().any(|target| Path::new(target).is_absolute()) {
            return self.below(folder(at), rule);
        }
        let fits = |folder: &PathBuf| rule.needs.iter().all(|need| folder.join(need).exists());
        if let Some(folder) = self.folders_of(at, rule).into_iter().find(fits) {
            return self.below(&folder, rule);
        }
        let around = at.ancestors().skip(1).take_while(|folder| *folder != self.root[0]);
        let around = around.map(Path::to_owned).chain([self.src[0].clone()]);
        let fitting: BTreeSet<PathBuf> =
            self.folders.iter().cloned().chain(around).filter(fits).collect();
        if fitting.is_empty() {
            self.miss(|shown| format!("{shown} names files that are not there"), at);
        }
        for folder in fitting {
            self.below(&folder, rule);
        }
    }

    /// The folders in which a relative target of the rule names an existing object file. The folder
    /// nearest to the rule's file comes first.
    fn folders_of(&self, at: &Path, rule: &Rule) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for target in rule.targets.iter().map(Path::new).filter(|target| target.is_relative()) {
            let target = target.strip_prefix(".").unwrap_or(target);
            for object in self.objects.iter().filter(|object| object.ends_with(target)) {
                folders.extend(
                    object.ancestors().nth(target.components().count()).map(Path::to_owned),
                );
            }
        }
        let shared = |folder: &PathBuf| {
            at.components().zip(folder.components()).take_while(|(a, b)| a == b).count()
        };
        folders.sort_by_key(|folder| std::cmp::Reverse(shared(folder)));
        folders
    }

    /// Takes a rule whose relative paths start in this folder.
    fn below(&mut self, folder: &Path, rule: &Rule) {
        let targets = rule.targets.iter().filter_map(|target| id(&folder.join(target)));
        self.recorded.extend(targets);
        for need in &rule.needs {
            self.need(&absolute(folder, Path::new(need)));
        }
    }

    fn need(&mut self, path: &Path) {
        if !self.seen.insert(path.to_owned()) {
            return;
        }
        let real = path.canonicalize();
        let is_gone = real.is_err();
        for path in [path.to_owned()].into_iter().chain(real) {
            if self.source(&path) {
                continue;
            }
            if self.root.iter().any(|root| path.starts_with(root)) {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                self.found.names.extend(name);
            } else if is_gone || self.root.iter().any(|root| path.starts_with(folder(root))) {
                let say = |shown| {
                    format!("a dependency record names {shown}, which is gone or in another slot")
                };
                self.miss(say, &path);
            }
        }
    }

    /// Takes a file of `{src}`; false if the file is elsewhere.
    fn source(&mut self, path: &Path) -> bool {
        let within = self.src.iter().find_map(|src| path.strip_prefix(src).ok());
        let within = within.map(|path| path.to_string_lossy().into_owned());
        let is_source = within.is_some();
        self.found.files.extend(within);
        is_source
    }

    /// Takes the files of `{src}` that CMake or Meson read. The rule that runs CMake or Meson again
    /// lists them.
    fn list(&mut self, path: &Path) {
        let Some(text) = read_text(path) else { return };
        let of_make = text.split_once("set(CMAKE_MAKEFILE_DEPENDS").map(|(_, rest)| {
            let list = rest.split_once("\n  )").map_or(rest, |(list, _)| list);
            list.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
        });
        let of_ninja = || {
            let rule = text.lines().find(|line| line.starts_with("build build.ninja"));
            let line = rule.unwrap_or_default().replace("$ ", "\0").replace("$:", ":");
            line.split(' ').map(|word| word.replace('\0', " ")).collect()
        };
        for file in of_make.unwrap_or_else(of_ninja) {
            self.source(&absolute(folder(path), Path::new(&file)));
        }
    }

    /// Notes the first object file, library or program that no record covers.
    fn check(&mut self, records: &Records, objects: &[PathBuf]) {
        for object in objects.iter().filter(|object| !is_without_record(object)) {
            if !self.is_recorded(object) {
                self.miss(|shown| format!("{shown} has no dependency record"), object);
            }
        }
        for library in records.crates.iter().filter(|library| !is_without_record(library)) {
            let name = library.file_stem().unwrap_or_default().to_string_lossy();
            let name = name.strip_prefix("lib").unwrap_or(&name);
            if !records.rules.contains(&library.with_file_name(format!("{name}.d"))) {
                self.miss(|shown| format!("{shown} has no dependency record"), library);
            }
        }
        let name = |path: &PathBuf| path.file_name()?.to_str().map(str::to_owned);
        let here = records.sources.iter().filter(|path| path.starts_with(&self.src[0]));
        let here: BTreeSet<String> = here.filter_map(name).collect();
        let read = self.found.files.iter().map(|path| path.rsplit('/').next().unwrap_or(path));
        let mut read: BTreeSet<String> = read.map(str::to_owned).collect();
        read.extend(self.found.names.iter().cloned());
        for program in &records.programs {
            if self.is_recorded(program) {
                continue;
            }
            let Some(linked) = linked_sources(program) else { continue };
            if linked.is_disjoint(&read) {
                let say =
                    |shown| format!("{shown} does not name its source files (stripped, or LTO)");
                self.miss(say, program);
            } else if let Some(other) =
                linked.iter().find(|name| !read.contains(*name) && here.contains(*name))
            {
                let say = |shown| format!("{shown} is made from {other}, which no record names");
                self.miss(say, program);
            }
        }
    }

    fn is_recorded(&self, path: &Path) -> bool {
        id(path).is_some_and(|id| self.recorded.contains(&id))
    }

    /// Notes why the records do not cover everything. The first reason counts.
    fn miss(&mut self, say: impl FnOnce(String) -> String, path: &Path) {
        if self.found.gap.is_none() {
            let within = self.root.iter().find_map(|root| path.strip_prefix(root).ok());
            let shown = within.unwrap_or(path).display().to_string();
            self.found.gap = Some(say(shown));
        }
    }
}

/// Whether a file needs no dependency record: it is linked from recorded files only, CMake made it
/// to try the compiler, or rustc keeps it as a part of a crate.
fn is_without_record(object: &Path) -> bool {
    let name = object.file_name().unwrap_or_default().to_string_lossy();
    let is_in = |wanted: &str| {
        object.components().any(|part| part.as_os_str().to_string_lossy().starts_with(wanted))
    };
    name == "cmake_device_link.o"
        || name.ends_with(".rcgu.o")
        || (is_in("CMakeFiles") && is_in("CompilerId"))
        || (is_in("incremental") && is_in("s-"))
}

fn id(path: &Path) -> Option<FileId> {
    let about = fs::metadata(path).ok()?;
    Some((about.dev(), about.ino()))
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

#[cfg(test)]
mod tests;

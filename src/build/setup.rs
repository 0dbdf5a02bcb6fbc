//! Reads how a build was configured, from the files it left.
//!
//! Nothing fails here: an unreadable file is skipped, since the build itself is fine.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use crate::differ::{self, BuildFolders, packages};
use crate::evaluation::{CommitId, Compiled, Setup};

use super::Slot;
use super::objects::code_digest;
use super::read_files::{Records, read_files};
use super::text_file::read_text;

/// The folders of a build in this slot.
pub(super) fn place(slot: &Slot, commit: &CommitId) -> BuildFolders {
    BuildFolders::new(&slot.src(), &slot.build(), commit)
}

/// The setup found in the slot's source and build folders; links are not followed. Compiler
/// commands come from `printed` if no file has them.
/// `is_whole`: whether a clean build worked, so that its records cover all that it read.
pub(super) fn setup(slot: &Slot, commit: &CommitId, printed: Compiled, is_whole: bool) -> Setup {
    let place = place(slot, commit);
    let mut left = SetupFiles::default();
    left.look_through(&slot.src());
    left.look_through(&slot.build());
    let mut setup = Setup::default();
    for path in &left.caches {
        let Some(text) = read_text(path) else { continue };
        setup.caches.insert(shown(&place, path), differ::cmake_cache(&text, &place));
    }
    for path in &left.databases {
        let Some(text) = read_text(path) else { continue };
        differ::compile_commands(&text, &place, &mut setup.files);
    }
    let has_database = |path: &Path| {
        let folders = left.databases.iter().filter_map(|database| database.parent());
        folders.into_iter().any(|folder| path.starts_with(folder))
    };
    for path in left.flags.iter().filter(|path| !has_database(path)) {
        let Some(text) = read_text(path) else { continue };
        differ::flags_make(&text, &target(&place, path), &place, &mut setup.targets);
    }
    for path in &left.locks {
        let Some(text) = read_text(path) else { continue };
        setup.packages.insert(shown(&place, path), packages::lock_file(&text));
    }
    setup.packages.extend(
        left.installed.into_iter().map(|(folder, versions)| (shown(&place, &folder), versions)),
    );
    setup.objects = left
        .objects
        .iter()
        .filter_map(|path| Some((shown(&place, path), code_digest(path)?)))
        .collect();
    if setup.files.is_empty() && setup.targets.is_empty() {
        setup.files = printed;
    }
    if is_whole {
        setup.read = read_files(slot, &left.records, &left.objects);
    }
    setup
}

/// Files that describe the setup.
#[derive(Default)]
struct SetupFiles {
    caches: Vec<PathBuf>,
    databases: Vec<PathBuf>,
    flags: Vec<PathBuf>,
    locks: Vec<PathBuf>,
    objects: Vec<PathBuf>,
    records: Records,
    /// Versions of installed packages, by the folder of the installation.
    installed: BTreeMap<PathBuf, BTreeMap<String, String>>,
}

impl SetupFiles {
    fn look_through(&mut self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut entries: Vec<DirEntry> = entries.flatten().collect();
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let (path, Some(name)) = (entry.path(), name.to_str()) else { continue };
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.take(path, name);
            } else if let Some((package, version)) = packages::installed(name) {
                let versions = self.installed.entry(folder.to_owned()).or_default();
                packages::add(versions, package, version);
            } else if name != ".git" {
                self.look_through(&path);
            }
        }
    }

    fn take(&mut self, path: PathBuf, name: &str) {
        match name {
            "CMakeCache.txt" => self.caches.push(path),
            "compile_commands.json" => self.databases.push(path),
            "flags.make" => self.flags.push(path),
            name if packages::LOCK_FILES.contains(&name) => self.locks.push(path),
            _ if path.extension().is_some_and(|ending| ending == "o" || ending == "obj") => {
                self.objects.push(path);
            }
            _ => self.records.take(path, name),
        }
    }
}

fn shown(place: &BuildFolders, path: &Path) -> String {
    place.without(&path.to_string_lossy())
}

/// Name of a target: `{build}/src/CMakeFiles/engine.dir/flags.make` belongs to `src/engine`.
fn target(place: &BuildFolders, path: &Path) -> String {
    let folder = shown(place, path.parent().unwrap_or(path));
    let folder = folder.strip_prefix("{build}/").unwrap_or(&folder).replace("CMakeFiles/", "");
    folder.strip_suffix(".dir").unwrap_or(&folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_a_build_left_is_found_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let slot = Slot::unlocked(folder.path().to_owned());
        let (src, build) = (slot.src(), slot.build());
        put(&build.join("CMakeCache.txt"), "FAST:BOOL=ON\n");
        put(&build.join("lib/CMakeFiles/engine.dir/flags.make"), "C_FLAGS = -O3\n");
        put(&build.join("sub/CMakeCache.txt"), "TILE:STRING=8\n");
        put(&build.join("sub/CMakeFiles/k.dir/flags.make"), "C_FLAGS = -O1\n");
        let database = "[{\"directory\": \"/\", \"file\": \"a.c\", \"command\": \"cc -O1 a.c\"}]";
        put(&build.join("sub/compile_commands.json"), database);
        put(&build.join("venv/site-packages/torch-2.9.0.dist-info/METADATA"), "");
        put(&src.join("Cargo.lock"), "[[package]]\nname = \"half\"\nversion = \"2.4.1\"\n");
        put(&src.join(".git/CMakeCache.txt"), "NO:BOOL=ON\n");
        std::os::unix::fs::symlink("/", src.join("link")).unwrap();
        fs::write(build.join("uv.lock"), b"\xff").unwrap();
        let commit = "1".repeat(40).parse().unwrap();
        let mut printed = Compiled::default();
        printed.add("b.c", vec!["cc".to_owned()]);
        let found = setup(&slot, &commit, printed.clone(), true);
        let caches = ["{build}/CMakeCache.txt", "{build}/sub/CMakeCache.txt"];
        assert_eq!(found.caches.keys().collect::<Vec<_>>(), caches);
        assert_eq!(found.targets.by.keys().collect::<Vec<_>>(), ["lib/engine (C)"]);
        assert_eq!(found.files.by.keys().collect::<Vec<_>>(), ["/a.c"]);
        let lock = &found.packages["{src}/Cargo.lock"];
        assert_eq!(lock["half"], "2.4.1");
        assert_eq!(found.packages["{build}/venv/site-packages"]["torch"], "2.9.0");
        assert!(found.packages["{build}/uv.lock"].is_empty());
        fs::remove_dir_all(&build).unwrap();
        assert_eq!(setup(&slot, &commit, printed.clone(), true).files, printed);
    }
}

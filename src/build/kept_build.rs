//! What a finished build left on the disk, so that a later hunt can tell whether the build is as it
//! was left. A run, a user or a cleaner of old files may have changed it since, and the system may
//! have other headers and libraries now.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::store::KeyHasher;

/// Folders of a slot that belong to runs, or that are made anew for each build.
pub(super) const OF_RUNS: [&str; 6] = ["out", "cache", "prepared", "tmp", "home", "python"];

/// Files and folders whose times change when the system gets other packages.
const SYSTEM: [&str; 10] = [
    "/etc/ld.so.cache",
    "/var/lib/dpkg/status",
    "/var/lib/rpm/rpmdb.sqlite",
    "/var/lib/pacman/local",
    "/lib/apk/db/installed",
    "/usr/include",
    "/usr/lib",
    "/usr/local/bin",
    "/usr/local/include",
    "/usr/local/lib",
];

/// What a build left, and the system on which it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptBuild {
    /// Digest of the names, sizes and times of all files.
    files: String,
    /// Digest of the times of [`SYSTEM`].
    system: String,
    /// Bytes on the disk.
    pub(super) bytes: u64,
}

impl KeptBuild {
    /// What is in a build's folder now.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        Ok(Self::with_names(folder)?.0)
    }

    /// The same, and the names of all files, relative to the folder.
    pub(super) fn with_names(folder: &Path) -> io::Result<(Self, Vec<String>)> {
        let mut found = Found::default();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let is_of_runs = OF_RUNS.iter().any(|name| entry.file_name() == *name);
            if entry.file_type()?.is_dir() && !is_of_runs {
                found.add(folder, &entry.path())?;
            }
        }
        found.lines.sort_unstable();
        let changed =
            |path: &str| std::fs::metadata(path).map_or_else(|_| String::new(), |m| time(&m));
        let times = SYSTEM.map(changed);
        let kept = Self {
            files: KeyHasher::new("files").list("file", &found.lines).hex(),
            system: KeyHasher::new("system").list("time", &times).hex(),
            bytes: found.bytes,
        };
        Ok((kept, found.names))
    }

    /// Whether the files and the system are the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.files == other.files && self.system == other.system
    }
}

/// The files of a build.
#[derive(Default)]
struct Found {
    lines: Vec<String>,
    names: Vec<String>,
    bytes: u64,
}

impl Found {
    fn add(&mut self, top: &Path, folder: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let (path, meta) = (entry.path(), entry.metadata()?);
            self.bytes += meta.blocks() * 512;
            if meta.is_dir() {
                self.add(top, &path)?;
            } else if entry.file_name() != ".git" {
                // The `.git` file changes when the worktree is put away and brought back.
                let name = name_in(top, &path);
                let (mode, size) = (meta.mode(), meta.size());
                self.lines.push(format!("{name} {mode:o} {size} {}", time(&meta)));
                self.names.push(name);
            }
        }
        Ok(())
    }
}

/// A path in a build's folder, relative to it, as ASCII on one line.
pub(super) fn name_in(top: &Path, path: &Path) -> String {
    let name = path.strip_prefix(top).unwrap_or(path).as_os_str();
    name.as_encoded_bytes().escape_ascii().to_string()
}

/// When a file was written.
fn time(meta: &Metadata) -> String {
    format!("{}.{}", meta.mtime(), meta.mtime_nsec())
}

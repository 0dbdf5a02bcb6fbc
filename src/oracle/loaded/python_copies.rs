//! Finds installed Python packages and modules that a run imported in place of the commit's own: an
//! older release of the engine in `site-packages` or `PYTHONPATH`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::copies::{HiddenFile, LoadedFrom};

/// Folders of installed packages. Only there, a module without a package counts: beside a script
/// elsewhere, it may be a copy that the user made to keep the script as it is.
const INSTALLED: [&str; 2] = ["site-packages", "dist-packages"];

const INIT: &str = "__init__.py";

/// A package or a module from outside the slot.
struct Import<'m> {
    /// The folder in `sys.path` that has it.
    root: PathBuf,
    /// The files of it that the run loaded.
    files: Vec<&'m PathBuf>,
}

impl LoadedFrom<'_> {
    /// The installed packages and modules among these modules that the commit has too, each by its
    /// file (a package: its `__init__.py`), with the commit's. `sources`: the commit's Python files.
    ///
    /// A package whose `__init__.py` the run loaded from the commit too does not count: the copy may
    /// be there for a comparison. A file inside the commit's package alone is no sign of that, since
    /// it may be a script, or a file with the version that a script reads.
    pub(super) fn python(
        &self,
        modules: &BTreeSet<PathBuf>,
        sources: &[PathBuf],
    ) -> BTreeMap<PathBuf, HiddenFile> {
        let is_source = |file: &&PathBuf| file.extension().is_some_and(|kind| kind == "py");
        let outside = modules.iter().filter(is_source).filter(|file| !file.starts_with(self.root));
        let mut imports: BTreeMap<PathBuf, Import<'_>> = BTreeMap::new();
        for file in outside {
            let Some((root, head)) = placed(file) else { continue };
            let new = || Import { root, files: Vec::new() };
            imports.entry(head).or_insert_with(new).files.push(file);
        }
        let hidden = |(head, import): (PathBuf, Import<'_>)| {
            let own = self.hidden(&head, &import, sources)?;
            Some((head, own))
        };
        imports.into_iter().filter_map(hidden).collect()
    }

    /// The commit's file with the same name for imports as `head`. Of several, the first one that
    /// the copy resembles.
    fn hidden(&self, head: &Path, import: &Import<'_>, sources: &[PathBuf]) -> Option<HiddenFile> {
        let name = head.strip_prefix(&import.root).ok()?;
        // An editable install may lead into the slot.
        let is_commits = head.canonicalize().is_ok_and(|real| real.starts_with(self.root));
        if is_commits || self.own.iter().any(|path| path.ends_with(name)) {
            return None;
        }
        let depth = name.components().count();
        let candidates = sources.iter().filter_map(|path| {
            let root = path.ancestors().nth(depth)?;
            let is_own = path.starts_with(self.src) && path.ends_with(name);
            // Below another package it has another name.
            let is_top = root == self.src || !root.join(INIT).is_file();
            let is_own = is_own && is_top && !self.is_vendored(path);
            is_own.then(|| HiddenFile { path: path.clone(), is_alike: is_alike(import, root) })
        });
        let mut first = None;
        for candidate in candidates {
            if candidate.is_alike {
                return Some(candidate);
            }
            first.get_or_insert(candidate);
        }
        first
    }
}

/// The folder of `sys.path` that has a module, and the file that stands for its package or module;
/// `None` for the standard library, and for a module without a package that is not installed.
fn placed(file: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut package = None;
    let mut root = file.parent()?;
    while root.join(INIT).is_file() {
        package = Some(root);
        root = root.parent()?;
    }
    if is_standard(root) {
        return None;
    }
    if let Some(package) = package {
        return Some((root.to_owned(), package.join(INIT)));
    }
    let is_installed = |folder: &&Path| {
        folder.file_name().is_some_and(|name| INSTALLED.iter().any(|known| name == *known))
    };
    let root = root.ancestors().find(is_installed)?;
    Some((root.to_owned(), file.to_owned()))
}

/// Whether the folder has Python's standard library: `lib/python3.11`.
fn is_standard(folder: &Path) -> bool {
    let is_python = |name: &OsStr| name.as_encoded_bytes().starts_with(b"python3.");
    let above = folder.parent().and_then(Path::file_name);
    folder.file_name().is_some_and(is_python)
        && above.is_some_and(|above| above.as_encoded_bytes().starts_with(b"lib"))
}

/// Whether at least half of the loaded files resemble the commit's of the same name below `own`: at
/// least half of a file's lines are in the commit's. A package of another project has the name of
/// the commit's package and other files. Empty files say nothing.
fn is_alike(import: &Import<'_>, own: &Path) -> bool {
    let (mut all, mut alike) = (0, 0);
    for file in &import.files {
        let copy = lines(file);
        let Ok(name) = file.strip_prefix(&import.root) else { continue };
        if copy.is_empty() {
            continue;
        }
        let known = lines(&own.join(name));
        all += 1;
        alike += usize::from(2 * copy.intersection(&known).count() >= copy.len());
    }
    2 * alike >= all
}

/// The different lines of a text, without blanks around them; none if it cannot be read.
fn lines(path: &Path) -> BTreeSet<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;

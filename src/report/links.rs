//! The targets of a page's links.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::evaluation::{CommitId, Forge};
use crate::ui::text;

use super::model::Report;

/// The script that repeats a hunt's measurements; written when the hunt stops or ends.
pub(super) const SCRIPT: &str = "reproduce.sh";

/// Makes links from a page to the logs of a hunt, and to the pages of its commits.
#[derive(Clone)]
pub(crate) struct Logs {
    forge: Option<Forge>,
    /// Prefix of a path that is relative to the hunt's folder.
    prefix: String,
    missing: BTreeSet<String>,
    /// The files inside the page: their paths and the ids of their elements.
    within_page: BTreeMap<String, String>,
}

impl Logs {
    /// For a page in the hunt's own folder.
    pub(crate) fn beside(report: &Report) -> Self {
        Self {
            prefix: String::new(),
            forge: report.forge.clone(),
            missing: missing(report),
            within_page: BTreeMap::new(),
        }
    }

    /// For a page that will be written to `file`. Links are relative, so that the page and the
    /// hunt's folder may be moved together, or unpacked elsewhere.
    pub(crate) fn for_file(report: &Report, file: &Path) -> Self {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut prefix =
            target(between(&real(folder), &real(&report.folder)).as_os_str().as_bytes());
        if !prefix.is_empty() {
            prefix.push('/');
        }
        Self { prefix, ..Self::beside(report) }
    }

    /// The same for a page that contains some of the files. `ids`: the element id of each path.
    pub(super) fn within_page(self, ids: BTreeMap<String, String>) -> Self {
        Self { within_page: ids, ..self }
    }

    /// The target of a link to a file of the hunt: a place in the page if the page contains the
    /// file. `None` if the file no longer exists.
    pub(super) fn href(&self, path: &str) -> Option<String> {
        let is_there = !self.missing.contains(path);
        is_there.then(|| match self.within_page.get(path) {
            Some(id) => format!("#{id}"),
            None => self.path(path),
        })
    }

    /// The target of a link to a file of the hunt, even if the file does not exist.
    pub(super) fn path(&self, path: &str) -> String {
        format!("{}{}", self.prefix, target(path.as_bytes()))
    }

    /// The page of a commit on the site that hosts the repository, if known.
    pub(super) fn commit(&self, commit: &CommitId) -> Option<String> {
        self.forge.as_ref().map(|forge| forge.commit(commit))
    }

    /// A sentence that counts the logs which the hunt's folder, or its bundle, does not have.
    pub(super) fn missing_in_words(&self) -> Option<String> {
        let logs = self.missing.iter().filter(|path| *path != SCRIPT).count();
        (logs > 0).then(|| format!("{} not among its files any more.", is_or_are(logs)))
    }
}

/// The relative path from one folder to another; both are absolute.
fn between(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

fn is_or_are(logs: usize) -> String {
    format!("{} {}", text::plural(logs, "log"), if logs == 1 { "is" } else { "are" })
}

/// How to read compressed logs; `None` if the report has none.
pub(super) fn compressed_in_words(report: &Report) -> Option<String> {
    let is_compressed =
        logs(report).any(|log| Path::new(log).extension().is_some_and(|end| end == "zst"));
    let words = "those whose names end in .zst are compressed: `zstdcat FILE` shows one";
    is_compressed.then(|| words.to_owned())
}

/// The logs of all builds and runs.
fn logs(report: &Report) -> impl Iterator<Item = &str> {
    let builds = report.commits.iter().flat_map(|c| c.builds.iter().map(|build| &build.log));
    let runs = report.commits.iter().flat_map(|c| c.runs.iter().map(|run| &run.log));
    builds.chain(runs).map(String::as_str)
}

fn missing(report: &Report) -> BTreeSet<String> {
    let files: BTreeSet<_> = logs(report).chain([SCRIPT]).collect();
    let gone = |path: &&str| !report.folder.join(path).is_file();
    files.into_iter().filter(gone).map(str::to_owned).collect()
}

/// A path as the target of a link, percent-encoded so that it cannot end the link or start a
/// scheme.
pub(super) fn target(path: &[u8]) -> String {
    let mut safe = String::with_capacity(path.len());
    for &byte in path {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-') {
            safe.push(char::from(byte));
        } else {
            let _ = write!(safe, "%{byte:02X}");
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_between_folders_is_relative() {
        let said = |from: &str, to: &str| {
            between(Path::new(from), Path::new(to)).to_string_lossy().into_owned()
        };
        assert_eq!(said("/a/b", "/a/b"), "");
        assert_eq!(said("/a", "/a/b/c"), "b/c");
        assert_eq!(said("/a/x/y", "/a/b"), "../../b");
        assert_eq!(said("/", "/a"), "a");
    }

    #[test]
    fn a_link_target_cannot_end_early() {
        assert_eq!(target(b"logs/a b).log\n"), "logs/a%20b%29.log%0A");
        assert_eq!(target(b"javascript:x\"<\xff"), "javascript%3Ax%22%3C%FF");
    }
}

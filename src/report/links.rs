//! Where a page's links lead.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::ui::text;

use super::model::Report;

/// What repeats a hunt's measurements; written when the hunt stops or ends.
pub(super) const SCRIPT: &str = "reproduce.sh";

/// How to get from a page to the raw output.
pub struct Logs {
    /// What stands before a path that is relative to the hunt.
    prefix: String,
    missing: BTreeSet<String>,
}

impl Logs {
    /// For a page that lies in the hunt's own folder: wherever both go, the links hold.
    pub fn beside(report: &Report) -> Self {
        Self { prefix: String::new(), missing: missing(report) }
    }

    /// For a page that lies somewhere else on this machine, nobody knows where.
    pub fn from_afar(report: &Report) -> Self {
        let folder = target(report.folder.as_os_str().as_bytes());
        Self { prefix: format!("file://{folder}/"), missing: missing(report) }
    }

    /// For a page that will be written to that file.
    pub fn for_file(report: &Report, file: &Path) -> Self {
        let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
        let is_beside = folder.is_some() && folder == report.folder.canonicalize().ok();
        if is_beside { Self::beside(report) } else { Self::from_afar(report) }
    }

    /// The target of a link to a file of the hunt; `None` where it is gone.
    pub(super) fn href(&self, path: &str) -> Option<String> {
        let is_there = !self.missing.contains(path);
        is_there.then(|| format!("{}{}", self.prefix, target(path.as_bytes())))
    }

    /// What to say of logs that are gone.
    pub(super) fn missing_in_words(&self) -> Option<String> {
        let logs = self.missing.iter().filter(|path| *path != SCRIPT).count();
        (logs > 0).then(|| format!("{} not in that folder any more.", is_or_are(logs)))
    }
}

fn is_or_are(logs: usize) -> String {
    format!("{} {}", text::plural(logs, "log"), if logs == 1 { "is" } else { "are" })
}

fn missing(report: &Report) -> BTreeSet<String> {
    let builds = report.commits.iter().flat_map(|c| c.builds.iter().map(|build| &build.log));
    let runs = report.commits.iter().flat_map(|c| c.runs.iter().map(|run| &run.log));
    let files: BTreeSet<_> = builds.chain(runs).map(String::as_str).chain([SCRIPT]).collect();
    let gone = |path: &&str| !report.folder.join(path).is_file();
    files.into_iter().filter(gone).map(str::to_owned).collect()
}

/// A path as the target of a link: nothing in it can end the link or start a scheme.
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
    fn a_link_target_cannot_end_early() {
        assert_eq!(target(b"logs/a b).log\n"), "logs/a%20b%29.log%0A");
        assert_eq!(target(b"javascript:x\"<\xff"), "javascript%3Ax%22%3C%FF");
    }
}

//! Checks of folders: whether they are writable, their free space, and whether their file system
//! ignores case.

use std::path::Path;

use crate::git::{History, folds_case};
use crate::hunt::HuntRequest;

use super::lines::Lines;

/// Least free disk space: a checkout, a build, and a night's logs must fit.
const ENOUGH_MIB: u64 = 1024;

/// Checks that a folder is writable, or the first existing one above it. The test file has no
/// name and is removed at once.
pub(super) fn writable(lines: &mut Lines, what: &'static str, folder: &Path, cure: &str) {
    let there = above(folder);
    match tempfile::tempfile_in(there) {
        Ok(_) => lines.ok(what, &folder.to_string_lossy()),
        Err(error) => {
            let about = format!("{}: {}", there.display(), error.kind());
            lines.fail(what, &about, Some(cure.to_owned()));
        }
    }
}

/// The folder itself if it exists, else the nearest folder above it that exists.
fn above(folder: &Path) -> &Path {
    folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"))
}

/// On a file system that ignores case: checks that the endpoints have no names that differ only in
/// case.
pub(super) fn spelling(lines: &mut Lines, history: &History, folder: &Path, asked: &HuntRequest) {
    let Ok(true) = folds_case(above(folder)) else { return };
    let mut ends = vec![&asked.good, &asked.bad];
    ends.dedup();
    for revision in ends {
        // An unknown revision is already reported.
        let Ok(commit) = history.resolve(revision) else { continue };
        if let Err(error) = history.check_names(&commit) {
            lines.fail("names", &format!("{revision}: {error}"), error.hint());
        }
    }
}

/// Checks the free space of a folder's disk.
pub(super) fn disk(lines: &mut Lines, folder: &Path) {
    match rustix::fs::statvfs(folder) {
        Ok(about) => {
            let free = about.f_bavail.saturating_mul(about.f_frsize) / (1024 * 1024);
            let shown = format!("{free} MiB free");
            if free < ENOUGH_MIB {
                lines.fail("disk", &shown, Some(format!("free {ENOUGH_MIB} MiB or more")));
            } else {
                lines.ok("disk", &shown);
            }
        }
        Err(error) => lines.fail("disk", &error.to_string(), None),
    }
}

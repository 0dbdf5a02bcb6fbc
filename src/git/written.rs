//! Whether somebody wrote tracked files since their checkout.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::command::PRIVATE_INDEX;
use super::raw_path::os;

/// The mode of a submodule in an index.
const SUBMODULE: u32 = 0o160_000;

/// Whether somebody removed a tracked file at `top`, or wrote one since its checkout, also with the
/// same content: the time of modification tells. False if there was no checkout.
///
/// Most versions of git compare whole seconds only, and then contents. A file that a build writes
/// with the same content within a second of its checkout is no change for them.
pub(super) fn has_written_files(git_dir: &Path, top: &Path) -> bool {
    let Ok(index) = git2::Index::open(&git_dir.join(PRIVATE_INDEX)) else { return false };
    index.iter().any(|entry| {
        let seconds = i64::from(entry.mtime.seconds());
        let nanoseconds = i64::from(entry.mtime.nanoseconds());
        // Git has no time of files that sparse patterns leave out.
        if entry.mode == SUBMODULE || seconds == 0 {
            return false;
        }
        // Without nanoseconds, git was built to record none.
        fs::symlink_metadata(top.join(os(&entry.path))).map_or(true, |now| {
            now.mtime() != seconds || nanoseconds != 0 && now.mtime_nsec() != nanoseconds
        })
    })
}

//! Reads the texts that a build left.

use std::fs;
use std::path::Path;

/// Largest file to read, bytes.
const LARGEST: u64 = 256 << 20;

/// The text of a regular file; `None` for links, larger files, and files that cannot be read.
pub(super) fn read_text(path: &Path) -> Option<String> {
    let about = fs::symlink_metadata(path).ok()?;
    if !about.is_file() || about.len() > LARGEST {
        return None;
    }
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

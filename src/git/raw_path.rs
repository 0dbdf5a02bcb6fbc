//! Paths as git prints and stores them: raw bytes, which need not be UTF-8.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Raw bytes as a path.
pub(super) fn os(path: &[u8]) -> &OsStr {
    OsStr::from_bytes(path)
}

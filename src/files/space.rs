//! Tells whether a disk is full.

use std::path::Path;

/// A disk with less free space counts as full, bytes.
const NEXT_TO_NOTHING: u64 = 64 << 10;

/// Whether the disk of this folder has next to no space left.
pub(crate) fn is_full(folder: &Path) -> bool {
    rustix::fs::statvfs(folder)
        .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < NEXT_TO_NOTHING)
}

//! Which file lies at a path, and whether it changed.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::recent::is_recent;

/// File system data that shows whether a file changed. Nobody can set the change time (`ctime`) by
/// hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    /// In bytes.
    size: u64,
    /// The last change of the content, nanoseconds since 1970.
    modified_ns: i128,
    /// The last change of the inode, nanoseconds since 1970; 0 in caches of older versions.
    #[serde(default)]
    changed_ns: i128,
}

impl Identity {
    /// The identity of the file at `path`, which is no link; `None` if the system does not tell.
    pub(super) fn at(path: &Path) -> Option<Self> {
        std::fs::symlink_metadata(path).ok().map(|meta| Self::from(&meta))
    }

    /// Whether the file changed so shortly before this time that it may change again and keep its
    /// change time.
    pub(super) fn is_recent(&self, now: SystemTime) -> bool {
        is_recent(self.changed_ns, now)
    }
}

impl From<&Metadata> for Identity {
    fn from(meta: &Metadata) -> Self {
        let nanoseconds = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed_ns: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_that_changed_just_now_is_read_again() {
        let of = |changed_ns| Identity { device: 0, inode: 0, size: 0, modified_ns: 0, changed_ns };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(100);
        assert!(of(99_950_000_000).is_recent(now) && of(100_050_000_000).is_recent(now));
        assert!(!of(99_800_000_000).is_recent(now) && !of(500_000_000_000).is_recent(now));
    }
}

//! File system data that shows whether a file changed.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// What the file system knows of a file. It differs after each change of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    inode: u64,
    /// In bytes.
    pub size: u64,
    /// The last change of the content: seconds since 1970, and nanoseconds.
    pub modified: (i64, i64),
    /// The last change of the inode, likewise.
    changed: (i64, i64),
}

impl From<&Metadata> for FileState {
    fn from(meta: &Metadata) -> Self {
        Self {
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

//! Whether a file on the disk is a pointer of Git LFS.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::git::{LONGEST_POINTER, is_pointer};

/// Whether the file at this path is a pointer of Git LFS. False if it cannot be read.
pub(in crate::oracle) fn is_lfs_pointer(path: &Path) -> bool {
    let is_short = |about: fs::Metadata| about.is_file() && about.len() < LONGEST_POINTER;
    if !fs::metadata(path).is_ok_and(is_short) {
        return false;
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST_POINTER).read_to_end(&mut bytes));
    read.is_ok() && is_pointer(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_can_be_a_pointer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.bin");
        fs::write(&path, "version https://git-lfs.github.com/spec/v1\n").unwrap();
        assert!(is_lfs_pointer(&path));
        fs::write(&path, "1.0\n").unwrap();
        assert!(!is_lfs_pointer(&path));
        assert!(!is_lfs_pointer(folder.path()) && !is_lfs_pointer(&folder.path().join("none")));
    }
}

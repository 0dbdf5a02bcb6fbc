//! What is opened and what is refused.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, Mode, mkfifoat};

use super::*;

/// A folder with one path of each kind that is not a regular file, and a regular `file`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("file"), "text").unwrap();
    mkfifoat(CWD, at("fifo"), Mode::RWXU).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    symlink("file", at("link")).unwrap();
    symlink("nothing", at("dangling")).unwrap();
    symlink("/dev/zero", at("device")).unwrap();
    drop(UnixListener::bind(at("socket")).unwrap());
    folder
}

#[test]
fn only_regular_files_are_opened_and_nothing_waits_or_is_emptied() {
    let folder = folder();
    let file = folder.path().join("file");
    let ways: [fn(&Path) -> Result<File>; 4] = [open, append, lock_file, create];
    for name in ["fifo", "folder", "link", "dangling", "device", "socket"] {
        for way in ways {
            let error = way(&folder.path().join(name)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{name}: {error}");
            assert!(error.to_string().contains("not a regular file"), "{name}: {error}");
        }
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"text");
    assert_eq!(read(&file).unwrap(), b"text");
    assert!(!folder.path().join("nothing").exists());
    assert_eq!(open(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    create(&file).unwrap();
    assert_eq!(read(&file).unwrap(), b"");
}

#[test]
fn a_link_to_a_regular_file_is_followed_only_where_that_is_asked_for() {
    let folder = folder();
    open_target(&folder.path().join("link")).unwrap();
    for name in ["device", "fifo"] {
        assert!(open_target(&folder.path().join(name)).is_err(), "{name}");
    }
}

#[test]
fn a_file_that_no_memory_holds_is_refused() {
    let folder = folder();
    let long = folder.path().join("long");
    File::create(&long).unwrap().set_len(LONGEST + 1).unwrap();
    assert!(read(&long).unwrap_err().to_string().contains("1073741825 bytes"));
}

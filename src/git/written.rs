//! Whether somebody wrote tracked files since their checkout, and which of them have another content
//! now.

use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use git2::{IndexEntry, IndexTime, ObjectType, Oid};

use super::command::{Call, LONGEST_LIST, PRIVATE_INDEX};
use super::raw_path::os;

/// The modes of a submodule and of a link in an index.
const SUBMODULE: u32 = 0o160_000;
const LINK: u32 = 0o120_000;

/// What a look at the tracked files found. The default is nothing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Whether a tracked file was removed, or written since its checkout, also with the same
    /// content.
    pub(crate) is_written: bool,
    /// The tracked files that are gone or have another content than at their checkout, below the
    /// top of the worktree. Empty if nobody asked for them.
    pub(crate) changed: Vec<PathBuf>,
}

impl Written {
    /// Adds what was found in a submodule at this path.
    pub(super) fn include(&mut self, inner: Self, path: &Path) {
        self.is_written |= inner.is_written;
        self.changed.extend(inner.changed.into_iter().map(|file| path.join(file)));
    }
}

/// A tracked file that may have another content than at its checkout.
struct Suspect {
    path: Vec<u8>,
    /// Git's name of the content.
    id: Oid,
    mode: u32,
    /// Whether its time of modification is another one, or it is gone.
    is_written: bool,
}

/// Whether somebody removed a tracked file at `top`, or wrote one since its checkout, also with the
/// same content: the time of modification tells. False if there was no checkout.
///
/// Most versions of git compare whole seconds only, and then contents. A file that a build writes
/// with the same content within a second of its checkout is no change for them.
pub(super) fn has_written_files(git_dir: &Path, top: &Path) -> bool {
    let Ok(index) = git2::Index::open(&git_dir.join(PRIVATE_INDEX)) else { return false };
    index.iter().filter_map(|entry| suspect(entry, top)).any(|suspect| suspect.is_written)
}

/// As [`has_written_files`], with the files that have another content now. `call`: a call of git at
/// `top`. Git runs only if a file is not byte for byte as in its object, because a filter may have
/// made the difference.
pub(super) fn written_files(git_dir: &Path, top: &Path, call: Call) -> Written {
    let Ok(index) = git2::Index::open(&git_dir.join(PRIVATE_INDEX)) else {
        return Written::default();
    };
    let suspects: Vec<Suspect> = index.iter().filter_map(|entry| suspect(entry, top)).collect();
    let is_written = suspects.iter().any(|suspect| suspect.is_written);
    let other: Vec<Suspect> =
        suspects.into_iter().filter(|suspect| suspect.id_at(top) != Some(suspect.id)).collect();
    let changed = without_filtered(other, top, call);
    let changed = changed.into_iter().map(|suspect| os(&suspect.path).into()).collect();
    Written { is_written, changed }
}

/// The file if it is gone, or if its times or its size are not those of its checkout.
fn suspect(entry: IndexEntry, top: &Path) -> Option<Suspect> {
    // Git has no time of files that sparse patterns leave out.
    if entry.mode == SUBMODULE || entry.mtime.seconds() == 0 {
        return None;
    }
    let now = fs::symlink_metadata(top.join(os(&entry.path)));
    let is_written = now.as_ref().map_or(true, |now| is_other(entry.mtime, modified(now)));
    // A build may restore the time of a file that it writes, or write it within one tick of the
    // clock. An index holds the lower 32 bits of a size.
    let is_suspect = is_written
        || now.is_ok_and(|now| {
            is_other(entry.ctime, (now.ctime(), now.ctime_nsec()))
                || u64::from(entry.file_size) != now.size() % (1 << 32)
        });
    let IndexEntry { path, id, mode, .. } = entry;
    is_suspect.then_some(Suspect { path, id, mode, is_written })
}

/// The time of modification: seconds and nanoseconds.
fn modified(now: &Metadata) -> (i64, i64) {
    (now.mtime(), now.mtime_nsec())
}

/// Whether git recorded another time than this one (seconds and nanoseconds).
fn is_other(recorded: IndexTime, (seconds, nanoseconds): (i64, i64)) -> bool {
    // Without nanoseconds, git was built to record none.
    i64::from(recorded.seconds()) != seconds
        || recorded.nanoseconds() != 0 && i64::from(recorded.nanoseconds()) != nanoseconds
}

impl Suspect {
    /// Git's name of the content on the disk, byte for byte; `None` if the file is gone or of
    /// another type.
    fn id_at(&self, top: &Path) -> Option<Oid> {
        let path = top.join(os(&self.path));
        let is_link = fs::symlink_metadata(&path).ok()?.is_symlink();
        if is_link != (self.mode == LINK) {
            return None;
        }
        let id = if is_link {
            let target = fs::read_link(&path).ok()?;
            Oid::hash_object(ObjectType::Blob, target.as_os_str().as_bytes())
        } else {
            Oid::hash_file(ObjectType::Blob, &path)
        };
        id.ok()
    }

    /// Whether git can hash the file as it would commit it: `hash-object` reads one path a line, and
    /// a path in quotes as escaped.
    fn can_be_asked(&self, top: &Path) -> bool {
        let metadata = fs::symlink_metadata(top.join(os(&self.path)));
        self.mode != LINK
            && metadata.is_ok_and(|metadata| metadata.is_file())
            && !self.path.contains(&b'\n')
            && !self.path.starts_with(b"\"")
    }
}

/// The files without those that only a filter changed as they were written, such as one for the ends
/// of lines or that of Git LFS. All of them if git does not tell.
fn without_filtered(suspects: Vec<Suspect>, top: &Path, call: Call) -> Vec<Suspect> {
    let (asked, mut others): (Vec<Suspect>, Vec<Suspect>) =
        suspects.into_iter().partition(|suspect| suspect.can_be_asked(top));
    if asked.is_empty() {
        return others;
    }
    let mut input = Vec::new();
    for suspect in &asked {
        input.extend_from_slice(&suspect.path);
        input.push(b'\n');
    }
    let call = call.args(["hash-object", "--stdin-paths"]).input(input).capture(LONGEST_LIST);
    let said = call.ok().map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    // Without an answer of git, each file counts.
    let mut ids = said.lines().map(|line| Oid::from_str(line).ok());
    let is_other = |suspect: &Suspect| ids.next().flatten() != Some(suspect.id);
    others.extend(asked.into_iter().filter(is_other));
    others
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use crate::evaluation::CommitId;
    use crate::git::Worktree;
    use crate::git::tests::{Fixture, write};

    use super::*;

    fn slot(fixture: &Fixture, commit: &CommitId) -> Worktree {
        let path = fixture.beside("slots/0/src");
        let mut slot = Worktree::add_detached(&fixture.repository(), &path, commit).unwrap();
        slot.checkout(commit, true).unwrap();
        // The clock of a disk has ticks of a few milliseconds.
        std::thread::sleep(Duration::from_millis(50));
        slot
    }

    #[test]
    fn only_files_with_another_content_have_changed() {
        let fixture = Fixture::new();
        let files = [("d/b", "1"), ("gone", "1"), ("same", "1"), ("z", "1")];
        let first = fixture.commit("first", &files);
        let worktree = slot(&fixture, &first);
        let found = worktree.reset_and_compare().unwrap();
        assert_eq!(found, Written::default());
        write(&worktree.path().join("same"), "1");
        write(&worktree.path().join("new"), "1");
        let found = worktree.reset_and_compare().unwrap();
        assert!(found.is_written && found.changed.is_empty(), "{found:?}");
        write(&worktree.path().join("z"), "2");
        write(&worktree.path().join("d/b"), "2");
        fs::remove_file(worktree.path().join("gone")).unwrap();
        let found = worktree.reset_and_compare().unwrap();
        assert_eq!(found.changed, ["d/b", "gone", "z"].map(PathBuf::from));
        assert_eq!(fs::read_to_string(worktree.path().join("z")).unwrap(), "1");
        assert!(worktree.reset_and_compare().unwrap().changed.is_empty());
    }

    #[test]
    fn a_file_with_its_old_time_has_changed_too() {
        let fixture = Fixture::new();
        let first = fixture.commit("first", &[("a", "1")]);
        let worktree = slot(&fixture, &first);
        let path = worktree.path().join("a");
        let before: SystemTime = fs::metadata(&path).unwrap().modified().unwrap();
        write(&path, "2");
        fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        let found = worktree.reset_and_compare().unwrap();
        assert_eq!(found.changed, [PathBuf::from("a")]);
    }

    #[test]
    fn a_filter_changes_no_content() {
        let fixture = Fixture::new();
        let files =
            [(".gitattributes", "*.txt text eol=crlf\n"), ("a.txt", "1\n"), ("b.txt", "1\n")];
        let first = fixture.commit("first", &files);
        let worktree = slot(&fixture, &first);
        write(&worktree.path().join("a.txt"), "1\r\n");
        write(&worktree.path().join("b.txt"), "2\r\n");
        let found = worktree.reset_and_compare().unwrap();
        assert_eq!(found.changed, [PathBuf::from("b.txt")]);
    }
}

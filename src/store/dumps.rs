//! Files with tensors that runs wrote, stored by content: equal dumps of many commits are stored
//! once.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::evaluation::{Dumped, RunRecord};
use crate::files;

use super::digests::digest;
use super::durable::{publish_temporary, temporary_in};
use super::evidence::Damage;
use super::inventory::files_below;
use super::{Store, StoreError, key::hex};

/// Maximum number of files and folders of one run's dump. A model has some thousand tensors.
pub(crate) const MOST_DUMPED: usize = 100_000;

impl Store {
    /// Copies the dump of a run into the store: one file, or all files below a folder; nothing of a
    /// folder with more than [`MOST_DUMPED`] entries. Links are left out, since they could lead to
    /// any file. `path` is the path below `{out}`.
    pub(crate) fn keep_dumps(&self, found: &Path, path: &str) -> Result<Vec<Dumped>, StoreError> {
        self.keep_at_most(MOST_DUMPED, found, path)
    }

    fn keep_at_most(
        &self,
        most: usize,
        found: &Path,
        path: &str,
    ) -> Result<Vec<Dumped>, StoreError> {
        let meta = std::fs::symlink_metadata(found).map_err(StoreError::at(found))?;
        if meta.is_file() {
            return Ok(vec![self.keep_dump(found, path.to_owned())?]);
        }
        if !meta.is_dir() {
            return Ok(Vec::new());
        }
        let entries = files::below(found, most, &|| false);
        if entries.is_cut {
            // A part of a dump would be compared as if it were the whole.
            return Ok(Vec::new());
        }
        let mut kept = Vec::new();
        for (inner, kind) in entries.found {
            let Some(name) = inner.to_str().filter(|_| kind.is_file()) else { continue };
            kept.push(self.keep_dump(&found.join(&inner), format!("{path}/{name}"))?);
        }
        Ok(kept)
    }

    fn keep_dump(&self, file: &Path, path: String) -> Result<Dumped, StoreError> {
        let known = digest(file)?;
        let bytes = std::fs::metadata(file).map_err(StoreError::at(file))?.len();
        // A stored file of another size is damaged: it is replaced.
        if std::fs::metadata(self.dump(&known)).is_ok_and(|kept| kept.len() == bytes) {
            return Ok(Dumped { path, sha256: known, bytes });
        }
        let folder = self.dumps_folder();
        std::fs::create_dir_all(&folder).map_err(StoreError::at(&folder))?;
        let mut copy = temporary_in(&folder, &folder)?;
        let (sha256, bytes) = copied(file, copy.as_file_mut()).map_err(|error| match error {
            Copying::Read(source) => StoreError::Io { path: file.to_owned(), source },
            Copying::Write(source) => StoreError::Io { path: folder.clone(), source },
        })?;
        publish_temporary(copy, &self.dump(&sha256))?;
        Ok(Dumped { path, sha256, bytes })
    }

    /// The path of a dumped file's content.
    pub(crate) fn dump(&self, sha256: &str) -> PathBuf {
        self.dumps_folder().join(sha256.get(..2).unwrap_or("xx")).join(sha256)
    }

    /// Path of a dumped file's content, after its digest was checked. A file with another digest is
    /// renamed to `*.damaged`, so that its run no longer counts.
    pub(crate) fn checked_dump(&self, dumped: &Dumped) -> Result<PathBuf, StoreError> {
        let path = self.dump(&dumped.sha256);
        if digest(&path)? == dumped.sha256 {
            return Ok(path);
        }
        let aside = path.with_extension("damaged");
        std::fs::rename(&path, &aside).map_err(StoreError::at(&path))?;
        Err(StoreError::DamagedDump { path: aside })
    }

    /// The damage if a file that the run dumped is missing or has another size.
    pub(super) fn dumps_damage(&self, record: &RunRecord) -> Option<Damage> {
        let is_there = |one: &Dumped| {
            let meta = std::fs::metadata(self.dump(&one.sha256));
            meta.is_ok_and(|meta| meta.is_file() && meta.len() == one.bytes)
        };
        (!record.dumps.iter().all(is_there)).then_some(Damage::NoDump)
    }

    /// The paths of the stored contents whose digests are not in `kept`.
    pub(super) fn unkept_dumps(&self, kept: &BTreeSet<String>) -> Result<Vec<PathBuf>, StoreError> {
        let mut files = files_below(&self.dumps_folder())?;
        files.retain(|file| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| !name.contains('.') && !kept.contains(&name))
        });
        Ok(files)
    }

    pub(super) fn dumps_folder(&self) -> PathBuf {
        self.root().join("dumps")
    }
}

/// A file could not be copied: the reason.
enum Copying {
    Read(std::io::Error),
    Write(std::io::Error),
}

/// Copies and syncs a file; returns the digest and the size of what was copied.
fn copied(from: &Path, to: &mut File) -> Result<(String, u64), Copying> {
    let mut source = files::open(from).map_err(Copying::Read)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let count = source.read(&mut buffer).map_err(Copying::Read)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
        to.write_all(&buffer[..count]).map_err(Copying::Write)?;
        bytes += count as u64;
    }
    to.sync_all().map_err(Copying::Write)?;
    Ok((hex(&hasher.finalize()), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_files_are_kept_once_and_links_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let out = folder.path().join("out");
        std::fs::create_dir_all(out.join("deep")).unwrap();
        for (name, content) in [("a.npy", "one"), ("deep/b.npy", "one"), ("c.npy", "other")] {
            std::fs::write(out.join(name), content).unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", out.join("link")).unwrap();
        let kept = store.keep_dumps(&out, "dump").unwrap();
        let paths: Vec<&str> = kept.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["dump/a.npy", "dump/c.npy", "dump/deep/b.npy"]);
        assert_eq!(kept[0].sha256, kept[2].sha256);
        assert_eq!(files_below(&store.dumps_folder()).unwrap().len(), 2);
        assert_eq!(std::fs::read(store.checked_dump(&kept[1]).unwrap()).unwrap(), b"other");
        let unkept = store.unkept_dumps(&BTreeSet::from([kept[0].sha256.clone()])).unwrap();
        assert_eq!(unkept, [store.dump(&kept[1].sha256)]);
    }

    #[test]
    fn nothing_is_kept_of_a_folder_with_too_many_files() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let out = folder.path().join("out");
        std::fs::create_dir(&out).unwrap();
        for name in ["a.npy", "b.npy"] {
            std::fs::write(out.join(name), name).unwrap();
        }
        let kept = |most: usize| store.keep_at_most(most, &out, "dump").unwrap().len();
        assert_eq!((kept(1), kept(2)), (0, 2));
    }

    #[test]
    fn a_changed_file_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let file = folder.path().join("logits.npy");
        std::fs::write(&file, "values").unwrap();
        let kept = store.keep_dumps(&file, "logits.npy").unwrap();
        let path = store.dump(&kept[0].sha256);
        std::fs::write(&path, "valueS").unwrap();
        let error = store.checked_dump(&kept[0]).unwrap_err();
        assert!(matches!(error, StoreError::DamagedDump { .. }), "{error}");
        assert!(!path.exists() && path.with_extension("damaged").exists());
    }
}

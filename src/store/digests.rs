//! Digests of input files, cached by path, device, inode, size, and modification time: a 30 GB
//! model is read once, not at every commit.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files;

use super::record_files::read_json;
use super::{Store, StoreError, key::hex, publish};

/// File system data that shows whether a file changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cached {
    identity: Identity,
    sha256: String,
}

/// The cache of input digests.
#[derive(Debug)]
pub(crate) struct Digests {
    path: PathBuf,
    known: BTreeMap<String, Cached>,
    /// Whether the cache has entries that its file lacks.
    is_ahead: bool,
}

impl Digests {
    /// Opens the store's cache.
    pub(crate) fn open(store: &Store) -> Self {
        Self::at(&store.root().join("digests.json"))
    }

    /// Opens a cache; if the file does not parse, the cache starts empty.
    pub(crate) fn at(path: &Path) -> Self {
        let known = read_json(path).unwrap_or_default();
        Self { path: path.to_owned(), known, is_ahead: false }
    }

    /// SHA-256 of each file's content.
    pub(crate) fn of_each(
        &mut self,
        files: &[PathBuf],
    ) -> Result<BTreeMap<PathBuf, String>, StoreError> {
        let mut found = BTreeMap::new();
        for file in files {
            found.insert(file.clone(), self.of_file(file)?);
        }
        self.keep()?;
        Ok(found)
    }

    /// SHA-256 over the relative names and contents of the files, in order. A single file has the
    /// plain digest that `sha256sum` prints.
    pub(crate) fn of(&mut self, files: &[PathBuf]) -> Result<String, StoreError> {
        let mut leaves = Vec::new();
        for file in files {
            collect(file, file, &mut leaves)?;
        }
        if let [(name, file)] = leaves.as_slice()
            && name.as_os_str().is_empty()
        {
            let digest = self.of_file(file)?;
            self.keep()?;
            return Ok(digest);
        }
        let mut whole = Sha256::new();
        for (name, file) in &leaves {
            whole.update(name.as_os_str().as_encoded_bytes());
            whole.update(b"\0");
            whole.update(self.of_file(file)?.as_bytes());
            whole.update(b"\n");
        }
        self.keep()?;
        Ok(hex(&whole.finalize()))
    }

    fn keep(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.is_ahead) {
            let bytes = serde_json::to_vec(&self.known).expect("a map of strings is plain data");
            publish(&self.path, &bytes)?;
        }
        Ok(())
    }

    fn of_file(&mut self, file: &Path) -> Result<String, StoreError> {
        let identity = identity(file)?;
        let name = file.to_string_lossy().into_owned();
        if let Some(cached) = self.known.get(&name)
            && cached.identity == identity
        {
            return Ok(cached.sha256.clone());
        }
        let source = files::open_target(file).map_err(StoreError::at(file))?;
        let sha256 = digest_of(source, file)?;
        self.known.insert(name, Cached { identity, sha256: sha256.clone() });
        self.is_ahead = true;
        Ok(sha256)
    }
}

/// Opens each file, and each file in a folder; an error if one cannot be read.
pub(crate) fn check_readable(files: &[PathBuf]) -> Result<(), StoreError> {
    let mut leaves = Vec::new();
    for file in files {
        collect(file, file, &mut leaves)?;
    }
    for (_, file) in &leaves {
        files::open_target(file).map_err(StoreError::at(file))?;
    }
    Ok(())
}

fn identity(file: &Path) -> Result<Identity, StoreError> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(file).map_err(StoreError::at(file))?;
    Ok(Identity {
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.size(),
        modified_ns: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
    })
}

/// SHA-256 of the content of a file of the store.
pub(super) fn digest(file: &Path) -> Result<String, StoreError> {
    digest_of(files::open(file).map_err(StoreError::at(file))?, file)
}

fn digest_of(mut source: File, file: &Path) -> Result<String, StoreError> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = source.read(&mut buffer).map_err(StoreError::at(file))?;
        if count == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&buffer[..count]);
    }
}

/// Collects the files below `path` with their names relative to `root`, sorted by name.
fn collect(
    root: &Path,
    path: &Path,
    leaves: &mut Vec<(PathBuf, PathBuf)>,
) -> Result<(), StoreError> {
    let meta = std::fs::metadata(path).map_err(StoreError::at(path))?;
    if meta.is_dir() {
        let mut names = std::fs::read_dir(path)
            .and_then(|entries| entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>())
            .map_err(StoreError::at(path))?;
        names.sort();
        for name in names {
            collect(root, &name, leaves)?;
        }
    } else {
        let name = path.strip_prefix(root).expect("a walk stays below its root").to_owned();
        leaves.push((name, path.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path) -> (Store, Digests) {
        let store = Store::open_to_measure(folder).unwrap();
        let digests = Digests::open(&store);
        (store, digests)
    }

    #[test]
    fn one_file_has_its_plain_digest_and_a_change_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut digests) = cache(folder.path());
        let file = folder.path().join("model.bin");
        std::fs::write(&file, "abc").unwrap();
        let first = digests.of(std::slice::from_ref(&file)).unwrap();
        assert_eq!(first, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        std::fs::write(&file, "abcd").unwrap();
        assert_ne!(Digests::open(&store).of(&[file]).unwrap(), first);
    }

    #[test]
    fn a_folder_counts_names_and_contents() {
        let folder = tempfile::tempdir().unwrap();
        let (_store, mut digests) = cache(folder.path());
        let input = folder.path().join("in");
        std::fs::create_dir_all(input.join("a")).unwrap();
        std::fs::write(input.join("a/x"), "1").unwrap();
        std::fs::write(input.join("y"), "2").unwrap();
        let first = digests.of(std::slice::from_ref(&input)).unwrap();
        std::fs::rename(input.join("y"), input.join("z")).unwrap();
        assert_ne!(digests.of(&[input]).unwrap(), first);
    }
}

//! Digests of input files, cached by path, device, inode, size, and the times of the last change:
//! a 30 GB model is read once, not at every commit.
//!
//! `rsync` and others set the modification time back. Nobody can set the time of the last change of
//! the inode (`st_ctime`), but the kernel's clock for it has steps of up to 10 ms. So a digest is
//! not kept if the file changed just before or while it was read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files;

use super::identity::Identity;
use super::json_digest::{is_unchanged, with_digest, without_digest};
use super::slot_path::SlotPath;
use super::{Store, StoreError, key::hex, publish};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cached {
    identity: Identity,
    sha256: String,
    /// See [`FileDigests`]; absent in caches of older versions too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    without_path: Option<String>,
}

/// The digests of a file that was built in a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileDigests {
    /// SHA-256 of its content.
    pub(crate) sha256: String,
    /// The same with the slot's path and the build id overwritten; `None` if the file does not hold
    /// the path.
    pub(crate) without_path: Option<String>,
}

/// The cache of input digests.
#[derive(Debug)]
pub(crate) struct Digests {
    path: PathBuf,
    known: BTreeMap<String, Cached>,
    /// The path of the slot that holds the files.
    slot: Option<SlotPath>,
    /// Whether the cache has entries that its file lacks.
    is_ahead: bool,
}

impl Digests {
    /// Opens the store's cache.
    pub(crate) fn open(store: &Store) -> Self {
        Self::at(&store.root().join("digests.json"))
    }

    /// Opens a cache; if the file is damaged, the cache starts empty. A flipped bit in a digest
    /// would make an input count as changed for ever.
    fn at(path: &Path) -> Self {
        let bytes = files::read(path).ok().filter(|bytes| is_unchanged(bytes));
        let known = bytes.and_then(|bytes| serde_json::from_slice(&without_digest(&bytes)).ok());
        let known = known.unwrap_or_default();
        Self { path: path.to_owned(), known, slot: None, is_ahead: false }
    }

    /// Opens the cache of the slot at `root`, like [`Self::at`].
    pub(crate) fn of_slot(path: &Path, root: &Path) -> Self {
        Self { slot: SlotPath::new(root), ..Self::at(path) }
    }

    /// SHA-256 of each file's content.
    pub(crate) fn of_each(
        &mut self,
        files: &[PathBuf],
    ) -> Result<BTreeMap<PathBuf, String>, StoreError> {
        let found = self.of_built(files)?.into_iter();
        Ok(found.map(|(file, digests)| (file, digests.sha256)).collect())
    }

    /// The digests of each file, which was built in the cache's slot.
    pub(crate) fn of_built(
        &mut self,
        files: &[PathBuf],
    ) -> Result<BTreeMap<PathBuf, FileDigests>, StoreError> {
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
            let digest = self.of_file(file)?.sha256;
            self.keep()?;
            return Ok(digest);
        }
        let mut whole = Sha256::new();
        for (name, file) in &leaves {
            whole.update(name.as_os_str().as_encoded_bytes());
            whole.update(b"\0");
            whole.update(self.of_file(file)?.sha256.as_bytes());
            whole.update(b"\n");
        }
        self.keep()?;
        Ok(hex(&whole.finalize()))
    }

    fn keep(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.is_ahead) {
            let bytes = serde_json::to_vec(&self.known).expect("a map of strings is plain data");
            publish(&self.path, &with_digest(&bytes))?;
        }
        Ok(())
    }

    fn of_file(&mut self, file: &Path) -> Result<FileDigests, StoreError> {
        let identity = identity(file)?;
        let name = file.to_string_lossy().into_owned();
        if let Some(cached) = self.known.get(&name)
            && cached.identity == identity
        {
            let Cached { sha256, without_path, .. } = cached.clone();
            return Ok(FileDigests { sha256, without_path });
        }
        let is_recent = identity.is_recent(SystemTime::now());
        let open = || files::open_target(file).map_err(StoreError::at(file));
        let sha256 = digest_of(open()?, file)?;
        let without_path = match &self.slot {
            Some(slot) => slot.digest_without(open()?).map_err(StoreError::at(file))?,
            None => None,
        };
        let digests = FileDigests { sha256, without_path };
        if !is_recent && identity == self::identity(file)? {
            let FileDigests { sha256, without_path } = digests.clone();
            self.known.insert(name, Cached { identity, sha256, without_path });
            self.is_ahead = true;
        }
        Ok(digests)
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

/// The identity of the file at this path, or of the file that a link there leads to.
fn identity(file: &Path) -> Result<Identity, StoreError> {
    let meta = std::fs::metadata(file).map_err(StoreError::at(file))?;
    Ok(Identity::from(&meta))
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
    use std::time::Duration;

    use super::super::recent::SHORTLY;
    use super::*;

    fn cache(folder: &Path) -> (Store, Digests) {
        let store = Store::open_to_measure(folder).unwrap();
        let digests = Digests::open(&store);
        (store, digests)
    }

    /// A file with the text `abc`.
    fn model(folder: &Path) -> PathBuf {
        let file = folder.join("model.bin");
        std::fs::write(&file, "abc").unwrap();
        file
    }

    #[test]
    fn one_file_has_its_plain_digest_and_a_change_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut digests) = cache(folder.path());
        let file = model(folder.path());
        let first = digests.of(std::slice::from_ref(&file)).unwrap();
        assert_eq!(first, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        std::fs::write(&file, "abcd").unwrap();
        assert_ne!(Digests::open(&store).of(&[file]).unwrap(), first);
    }

    /// Writes a text with the time of the old file, as a copy that keeps times does.
    fn replace(file: &Path, text: &str) {
        let time = std::fs::metadata(file).and_then(|meta| meta.modified()).unwrap();
        std::fs::write(file, text).unwrap();
        std::fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn another_content_with_the_same_size_and_time_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut digests) = cache(folder.path());
        let file = model(folder.path());
        for pause in [Duration::ZERO, 2 * SHORTLY] {
            replace(&file, "abc");
            std::thread::sleep(pause);
            let first = digests.of(std::slice::from_ref(&file)).unwrap();
            replace(&file, "abd");
            let second = digests.of(std::slice::from_ref(&file)).unwrap();
            assert_ne!(first, second, "{pause:?}");
            replace(&file, "abc");
            assert_eq!(digests.of(std::slice::from_ref(&file)).unwrap(), first, "{pause:?}");
        }
        assert_eq!(Digests::open(&store).known.len(), 1, "what is old enough is kept");
    }

    #[test]
    fn a_damaged_cache_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut digests) = cache(folder.path());
        let file = model(folder.path());
        std::thread::sleep(2 * SHORTLY);
        let right = digests.of(std::slice::from_ref(&file)).unwrap();
        let whole = std::fs::read(&digests.path).unwrap();
        assert_eq!(Digests::open(&store).known.len(), 1);
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 1;
            std::fs::write(&digests.path, flipped).unwrap();
            let found = Digests::open(&store).of(std::slice::from_ref(&file)).unwrap();
            assert_eq!(found, right, "byte {place}");
        }
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
    #[test]
    fn the_digest_without_the_path_of_a_slot_is_kept_too() {
        let folder = tempfile::tempdir().unwrap();
        let roots = ["0", "1"].map(|number| folder.path().join(number));
        let built = roots.each_ref().map(|root| {
            std::fs::create_dir(root).unwrap();
            let file = root.join("ppl");
            std::fs::write(&file, format!("{}/build", root.display())).unwrap();
            file
        });
        std::thread::sleep(2 * SHORTLY);
        let [mut first, mut second] =
            roots.each_ref().map(|root| Digests::of_slot(&root.join("digests.json"), root));
        let of = |digests: &mut Digests, file: &PathBuf| {
            digests.of_built(std::slice::from_ref(file)).unwrap().remove(file).unwrap()
        };
        let (one, other) = (of(&mut first, &built[0]), of(&mut second, &built[1]));
        assert_ne!(one.sha256, other.sha256);
        assert!(one.without_path.is_some() && one.without_path == other.without_path);
        let mut again = Digests::of_slot(&first.path, &roots[0]);
        assert_eq!(again.known.len(), 1);
        assert_eq!(of(&mut again, &built[0]), one);
    }
}

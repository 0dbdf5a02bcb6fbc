//! Reads a bundle that somebody else wrote: nothing in it is trusted until its digest was checked.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::files;
use crate::report::model::Report;
use crate::report::{ReportError, from_json};
use crate::store::{HuntDir, hex};

use super::{BUNDLE_SCHEMA, MANIFEST, Manifest, STORE, is_plain};

/// The first bytes of a file that zstd compressed.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Maximum size in bytes: of all files together, of one file, and of the manifest.
const MOST_BYTES: u64 = 4 << 30;
const MOST_OF_FILE: u64 = 256 << 20;
const MOST_OF_MANIFEST: u64 = 32 << 20;
/// Maximum number of files.
const MOST_FILES: usize = 100_000;
/// What tar itself adds for a file: headers, and padding to whole blocks.
const TAR_PER_FILE: u64 = 4096;
/// The largest window of the decompressor, as a power of two: 128 MiB.
const WINDOW: u32 = 27;

/// A bundle that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BundleError {
    /// The file cannot be read, or is no archive.
    #[error("cannot read the bundle {}", path.display())]
    Io {
        /// The bundle.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The archive is not a bundle of this program, or it was changed.
    #[error("{} is no bundle that can be trusted: {reason}", path.display())]
    Refused {
        /// The bundle.
        path: PathBuf,
        /// Why, in words.
        reason: String,
    },
    /// Its hunt cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
}

/// A bundle in a temporary folder, which is removed when this value is dropped.
pub(crate) struct Unpacked {
    _folder: tempfile::TempDir,
    /// Its hunt.
    pub hunt: HuntDir,
    /// Its report.
    pub report: Report,
}

/// Whether a file may be a bundle, by its first bytes.
pub(crate) fn is_bundle(path: &Path) -> bool {
    let mut first = [0; 4];
    files::open_target(path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first == MAGIC
}

/// Unpacks a bundle into a temporary folder.
pub(crate) fn unpack(path: &Path) -> Result<Unpacked, BundleError> {
    let io = |source| BundleError::Io { path: path.to_owned(), source };
    let folder = tempfile::tempdir().map_err(io)?;
    let file = files::open_target(path).map_err(io)?;
    let hunt = folder.path().join("hunts").join("hunt");
    let manifest = match extract(file, folder.path(), &hunt) {
        Ok(manifest) => manifest,
        Err(Refusal::Io(source)) => return Err(io(source)),
        Err(Refusal::Because(reason)) => {
            return Err(BundleError::Refused { path: path.to_owned(), reason });
        }
    };
    let refused = |reason: String| BundleError::Refused { path: path.to_owned(), reason };
    let bytes = std::fs::read(hunt.join("report.json")).map_err(io)?;
    let carried = from_json(&bytes).map_err(refused)?;
    let hunt = HuntDir::elsewhere(&manifest.hunt, &hunt);
    let mut report = Report::of(&hunt)?;
    // The configuration in a bundle lacks the secrets, so its digest is not the one in the journal,
    // and `Report::of` takes it for altered. The report in the bundle has the right values.
    report.recheck = carried.recheck;
    report.notes = carried.notes;
    report.is_unpacked = true;
    Ok(Unpacked { _folder: folder, hunt, report })
}

enum Refusal {
    Io(io::Error),
    Because(String),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn refused<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Because(reason.into()))
}

/// Extracts the archive: the manifest first, then exactly the files that it names.
fn extract(file: impl Read, root: &Path, hunt: &Path) -> Result<Manifest, Refusal> {
    let mut decoder = zstd::Decoder::new(file)?;
    decoder.window_log_max(WINDOW)?;
    // Whatever the headers say, no more than this is ever decompressed.
    let most = MOST_BYTES + TAR_PER_FILE * MOST_FILES as u64;
    let mut archive = tar::Archive::new(decoder.take(most));
    let mut entries = archive.entries()?;
    let manifest = match entries.next().transpose()? {
        Some(entry) => read_manifest(entry)?,
        None => return refused("it is empty"),
    };
    let mut left: BTreeSet<&String> = manifest.files.keys().collect();
    for entry in entries {
        let mut entry = entry?;
        let name = name_of(&entry)?;
        let Some(known) = manifest.files.get(&name).filter(|_| left.remove(&name)) else {
            return refused(format!("`{name}` is not in its list of files, or is there twice"));
        };
        if entry.size() != known.bytes {
            return refused(format!("`{name}` has another size than its list of files says"));
        }
        let target = match name.strip_prefix(STORE) {
            Some(inner) => root.join(inner),
            None => hunt.join(&name),
        };
        if write(&mut entry, &target)? != known.sha256 {
            return refused(format!("`{name}` was changed"));
        }
    }
    match left.first() {
        Some(name) => refused(format!("`{name}` is missing")),
        None => Ok(manifest),
    }
}

/// The name of an entry, which must be a plain file with a plain path.
fn name_of(entry: &tar::Entry<'_, impl Read>) -> Result<String, Refusal> {
    let bytes = entry.path_bytes();
    let Ok(name) = std::str::from_utf8(&bytes) else { return refused("a name is not UTF-8") };
    let shown = crate::ui::text::line(name);
    if entry.header().entry_type() != tar::EntryType::Regular {
        return refused(format!("`{shown}` is no plain file"));
    }
    if !is_plain(name) {
        return refused(format!("`{shown}` is no plain path"));
    }
    Ok(name.to_owned())
}

fn read_manifest(entry: tar::Entry<'_, impl Read>) -> Result<Manifest, Refusal> {
    let name = name_of(&entry)?;
    if name != MANIFEST {
        return refused(format!("it does not begin with {MANIFEST}"));
    }
    let mut bytes = Vec::new();
    entry.take(MOST_OF_MANIFEST).read_to_end(&mut bytes)?;
    let Ok(manifest) = serde_json::from_slice::<Manifest>(&bytes) else {
        return refused(format!("its {MANIFEST} cannot be read"));
    };
    if manifest.schema != BUNDLE_SCHEMA {
        let schema = crate::ui::text::line(&manifest.schema);
        return refused(format!("its format is `{schema}`, not `{BUNDLE_SCHEMA}`"));
    }
    if manifest.files.len() > MOST_FILES {
        return refused("it has too many files");
    }
    let sizes = manifest.files.values().map(|file| file.bytes);
    let total = sizes.clone().try_fold(0_u64, u64::checked_add);
    if sizes.max().unwrap_or(0) > MOST_OF_FILE || total.is_none_or(|total| total > MOST_BYTES) {
        return refused("its files are too large");
    }
    if let Some(name) = manifest.files.keys().find(|name| !is_plain(name)) {
        return refused(format!("`{}` is no plain path", crate::ui::text::line(name)));
    }
    Ok(manifest)
}

/// Writes a new file; returns the SHA-256 of its content.
fn write(entry: &mut impl Read, target: &Path) -> Result<String, Refusal> {
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(target)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = entry.read(&mut buffer)?;
        if read == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
        file.write_all(&buffer[..read])?;
    }
}

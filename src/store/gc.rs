//! Finds and removes data that is no longer needed.
//!
//! Works only while nobody measures: see [`GcLock`]. The order of removal is safe against a kill
//! at any moment: a hunt's folder is first moved aside in one step, a confirmation goes before its
//! runs, and a record goes before its log.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use crate::evaluation::RunRecord;

use super::in_use::InUse;
use super::inventory::{Attempt, about, files_below};
use super::journal::Event;
use super::record_files::read_json;
use super::{BuildRecord, Confirmation, Store, StoreError};

/// Files that are about to replace another one.
const REPLACING: [&str; 2] = ["now.json.new", "report.html.new"];

/// Folder that removed hunts are moved to first.
const TRASH: &str = "trash";

/// The store, locked so that nobody else can measure in it.
#[derive(Debug)]
pub(crate) struct GcLock {
    store: Store,
    _lock: InUse,
}

/// Age limits for removal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgeLimits {
    /// Removes hunts whose last event is older; `None` keeps all hunts.
    pub hunts: Option<Timestamp>,
    /// Removes runs, builds, and confirmations that no hunt refers to and that are older, and older
    /// verifications.
    pub unreferenced: Timestamp,
}

/// Data that may be removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Garbage {
    /// Names of hunts.
    pub hunts: Vec<String>,
    /// Number of runs that no remaining hunt refers to.
    pub runs: usize,
    /// Number of builds that no remaining hunt refers to.
    pub builds: usize,
    /// Number of confirmations, control results, build setups, and comparisons that are no longer
    /// needed.
    pub others: usize,
    /// Number of files with tensors that no remaining run wrote.
    pub dumps: usize,
    /// Number of verifications.
    pub verifications: usize,
    /// Number of files and folders that killed processes left.
    pub leftovers: usize,
    /// Bytes on the disk that the removal frees.
    pub bytes: u64,
    /// First these folders are moved aside, then the files are removed in order.
    folders: Vec<PathBuf>,
    pub(super) files: Vec<PathBuf>,
}

impl Store {
    /// Locks the store against measuring; [`StoreError::InUse`] if somebody measures.
    pub(crate) fn tidy(&self) -> Result<GcLock, StoreError> {
        let running = || -> Result<Option<String>, StoreError> {
            for hunt in self.hunts()? {
                if hunt.is_driven()? {
                    return Ok(Some(hunt.id().to_owned()));
                }
            }
            Ok(None)
        };
        let lock = InUse::exclusive(self.root())?;
        // A driver of an older version locks only its hunt.
        match (lock, running()?) {
            (Some(lock), None) => Ok(GcLock { store: self.clone(), _lock: lock }),
            (_, hunt) => Err(StoreError::InUse(hunt)),
        }
    }
}

impl GcLock {
    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Collects the data that may be removed.
    pub(crate) fn waste(&self, limits: &AgeLimits) -> Result<Garbage, StoreError> {
        let mut waste = Garbage::default();
        let mut kept = Kept::default();
        for hunt in self.store.hunts()? {
            let entries = hunt.entries()?;
            if entries.is_empty() && !has_whole_line(&hunt.journal_path()) {
                // The driver was killed while it wrote the first event.
                waste.leftovers += 1;
                waste.folders.push(hunt.path().to_owned());
                continue;
            }
            let last = entries.last().and_then(|entry| entry.at.parse::<Timestamp>().ok());
            let is_old = limits.hunts.zip(last).is_some_and(|(limit, last)| last < limit);
            if is_old {
                waste.hunts.push(hunt.id().to_owned());
                waste.folders.push(hunt.path().to_owned());
                continue;
            }
            kept.hunts.insert(hunt.id().to_owned());
            kept.attempts.extend(entries.iter().filter_map(|entry| match &entry.event {
                Event::Run(run) => Some(run.attempt.clone()),
                Event::Build(build) => Some(build.attempt.clone()),
                _ => None,
            }));
        }
        let verifications = self.store.old_verifications(limits.unreferenced);
        waste.verifications = verifications.len();
        waste.folders.extend(verifications);
        self.leftovers(&mut waste)?;
        self.confirmations(limits, &mut kept, &mut waste)?;
        let mut dumps = BTreeSet::new();
        let mut gone = self.runs(limits, &kept, &mut dumps, &mut waste)?;
        let comparisons = self.store.unkept_comparisons(&dumps)?;
        waste.others += comparisons.len();
        waste.files.extend(comparisons);
        let dumps = self.store.unkept_dumps(&dumps)?;
        waste.dumps += dumps.len();
        waste.files.extend(dumps);
        let mut setups = BTreeSet::new();
        gone.extend(self.builds(limits, &kept, &mut setups, &mut waste)?);
        self.setups(&setups, &mut waste)?;
        self.controls(&gone, &mut waste)?;
        waste.bytes = freed(&waste)?;
        Ok(waste)
    }

    /// Removes the collected data.
    pub(crate) fn remove(&self, waste: &Garbage) -> Result<(), StoreError> {
        let trash = self.store.root().join(TRASH);
        for folder in &waste.folders {
            std::fs::create_dir_all(&trash).map_err(StoreError::at(&trash))?;
            let aside = trash.join(folder.file_name().unwrap_or_default());
            remove_folder(&aside)?;
            std::fs::rename(folder, &aside).map_err(StoreError::at(folder))?;
        }
        remove_folder(&trash)?;
        for file in &waste.files {
            absent_is_fine(std::fs::remove_file(file), file)?;
            // The key's folder and its two-letter parent. Folders that still hold something stay.
            for folder in file.ancestors().skip(1).take(2) {
                if folder.starts_with(self.store.root()) && folder != self.store.root() {
                    let _ = std::fs::remove_dir(folder);
                }
            }
        }
        Ok(())
    }

    /// Collects temporary files of killed processes. The lock shows that no process still writes
    /// them.
    fn leftovers(&self, waste: &mut Garbage) -> Result<(), StoreError> {
        let root = self.store.root();
        for file in files_below(root)? {
            let inner = file.strip_prefix(root).unwrap_or(&file);
            let is_temporary = file
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with(".tmp-") || REPLACING.contains(&name));
            let is_removed_hunts = waste.folders.iter().any(|folder| file.starts_with(folder));
            let is_aside = inner.starts_with("pending") || inner.starts_with(TRASH);
            // A running verification does not use this store, and has a lock of its own.
            let is_verifications = file.starts_with(self.store.verifications_folder());
            if is_aside || (is_temporary && !is_removed_hunts && !is_verifications) {
                waste.leftovers += 1;
                waste.files.push(file);
            }
        }
        // The folder was created, but the hunt never began.
        let hunts = root.join("hunts");
        for entry in std::fs::read_dir(&hunts).into_iter().flatten() {
            let folder = entry.map_err(StoreError::at(&hunts))?.path();
            if folder.is_dir() && !folder.join("journal.jsonl").exists() {
                waste.leftovers += 1;
                waste.folders.push(folder);
            }
        }
        Ok(())
    }

    /// Collects confirmations that are older than `limits.unreferenced` and whose hunt is removed.
    /// The other confirmations stay, with their runs.
    fn confirmations(
        &self,
        limits: &AgeLimits,
        kept: &mut Kept,
        waste: &mut Garbage,
    ) -> Result<(), StoreError> {
        for file in files_below(&self.store.root().join("confirmations"))? {
            let Some(made) = read_json::<Confirmation>(&file) else { continue };
            if kept.hunts.contains(&made.hunt) || !is_older(&made.date, limits.unreferenced) {
                kept.attempts.extend(made.attempts);
            } else {
                waste.others += 1;
                waste.files.push(file);
            }
        }
        Ok(())
    }

    /// Collects unreferenced runs; returns their attempt names. Adds the digests of what the
    /// remaining runs dumped to `dumps`.
    fn runs(
        &self,
        limits: &AgeLimits,
        kept: &Kept,
        dumps: &mut BTreeSet<String>,
        waste: &mut Garbage,
    ) -> Result<BTreeSet<String>, StoreError> {
        let (runs, gone) = self.unkept("runs", waste, |run: RunRecord| {
            let stays = kept.attempts.contains(&run.attempt)
                || run.hunt.is_some_and(|hunt| kept.hunts.contains(&hunt))
                || !is_older(&run.started, limits.unreferenced);
            dumps.extend(run.dumps.into_iter().filter(|_| stays).map(|dumped| dumped.sha256));
            stays
        })?;
        waste.runs += runs;
        Ok(gone)
    }

    /// Collects unreferenced builds; returns their attempt names. Adds the setups of the remaining
    /// builds to `setups`.
    fn builds(
        &self,
        limits: &AgeLimits,
        kept: &Kept,
        setups: &mut BTreeSet<String>,
        waste: &mut Garbage,
    ) -> Result<BTreeSet<String>, StoreError> {
        let (builds, gone) = self.unkept("builds", waste, |build: BuildRecord| {
            let stays = kept.attempts.contains(&build.attempt)
                || !is_older(&build.finished, limits.unreferenced);
            setups.extend(build.setup.filter(|_| stays));
            stays
        })?;
        waste.builds += builds;
        Ok(gone)
    }

    /// Collects all attempts of a kind that are not kept. Returns how many of them had a record,
    /// and all their names.
    fn unkept<R: DeserializeOwned>(
        &self,
        kind: &str,
        waste: &mut Garbage,
        mut is_kept: impl FnMut(R) -> bool,
    ) -> Result<(usize, BTreeSet<String>), StoreError> {
        let mut gone = BTreeSet::new();
        let mut records = 0;
        for attempt in self.store.attempts(kind)? {
            let stays = match attempt.record.as_deref().map(read_json) {
                // An attempt without a record does not count.
                None => false,
                Some(Some(record)) => is_kept(record),
                // A person should look at a record that does not parse.
                Some(None) => true,
            };
            if !stays {
                records += usize::from(attempt.record.is_some());
                waste.leftovers += usize::from(attempt.record.is_none());
                gone.insert(attempt.name.clone());
                waste.take(attempt);
            }
        }
        Ok((records, gone))
    }

    /// Collects build setups that no remaining build uses.
    fn setups(&self, kept: &BTreeSet<String>, waste: &mut Garbage) -> Result<(), StoreError> {
        for file in files_below(&self.store.setups_folder())? {
            let digest = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let is_whole = file.extension().is_some_and(|ending| ending == "json");
            if is_whole && digest.is_some_and(|digest| !kept.contains(&digest)) {
                waste.others += 1;
                waste.files.push(file);
            }
        }
        Ok(())
    }

    /// Collects control results about removed runs and builds.
    pub(super) fn controls(
        &self,
        gone: &BTreeSet<String>,
        waste: &mut Garbage,
    ) -> Result<(), StoreError> {
        for file in files_below(&self.store.root().join("controls"))? {
            let about = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            if about.is_some_and(|about| gone.contains(&about)) {
                waste.others += 1;
                waste.files.push(file);
            }
        }
        Ok(())
    }
}

/// Names of hunts that stay and of attempts they refer to.
#[derive(Default)]
struct Kept {
    hunts: BTreeSet<String>,
    attempts: BTreeSet<String>,
}

impl Garbage {
    pub(super) fn take(&mut self, attempt: Attempt) {
        self.files.extend(attempt.record);
        self.files.extend(attempt.log);
    }
}

/// Bytes that the removal frees. A file with another hard link stays on the disk.
pub(super) fn freed(waste: &Garbage) -> Result<u64, StoreError> {
    let mut files: Vec<PathBuf> = waste.files.clone();
    for folder in &waste.folders {
        files.extend(files_below(folder)?);
    }
    files.sort();
    files.dedup();
    let mut names: HashMap<(u64, u64), (u64, u64, u64)> = HashMap::new();
    for file in files.iter().filter_map(|file| about(file)) {
        names.entry(file.id).or_insert((0, file.links, file.bytes)).0 += 1;
    }
    Ok(names.values().filter(|(count, links, _)| count >= links).map(|(.., bytes)| bytes).sum())
}

/// Whether the journal has a complete line. A newer program may have written lines that do not
/// parse here: such a hunt stays.
fn has_whole_line(journal: &Path) -> bool {
    std::fs::read(journal).is_ok_and(|bytes| bytes.contains(&b'\n'))
}

/// Whether a date is older than the limit; false for a date that does not parse.
fn is_older(date: &str, limit: Timestamp) -> bool {
    date.parse::<Timestamp>().is_ok_and(|date| date < limit)
}

fn remove_folder(folder: &Path) -> Result<(), StoreError> {
    absent_is_fine(std::fs::remove_dir_all(folder), folder)
}

fn absent_is_fine(result: std::io::Result<()>, path: &Path) -> Result<(), StoreError> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::Io { path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;

//! A hunt's folder: frozen configuration, journal, logs and reports.

use std::io::ErrorKind::{AlreadyExists, NotADirectory, NotFound};
use std::path::{Path, PathBuf};

use crate::files;
use crate::process::is_compressed_log;

use super::folder::refuse_link;
use super::journal::{Entry, Event, Journal, JournalEntries, JournalReader};
use super::record_files::read_if_there;
use super::{KeyHasher, Store, StoreError, publish};

/// A hunt's folder.
#[derive(Clone, Debug)]
pub(crate) struct HuntDir {
    id: String,
    path: PathBuf,
    reader: JournalReader,
}

/// The local time, as the name of a folder.
pub(super) fn local_time() -> String {
    jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// Creates a folder in this one, which may be missing, and returns its name. If the wanted name is
/// taken, a number is appended.
pub(super) fn new_folder(parent: &Path, wanted: &str) -> Result<String, StoreError> {
    std::fs::create_dir_all(parent).map_err(StoreError::at(parent))?;
    for count in 0.. {
        let name = if count == 0 { wanted.to_owned() } else { format!("{wanted}-{count}") };
        let path = parent.join(&name);
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == AlreadyExists => {}
            Err(source) => return Err(StoreError::Io { path, source }),
        }
    }
    unreachable!("the counter has no end")
}

/// The hunts in this folder: see [`Store::hunts`].
fn hunts_in(hunts: &Path) -> Result<Vec<HuntDir>, StoreError> {
    let entries = match std::fs::read_dir(hunts) {
        Ok(entries) => entries,
        Err(error) if [NotFound, NotADirectory].contains(&error.kind()) => {
            return Ok(Vec::new());
        }
        Err(source) => return Err(StoreError::Io { path: hunts.to_owned(), source }),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(StoreError::at(hunts))?;
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && files::open(&path.join("journal.jsonl")).is_ok()
            && let Some(id) = path.file_name().and_then(|n| n.to_str())
        {
            found.push(HuntDir::at(id.to_owned(), path.clone()));
        }
    }
    found.sort_by(|a, b| a.began().cmp(&b.began()).then_with(|| a.id.cmp(&b.id)));
    Ok(found)
}

/// Digest of a configuration's text; the journal stores it.
pub(crate) fn config_digest(text: &str) -> String {
    KeyHasher::new("config").field("text", text).hex()
}

impl Store {
    /// Creates the folder of a new hunt. Its name is the local time, with a number appended if that
    /// name is taken.
    pub(crate) fn new_hunt(&self) -> Result<HuntDir, StoreError> {
        self.new_hunt_named(&local_time())
    }

    /// As [`Self::new_hunt`], with this name. If the name is taken, a number is appended.
    pub(super) fn new_hunt_named(&self, now: &str) -> Result<HuntDir, StoreError> {
        let hunts = self.root().join("hunts");
        let id = new_folder(&hunts, now)?;
        let path = hunts.join(&id);
        let logs = path.join("logs");
        std::fs::create_dir(&logs).map_err(StoreError::at(&logs))?;
        Ok(HuntDir::at(id, path))
    }

    /// Every hunt whose journal can be read, oldest first. A link is no hunt.
    pub(crate) fn hunts(&self) -> Result<Vec<HuntDir>, StoreError> {
        hunts_in(&self.root().join("hunts"))
    }

    /// The hunt with this name or unique prefix; the newest one without a name.
    pub(crate) fn hunt(&self, name: Option<&str>) -> Result<HuntDir, StoreError> {
        let mut hunts = self.hunts()?;
        let Some(name) = name else {
            return hunts.pop().ok_or(StoreError::NoHunts);
        };
        if let Some(exact) = hunts.iter().find(|h| h.id == name) {
            return Ok(exact.clone());
        }
        let matching: Vec<_> = hunts.iter().filter(|h| h.id.starts_with(name)).collect();
        match matching.as_slice() {
            [one] => Ok((*one).clone()),
            [] if hunts.is_empty() => Err(StoreError::NoHunts),
            [] => {
                let newest: Vec<_> = hunts.iter().rev().take(5).map(|h| h.id.as_str()).collect();
                Err(StoreError::UnknownHunt { name: name.to_owned(), newest: newest.join(", ") })
            }
            several => {
                let ids: Vec<_> = several.iter().map(|h| h.id.as_str()).collect();
                Err(StoreError::AmbiguousHunt { name: name.to_owned(), hunts: ids.join(", ") })
            }
        }
    }
}

impl HuntDir {
    fn at(id: String, path: PathBuf) -> Self {
        Self { id, path, reader: JournalReader::default() }
    }

    /// A hunt's folder that is in no store of this machine.
    pub(crate) fn elsewhere(id: &str, path: &Path) -> Self {
        Self::at(id.to_owned(), path.to_owned())
    }

    /// The hunt's name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Another hunt of the same store.
    #[must_use]
    pub(crate) fn beside(&self, id: &str) -> Self {
        Self::at(id.to_owned(), self.path.with_file_name(id))
    }

    /// The folder of all hunts of the same store.
    pub(super) fn all_hunts(&self) -> &Path {
        self.path.parent().expect("a hunt's folder is in `hunts`")
    }

    /// All other hunts of the same store, oldest first.
    pub(crate) fn others(&self) -> Result<Vec<Self>, StoreError> {
        let mut others = hunts_in(self.all_hunts())?;
        others.retain(|other| other.id != self.id);
        Ok(others)
    }

    /// The hunt's folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the frozen configuration.
    pub(crate) fn config(&self) -> PathBuf {
        self.path.join("oracle.toml")
    }

    /// The text of the frozen configuration; `None` if the file is missing or its digest is not
    /// `sha256`.
    pub(crate) fn config_text(&self, sha256: &str) -> Result<Option<String>, StoreError> {
        let path = self.config();
        let text = read_if_there(&path)?.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.filter(|text| config_digest(text) == sha256))
    }

    /// Path of the journal.
    pub(crate) fn journal_path(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// Opens the journal for appending.
    pub(crate) fn journal(&self) -> Result<Journal, StoreError> {
        Journal::open(&self.journal_path())
    }

    /// All journal entries so far.
    pub(crate) fn entries(&self) -> Result<JournalEntries, StoreError> {
        self.reader.entries(&self.journal_path())
    }

    /// The events since the machine last changed: only these say something about commits. Verdicts
    /// that counted checks which are left out now are dropped too.
    pub(crate) fn entries_in_force(&self) -> Result<JournalEntries, StoreError> {
        let entries = self.entries()?;
        let is_change = |entry: &Entry| matches!(entry.event, Event::MachineChanged { .. });
        let from = entries.iter().rposition(is_change).map_or(0, |place| place + 1);
        let entries = entries.after(from);
        let leaves_out = |entry: &Entry| matches!(entry.event, Event::ChecksLeftOut { .. });
        let Some(place) = entries.iter().rposition(leaves_out) else { return Ok(entries) };
        let (before, later) = entries.split_at(place);
        let before = before.iter().filter(|entry| !is_verdict(&entry.event));
        Ok(before.chain(later).cloned().collect::<Vec<_>>().into())
    }

    /// The journal's text without the digests of its lines, for a bundle in which secrets are
    /// replaced.
    pub(crate) fn journal_copy(&self) -> Result<Vec<u8>, StoreError> {
        let text = read_if_there(&self.journal_path())?.unwrap_or_default();
        Ok(Journal::without_digests(&text))
    }

    /// The bare repository of the hunt's bisect session.
    pub(crate) fn bisect_repository(&self) -> PathBuf {
        self.path.join("bisect.git")
    }

    /// The bare repository in which git is asked what it would choose after other answers.
    pub(crate) fn ahead_repository(&self) -> PathBuf {
        self.path.join("ahead.git")
    }

    /// Path of the file that says what the hunt does right now; small, rewritten, not durable.
    pub(crate) fn now_path(&self) -> PathBuf {
        self.path.join("now.json")
    }

    /// Gives a log of the store a second name in this hunt (`logs/NAME`, and `.zst` if it is
    /// compressed); returns the path relative to the hunt. Uses a hard link, or a copy where links
    /// do not work.
    pub(crate) fn adopt_log(&self, log: &Path, name: &str) -> Result<String, StoreError> {
        let ending = if is_compressed_log(log) { ".zst" } else { "" };
        let relative = format!("logs/{name}{ending}");
        let own = self.path.join(&relative);
        if own.exists() || std::fs::hard_link(log, &own).is_ok() {
            return Ok(relative);
        }
        let bytes = files::read(log).map_err(StoreError::at(log))?;
        publish(&own, &bytes)?;
        Ok(relative)
    }

    /// Checks that what the hunt writes to lies in its folder.
    ///
    /// # Errors
    /// [`StoreError::Link`] if one of its folders is a link.
    pub(super) fn check_folders(&self) -> Result<(), StoreError> {
        let own = ["logs", "changes"].map(|name| self.path.join(name));
        let others = [self.bisect_repository(), self.ahead_repository(), self.ahead(), self.jobs()];
        for folder in own.into_iter().chain(others) {
            refuse_link(&folder)?;
        }
        Ok(())
    }

    /// When the hunt began, by the clock of its disk.
    pub(crate) fn began(&self) -> Option<std::time::SystemTime> {
        std::fs::metadata(self.config()).and_then(|m| m.modified()).ok()
    }
}

/// Whether the event says what the runs of a commit mean.
fn is_verdict(event: &Event) -> bool {
    matches!(
        event,
        Event::Targets { .. }
            | Event::Search { .. }
            | Event::Judged(_)
            | Event::Confirmed(_)
            | Event::Contradicted { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunt_is_found_by_the_beginning_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        assert!(matches!(store.hunt(None), Err(StoreError::NoHunts)));
        let first = store.new_hunt().unwrap();
        first.journal().unwrap();
        let second = store.new_hunt().unwrap();
        second.journal().unwrap();
        assert_eq!(store.hunt(Some(first.id())).unwrap().id(), first.id());
        assert!(store.hunt(Some("1999")).is_err());
        assert_eq!(store.hunts().unwrap().len(), 2);
    }

    #[test]
    fn a_configuration_that_was_edited_is_not_the_one_that_was_frozen() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
        let frozen = config_digest("a = 1\n");
        assert_eq!(hunt.config_text(&frozen).unwrap(), None);
        std::fs::write(hunt.config(), "a = 1\n").unwrap();
        assert_eq!(hunt.config_text(&frozen).unwrap().as_deref(), Some("a = 1\n"));
        std::fs::write(hunt.config(), "a = 2\n").unwrap();
        assert_eq!(hunt.config_text(&frozen).unwrap(), None);
    }

    #[test]
    fn verdicts_from_before_checks_were_left_out_do_not_hold() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
        let mut journal = hunt.journal().unwrap();
        let verdict = |reason: &str| Event::Contradicted {
            commit: "1".repeat(40).parse().unwrap(),
            reason: reason.to_owned(),
        };
        let note = Event::Note { text: "kept".to_owned() };
        let left_out = Event::ChecksLeftOut {
            measure: "t".to_owned(),
            checks: ["softmax".to_owned()].into_iter().collect(),
        };
        for event in [note, verdict("before"), left_out, verdict("after")] {
            journal.append(event).unwrap();
        }
        let entries = hunt.entries_in_force().unwrap();
        let kinds: Vec<&str> = entries
            .iter()
            .map(|entry| match &entry.event {
                Event::Contradicted { reason, .. } => reason.as_str(),
                Event::Note { text } => text.as_str(),
                _ => "",
            })
            .collect();
        assert_eq!(kinds, ["kept", "", "after"]);
    }
}

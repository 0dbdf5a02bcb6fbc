//! A hunt's journal: one JSON object a line, appended and synced, never changed. Driver and oracle
//! both write to it. Each line ends with a digest of itself. The journal alone shows everything
//! that the hunt did.

mod entries;
mod event;
mod limits;
mod reader;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;

use super::StoreError;
use super::json_digest::{is_unchanged, with_digest, without_digest};

pub(crate) use entries::JournalEntries;
pub(crate) use event::{
    AheadDone, Begun, BuildDone, BuildNode, CommitPosterior, Event, HuntPart, InputFile, Judged,
    Machine, Options, OtherGuard, Plan, PlanAhead, PlanPart, PosteriorSnapshot, RunDone, SearchBy,
    SearchEnd, SearchMethod, Unread,
};

pub(crate) use limits::LimitsInForce;
pub(super) use reader::JournalReader;

/// An event with its time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Time of the event (RFC 3339, UTC).
    pub at: String,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// The last beginning of a hunt. A resumed hunt may have a second one, with the environment of that
/// time.
pub(crate) fn last_begun(entries: &[Entry]) -> Option<&Begun> {
    entries.iter().rev().find_map(|entry| match &entry.event {
        Event::Begun(begun) => Some(begun.as_ref()),
        _ => None,
    })
}

/// A journal that is open for appending.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal at `path` for appending and creates it if needed. If a killed writer left
    /// half a line, a newline ends that line first, so it cannot spoil the next one.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let mut file = files::append(path).map_err(StoreError::at(path))?;
        if !ends_with_newline(&mut file).map_err(StoreError::at(path))? {
            file.write_all(b"\n").map_err(StoreError::at(path))?;
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends an event in one write and syncs the file. An event that would not parse again is
    /// [`StoreError::Corrupt`].
    pub(crate) fn append(&mut self, event: Event) -> Result<(), StoreError> {
        let entry = Entry { at: jiff::Timestamp::now().to_string(), event };
        let mut line = serde_json::to_vec(&entry).expect("an event is plain data");
        // JSON has no NaN: a reader would silently skip an event with one.
        if let Err(error) = serde_json::from_slice::<Entry>(&line) {
            return Err(StoreError::Corrupt { path: self.path.clone(), reason: error.to_string() });
        }
        line = with_digest(&line);
        line.push(b'\n');
        self.file.write_all(&line).map_err(StoreError::at(&self.path))?;
        self.file.sync_data().map_err(StoreError::at(&self.path))
    }

    /// The entries of a journal's text. Lines that do not parse are skipped: a killed writer or a
    /// newer version wrote them. Lines that were damaged later are skipped too.
    pub(crate) fn parse(bytes: &[u8]) -> Vec<Entry> {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| is_unchanged(line));
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// A journal's text without the digests of its lines, for a copy in which secrets are replaced.
    pub(crate) fn without_digests(bytes: &[u8]) -> Vec<u8> {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| is_unchanged(line));
        lines.map(without_digest).collect::<Vec<_>>().join(&b'\n')
    }
}

fn ends_with_newline(file: &mut File) -> std::io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    #[test]
    fn a_line_torn_by_a_kill_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        Journal::open(&path)
            .unwrap()
            .append(Event::Resumed { limits: None, driver_since: None })
            .unwrap();
        let mut torn = OpenOptions::new().append(true).open(&path).unwrap();
        torn.write_all(b"{\"at\":\"2026-").unwrap();
        drop(torn);
        Journal::open(&path)
            .unwrap()
            .append(Event::Resumed { limits: None, driver_since: None })
            .unwrap();
        let entries = JournalReader::default().entries(&path).unwrap();
        assert_eq!(entries.len(), 2);
    }

    #[test]
    fn a_line_that_was_damaged_later_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        for text in ["gcc 12", "gcc 13"] {
            journal.append(Event::Note { text: text.to_owned() }).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(Journal::parse(text.as_bytes()).len(), 2);
        let harmed = text.replace("gcc 12", "gcc 92");
        let left = Journal::parse(harmed.as_bytes());
        assert!(
            matches!(&left[..], [Entry { event: Event::Note { text }, .. }] if text == "gcc 13")
        );
        // A copy may be changed on purpose, and does not bring a damaged line back.
        let copy = |text: &str| Journal::without_digests(text.as_bytes());
        assert_eq!(Journal::parse(&copy(&text)).len(), 2);
        assert_eq!(Journal::parse(&copy(&harmed)).len(), 1);
    }
}

//! Reads a journal as it grows: each line is parsed once, although a hunt asks for its journal
//! several times a step.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::files;

use super::{Journal, JournalEntries};
use crate::store::StoreError;
use crate::store::record_files::if_there;

/// What one process read of one journal. Copies share it.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct JournalReader(Arc<Mutex<SoFar>>);

#[derive(Debug, Default)]
struct SoFar {
    /// Device and inode of the file.
    file: Option<(u64, u64)>,
    /// Length of the lines that were read, bytes.
    length: u64,
    entries: JournalEntries,
}

impl JournalReader {
    /// All entries of the journal at `path`; a missing journal is empty. One reader always gets the
    /// same path. If another file is there now, or the file has become shorter than what was read
    /// of it, the file is read from its start.
    pub(in crate::store) fn entries(&self, path: &Path) -> Result<JournalEntries, StoreError> {
        // After a panic elsewhere, what was read is still whole: it grows by whole lines.
        let mut so_far = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut file) = if_there(path, files::open(path))? else {
            *so_far = SoFar::default();
            return Ok(JournalEntries::default());
        };
        let rest = so_far.grow(&mut file).map_err(StoreError::at(path))?;
        let mut entries = so_far.entries.clone();
        entries.append(Journal::parse(&rest));
        Ok(entries)
    }
}

impl SoFar {
    /// Reads the lines that are new. What follows the last newline is returned.
    fn grow(&mut self, file: &mut File) -> std::io::Result<Vec<u8>> {
        let metadata = file.metadata()?;
        let identity = Some((metadata.dev(), metadata.ino()));
        if self.file != identity || metadata.len() < self.length {
            *self = Self { file: identity, ..Self::default() };
        }
        file.seek(SeekFrom::Start(self.length))?;
        let mut new = Vec::new();
        file.take(files::LONGEST).read_to_end(&mut new)?;
        let whole = new.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let rest = new.split_off(whole);
        self.entries.append(Journal::parse(&new));
        self.length += new.len() as u64;
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::{Entry, Event};
    use super::*;

    fn texts(entries: &[Entry]) -> Vec<&str> {
        let text = |entry: &Entry| match &entry.event {
            Event::Note { text } => text.clone(),
            _ => String::new(),
        };
        entries.iter().map(|entry| text(entry).leak() as &str).collect()
    }

    fn note(journal: &mut Journal, text: &str) {
        journal.append(Event::Note { text: text.to_owned() }).unwrap();
    }

    #[test]
    fn a_grown_journal_reads_as_if_it_were_read_from_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let reader = JournalReader::default();
        assert!(reader.entries(&path).unwrap().is_empty());
        let mut journal = Journal::open(&path).unwrap();
        for count in 1..5 {
            note(&mut journal, &count.to_string());
            assert_eq!(texts(&reader.entries(&path).unwrap()).len(), count);
        }
        assert_eq!(texts(&reader.clone().entries(&path).unwrap()), ["1", "2", "3", "4"]);
    }

    #[test]
    fn entries_that_were_read_stay_as_they_are_when_the_journal_grows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let reader = JournalReader::default();
        let mut journal = Journal::open(&path).unwrap();
        note(&mut journal, "1");
        let before = reader.entries(&path).unwrap();
        note(&mut journal, "2");
        assert_eq!(texts(&reader.entries(&path).unwrap()), ["1", "2"]);
        assert_eq!(texts(&before), ["1"]);
    }

    #[test]
    fn half_a_line_is_read_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let reader = JournalReader::default();
        note(&mut Journal::open(&path).unwrap(), "first");
        let line = std::fs::read(&path).unwrap();
        let (half, other) = line.split_at(20);
        for (part, expected) in [(half, 1), (other, 2)] {
            files::append(&path).unwrap().write_all(part).unwrap();
            assert_eq!(reader.entries(&path).unwrap().len(), expected);
        }
    }

    #[test]
    fn a_journal_that_was_put_in_its_place_is_read_from_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["journal.jsonl", "other"].map(|name| folder.path().join(name));
        let reader = JournalReader::default();
        let mut journal = Journal::open(&path).unwrap();
        note(&mut journal, "old");
        note(&mut journal, "older");
        assert_eq!(texts(&reader.entries(&path).unwrap()), ["old", "older"]);
        note(&mut Journal::open(&other).unwrap(), "new");
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(texts(&reader.entries(&path).unwrap()), ["new"]);
        files::create(&path).unwrap();
        note(&mut Journal::open(&path).unwrap(), "");
        assert_eq!(texts(&reader.entries(&path).unwrap()), [""]);
        std::fs::remove_file(&path).unwrap();
        assert!(reader.entries(&path).unwrap().is_empty());
    }
}

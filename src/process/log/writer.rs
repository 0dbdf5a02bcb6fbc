//! Writes a log of limited size, however much the engine prints.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::Stream;
use super::format::{HEAD, HEADER, KEPT, MARKER, TAIL};

/// Whether a line must be in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// A value was read from the line, so it is kept everywhere.
    Yes,
    /// The line is kept only in head or tail.
    No,
}

/// Size and losses of a finished log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogSummary {
    /// The size of the file.
    pub bytes: u64,
    /// Bytes of the engine's output that the log lacks.
    pub cut: u64,
    /// The part of `cut` in lines with [`Keep::Yes`], for which the log had no room.
    pub lost: u64,
}

/// Writes the output's head, its [`Keep::Yes`] lines, and its tail. Needs about 4 MiB of memory.
#[derive(Debug)]
pub(crate) struct LogWriter {
    file: BufWriter<File>,
    head: usize,
    kept: usize,
    tail: VecDeque<u8>,
    lines: VecDeque<Waiting>,
    /// Bytes left out since the last written line.
    gap: u64,
    summary: LogSummary,
}

/// The prefix of a line in the log; `whole` tells whether the line ended with a newline.
pub(super) fn prefix(stream: Stream, whole: bool) -> &'static [u8] {
    match (stream, whole) {
        (Stream::Out, true) => b"1> ",
        (Stream::Out, false) => b"1| ",
        (Stream::Err, true) => b"2> ",
        (Stream::Err, false) => b"2| ",
        (Stream::File, true) => b"3> ",
        (Stream::File, false) => b"3| ",
    }
}

/// A line in the tail, which may still be dropped.
#[derive(Debug)]
struct Waiting {
    /// Bytes in the log: prefix, text, newline.
    len: usize,
    /// Bytes that the engine printed.
    said: usize,
    keep: Keep,
}

impl LogWriter {
    /// Starts a log with its header.
    pub(crate) fn new(file: File, header: &[(&str, String)]) -> io::Result<Self> {
        let mut log = Self {
            file: BufWriter::new(file),
            head: 0,
            kept: 0,
            tail: VecDeque::new(),
            lines: VecDeque::new(),
            gap: 0,
            summary: LogSummary::default(),
        };
        for (key, value) in header {
            let value = value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
            log.put(&[HEADER, key.as_bytes(), b": ", value.as_bytes(), b"\n"])?;
        }
        Ok(log)
    }

    /// Adds a line without its newline; `whole` tells whether there was one.
    pub(crate) fn line(
        &mut self,
        stream: Stream,
        line: &[u8],
        whole: bool,
        keep: Keep,
    ) -> io::Result<()> {
        let prefix = prefix(stream, whole);
        let len = prefix.len() + line.len() + 1;
        if self.head < HEAD {
            // The line that crosses the bound still belongs to the head.
            self.head += len;
            return self.put(&[prefix, line, b"\n"]);
        }
        for part in [prefix, line, b"\n"] {
            self.tail.extend(part);
        }
        self.lines.push_back(Waiting { len, said: line.len() + usize::from(whole), keep });
        while self.tail.len() > TAIL && self.lines.len() > 1 {
            self.evict()?;
        }
        Ok(())
    }

    /// Writes buffered lines to the file, for readers of an unfinished log. The tail stays in
    /// memory until [`Self::finish`].
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    /// Writes the tail; syncs the file if `sync`.
    pub(crate) fn finish(mut self, sync: bool) -> io::Result<LogSummary> {
        self.mark_gap()?;
        let (front, back) = self.tail.as_slices();
        self.file.write_all(front)?;
        self.file.write_all(back)?;
        self.summary.bytes += self.tail.len() as u64;
        self.file.flush()?;
        if sync {
            self.file.get_ref().sync_all()?;
        }
        Ok(self.summary)
    }

    /// Memory in use, bytes.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.tail.capacity() + self.lines.capacity() * size_of::<Waiting>()
    }

    /// Removes the oldest line from the tail: writes it to the file or drops it.
    fn evict(&mut self) -> io::Result<()> {
        let Some(line) = self.lines.pop_front() else { return Ok(()) };
        if line.keep == Keep::Yes && self.kept + line.len <= KEPT {
            self.kept += line.len;
            self.mark_gap()?;
            let (front, back) = self.tail.as_slices();
            let in_front = line.len.min(front.len());
            self.file.write_all(&front[..in_front])?;
            self.file.write_all(&back[..line.len - in_front])?;
            self.summary.bytes += line.len as u64;
        } else {
            self.gap += line.said as u64;
            if line.keep == Keep::Yes {
                self.summary.lost += line.said as u64;
            }
        }
        self.tail.drain(..line.len);
        Ok(())
    }

    fn mark_gap(&mut self) -> io::Result<()> {
        let gap = std::mem::take(&mut self.gap);
        self.summary.cut += gap;
        if gap == 0 {
            return Ok(());
        }
        self.put(&[MARKER, gap.to_string().as_bytes(), b" bytes left out\n"])
    }

    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        for part in parts {
            self.file.write_all(part)?;
            self.summary.bytes += part.len() as u64;
        }
        Ok(())
    }
}

//! The text of a log as far as the page shows it: the whole of a short log, the two ends of a long
//! one.

use std::path::{Component, Path};

use crate::process::log_bytes;
use crate::ui::text;

/// Bytes shown of the beginning and of the end of a longer log.
const END: u16 = 32 << 10;

/// Bytes of the longest log that is shown as a whole.
pub(super) const WHOLE: usize = 2 * END as usize;

/// The text of a log, or its beginning and its end, without control sequences.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Excerpt {
    pub(super) head: String,
    /// Bytes between `head` and `tail`; 0 if `head` is the whole text.
    pub(super) left_out: u64,
    pub(super) tail: String,
}

impl Excerpt {
    /// Reads a log below `folder`. `None` if it cannot be read, if it is no file among the logs of
    /// the hunt, or if it needs more than `room` bytes.
    pub(super) fn read(folder: &Path, log: &str, room: usize) -> Option<Self> {
        let is_below = Path::new(log).components().all(|part| matches!(part, Component::Normal(_)));
        let path = folder.join(log);
        // A log that somebody sent may be a link to any file.
        let about = path.symlink_metadata().ok().filter(|about| is_below && about.is_file())?;
        // A compressed log is longer as text.
        let shown = about.len().min(WHOLE as u64);
        if shown > room as u64 {
            return None;
        }
        let text = Self::of(log_bytes(&path).ok()?);
        (text.size() <= room).then_some(text)
    }

    fn of(text: Vec<u8>) -> Self {
        let size = text.len();
        let (mut head, mut tail) = (text, Vec::new());
        if size > WHOLE {
            tail.extend_from_slice(&head[size - usize::from(END)..]);
            head.truncate(usize::from(END));
            cut_at_lines(&mut head, &mut tail);
        }
        let left_out = (size - head.len() - tail.len()) as u64;
        let [head, tail] = [head, tail].map(|text| text::lines(&String::from_utf8_lossy(&text)));
        Self { head, left_out, tail }
    }

    /// Bytes in the page: five for each character that HTML escapes.
    pub(super) fn size(&self) -> usize {
        let is_escaped = |byte: &u8| matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\'');
        let size = |text: &str| text.len() + 4 * text.bytes().filter(|b| is_escaped(b)).count();
        size(&self.head) + size(&self.tail)
    }
}

/// Removes the incomplete line at the end of `head` and at the beginning of `tail`, unless the line
/// is most of the text.
fn cut_at_lines(head: &mut Vec<u8>, tail: &mut Vec<u8>) {
    let end = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if end > head.len() / 2 {
        head.truncate(end);
    }
    let begin = tail.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if begin < tail.len() / 2 {
        tail.drain(..begin);
    }
}

//! Digests of built files that do not depend on the path of the slot. Compilers and linkers write
//! the path of the build into what they build (CMake's RPATH, `__FILE__`, debug information), so
//! builds of one commit in two slots differ although nothing else does.

use std::io::{self, Read, Seek};
use std::ops::Range;
use std::path::Path;

use regex::bytes::Regex;
use sha2::{Digest, Sha256};

use super::key::hex;

/// How much of a file is read at once, bytes.
const PIECE: u64 = 1 << 20;
/// The most bytes of a build id with what comes before it: 8 of its header, 8 of [`NOTE`], 255.
const LONGEST_NOTE: usize = 8 + 8 + 255;
/// The kind and the owner in the note that has an ELF file's build id.
const NOTE: &str = r"(?-u)\x03\x00\x00\x00GNU\x00";
/// What is written over the path: no path has it.
const FILLER: u8 = 0;

/// The path of a slot.
#[derive(Debug)]
pub(super) struct SlotPath {
    path: Regex,
    note: Regex,
    /// How many bytes of a file are read at once.
    piece: u64,
    /// How many bytes each piece of a file has in common with the next one.
    overlap: usize,
}

impl SlotPath {
    /// The slot at `root`; `None` if the path is not UTF-8.
    pub(super) fn new(root: &Path) -> Option<Self> {
        let root = root.to_str().filter(|root| !root.is_empty())?;
        // One more byte tells whether the name ends.
        let overlap = LONGEST_NOTE.max(root.len() + 1);
        let path = Regex::new(&regex::escape(root)).ok()?;
        Some(Self { path, note: Regex::new(NOTE).ok()?, piece: PIECE, overlap })
    }

    /// SHA-256 of a file, with the slot's path and the build id overwritten: the linker computes
    /// the build id from all the rest. Paths of other lengths give other digests. `None` if the
    /// file does not hold the path.
    pub(super) fn digest_without(&self, mut file: impl Read + Seek) -> io::Result<Option<String>> {
        if !self.is_in(&mut file)? {
            return Ok(None);
        }
        file.rewind()?;
        let mut hasher = Sha256::new();
        let mut piece = Vec::new();
        loop {
            let is_end = self.read_on(&mut file, &mut piece)?;
            self.overwrite(&mut piece, is_end);
            let done = if is_end { piece.len() } else { self.before_overlap(&piece) };
            hasher.update(&piece[..done]);
            if is_end {
                return Ok(Some(hex(&hasher.finalize())));
            }
            piece.drain(..done);
        }
    }

    /// Whether a file holds the path.
    fn is_in(&self, file: &mut impl Read) -> io::Result<bool> {
        let mut piece = Vec::new();
        loop {
            let is_end = self.read_on(file, &mut piece)?;
            let is_found = self.places(&piece, is_end).next().is_some();
            if is_found || is_end {
                return Ok(is_found);
            }
            piece.drain(..self.before_overlap(&piece));
        }
    }

    /// Appends the next bytes of a file; true at its end.
    fn read_on(&self, file: &mut impl Read, piece: &mut Vec<u8>) -> io::Result<bool> {
        Ok(file.by_ref().take(self.piece).read_to_end(piece)? == 0)
    }

    fn before_overlap(&self, piece: &[u8]) -> usize {
        piece.len().saturating_sub(self.overlap)
    }

    /// Where the path is, and not the path of another slot that begins with the same bytes.
    /// `is_end`: whether the piece is the last one.
    fn places<'p>(
        &'p self,
        piece: &'p [u8],
        is_end: bool,
    ) -> impl Iterator<Item = Range<usize>> + 'p {
        let found = self.path.find_iter(piece).map(|found| found.range());
        found.filter(move |range| piece.get(range.end).map_or(is_end, |next| !is_in_name(*next)))
    }

    /// Overwrites the paths and build ids that are whole in this piece. The others are whole in the
    /// next one.
    fn overwrite(&self, piece: &mut [u8], is_end: bool) {
        let paths: Vec<Range<usize>> = self.places(piece, is_end).collect();
        for place in paths {
            piece[place].fill(FILLER);
        }
        let notes: Vec<Range<usize>> =
            self.note.find_iter(piece).map(|note| note.range()).collect();
        for note in notes {
            let Some(start) = note.start.checked_sub(8) else { continue };
            // The lengths of the owner, with its zero byte, and of the build id.
            let [4, 0, 0, 0, length, 0, 0, 0] = piece[start..note.start] else { continue };
            if let Some(id) = piece.get_mut(note.end..note.end + usize::from(length)) {
                id.fill(FILLER);
            }
        }
    }
}

/// Whether a byte may continue a file name: `slots/1` is not in `slots/10` or `slots/1.2`.
fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn digest(slot: &str, content: &[u8]) -> Option<String> {
        SlotPath::new(Path::new(slot)).unwrap().digest_without(Cursor::new(content)).unwrap()
    }

    /// A program that holds this path at its end, `before` bytes after its build id.
    fn program(path: &str, id: u8, before: usize) -> Vec<u8> {
        let note = [b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0".as_slice(), &[id; 20]].concat();
        let code = vec![7; before];
        [b"\x7fELF".as_slice(), note.as_slice(), code.as_slice(), path.as_bytes()].concat()
    }

    #[test]
    fn a_file_is_the_same_in_each_slot_apart_from_its_path() {
        for end in ["/build/lib", "\0", ":/usr/lib\0", "\"", ""] {
            let of = |slot: &str, text: &str| {
                digest(slot, format!("{text}{slot}{end}").as_bytes()).unwrap()
            };
            assert_eq!(of("/s/0", "a"), of("/s/1", "a"), "{end:?}");
            assert_ne!(of("/s/0", "a"), of("/s/1", "b"), "{end:?}");
        }
        // Of another length.
        assert_ne!(digest("/s/0", b"/s/0/a"), digest("/s/10", b"/s/10/a"));
        // All places count.
        assert_eq!(digest("/s/0", b"/s/0/a:/s/0/b"), digest("/s/1", b"/s/1/a:/s/1/b"));
        assert_ne!(digest("/s/0", b"/s/0/a:/s/0/b"), digest("/s/1", b"/s/1/a:/s/0/b"));
    }

    #[test]
    fn a_file_without_the_path_has_no_such_digest() {
        for content in ["", "abc", "/s/10/x", "/s/1.2/x", "/s/1_/x", "/s/2/x"] {
            assert_eq!(digest("/s/1", content.as_bytes()), None, "{content}");
        }
        assert_eq!(digest("/s/1", &program("/s/2/x", 1, 9)), None);
    }

    #[test]
    fn the_build_id_of_a_program_does_not_count() {
        let of = |slot: &str, id: u8| digest(slot, &program(&format!("{slot}/x"), id, 9)).unwrap();
        assert_eq!(of("/s/0", 1), of("/s/1", 2));
        let mut other = program("/s/1/x", 2, 9);
        // The first byte after the build id.
        other[4 + 16 + 20] += 1;
        assert_ne!(digest("/s/1", &other).unwrap(), of("/s/0", 1));
        // A note of another kind.
        let of_other_kind = |id: u8| {
            let mut content = program("/s/0/x", id, 9);
            content[4 + 8] = 4;
            digest("/s/0", &content)
        };
        assert_ne!(of_other_kind(1), of_other_kind(2));
    }

    #[test]
    fn paths_and_build_ids_are_found_at_the_ends_of_pieces() {
        let [first, second] = ["/s/0", "/s/1"]
            .map(|root| SlotPath { piece: 300, ..SlotPath::new(Path::new(root)).unwrap() });
        for before in 0..600 {
            let content = |path: &str, id: u8| {
                [program(path, id, before), program(path, id, before)].concat()
            };
            let of = |slot: &SlotPath, content: &[u8]| {
                slot.digest_without(Cursor::new(content)).unwrap()
            };
            let (one, other) = (content("/s/0/x", 1), content("/s/1/x", 2));
            let small = of(&first, &one);
            assert_eq!(small, of(&second, &other), "{before}");
            assert_eq!(small, digest("/s/0", &one), "{before}");
        }
    }
}

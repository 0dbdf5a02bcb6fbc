//! A digest at the end of a JSON object, which shows later damage. A changed bit may leave valid
//! JSON with another meaning. The object is a line, as in a journal, or a record, whose fields have
//! lines of their own.

use sha2::{Digest, Sha256};

use super::hex;

/// How an object is written.
struct Layout {
    /// The end of an object.
    end: &'static [u8],
    /// The characters between the text and its digest.
    before: &'static [u8],
    /// The characters after the digest.
    after: &'static [u8],
}

const RECORD: Layout = Layout { end: b"\n}", before: b",\n  \"sum\": \"", after: b"\"\n}" };
const LINE: Layout = Layout { end: b"}", before: b",\"sum\":\"", after: b"\"}" };

/// Digits of the digest: 64 of the 256 bits are enough against accidents.
const DIGITS: usize = 16;

/// A JSON object with fields, with the digest of its text as the last field `sum`.
pub(super) fn with_digest(object: &[u8]) -> Vec<u8> {
    let layout = if object.ends_with(RECORD.end) { &RECORD } else { &LINE };
    let text = object.strip_suffix(layout.end).expect("an object ends with a brace");
    [text, layout.before, digest(text).as_bytes(), layout.after].concat()
}

/// Whether an object is as it was written. Objects of older versions have no digest, and count as
/// unchanged.
pub(super) fn is_unchanged(object: &[u8]) -> bool {
    split(object).is_none_or(|parts| digest(parts.text).as_bytes() == parts.digest)
}

/// The object without its digest, for a copy that is changed on purpose.
pub(super) fn without_digest(object: &[u8]) -> Vec<u8> {
    let without = |parts: Parts<'_>| [parts.text, parts.layout.end].concat();
    split(object).map_or_else(|| object.to_vec(), without)
}

/// An object with a digest.
struct Parts<'a> {
    text: &'a [u8],
    digest: &'a [u8],
    layout: &'static Layout,
}

fn split(object: &[u8]) -> Option<Parts<'_>> {
    [&RECORD, &LINE].into_iter().find_map(|layout| {
        let (rest, digest) = object.strip_suffix(layout.after)?.split_last_chunk::<DIGITS>()?;
        Some(Parts { text: rest.strip_suffix(layout.before)?, digest, layout })
    })
}

fn digest(text: &[u8]) -> String {
    hex(&Sha256::digest(text))[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &[u8] =
        b"{\"at\":\"2026-11-23T00:00:00Z\",\"event\":\"note\",\"text\":\"gcc 12\"}";

    fn overlooks_no_flipped_bit(object: &[u8]) {
        let line = with_digest(object);
        assert!(is_unchanged(&line));
        assert_eq!(without_digest(&line), object);
        let parsed: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(parsed["sum"].as_str().unwrap().len(), DIGITS);
        let text = split(&line).unwrap().text.len();
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut harmed = line.clone();
                harmed[at] ^= 1 << bit;
                // If the bit is in the mark, the digest reads as a field with an unknown name.
                let is_overlooked = is_unchanged(&harmed)
                    && serde_json::from_slice::<serde_json::Value>(&harmed).is_ok();
                let is_in_the_text = at < text;
                assert!(!(is_overlooked && is_in_the_text), "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn no_flipped_bit_of_the_text_is_overlooked() {
        overlooks_no_flipped_bit(OBJECT);
        let object: serde_json::Value = serde_json::from_slice(OBJECT).unwrap();
        overlooks_no_flipped_bit(&serde_json::to_vec_pretty(&object).unwrap());
    }

    #[test]
    fn an_object_of_an_older_version_counts_as_unchanged() {
        assert!(is_unchanged(OBJECT));
        assert_eq!(without_digest(OBJECT), OBJECT);
        assert!(is_unchanged(b"") && is_unchanged(b"}"));
    }
}

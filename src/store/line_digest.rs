//! A digest at the end of a line of JSON, which shows later damage. A changed bit may leave valid
//! JSON with another meaning.

use sha2::{Digest, Sha256};

use super::hex;

/// What stands between the text and its digest.
const BEFORE: &[u8] = b",\"sum\":\"";
/// What stands after it.
const AFTER: &[u8] = b"\"}";
/// Digits of the digest: 64 of the 256 bits are enough against accidents.
const DIGITS: usize = 16;

/// A JSON object in one line, with the digest of its text as the last field `sum`.
pub(super) fn with_digest(object: &[u8]) -> Vec<u8> {
    let text = object.strip_suffix(b"}").expect("an object ends with a brace");
    [text, BEFORE, digest(text).as_bytes(), AFTER].concat()
}

/// Whether a line is as it was written. Lines of older versions have no digest, and count as
/// unchanged.
pub(super) fn is_unchanged(line: &[u8]) -> bool {
    split(line).is_none_or(|(text, found)| digest(text).as_bytes() == found)
}

/// The line without its digest, for a copy that is changed on purpose.
pub(super) fn without_digest(line: &[u8]) -> Vec<u8> {
    split(line).map_or_else(|| line.to_vec(), |(text, _)| [text, b"}"].concat())
}

/// The text before the digest, and the digest.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, found) = line.strip_suffix(AFTER)?.split_last_chunk::<DIGITS>()?;
    Some((rest.strip_suffix(BEFORE)?, found))
}

fn digest(text: &[u8]) -> String {
    hex(&Sha256::digest(text))[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &[u8] =
        b"{\"at\":\"2026-11-23T00:00:00Z\",\"event\":\"note\",\"text\":\"gcc 12\"}";

    #[test]
    fn no_flipped_bit_of_the_text_is_overlooked() {
        let line = with_digest(OBJECT);
        assert!(is_unchanged(&line));
        assert_eq!(without_digest(&line), OBJECT);
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut harmed = line.clone();
                harmed[at] ^= 1 << bit;
                // Without its mark, the digest is a field that nobody knows.
                let is_overlooked = is_unchanged(&harmed)
                    && serde_json::from_slice::<serde_json::Value>(&harmed).is_ok();
                let is_in_the_text = at < OBJECT.len() - 1;
                assert!(!(is_overlooked && is_in_the_text), "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn a_line_of_an_older_version_counts_as_unchanged() {
        assert!(is_unchanged(OBJECT));
        assert_eq!(without_digest(OBJECT), OBJECT);
        assert!(is_unchanged(b"") && is_unchanged(b"}"));
    }
}

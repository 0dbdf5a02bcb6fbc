//! Automata that find numbers after fixed texts in a stream of bytes. A line break ends a search,
//! but the end of a piece does not.

/// Maximum length of a number; a longer run of letters and digits is not a number.
const LONGEST: usize = 64;

/// Whether a byte can be part of a number, including NaN as C libraries spell it.
fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-.()#".contains(&byte)
}

/// Searches for a text that may start anywhere.
#[derive(Debug)]
struct Needle {
    text: &'static [u8],
    matched: usize,
}

impl Needle {
    fn new(text: &'static [u8]) -> Self {
        Self { text, matched: 0 }
    }

    /// Whether this byte completes the text.
    fn push(&mut self, byte: u8) -> bool {
        while self.text[self.matched] != byte {
            if self.matched == 0 {
                return false;
            }
            // Knuth, Morris, Pratt: fall back to the longest prefix of the text that is a suffix
            // of the bytes so far. Texts are short and misses rare, so there is no table.
            let so_far = &self.text[..self.matched];
            self.matched = (0..self.matched)
                .rev()
                .find(|&length| so_far.ends_with(&self.text[..length]))
                .unwrap_or(0);
        }
        self.matched += 1;
        if self.matched < self.text.len() {
            return false;
        }
        self.matched = 0;
        true
    }
}

/// Searches for a number after one text, or after several texts on one line.
#[derive(Debug)]
pub(super) struct Figure {
    texts: &'static [&'static [u8]],
    /// Index of the current text; past the last one if all texts are found.
    stage: usize,
    needle: Needle,
    number: String,
}

impl Figure {
    /// `texts`: at least one; no text is empty or contains a line break.
    pub(super) fn new(texts: &'static [&'static [u8]]) -> Self {
        Self { texts, stage: 0, needle: Needle::new(texts[0]), number: String::new() }
    }

    /// Whether the bytes so far may be the beginning of a match.
    pub(super) fn is_open(&self) -> bool {
        self.stage > 0 || self.needle.matched > 0
    }

    /// The word after the texts, if this byte ends it (it may be empty or not a number).
    pub(super) fn push(&mut self, byte: u8) -> Option<String> {
        if self.stage == self.texts.len() {
            let is_part = is_number_byte(byte) && self.number.len() < LONGEST;
            if is_part {
                self.number.push(char::from(byte));
                return None;
            }
            if byte == b' ' && self.number.is_empty() {
                return None;
            }
            return Some(self.restart());
        }
        if byte == b'\n' {
            self.restart();
        } else if self.needle.push(byte) {
            self.stage += 1;
            if let Some(text) = self.texts.get(self.stage) {
                self.needle = Needle::new(text);
            }
        }
        None
    }

    fn restart(&mut self) -> String {
        self.stage = 0;
        self.needle = Needle::new(self.texts[0]);
        std::mem::take(&mut self.number)
    }
}

/// Searches for items of the form `[INDEX]NUMBER,`.
#[derive(Debug, Default)]
pub(super) enum Items {
    #[default]
    Outside,
    /// After `[`; `None` before the first digit.
    Index(Option<usize>),
    /// After `]`.
    Number(usize, String),
}

impl Items {
    /// Whether an item has begun but not ended.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Self::Outside)
    }

    /// The index and the number's text, if this byte completes an item.
    pub(super) fn push(&mut self, byte: u8) -> Option<(usize, String)> {
        let state = std::mem::take(self);
        *self = match (state, byte) {
            (_, b'[') => Self::Index(None),
            (Self::Index(index), b'0'..=b'9') => {
                let digit = usize::from(byte - b'0');
                // An index has at most nine digits.
                match index.unwrap_or(0) {
                    so_far if so_far < 100_000_000 => Self::Index(Some(so_far * 10 + digit)),
                    _ => Self::Outside,
                }
            }
            (Self::Index(Some(index)), b']') => Self::Number(index, String::new()),
            (Self::Number(index, number), b',') => return Some((index, number)),
            (Self::Number(index, mut number), _)
                if is_number_byte(byte) && number.len() < LONGEST =>
            {
                number.push(char::from(byte));
                Self::Number(index, number)
            }
            _ => Self::Outside,
        };
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(texts: &'static [&'static [u8]], input: &str) -> Vec<String> {
        let mut figure = Figure::new(texts);
        input.bytes().filter_map(|byte| figure.push(byte)).collect()
    }

    #[test]
    fn a_text_is_found_behind_its_own_beginning() {
        assert_eq!(figures(&[b"calco "], "calcalco 7\n"), ["7"]);
        assert_eq!(figures(&[b"aab"], "aaab7 \n"), ["7"]);
    }

    #[test]
    fn two_texts_belong_to_one_line() {
        assert_eq!(figures(&[b"PPL", b" = "], "PPL over n=5 = 7\nPPL\n = 8\n"), ["7"]);
    }

    #[test]
    fn what_is_too_long_is_no_item() {
        let mut items = Items::default();
        let long = format!("[1]{},[1234567890]1,[2]5,", "1".repeat(LONGEST + 1));
        let found: Vec<_> = long.bytes().filter_map(|byte| items.push(byte)).collect();
        assert_eq!(found, [(2, "5".to_owned())]);
    }
}

//! The words of a line around a value, as its form and as its place.
//!
//! The form has no words that differ from run to run or from commit to commit (numbers, times,
//! hashes, absolute paths, units). Two lines with different words show different things, even if
//! only a name differs (`q4_0`, `out/ref`). The place keeps numbers and paths.
//!
//! Punctuation and case are left out, since engines change them without any other change, and so is
//! the uncertainty of the value.

use std::sync::LazyLock;

use regex::Regex;

use crate::evaluation::{LONGEST_WORD, OutputPlace, is_name_in_form};

use super::pattern::own_pattern;

/// How many words before and behind the value count.
pub(super) const WORDS: usize = 8;
/// How much of the line before and behind the value is examined, in bytes.
const NEAR: usize = 400;
/// Position of the value in a place: the word right before it has the position 999, and the word
/// right behind it 1001. [`NEAR`] bytes have fewer words.
const VALUE_AT: usize = 1000;
/// Minimum length of a hash that may have letters only.
const SHORTEST_HASH: usize = 7;

/// A number with groups of thousands or a time of day, or a word.
static WORD: LazyLock<Regex> =
    LazyLock::new(|| own_pattern(r"[0-9]+(?:[,:'][0-9]+)+[\w.+/-]*|[\w.+/\\~@-]+"));
/// An escape sequence that sets a colour.
static COLOUR: LazyLock<Regex> = LazyLock::new(|| own_pattern(r"\x1b\[[0-9;?]*[A-Za-z]"));
/// The uncertainty right behind a value (`+/- 0.05`, `± 0.05`, `(stderr 0.05)`), and the value's
/// unit before it.
static UNCERTAINTY: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"(?:[0-9.][0-9.,]*(?:e[+-]?[0-9]+)?|[+-]?nan|[+-]?inf)\s*%?";
    let sign = r"(?:\+/-|\+-|±)";
    let label = r"(?:std\.?\s*err(?:or)?|stderr|std\.?\s*dev|stddev|stdev|std|se|sd)";
    let bare = format!(r"{sign}\s*{number}");
    let in_brackets = format!(r"\(\s*(?:{sign}|{label}\s*[:=]?)\s*{number}\s*\)");
    let forms = format!(r"(?i)^(\s*[\pL%/]*)\s*(?:{bare}|{in_brackets})");
    own_pattern(&forms)
});

/// Units. They may change with the number (`980 ms`, `1.2 s`), and those of the metric are compared
/// by their scale.
const UNITS: [&str; 38] = [
    "ns", "us", "µs", "μs", "ms", "msec", "s", "sec", "secs", "second", "seconds", "min", "mins",
    "minutes", "h", "hours", "b", "bytes", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "k", "m",
    "g", "t", "x", "tok", "toks", "token", "tokens", "tps", "it", "its", "per",
];
/// Words in place of a number, and those of dates.
const LIKE_NUMBERS: [&str; 24] = [
    "nan", "inf", "infinity", "am", "pm", "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan",
    "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// The words of a line before and behind a value, without its uncertainty.
pub(super) struct WordsAround {
    before: Vec<Word>,
    behind: Vec<Word>,
}

/// A word of a line.
struct Word {
    /// In lower case, without punctuation around it.
    text: String,
    /// Whether the form has `#` in its place.
    varies: bool,
}

impl Word {
    fn in_form(&self) -> &str {
        if self.varies { "#" } else { &self.text }
    }
}

impl WordsAround {
    /// The words around a value that begins and ends at these bytes of the line.
    pub(super) fn of(line: &str, [start, end]: [usize; 2]) -> Self {
        let behind = COLOUR.replace_all(start_of(&line[end..]), " ");
        Self {
            before: words(end_of(&line[..start]), false),
            behind: words(&UNCERTAINTY.replace(&behind, "${1} "), true),
        }
    }

    /// The form of the line.
    pub(super) fn form(&self) -> String {
        let Self { before, behind } = self;
        let mut form: Vec<&str> = Vec::new();
        form.extend(before[before.len().saturating_sub(WORDS)..].iter().map(Word::in_form));
        form.push("VALUE");
        form.extend(behind.iter().take(WORDS).map(Word::in_form));
        form.join(" ")
    }

    /// The words with names, numbers and paths, without dates and hashes. Numbers behind the value
    /// are often results too, so they are left out.
    pub(super) fn place(&self) -> OutputPlace {
        let before = self.before.iter().rev().zip((0..VALUE_AT).rev());
        let behind = self.behind.iter().zip(VALUE_AT + 1..);
        let behind = behind.filter(|(word, _)| !word.text.starts_with(char::is_numeric));
        let words = before.chain(behind).filter(|(word, _)| !is_like_number(&word.text));
        words.map(|(word, at)| (format!("{at:04}"), word.text.clone())).collect()
    }
}

/// The first words of a text, such as a name, with `#` for numbers.
pub(super) fn form_of(text: &str) -> String {
    let words = words(start_of(text), false);
    words.iter().take(WORDS).map(Word::in_form).collect::<Vec<_>>().join(" ")
}

/// The end of a long text, from the beginning of a word.
fn end_of(text: &str) -> &str {
    let Some(from) = text.len().checked_sub(NEAR) else { return text };
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text[from..].split_once(char::is_whitespace).map_or("", |(_, rest)| rest)
}

/// The beginning of a long text, to the end of a word.
fn start_of(text: &str) -> &str {
    if text.len() <= NEAR {
        return text;
    }
    let to = (0..=NEAR).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text[..to].rsplit_once(char::is_whitespace).map_or("", |(start, _)| start)
}

/// The words, without units behind numbers. `is_behind_number`: whether a number stands before the
/// text.
fn words(text: &str, mut is_behind_number: bool) -> Vec<Word> {
    let plain = COLOUR.replace_all(text, " ");
    let mut words = Vec::new();
    for printed in WORD.find_iter(&plain) {
        let printed = printed.as_str();
        let word = printed.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if word.is_empty() || (is_behind_number && is_unit(&word)) {
            continue;
        }
        let varies = varies(&word) || is_from_root(printed);
        is_behind_number = varies || is_name_in_form(&word);
        words.push(Word { text: word, varies });
    }
    words
}

/// Whether a word behind a number is a unit: `ms`, `tok/s`.
fn is_unit(word: &str) -> bool {
    let is_rate = word.contains('/') && !word.contains(char::is_numeric);
    is_rate || UNITS.contains(&word)
}

/// Whether a word is a number, a part of a date, a hash, a path or the name of a computer.
fn varies(word: &str) -> bool {
    let is_number = word.starts_with(char::is_numeric) || is_like_number(word);
    is_number || is_host(word) || word.contains(['\\', '~', '@'])
}

/// Whether a word is in place of a number, a part of a date, or a hash.
fn is_like_number(word: &str) -> bool {
    let is_hash = word.len() >= SHORTEST_HASH && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash || LIKE_NUMBERS.contains(&word)
}

/// Whether a long word may be the whole name of a computer: `ip-10-0-0-1.west.compute.internal`.
fn is_host(word: &str) -> bool {
    let ends_like_one = word.rsplit('.').next().is_some_and(|last| {
        !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    word.len() > LONGEST_WORD && word.matches('.').count() > 1 && ends_like_one
}

/// Whether a word is a path from the root, the home folder or the working folder. These folders
/// may be of one build only.
fn is_from_root(printed: &str) -> bool {
    let is_path = printed.contains('/') && printed.contains(char::is_alphanumeric);
    is_path && printed.trim_start_matches(['-', '+']).starts_with(['/', '.', '~'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of a line around its first `7.1`.
    fn form(line: &str) -> String {
        let start = line.find("7.1").unwrap();
        WordsAround::of(line, [start, start + 3]).form()
    }

    #[test]
    fn what_varies_is_not_in_the_form() {
        for (one, other) in [
            ("ppl = 7.1", "  PPL:  7.1"),
            ("chunk  9 ppl = 7.1", "chunk 10 ppl = 7.1"),
            ("[12:00:01] ppl 7.1 (980 ms)", "[23:59:59] ppl 7.1 (1.2 s)"),
            ("Mon Nov 30 ppl 7.1", "Tue Dec 1 ppl 7.1"),
            ("build abcdefa: ppl 7.1", "build 0a1b2c3: ppl 7.1"),
            ("/tmp/a/model: ppl 7.1", "/home/b/other: ppl 7.1"),
            ("\u{1b}[31mppl\u{1b}[0m 7.1", "ppl 7.1"),
            ("ppl 7.1 +/- 0.04", "ppl 7.1 +/- nan"),
            ("ppl 7.1", "ppl 7.1 +/- 0.04"),
            ("ppl 7.1", "ppl 7.1 ± 4.1e-2"),
            ("ppl 7.1 (warm)", "ppl 7.1 (stderr 0.04) (warm)"),
            ("ppl 7.1", "ppl 7.1 \u{1b}[2m(± 0.04)\u{1b}[0m"),
            ("at 7.1 ms", "at 7.1 ms +/- 0.04 ms"),
            ("./slot-1/run ppl 7.1", "/slot-2/run ppl 7.1"),
            ("--dir=/slot-1/run ppl 7.1", "--dir=/slot-2/run ppl 7.1"),
            ("at 7.1 t/s", "at 7.1 tokens per second"),
            ("1,990 tokens, ppl 7.1", "990 tokens, ppl 7.1"),
            ("eta 1:02 ppl 7.1", "eta 58 ppl 7.1"),
            (
                "ip-10-0-0-1.west.compute.internal ppl 7.1",
                "ip-10-0-0-22.east.compute.internal ppl 7.1",
            ),
        ] {
            assert_eq!(form(one), form(other), "{one}");
        }
    }

    #[test]
    fn lines_of_other_things_have_other_forms() {
        for (one, other) in [
            ("ppl = 7.1", "reference ppl = 7.1"),
            ("ppl=7.1", "ref_ppl=7.1"),
            ("Final ppl = 7.1", "[2] ppl = 7.1"),
            ("ppl = 7.1", "f16 ppl = 7.1"),
            ("q4_0 ppl = 7.1", "q8_0 ppl = 7.1"),
            ("wiki2 ppl = 7.1", "c4 ppl = 7.1"),
            ("out/ref: ppl = 7.1", "out/new: ppl = 7.1"),
            ("Qwen2.5-0.5B-Instruct-GGUF-Q4 7.1", "Qwen2.5-0.5B-Instruct-GGUF-F16 7.1"),
            ("ppl = 7.1", "ppl = 7.1 of 6.98 +/- 0.04"),
            ("prompt: 7.1 tokens per second", "eval: 7.1 tokens per second"),
            ("ppl = 7.1", "ppl = 7.1 (warmup)"),
            ("loss = 7.1 nats", "loss = 7.1 bits"),
            ("wiki 7.1", "wiki 6.98 7.1"),
        ] {
            assert_ne!(form(one), form(other), "{one}");
        }
        assert_eq!(form("[2] final ppl = 7.1 of 3"), "# final ppl VALUE of #");
    }

    #[test]
    fn a_place_has_names_numbers_and_paths() {
        let place = |line: &str| {
            let start = line.find("7.1").unwrap();
            WordsAround::of(line, [start, start + 3]).place()
        };
        let of = |words: &[(&str, &str)]| -> OutputPlace {
            words.iter().map(|(at, word)| ((*at).to_owned(), (*word).to_owned())).collect()
        };
        let line = "Nov 27 abcdef12 ./models/q4.gguf: ctx 512 PPL = 7.1 ms (warm) in 3.2 s";
        let words = [
            ("0994", "27"),
            ("0996", "models/q4.gguf"),
            ("0997", "ctx"),
            ("0998", "512"),
            ("0999", "ppl"),
            ("1001", "warm"),
            ("1002", "in"),
        ];
        assert_eq!(place(line), of(&words));
        let far = format!("q4 {}7.1", "word ".repeat(20));
        assert_ne!(place(&far), place(&far.replace("q4", "f16")));
        assert_eq!(form(&far), form(&far.replace("q4", "f16")));
        assert_eq!(place("7.1"), of(&[]));
    }

    #[test]
    fn only_words_near_the_value_count() {
        let long = |number: usize| {
            format!("{} é ppl = 7.1 {}", "word ".repeat(number), "é ".repeat(number))
        };
        assert_eq!(form(&long(20)), form(&long(900)));
        assert_ne!(form(&long(20)), form("ppl = 7.1"));
        assert_eq!(form(&format!("{} 7.1", "é".repeat(900))), "VALUE");
        assert_eq!(form_of("wikitext-2 test 7"), "wikitext-2 test #");
    }
}

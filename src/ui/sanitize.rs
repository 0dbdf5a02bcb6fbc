//! Cleans text of engines, commit messages and file names for a terminal.

use std::borrow::Cow;
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

use crate::evaluation::is_deceptive;

/// `text` without control sequences (colours, cursor moves, titles, links), control
/// characters, invisible characters and changes of direction. Newlines and tabs stay.
pub fn printable(text: impl AsRef<[u8]>) -> String {
    let text = String::from_utf8_lossy(text.as_ref());
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => clean.push(c),
            // A lone carriage return would overwrite the line.
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' | '\u{2028}' | '\u{2029}' => clean.push(' '),
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_csi(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut rest),
            c if c.is_control() || is_deceptive(c) => {}
            c => clean.push(c),
        }
    }
    clean
}

/// The same on one line: newlines and tabs become spaces, the ends are trimmed.
pub(crate) fn printable_line(text: impl AsRef<[u8]>) -> String {
    printable(text).replace(['\n', '\t'], " ").trim().to_owned()
}

/// The text of a JSON document with control characters, invisible characters and changes of
/// direction as `\u` escapes. The document means the same: outside of strings JSON has none of
/// them, apart from line breaks and blanks.
pub(crate) fn plain_json(document: &str) -> String {
    let mut plain = String::with_capacity(document.len());
    for c in document.chars() {
        if c == '\n' || !(c.is_control() || is_deceptive(c)) {
            plain.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(plain, "\\u{unit:04x}");
        }
    }
    plain
}

/// The text that a terminal gets: as [`printable`], but styles (`ESC [ … m`) stay.
pub(super) fn for_terminal(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c == '\n' || c == '\t' || !(c.is_control() || is_deceptive(c));
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        clean.push_str(&printable(before));
        let end = after.find(|c: char| !(c.is_ascii_digit() || c == ';'));
        rest = match end.map(|end| after.split_at(end)) {
            Some((style, after)) if after.starts_with('m') => {
                clean.extend(["\u{1b}[", style, "m"]);
                &after[1..]
            }
            Some((_, after)) => {
                let after = after.trim_start_matches(|c| (' '..='?').contains(&c));
                after.strip_prefix(|c| ('@'..='~').contains(&c)).unwrap_or(after)
            }
            None => "",
        };
    }
    clean.push_str(&printable(rest));
    Cow::Owned(clean)
}

/// Skips a sequence after ESC (ECMA-48): a control string, CSI, or intermediate bytes and a
/// final byte.
fn skip_escape(rest: &mut Peekable<Chars<'_>>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_csi(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        _ => {
            while rest.next_if(|c| (' '..='/').contains(c)).is_some() {}
            rest.next_if(|c| ('0'..='~').contains(c));
        }
    }
}

/// Skips the rest of a CSI sequence: parameter and intermediate bytes, then a final byte.
fn skip_csi(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| (' '..='?').contains(c)).is_some() {}
    rest.next_if(|c| ('@'..='~').contains(c));
}

/// Skips a control string up to BEL or ST. If the string does not end on its line, only the
/// introducer is removed: a stray byte must not hide the rest of a message.
fn skip_string(rest: &mut Peekable<Chars<'_>>) {
    let mut ahead = rest.clone();
    while let Some(c) = ahead.next() {
        match c {
            '\n' => return,
            '\u{7}' | '\u{9c}' => break,
            '\u{1b}' if ahead.next_if_eq(&'\\').is_some() => break,
            _ if ahead.peek().is_none() => return,
            _ => {}
        }
    }
    *rest = ahead;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hostile_samples_come_out_as_plain_text() {
        for (said, shown) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[Hcleared", "cleared"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}P1;2q#0\u{1b}\\sixel", "sixel"),
            ("\u{9b}31mc1\u{9d}0;t\u{9c}!", "c1!"),
            ("\u{1b}(Bcharset\u{1b}c\u{1b}7", "charset"),
            ("safe\rEVIL", "safe EVIL"),
            ("dos\r\nline", "dos\nline"),
            ("a\u{8}\u{7f}\u{0}b", "ab"),
            ("user\u{202e}txt.exe\u{202c}", "usertxt.exe"),
            ("\u{2066}x\u{2069}\u{200b}", "x"),
            ("\u{1b}]never ended", "never ended"),
            ("\u{1b}[", ""),
            ("\u{1b}", ""),
            ("日本語 µ é 👩‍💻", "日本語 µ é 👩‍💻"),
        ] {
            assert_eq!(printable(said), shown, "{said:?}");
        }
        assert_eq!(printable(b"\xff\x9b31m"), "\u{fffd}\u{fffd}31m");
        assert_eq!(printable_line("\tsubject\n\nbody\n"), "subject  body");
    }

    #[test]
    fn a_json_document_has_no_raw_control_and_means_the_same() {
        let text = "a\u{9b}31m\u{202e}b\u{e0041}\u{7f}é\t";
        let document = serde_json::to_string_pretty(&serde_json::json!({ "k": text })).unwrap();
        let plain = plain_json(&document);
        assert!(plain.contains(r"a\u009b31m\u202eb\udb40\udc41\u007fé\t"), "{plain}");
        let back: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(back["k"], text);
    }

    #[test]
    fn a_terminal_gets_styles_and_no_other_sequence() {
        for (text, sent) in [
            ("\u{1b}[1mbold\u{1b}[0m, \u{1b}[38;5;1mred\n", None),
            ("\u{1b}[2Jx\u{1b}[31my", Some("x\u{1b}[31my")),
            ("\u{1b}]0;title\u{7}x\u{9b}31m", Some("x")),
            ("a\u{202e}b\u{1b}[", Some("ab")),
            ("a\u{1b}[?1049h", Some("a")),
        ] {
            assert_eq!(for_terminal(text), sent.unwrap_or(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_a_terminal_obeys_is_left(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let clean = printable(&bytes);
            prop_assert!(clean.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
            prop_assert_eq!(printable(&clean), clean.clone());
        }

        #[test]
        fn plain_text_stays(text in "[ -~äöü\n]{0,80}") {
            prop_assert_eq!(printable(&text), text);
        }
    }
}

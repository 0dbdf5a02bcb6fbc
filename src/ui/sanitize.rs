//! Cleans text of engines, commit messages and file names for a terminal.

use std::iter::Peekable;
use std::str::Chars;

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
pub fn printable_line(text: impl AsRef<[u8]>) -> String {
    printable(text).replace(['\n', '\t'], " ").trim().to_owned()
}

/// Whether a character is invisible or changes the direction of text, so that a subject could
/// display as another text. Joiners stay: scripts and emoji need them.
fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' | '\u{ad}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
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

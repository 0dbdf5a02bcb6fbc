//! Characters that are not seen, or that change the direction of text: with them, a text can look
//! like another text.

/// Whether a character is invisible or changes the direction of text. Joiners do not count: scripts
/// and emoji need them.
pub(crate) fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' | '\u{ad}'
        | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

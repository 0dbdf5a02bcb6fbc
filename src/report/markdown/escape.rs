//! Escapes text in Markdown. The text of an engine, a commit message or a file name is data. Every
//! dialect must show it literally.

use crate::ui::text;

/// A word joiner: invisible, without width. Some renderers look for links after backslashes are
/// resolved; the joiner breaks such a link.
const JOINER: char = '\u{2060}';

/// Text within a line or a table's cell: one line, no markup, no HTML, no links, no mentions.
pub(super) fn inline(said: &str) -> String {
    let clean: Vec<char> = text::line(said).chars().collect();
    let mut safe = String::with_capacity(clean.len() + 8);
    let leading_digits = clean.iter().take_while(|c| c.is_ascii_digit()).count();
    for (at, &c) in clean.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| clean[at]);
        let after = clean.get(at + 1).copied();
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            // Dialects disagree whether `\\|` ends a cell; none reads the entity as a bar.
            '|' => safe.push_str("&#124;"),
            '\\' | '`' | '*' | '[' | ']' | '~' | '$' => safe.extend(['\\', c]),
            '_' if !(is_word(before) && is_word(after)) => safe.extend(['\\', c]),
            // These open a block at the start of an item; `#` closes a heading at its end.
            '-' | '+' | '=' | '#' if at == 0 => safe.extend(['\\', c]),
            '#' if after.is_none() => safe.extend(['\\', c]),
            '.' | ')'
                if at > 0 && at == leading_digits && after.is_none_or(char::is_whitespace) =>
            {
                safe.extend(['\\', c]);
            }
            '(' if before == Some(']') => safe.extend(['\\', c]),
            '.' if at >= 3 && clean[at - 3..at].iter().all(|w| matches!(w, 'w' | 'W')) => {
                safe.extend([JOINER, c]);
            }
            c => safe.push(c),
        }
        if is_reference(&clean, at) {
            safe.push(JOINER);
        }
    }
    safe
}

/// Whether a renderer could read this character and the next ones as a mention, an address, or
/// the number of an issue or request (`#1`, `!1`, `%1`, `~1`, `$1`, `&1`, `GH-1`).
fn is_reference(clean: &[char], at: usize) -> bool {
    let after = clean.get(at + 1).copied();
    let is_numbered = after.is_some_and(|c| c.is_ascii_digit());
    match clean[at] {
        '@' => true,
        ':' => after == Some('/'),
        '#' | '!' | '~' | '$' | '&' => is_numbered,
        '%' => is_numbered || after == Some('"'),
        '-' => {
            let letters = at.checked_sub(2).map(|start| &clean[start..at]);
            let is_gh = matches!(letters, Some(['g' | 'G', 'h' | 'H']));
            is_gh && is_numbered
        }
        _ => false,
    }
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

/// A literal block, in a fence that is longer than any run of backticks in the text.
pub(super) fn fenced(said: &str) -> String {
    fenced_as("text", said)
}

/// The same with a language, for colours.
pub(super) fn fenced_as(language: &str, said: &str) -> String {
    let clean = text::lines(said);
    let longest = clean.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", clean.trim_end_matches(['\n', ' ']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hostile_text_comes_out_as_text() {
        for (said, safe) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("![x](http://evil/x.png)", "!\\[x\\]\\(http:\u{2060}//evil/x.png)"),
            ("[click](javascript:x)", "\\[click\\]\\(javascript:x)"),
            ("a | b \\| c", "a &#124; b \\\\&#124; c"),
            ("`code` ```", "\\`code\\` \\`\\`\\`"),
            ("two\nlines\r\n# heading", "two lines # heading"),
            ("# heading #", "\\# heading \\#"),
            ("--- ", "\\---"),
            ("1. first", "1\\. first"),
            ("10) tenth", "10\\) tenth"),
            ("7.21", "7.21"),
            ("**bold** ~~gone~~ $x$", "\\*\\*bold\\*\\* \\~\\~gone\\~\\~ \\$x\\$"),
            ("src/kv_cache.c", "src/kv_cache.c"),
            ("_kv_ __init__.py", "\\_kv\\_ \\_\\_init\\_\\_.py"),
            ("www.evil.com @octocat", "www\u{2060}.evil.com @\u{2060}octocat"),
            ("&lt; &#x7c;", "&amp;lt; &amp;#x7c;"),
            ("fix #12, !3 %4 GH-5", "fix #\u{2060}12, !\u{2060}3 %\u{2060}4 GH-\u{2060}5"),
            ("#12 ~7 $8 &9", "\\#\u{2060}12 \\~\u{2060}7 \\$\u{2060}8 &amp;\u{2060}9"),
            ("5 % of 3! high-x", "5 % of 3! high-x"),
            ("\u{1b}[31mred\u{202e}", "red"),
            ("kv: pad the cache (7.52)", "kv: pad the cache (7.52)"),
        ] {
            assert_eq!(inline(said), safe, "{said:?}");
        }
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("a\n````\nb\n"), "`````text\na\n````\nb\n`````");
        assert_eq!(fenced(""), "```text\n\n```");
    }

    proptest! {
        #[test]
        fn nothing_is_left_that_opens_anything(said in any::<String>()) {
            let safe = inline(&said);
            prop_assert!(!safe.contains(['|', '<', '>', '\n', '\r']));
            let mut chars = safe.chars();
            while let Some(c) = chars.next() {
                if c == '\\' {
                    prop_assert!(chars.next().is_some_and(|c| c.is_ascii_punctuation()));
                } else {
                    prop_assert!(!matches!(c, '`' | '*' | '[' | ']' | '~'), "{}", safe);
                }
            }
        }
    }
}

//! Splits a source text into words and punctuation, without comments and the content of strings.

/// A word or a punctuation mark of a source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A name, a keyword or a number.
    Word(&'t str),
    /// Any other character. `"` stands for a whole string.
    Mark(char),
}

/// The name or keyword that a token is; `None` for numbers and punctuation.
pub(super) fn word(token: Token<'_>) -> Option<&str> {
    match token {
        Token::Word(word) if !word.starts_with(|c: char| c.is_ascii_digit()) => Some(word),
        _ => None,
    }
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed<'t> {
    pub(super) token: Token<'t>,
    /// The line, from 0.
    pub(super) line: usize,
    /// Bytes before it in its line.
    pub(super) column: usize,
}

/// How comments begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comments {
    /// `//` and `/* */`.
    Slashes,
    /// `#`, and `"""` for long ones.
    Hash,
}

/// The words and punctuation of a text, in order.
pub(super) fn tokens(text: &str, comments: Comments) -> Vec<Placed<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line, mut line_start) = (0, 0, 0);
    while let Some(c) = text[at..].chars().next() {
        let length = skipped(&text[at..], comments);
        if length > 0 {
            let passed = &text[at..at + length];
            let is_long = comments == Comments::Hash
                && (passed.starts_with("\"\"\"") || passed.starts_with("'''"));
            if matches!(c, '"' | '\'') && !is_long {
                let column = at - line_start;
                found.push(Placed { token: Token::Mark('"'), line, column });
            }
            line += passed.matches('\n').count();
            line_start = passed.rfind('\n').map_or(line_start, |end| at + end + 1);
            at += length;
            continue;
        }
        let column = at - line_start;
        let end = if is_word(c) {
            let rest = text[at..].find(|c| !is_word(c)).unwrap_or(text.len() - at);
            found.push(Placed { token: Token::Word(&text[at..at + rest]), line, column });
            at + rest
        } else {
            if !c.is_whitespace() {
                found.push(Placed { token: Token::Mark(c), line, column });
            }
            at + c.len_utf8()
        };
        if c == '\n' {
            (line, line_start) = (line + 1, end);
        }
        at = end;
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the comment or string at the beginning, in bytes; 0 if there is none.
fn skipped(text: &str, comments: Comments) -> usize {
    let to_end_of_line = || text.find('\n').unwrap_or(text.len());
    let past = |open: usize, close: &str| {
        text[open..].find(close).map_or(text.len(), |end| open + end + close.len())
    };
    match comments {
        Comments::Slashes if text.starts_with("//") => return to_end_of_line(),
        Comments::Slashes if text.starts_with("/*") => return past(2, "*/"),
        Comments::Hash if text.starts_with('#') => return to_end_of_line(),
        Comments::Hash if text.starts_with("\"\"\"") => return past(3, "\"\"\""),
        Comments::Hash if text.starts_with("'''") => return past(3, "'''"),
        _ => {}
    }
    match text.chars().next() {
        Some('"') => string(text, '"').unwrap_or(1),
        // In C and Rust a short text in quotes is a character; a single quote begins a lifetime.
        Some('\'') => {
            string(text, '\'').filter(|end| comments == Comments::Hash || *end <= 12).unwrap_or(0)
        }
        _ => 0,
    }
}

/// The length of a string that ends in its first line.
fn string(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, comments: Comments) -> String {
        let shown = |placed: &Placed<'_>| match placed.token {
            Token::Word(word) => format!("{}:{word}", placed.line),
            Token::Mark(mark) => format!("{}:{mark}", placed.line),
        };
        tokens(text, comments).iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_what_is_in_strings_are_left_out() {
        let c = "int a; // b\n/* c\nd */ e(\"f \\\" g\", 'h', '\\n');";
        assert_eq!(
            shown(c, Comments::Slashes),
            r#"0:int 0:a 0:; 2:e 2:( 2:" 2:, 2:" 2:, 2:" 2:) 2:;"#
        );
        let python = "a = 'b' # c\n\"\"\"d\ne\"\"\"\nf";
        assert_eq!(shown(python, Comments::Hash), r#"0:a 0:= 0:" 3:f"#);
        // A lifetime, and a string without an end.
        assert_eq!(shown("&'a x", Comments::Slashes), "0:& 0:' 0:a 0:x");
        assert_eq!(shown("\"a\nb", Comments::Slashes), r#"0:" 0:a 1:b"#);
    }
}

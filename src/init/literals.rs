//! The string literals of a C, C++ or Rust source, with their lines. They show what a program
//! prints and which options it has.

use super::cursor::Cursor;
use super::text::{Fact, Text};

/// One literal. Adjacent literals are joined, as in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// The line where the literal begins, counted from 1.
    pub(super) line: usize,
    /// The text with escapes resolved.
    pub(super) text: String,
    /// Whether `<<` follows: then a value is printed after the literal.
    pub(super) streamed: bool,
}

/// The literals of a text.
pub(super) struct Literals(pub(super) Vec<Literal>);

impl Fact for Literals {
    fn read(text: &Text) -> Self {
        Self(literals(text))
    }
}

/// All literals outside comments, in order. Never fails: other languages yield the
/// parts that look like literals.
pub(super) fn literals(source: &str) -> Vec<Literal> {
    let mut lexer = Cursor::new(source);
    let mut found: Vec<Literal> = Vec::new();
    // Whether only white space follows the last literal so far.
    let mut adjacent = false;
    while let Some(c) = lexer.rest.chars().next() {
        if lexer.skip_comment() {
            continue;
        }
        let line = lexer.line;
        if let Some(text) = lexer.string() {
            match found.last_mut() {
                Some(last) if adjacent => last.text.push_str(&text),
                _ => found.push(Literal { line, text, streamed: false }),
            }
            if let Some(last) = found.last_mut() {
                last.streamed = lexer.rest.trim_start().starts_with("<<");
            }
            adjacent = true;
        } else {
            adjacent &= c.is_whitespace();
            lexer.skip_token(c);
        }
    }
    found
}

impl<'s> Cursor<'s> {
    /// Takes the text up to the next `end`, which is included, or all the rest.
    fn take_through(&mut self, end: &str) -> &'s str {
        let length = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.take(length)
    }

    fn skip_comment(&mut self) -> bool {
        let end = match self.rest.get(..2) {
            Some("//") => "\n",
            Some("/*") => "*/",
            _ => return false,
        };
        self.take_through(end);
        true
    }

    /// A string literal that begins here.
    fn string(&mut self) -> Option<String> {
        if self.rest.starts_with('"') {
            self.take(1);
            return Some(self.escaped());
        }
        let end = raw_end(self.rest)?;
        let opening = self.rest.find('"').map_or(0, |at| at + 1);
        self.take(opening);
        if end.starts_with(')') {
            self.take_through("(");
        }
        let text = self.take_through(&end);
        Some(text.strip_suffix(&end).unwrap_or(text).to_owned())
    }

    /// The rest of a literal after its opening quote.
    fn escaped(&mut self) -> String {
        let mut text = String::new();
        loop {
            let end = self.rest.find(['"', '\\']).unwrap_or(self.rest.len());
            text.push_str(self.take(end));
            // At a backslash there may be more; else the literal or the text ends here.
            let is_escape = self.rest.starts_with('\\');
            self.take(self.rest.len().min(1));
            let Some(escaped) = self.rest.chars().next().filter(|_| is_escape) else { break };
            self.take(escaped.len_utf8());
            match escaped {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                // An escaped newline: the literal continues on the next line.
                '\n' => {
                    let indent = self.rest.len() - self.rest.trim_start_matches(' ').len();
                    self.take(indent);
                }
                other => text.push(other),
            }
        }
        text
    }

    /// Skips white space, or else a character literal or one other character. In the second case,
    /// also skips all text up to the next place where a literal or a comment may begin.
    fn skip_token(&mut self, first: char) {
        if first.is_whitespace() {
            let rest = self.rest.trim_start();
            self.take(self.rest.len() - rest.len());
            return;
        }
        let least = if first == '\'' { character(self.rest) } else { first.len_utf8() };
        let ends = |at: &usize| match self.rest.as_bytes()[*at] {
            b'"' | b'\'' | b'/' => true,
            b'r' | b'R' => !self.rest[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'),
            _ => false,
        };
        let length = (least..self.rest.len()).find(ends).unwrap_or(self.rest.len());
        self.take(length);
    }
}

/// The bytes to skip at a single quote: a whole character literal, or one byte for a Rust
/// lifetime or an apostrophe.
fn character(rest: &str) -> usize {
    let inner = &rest[1..];
    let escape = usize::from(inner.starts_with('\\'));
    let behind = inner.char_indices().nth(escape + 1);
    match behind {
        Some((at, '\'')) => at + 2,
        _ => 1,
    }
}

/// The end of the raw literal that begins here: `)x"` for C++'s `R"x(…)x"`, `"#` for Rust's
/// `r#"…"#`; `None` if none begins here.
fn raw_end(rest: &str) -> Option<String> {
    if let Some(behind) = rest.strip_prefix("R\"") {
        let (delimiter, _) = behind.split_once('(')?;
        let fits = delimiter.len() <= 16 && !delimiter.contains([')', '\\', '"', ' ', '\n']);
        return fits.then(|| format!("){delimiter}\""));
    }
    let behind = rest.strip_prefix('r')?;
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    behind[hashes..].starts_with('"').then(|| format!("\"{}", "#".repeat(hashes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        literals(source).into_iter().map(|literal| literal.text).collect()
    }

    #[test]
    fn comments_and_characters_are_no_literals() {
        let source = "// \"a\"\n/* \"b\" */ char c = '\"'; char d = '\\''; x(\"c\"); fn f<'a>(s: &'a str) { \"d\" }";
        assert_eq!(texts(source), ["c", "d"]);
    }

    #[test]
    fn adjacent_literals_are_one_and_lines_are_counted() {
        let found = literals("\n\nputs(\"a\\n\"\n   \"b\");\nputs(\"it's\");");
        let shown: Vec<_> = found.iter().map(|l| (l.line, l.text.as_str())).collect();
        assert_eq!(shown, [(3, "a\nb"), (5, "it's")]);
    }

    #[test]
    fn raw_literals_are_read_whole() {
        assert_eq!(
            texts("a(R\"x(one \"two\" )\")x\"); b(r#\"a \"q\" b\"#, r\"c\");"),
            ["one \"two\" )\"", "a \"q\" b", "c"]
        );
    }

    #[test]
    fn a_value_that_is_streamed_behind_a_literal_is_seen() {
        let found = literals("std::cout << \"ppl: \" << x << \"\\n\";");
        assert_eq!(found.iter().map(|l| l.streamed).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn what_never_ends_is_no_trouble() {
        for source in ["\"a", "/* b", "R\"(c", "r#\"d", "'", "\"\\", "r#", "'é", "R\"é"] {
            literals(source);
        }
    }
}

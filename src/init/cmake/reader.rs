//! A small parser of CMake's language: commands and their arguments.

use crate::init::cursor::Cursor;
use crate::init::text::{Fact, Text};

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// In lower case.
    pub(super) name: String,
    pub(super) arguments: Vec<Argument>,
    pub(super) line: usize,
}

/// One argument as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) text: String,
    /// Whether the argument is in quotes or long brackets: one value, never a variable's name.
    pub(super) quoted: bool,
}

/// The commands of a file.
pub(super) struct Commands(pub(super) Vec<Command>);

impl Fact for Commands {
    fn read(text: &Text) -> Self {
        Self(commands(text))
    }
}

/// All commands of a file. Parts that cannot be parsed are skipped.
fn commands(text: &str) -> Vec<Command> {
    let mut reader = Cursor::new(text);
    let mut commands = Vec::new();
    loop {
        reader.skip_space();
        let Some(first) = reader.rest.chars().next() else { return commands };
        let line = reader.line;
        let length = reader.rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = reader.take(length.unwrap_or(reader.rest.len())).to_ascii_lowercase();
        if name.is_empty() {
            reader.take(first.len_utf8());
            continue;
        }
        reader.skip_space();
        if reader.rest.starts_with('(') {
            reader.take(1);
            commands.push(Command { name, arguments: reader.arguments(), line });
        }
    }
}

impl<'s> Cursor<'s> {
    /// Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            let trimmed = self.rest.trim_start();
            self.take(self.rest.len() - trimmed.len());
            if !self.rest.starts_with('#') {
                return;
            }
            self.take(1);
            if self.bracket().is_none() {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(end);
            }
        }
    }

    /// The text of a long bracket, `[[ … ]]` or `[=[ … ]=]`; `None` if none begins here.
    fn bracket(&mut self) -> Option<&'s str> {
        let inner = self.rest.strip_prefix('[')?;
        let signs = inner.len() - inner.trim_start_matches('=').len();
        if !inner[signs..].starts_with('[') {
            return None;
        }
        let end = format!("]{}]", "=".repeat(signs));
        self.take(signs + 2);
        let length = self.rest.find(&end).unwrap_or(self.rest.len());
        let text = self.take(length);
        self.take(end.len().min(self.rest.len()));
        Some(text)
    }

    /// The arguments of a command, up to its closing parenthesis.
    fn arguments(&mut self) -> Vec<Argument> {
        let mut arguments = Vec::new();
        let mut depth = 0_usize;
        loop {
            self.skip_space();
            let Some(first) = self.rest.chars().next() else { return arguments };
            let mut add = |text: &str, quoted| {
                arguments.push(Argument { text: text.to_owned(), quoted });
            };
            match first {
                ')' if depth == 0 => {
                    self.take(1);
                    return arguments;
                }
                '(' | ')' => {
                    depth = if first == '(' { depth + 1 } else { depth - 1 };
                    add(self.take(1), false);
                }
                '"' => {
                    self.take(1);
                    add(&self.quoted(), true);
                }
                _ => match self.bracket() {
                    Some(text) => add(text, true),
                    None => add(&self.word(), false),
                },
            }
        }
    }

    /// The rest of a quoted argument after its opening quote.
    fn quoted(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest.chars().next() {
            self.take(c.len_utf8());
            match c {
                '"' => break,
                '\\' => {
                    let escaped = self.rest.chars().next();
                    self.take(escaped.map_or(0, char::len_utf8));
                    text.extend(escaped.filter(|c| *c != '\n'));
                }
                c => text.push(c),
            }
        }
        text
    }

    /// An argument without quotes. An escaped `\"` or `\#` begins no string and no comment.
    fn word(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest.chars().next() {
            if c.is_whitespace() || matches!(c, '(' | ')' | '#' | '"') {
                break;
            }
            self.take(c.len_utf8());
            match self.rest.chars().next().filter(|_| c == '\\') {
                Some(escaped) => text.push_str(self.take(escaped.len_utf8())),
                None => text.push(c),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let words = |c: &Command| c.arguments.iter().map(|a| a.text.clone()).collect::<Vec<_>>();
        commands(text).iter().map(|c| format!("{}:{} {:?}", c.line, c.name, words(c))).collect()
    }

    #[test]
    fn commands_are_read_with_their_lines() {
        let text =
            "# set(A b)\n#[[ set(C d)\n]] SET (A \"b c\" # d\n  d;e)\nif((A) AND [=[x]]]=])endif()";
        assert_eq!(
            shown(text),
            [r#"3:set ["A", "b c", "d;e"]"#, r#"5:if ["(", "A", ")", "AND", "x]]"]"#, "5:endif []",]
        );
    }

    #[test]
    fn what_is_escaped_opens_nothing() {
        let text = "echo(\\\"\\#ifndef ${A}\\\" >> f)\nset(B a\\ b\\(\\;)";
        assert_eq!(
            shown(text),
            [r##"1:echo ["\"#ifndef", "${A}\"", ">>", "f"]"##, r#"2:set ["B", "a b(;"]"#]
        );
    }

    #[test]
    fn what_never_ends_is_no_trouble() {
        for text in ["set(", "set(\"a", "set([[", "#[==[", "set", "é(", "set(\"\\", "set(\\"] {
            commands(text);
        }
    }
}

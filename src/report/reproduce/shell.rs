//! Converts the words of a recipe to words of a POSIX shell.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::ReportError;

use super::recipe::Recipe;

/// The text quoted as one shell word.
pub(super) fn quote(text: &str) -> Result<String, ReportError> {
    shlex::try_quote(text)
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| ReportError::Unquotable(text.to_owned()))
}

/// A command that reads these bytes from standard input: literally if they are text, else in
/// octal.
pub(super) fn given(bytes: &[u8], command: &str) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            let mut end = "END_OF_TEXT".to_owned();
            while text.lines().any(|line| line == end) {
                end.push('_');
            }
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("  {command} <<'{end}'\n{text}{newline}{end}\n")
        }
        _ => {
            let mut line = String::from("  {\n");
            for part in bytes.chunks(16) {
                line.push_str("    printf '");
                for byte in part {
                    let _ = write!(line, "\\{byte:03o}");
                }
                line.push_str("'\n");
            }
            line + "  } | " + command + " || exit 1\n"
        }
    }
}

/// Values of the placeholders that are the same at every commit.
pub(super) struct Fixed<'r> {
    inputs: &'r BTreeMap<String, String>,
    numbers: [(&'static str, Option<u32>); 3],
}

/// Placeholders that the script computes for each commit, in variables of the same names.
const VARIABLES: [&str; 9] =
    ["src", "build", "out", "cache", "commit", "short", "parent", "commit_date", "port"];

impl<'r> Fixed<'r> {
    pub(super) fn of(recipe: &'r Recipe) -> Self {
        let numbers = [
            ("jobs", Some(recipe.jobs)),
            ("threads", Some(recipe.threads)),
            ("chunks", recipe.chunks),
        ];
        Self { inputs: &recipe.inputs, numbers }
    }

    /// A command with its environment. The command always runs through `env`, so that the shell
    /// cannot read a word as a keyword, a builtin, an assignment, or a function of the script.
    pub(super) fn command(
        &self,
        words: &[String],
        env: &BTreeMap<String, String>,
    ) -> Result<String, ReportError> {
        let mut line = "env".to_owned();
        for (name, value) in env {
            let _ = write!(line, " {}={}", quote(name)?, self.word(value)?);
        }
        for word in words {
            line.push(' ');
            line.push_str(&self.word(word)?);
        }
        Ok(line)
    }

    /// A path as an argument of `cd`, which would read a leading dash as an option.
    pub(super) fn path(&self, path: &str) -> Result<String, ReportError> {
        let word = self.word(path)?;
        Ok(if path.starts_with('-') { format!("./{word}") } else { word })
    }

    /// One word: its text quoted, its placeholders replaced.
    pub(super) fn word(&self, template: &str) -> Result<String, ReportError> {
        let mut word = String::new();
        let mut text = String::new();
        for piece in pieces(template) {
            match piece {
                Piece::Text(c) => text.push(c),
                Piece::Name(name) => match self.value(name) {
                    Some(value) => {
                        word.push_str(&quoted_text(&mut text)?);
                        word.push_str(&value?);
                    }
                    // The name is not a placeholder: the text is literal.
                    None => drop(write!(text, "{{{name}}}")),
                },
            }
        }
        word.push_str(&quoted_text(&mut text)?);
        Ok(if word.is_empty() { "''".to_owned() } else { word })
    }

    fn value(&self, name: &str) -> Option<Result<String, ReportError>> {
        if VARIABLES.contains(&name) {
            return Some(Ok(format!("\"${name}\"")));
        }
        if let Some(input) = name.strip_prefix("inputs.") {
            return self.inputs.get(input).map(|path| quote(path));
        }
        if let Some(prepare) = name.strip_prefix("prepare.") {
            return Some(quote(prepare).map(|name| format!("\"$prepared\"/{name}")));
        }
        let (_, number) = self.numbers.iter().find(|(known, _)| *known == name)?;
        number.map(|number| Ok(number.to_string()))
    }
}

/// Takes the text out and returns it as a quoted word.
fn quoted_text(text: &mut String) -> Result<String, ReportError> {
    if text.is_empty() {
        return Ok(String::new());
    }
    quote(&std::mem::take(text))
}

enum Piece<'t> {
    Text(char),
    Name(&'t str),
}

/// Reads a template as the configuration does. `{name}` is a placeholder; `{{` and `}}` are
/// literal braces. A brace that no name follows is literal too, as is the brace that closes it.
fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    // Whether each open brace was doubled.
    let mut open = Vec::new();
    let mut rest = template;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '$' if name(&rest[1..]).is_some() => {
                let whole = name(&rest[1..]).map_or(0, str::len) + 3;
                pieces.extend(rest[..whole].chars().map(Piece::Text));
                taken = whole;
            }
            '{' if rest.starts_with("{{") => {
                open.push(true);
                pieces.push(Piece::Text('{'));
                taken = 2;
            }
            '{' => {
                if let Some(name) = name(rest) {
                    pieces.push(Piece::Name(name));
                    taken = name.len() + 2;
                } else {
                    open.push(false);
                    pieces.push(Piece::Text('{'));
                }
            }
            '}' => {
                pieces.push(Piece::Text('}'));
                let doubled = rest.starts_with("}}");
                match open.last() {
                    Some(false) => drop(open.pop()),
                    Some(true) if !doubled => {}
                    _ => {
                        open.pop();
                        taken = if doubled { 2 } else { 1 };
                    }
                }
            }
            c => pieces.push(Piece::Text(c)),
        }
        rest = &rest[taken..];
    }
    pieces
}

/// The `name` of a text that begins with `{name}`.
fn name(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix('{')?.split_once('}')?;
    let first = name.chars().next()?;
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    ((first.is_alphabetic() || first == '_') && name.chars().all(word)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_is_given_is_not_the_shells() {
        let text = given(b"$(x) `y`\nEND_OF_TEXT\nlast", "cat");
        assert_eq!(text, "  cat <<'END_OF_TEXT_'\n$(x) `y`\nEND_OF_TEXT\nlast\nEND_OF_TEXT_\n");
        let bytes = given(b"\xff%\0", "cat");
        assert_eq!(bytes, "  {\n    printf '\\377\\045\\000'\n  } | cat || exit 1\n");
    }

    #[test]
    fn placeholders_become_variables_and_the_rest_is_quoted() {
        let recipe = Recipe {
            inputs: BTreeMap::from([("model".to_owned(), "/data/it's here.bin".to_owned())]),
            jobs: 2,
            ..Recipe::default()
        };
        let fixed = Fixed::of(&recipe);
        for (template, word) in [
            ("{build}/ppl", "\"$build\"/ppl"),
            ("-j{jobs}", "-j2"),
            ("--model={inputs.model}", "'--model='\"/data/it's here.bin\""),
            ("BUILD={build}x y", "'BUILD='\"$build\"'x y'"),
            ("{{src}}", "'{src}'"),
            ("{\"a\":{\"b\":1}}", "'{\"a\":{\"b\":1}}'"),
            ("${HOME}", "'${HOME}'"),
            ("{chunks}", "'{chunks}'"),
            ("$(rm -rf /)`x`", "'$(rm -rf /)`x`'"),
            ("", "''"),
        ] {
            assert_eq!(fixed.word(template).unwrap(), word, "{template}");
        }
        assert!(fixed.word("a\0b").is_err());
        let env = BTreeMap::from([("CC".to_owned(), "gcc -g".to_owned())]);
        let words = ["if".to_owned(), "{src}".to_owned()];
        assert_eq!(fixed.command(&words, &env).unwrap(), "env CC='gcc -g' if \"$src\"");
    }
}

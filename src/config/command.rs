//! Splitting a command line as a shell would, without a shell.

use super::{Command, MissingValue, Names, Template, TemplateError, Values};

/// A command line that cannot be run as written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No word at all.
    #[error("an empty command")]
    Empty,
    /// An unclosed quote.
    #[error("a quote is never closed")]
    Quote,
    /// An operator or expansion that only a shell understands.
    #[error(
        "no shell reads this, so `{what}` has no effect: quote it if it is meant literally, or write sh -c '…'"
    )]
    Shell {
        /// The operator or expansion.
        what: String,
    },
    /// A variable is set before the program: `CC=gcc make`.
    #[error("only a shell understands `{word}` before a program: put the variable in `env`")]
    Assignment {
        /// The assignment.
        word: String,
    },
    /// A shell builtin, such as `cd`: there is no program of that name to run.
    #[error("`{word}` exists only inside a shell: {cure}")]
    Builtin {
        /// The builtin.
        word: String,
        /// What to write instead.
        cure: &'static str,
    },
    /// A placeholder is wrong.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

impl Command {
    /// Splits a command line into words, then reads each word's placeholders, so that a space
    /// in a filled-in path never splits a word.
    ///
    /// # Errors
    /// The command cannot be run, or it contains syntax that means something else in a shell.
    pub fn parse(text: &str, names: &Names) -> Result<Self, CommandError> {
        let words = shlex::split(text).ok_or(CommandError::Quote)?;
        let program = words.first().filter(|w| !w.is_empty()).ok_or(CommandError::Empty)?;
        if let Some(what) = shell_syntax(text) {
            return Err(CommandError::Shell { what });
        }
        check_program(program)?;
        let words = words.iter().map(|w| Template::parse(w, names)).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), words })
    }

    /// The words of the command with placeholders filled in.
    ///
    /// # Errors
    /// A placeholder has no value.
    pub fn fill(&self, values: &Values) -> Result<Vec<String>, MissingValue> {
        self.words.iter().map(|word| word.fill(values)).collect()
    }

    /// A command made of words that are parsed already.
    pub(super) fn of(words: Vec<Template>) -> Self {
        let texts = words.iter().map(Template::text);
        // Only a NUL cannot be quoted, and no file has one.
        let text = shlex::try_join(texts).unwrap_or_default();
        Self { text, words }
    }
}

/// The words of a command that takes no placeholders; its braces are literal.
///
/// # Errors
/// The command cannot be run, or it contains syntax that means something else in a shell.
pub(crate) fn plain_words(text: &str) -> Result<Vec<String>, CommandError> {
    match Command::parse(text, &Names::default()) {
        Ok(_) | Err(CommandError::Template(_)) => Ok(shlex::split(text).unwrap_or_default()),
        Err(error) => Err(error),
    }
}

fn check_program(word: &str) -> Result<(), CommandError> {
    let cure = match word {
        "cd" => "commands start in {src}; a measure may set `cwd`, others sh -c 'cd … && …'",
        "export" | "set" | "unset" => "put variables in `env`",
        "source" | "." => "write sh -c '. FILE && …'",
        _ => {
            let assigns = word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            });
            return if assigns {
                Err(CommandError::Assignment { word: word.to_owned() })
            } else {
                Ok(())
            };
        }
    };
    Err(CommandError::Builtin { word: word.to_owned(), cure })
}

/// The first unquoted shell operator or expansion. No shell runs the command, so the program
/// would get the characters themselves. `make -j$(nproc)` is the usual mistake.
fn shell_syntax(text: &str) -> Option<String> {
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(q), c) if q == c => quote = None,
            (None, '|' | '&' | ';' | '<' | '>') => {
                let operator = |c: &char| matches!(c, '|' | '&' | ';' | '<' | '>');
                return Some(text[at..].chars().take_while(operator).collect());
            }
            (None | Some('"'), '`') => return Some("`…`".to_owned()),
            (None | Some('"'), '$') => {
                let next = text[at + 1..].chars().next();
                if next == Some('(') {
                    return Some("$(…)".to_owned());
                }
                if next.is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '{') {
                    let name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '{' | '}');
                    let name: String = text[at + 1..].chars().take_while(name).collect();
                    return Some(format!("${name}"));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Placeholder, Values};

    fn parse(text: &str) -> Result<Command, CommandError> {
        Command::parse(text, &Names::default())
    }

    fn words(text: &str) -> Vec<String> {
        let values = Values::new().with(Placeholder::Src, "/a b/c");
        parse(text).unwrap().fill(&values).unwrap()
    }

    #[test]
    fn spaces_in_a_value_do_not_split() {
        assert_eq!(words("make -C {src} 'x y'"), ["make", "-C", "/a b/c", "x y"]);
    }

    #[test]
    fn quoted_shell_syntax_is_passed_on() {
        assert_eq!(
            words("sh -c 'a | b > {src}/$(date) `x` ${HOME}'"),
            ["sh", "-c", "a | b > /a b/c/$(date) `x` ${HOME}"]
        );
        assert_eq!(words(r"grep -c \| a\&b"), ["grep", "-c", "|", "a&b"]);
        assert_eq!(words(r#"grep "a\"|b" c"#), ["grep", "a\"|b", "c"]);
        assert_eq!(words("awk '$1>2'"), ["awk", "$1>2"]);
    }

    #[test]
    fn what_needs_a_shell_is_refused_by_name() {
        for (text, shown) in [
            ("a && b", "`&&`"),
            ("a | b", "`|`"),
            ("a 2>&1", "`>&`"),
            ("make -j$(nproc)", "`$(…)`"),
            ("make -j`nproc`", "``…``"),
            ("ls \"$HOME\"", "`$HOME`"),
            ("ls ${HOME}/x", "`${HOME}`"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(shown), "{text}: {said}");
            assert!(said.contains("sh -c"), "{said}");
        }
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert_eq!(parse("").unwrap_err(), CommandError::Empty);
        assert_eq!(parse("  ").unwrap_err(), CommandError::Empty);
        assert_eq!(parse("'' x").unwrap_err(), CommandError::Empty);
        assert_eq!(parse("a 'b").unwrap_err(), CommandError::Quote);
        assert!(
            parse("CC=gcc make").unwrap_err().to_string().contains("put the variable in `env`")
        );
        assert!(parse("cd x").unwrap_err().to_string().contains("commands start in {src}"));
        assert!(parse("./a=b/run").is_ok());
    }

    #[test]
    fn a_wrong_placeholder_is_the_commands_problem() {
        let said = parse("make {jbos}").unwrap_err().to_string();
        assert!(said.contains("did you mean `jobs`?"), "{said}");
    }
}

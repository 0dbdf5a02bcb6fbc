//! Converts the words of a recipe to words of a POSIX shell.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::ReportError;

use super::recipe::{RecipePart, RecipeWord};

/// The text quoted as one shell word.
pub(super) fn quote(text: &str) -> Result<String, ReportError> {
    shlex::try_quote(text)
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| ReportError::Unquotable(text.to_owned()))
}

/// A command that reads these bytes from standard input, literally if they are text, else in octal.
pub(super) fn command_with_input(bytes: &[u8], command: &str) -> String {
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

/// A command with its environment. It always runs through `env`, so that the shell cannot read a
/// word as a keyword, a builtin, an assignment, or a function of the script.
pub(super) fn command(
    words: &[RecipeWord],
    env: &BTreeMap<String, RecipeWord>,
) -> Result<String, ReportError> {
    let mut line = "env".to_owned();
    for (name, value) in env {
        let _ = write!(line, " {}={}", quote(name)?, word(value)?);
    }
    for one in words {
        line.push(' ');
        line.push_str(&word(one)?);
    }
    Ok(line)
}

/// A path as an argument of `cd`, which would take a leading dash for an option.
pub(super) fn path(path: &[RecipePart]) -> Result<String, ReportError> {
    let word = word(path)?;
    let is_option = matches!(path.first(), Some(RecipePart::Text(text)) if text.starts_with('-'));
    Ok(if is_option { format!("./{word}") } else { word })
}

/// One word: its text quoted, its placeholders as variables.
fn word(parts: &[RecipePart]) -> Result<String, ReportError> {
    let mut word = String::new();
    for part in parts {
        match part {
            RecipePart::Text(text) if text.is_empty() => {}
            RecipePart::Text(text) => word.push_str(&quote(text)?),
            RecipePart::Variable(name) => drop(write!(word, "\"${name}\"")),
            RecipePart::Prepared(name) => drop(write!(word, "\"$prepared\"/{}", quote(name)?)),
        }
    }
    Ok(if word.is_empty() { "''".to_owned() } else { word })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_of_a_command_is_not_expanded_by_the_shell() {
        let text = command_with_input(b"$(x) `y`\nEND_OF_TEXT\nlast", "cat");
        assert_eq!(text, "  cat <<'END_OF_TEXT_'\n$(x) `y`\nEND_OF_TEXT\nlast\nEND_OF_TEXT_\n");
        let bytes = command_with_input(b"\xff%\0", "cat");
        assert_eq!(bytes, "  {\n    printf '\\377\\045\\000'\n  } | cat || exit 1\n");
    }

    #[test]
    fn placeholders_become_variables_and_the_rest_is_quoted() {
        let text = |text: &str| RecipePart::Text(text.to_owned());
        let build = RecipePart::Variable("build");
        for (parts, expected) in [
            (vec![build.clone(), text("/ppl")], "\"$build\"/ppl"),
            (vec![text("-j"), text("2")], "-j2"),
            (
                vec![text("--model="), text("/data/it's here.bin")],
                "'--model='\"/data/it's here.bin\"",
            ),
            (vec![text("BUILD="), build, text("x y")], "'BUILD='\"$build\"'x y'"),
            (vec![text("{src}")], "'{src}'"),
            (vec![text("{\"a\":{\"b\":1}}")], "'{\"a\":{\"b\":1}}'"),
            (vec![text("${HOME}")], "'${HOME}'"),
            (vec![RecipePart::Prepared("a b".to_owned())], "\"$prepared\"/'a b'"),
            (vec![text("$(rm -rf /)`x`")], "'$(rm -rf /)`x`'"),
            (vec![text("")], "''"),
            (Vec::new(), "''"),
        ] {
            assert_eq!(word(&parts).unwrap(), expected, "{parts:?}");
        }
        assert!(word(&[text("a\0b")]).is_err());
        let env = BTreeMap::from([("CC".to_owned(), vec![text("gcc -g")])]);
        let words = [vec![text("if")], vec![RecipePart::Variable("src")]];
        assert_eq!(command(&words, &env).unwrap(), "env CC='gcc -g' if \"$src\"");
        assert_eq!(path(&[text("-x")]).unwrap(), "./-x");
    }
}

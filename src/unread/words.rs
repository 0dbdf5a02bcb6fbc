//! Splits texts into the words that may name files.

use std::sync::LazyLock;

use regex::Regex;

/// Stands for a part of a word that is only known when a recipe runs.
pub(super) const OPEN: char = '\u{1}';

/// Variables of CMake, make, shells and templates: `${X}`, `$(X)`, `$X`, `@X@`, `{x}`, `%s`.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    let forms = r"\$\{[^{}\s]*\}|\$\([\w.\-]+\)|\$\w+|\$[@<^*?+]|@\w+@|\{[^{}\s]*\}|%[sd]|%";
    Regex::new(forms).expect("a constant of ours")
});

/// The words of a text that may be paths or patterns of paths, with [`OPEN`] for variables.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    // `${${X}}`, `$(DIR)/$(NAME:%.c=%.o)`.
    for _ in 0..3 {
        let next = VARIABLE.replace_all(&text, "\u{1}").into_owned();
        if next == text {
            break;
        }
        text = next;
    }
    let is_part = |c: char| c.is_alphanumeric() || "_-+./*?[]~\u{1}".contains(c) || !c.is_ascii();
    let words = text.split(|c| !is_part(c));
    let bare = |word: &str| {
        let word = word.strip_prefix("-I").or(word.strip_prefix("-L")).unwrap_or(word);
        word.trim_end_matches('.').to_owned()
    };
    words.map(bare).filter(|word| word.len() > 1).collect()
}

/// The words in the quotes of a source file, without prose. If a program reads a file, the name of
/// the file is mostly there.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        for text in line.split('"').skip(1).step_by(2) {
            let is_embedded = text.contains("incbin") || text.ends_with('\\');
            if is_embedded || !text.contains(' ') {
                found.extend(words(text));
            }
        }
        if line.contains("incbin") || line.contains("#embed") {
            found.extend(words(line));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_leave_what_is_known_of_a_word() {
        let found = words("cp ${DIR}/k.comp $(A)/$(B:%=%.c) @top@/x.in -Iinclude a=b;c.h 'd e'");
        let open = |text: &str| text.replace('?', "\u{1}");
        for word in ["?/k.comp", "?/x.in", "include", "c.h", "cp"] {
            assert!(found.contains(&open(word)), "{word}: {found:?}");
        }
        assert_eq!(words("glob.glob(f'{name}/*.comp')")[1], open("?/*.comp"));
        assert_eq!(words("end of a sentence with name.txt.").last().unwrap(), "name.txt");
    }

    #[test]
    fn quoted_names_are_found_and_prose_is_not() {
        let text = "open(\"data/k.bin\"); // see README.md\nlog(\"see docs/help.md for more\");\n\
                    __asm__(\".incbin \\\"data/w.bin\\\"\\n\");\n";
        let found = quoted(text);
        assert!(found.contains(&"data/k.bin".to_owned()), "{found:?}");
        assert!(found.contains(&"data/w.bin".to_owned()), "{found:?}");
        assert!(!found.iter().any(|word| word.contains("md")), "{found:?}");
    }
}

//! Words that programmers coin: names of options, macros, functions and variables, such as
//! `ENG_FP16`, `mul_mat` or `ropeCache`. Plain words occur anywhere, so they tell nothing. The
//! search reads words, not grammars, so it may be wrong; only the choice of further measurements
//! depends on it.

use std::collections::BTreeSet;

use super::constant_syntax::Language;
use super::file_kinds::is_document;

/// Shorter words are coined more than once by chance.
const SHORTEST: usize = 4;

/// The coined words in some lines of a file, without those in comments. Words in strings count: an
/// option or a variable of the environment is in a string. A document has none.
pub(crate) fn coined_words(path: &str, lines: &[String]) -> BTreeSet<String> {
    if is_document(path) {
        return BTreeSet::new();
    }
    let code = code_lines(path, lines);
    let words = code.flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| is_coined(word)).map(str::to_owned).collect()
}

/// The coined word that the file's name is without its endings, if it is one: `sm90` of
/// `cmake/sm90.cmake`.
pub(crate) fn coined_name(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    name.split('.').next().filter(|stem| is_coined(stem))
}

/// Lines of a file without their comments.
pub(super) fn code_lines<'l>(
    path: &str,
    lines: impl IntoIterator<Item = &'l String>,
) -> impl Iterator<Item = &'l str> {
    let comment = match Language::of(path) {
        Some(Language::C | Language::Rust) => "//",
        _ => "#",
    };
    lines.into_iter().filter_map(move |line| code_of(line, comment))
}

/// A line without its comment; `None` if the line is in a long comment.
fn code_of<'l>(line: &'l str, comment: &str) -> Option<&'l str> {
    let is_long = comment == "//" && ["/*", "* "].iter().any(|x| line.trim_start().starts_with(x));
    if is_long { None } else { line.split(comment).next() }
}

/// Whether a word has a mark of a coined one: a digit, an underscore, or an upper-case letter after
/// its first letter. It begins with a letter or an underscore.
fn is_coined(word: &str) -> bool {
    let is_marked = |c: char| c.is_ascii_digit() || c == '_' || c.is_ascii_uppercase();
    word.len() >= SHORTEST
        && word.is_ascii()
        && word.chars().any(|c| c.is_ascii_alphabetic())
        && !word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().skip(1).any(is_marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str, text: &str) -> Vec<String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        coined_words(path, &lines).into_iter().collect()
    }

    #[test]
    fn plain_words_short_ones_numbers_and_comments_tell_nothing() {
        let cmake = "option(ENG_FP16 \"accumulate in half\" ON) # see HALF_SUM\nset(V 7.5 0x1f)";
        assert_eq!(words("kernels/fp16.cmake", cmake), ["ENG_FP16"]);
        let code = "/* not_this\n * nor_this */\nfast = getenv(\"ENG_FAST\"); // nor_that\n\
                    mulMat(nr1, 10_000, fast);";
        assert_eq!(words("src/a.cpp", code), ["ENG_FAST", "mulMat"]);
        assert!(words("README.md", "use ENG_FP16").is_empty());
        assert!(words("kernels/03.conf", "ppl+03 = 0.4\npart 03 fails").is_empty());
    }

    #[test]
    fn the_name_of_a_file_may_be_a_coined_word() {
        assert_eq!(coined_name("cmake/sm90.cmake"), Some("sm90"));
        assert_eq!(coined_name("flash_attn.tar.gz"), Some("flash_attn"));
        assert_eq!(["kernels/base.cu", "v/k", "03.conf"].map(coined_name), [None; 3]);
    }
}

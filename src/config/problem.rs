//! The problems of a file, each with its place.

use std::fmt;
use std::sync::Arc;

/// A place in a file; lines and columns (in characters) count from 1. The place of a value that
/// an option of the command line sets is the option, with line 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    /// The file as named on the command line, or the option.
    pub file: Arc<str>,
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// Its place in the file.
    pub place: Location,
    /// The dotted key, such as `build.commands`; empty if the text is not valid TOML.
    pub key: String,
    /// What is wrong and what is allowed.
    pub what: String,
    /// Whether the key is needed and does not exist.
    pub is_missing: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.what)
    }
}

/// All problems of a file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The path of the file as named on the command line.
    pub path: String,
    /// All problems, in the order of the file; never empty.
    pub(crate) problems: Vec<Problem>,
}

impl ConfigError {
    /// Whether only options of the command line are wrong, and not the file.
    pub(crate) fn is_of_options(&self) -> bool {
        self.problems.iter().all(|problem| problem.place.line == 0)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.problems.len() == 1 { "" } else { "s" };
        write!(f, "{} has {} problem{plural}", self.path, self.problems.len())?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// The allowed word that the user probably meant.
pub(super) fn suggest<'a>(
    word: &str,
    allowed: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // A third of the letters may be wrong. That allows typos, but not `cores` for `jobs`.
    let reach = (word.chars().count() / 3).max(1);
    let allowed: Vec<&str> = allowed.into_iter().collect();
    allowed
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= reach)
        // Of equally near words, the one that the user shortened.
        .min_by_key(|(distance, candidate)| (*distance, !shortens(word, candidate)))
        .map(|(_, candidate)| candidate)
        // A part of an allowed word: `perplexity` suggests `llama-perplexity`.
        .or_else(|| allowed.into_iter().find(|c| word.len() > 3 && c.contains(word)))
}

/// Whether the letters of `word` are in `whole`, in this order: `pct` shortens `percent`.
fn shortens(word: &str, whole: &str) -> bool {
    let mut letters = whole.chars();
    word.chars().all(|letter| letters.any(|other| other == letter))
}

/// The end of a message: ``; did you mean `x`?`` if a word is close, else a full stop.
pub(super) fn did_you_mean<'a>(word: &str, allowed: impl IntoIterator<Item = &'a str>) -> String {
    suggest(word, allowed).map_or_else(|| ".".to_owned(), |w| format!("; did you mean `{w}`?"))
}

/// The message about a name that no measure has. It lists the measures.
pub(super) fn no_measure<'a>(name: &str, measures: impl IntoIterator<Item = &'a str>) -> String {
    let measures: Vec<&str> = measures.into_iter().collect();
    let guess = did_you_mean(name, measures.iter().copied());
    format!("there is no measure `{name}`{guess} Measures: {}", measures.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equally_near_words_the_shortened_one_is_suggested() {
        let keys = ["max_decrease", "max_decrease_percent", "max_increase"];
        assert_eq!(suggest("max_decrease_pct", keys), Some("max_decrease_percent"));
        assert_eq!(suggest("max_decreas", keys), Some("max_decrease"));
        assert_eq!(suggest("baseline", keys), None);
    }
}

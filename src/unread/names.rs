//! The files that a text may name: by name, by pattern, or by their folder.

use std::collections::{BTreeSet, HashSet};

use glob::Pattern;

use super::kinds::name;
use super::words::OPEN;

/// Names and patterns of files.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names without folders, of files and of folders.
    plain: HashSet<String>,
    /// Of these, the last parts of paths with several parts.
    ends: HashSet<String>,
    patterns: BTreeSet<(Option<String>, String)>,
    /// Folders, as paths from the top, of which everything counts.
    below: BTreeSet<String>,
}

impl Names {
    /// Adds a word that may be a path or a pattern. Of a path only the last part counts, because
    /// the folder that a relative path starts from is unknown. Before a pattern, the folder counts.
    pub(super) fn add(&mut self, word: &str) {
        let parts: Vec<&str> =
            word.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        let Some((last, before)) = parts.split_last() else { return };
        let is_open = |part: &str| part.contains([OPEN, '*', '?', '[', ']']);
        if !is_open(last) {
            self.plain.insert((*last).to_owned());
            if !before.is_empty() {
                self.ends.insert((*last).to_owned());
            }
            return;
        }
        let folder =
            before.last().filter(|folder| !is_open(folder)).map(|folder| (*folder).to_owned());
        let is_any = !last.contains(char::is_alphanumeric);
        if is_any && folder.is_none() {
            return;
        }
        self.patterns.insert((folder, last.replace(OPEN, "*")));
    }

    /// Adds words as [`Self::add`] does.
    pub(super) fn add_all(&mut self, words: impl IntoIterator<Item = String>) {
        for word in words {
            self.add(&word);
        }
    }

    /// Adds everything below a folder; the empty path is the top.
    pub(super) fn add_below(&mut self, folder: &str) {
        self.below.insert(folder.trim_end_matches('/').to_owned());
    }

    /// Adds another text's names.
    pub(super) fn extend(&mut self, other: Self) {
        self.plain.extend(other.plain);
        self.ends.extend(other.ends);
        self.patterns.extend(other.patterns);
        self.below.extend(other.below);
    }

    /// Compiles the patterns.
    pub(super) fn matcher(self) -> Matcher {
        let compile = |(folder, text): &(Option<String>, String)| {
            let pattern =
                Pattern::new(text).or_else(|_| Pattern::new(&text.replace(['[', ']'], "?")));
            Some((folder.clone(), pattern.ok()?))
        };
        let patterns = self.patterns.iter().filter_map(compile).collect();
        Matcher { names: self, patterns }
    }
}

/// [`Names`], compiled to match paths.
#[derive(Debug)]
pub(super) struct Matcher {
    names: Names,
    patterns: Vec<(Option<String>, Pattern)>,
}

impl Matcher {
    /// The names, to add more.
    pub(super) fn into_names(self) -> Names {
        self.names
    }

    /// Whether the file is named, by its name or by a pattern.
    pub(super) fn has(&self, path: &str) -> bool {
        let of = |(folder, pattern): &(Option<String>, Pattern)| {
            let is_there = |folder: &String| folders(path).any(|part| part == folder.as_str());
            pattern.matches(name(path)) && folder.as_ref().is_none_or(is_there)
        };
        self.names.plain.contains(name(path))
            || self.patterns.iter().any(of)
            || self.names.below.iter().any(|folder| is_below(path, folder))
    }

    /// Whether the file is named, or one of its folders is the last part of a longer path. A folder
    /// that is a single word does not count: the word may name a target.
    pub(super) fn has_with_paths(&self, path: &str) -> bool {
        self.has(path) || folders(path).any(|part| self.names.ends.contains(part))
    }

    /// Whether the file or a folder of it is named.
    pub(super) fn has_with_folders(&self, path: &str) -> bool {
        self.has(path) || folders(path).any(|part| self.names.plain.contains(part))
    }
}

/// The names of the folders that a path goes through.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit('/').skip(1)
}

/// Whether a path is in this folder or below it; the empty folder is the top.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(words: &[&str]) -> Matcher {
        let mut names = Names::default();
        names.add_all(words.iter().map(|word| word.replace('$', "\u{1}")));
        names.matcher()
    }

    #[test]
    fn a_name_counts_wherever_the_file_is() {
        let named = matcher(&["../data/k.bin", "$/gen.py", "shaders"]);
        assert!(named.has("data/k.bin") && named.has("k.bin") && named.has("x/gen.py"));
        assert!(!named.has("shaders/a.comp") && named.has_with_folders("x/shaders/a.comp"));
        assert!(!named.has_with_folders("data/other.bin"));
        let by_path = matcher(&["shaders", "$/kernels"]);
        assert!(by_path.has_with_paths("x/kernels/a.c") && !by_path.has_with_paths("shaders/a.c"));
    }

    #[test]
    fn a_pattern_counts_below_its_folder() {
        let named = matcher(&["$/*.comp", "src/$.c", "data/*", "$/$.$", "[x"]);
        assert!(named.has("any/a.comp") && named.has("lib/src/deep/a.c") && named.has("data/x"));
        assert!(!named.has("lib/a.c") && !named.has("other/x"));
    }

    #[test]
    fn everything_below_a_folder_may_count() {
        let mut names = Names::default();
        names.add_below("part/");
        let compiled = names.matcher();
        assert!(compiled.has("part/a/b.c") && !compiled.has("party/a.c"));
        assert!(is_below("a", ""));
    }
}

//! What is known of one part of a change: the names in its lines, whether it is code, and how
//! likely the part is the cause.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::differ::{self, Names};
use crate::evaluation::PartOf;

use super::change::Part;
use super::lines::ChangedTexts;

/// Longest text that is read, bytes: longer ones are tables or generated code.
const LONGEST_TEXT: usize = 1 << 20;

/// The weight of parts that are probably in no measured program. Code that is measured has more.
pub(super) const IDLE: u32 = 5;

/// What is known of a part.
pub(super) struct PartInfo {
    pub(super) path: String,
    pub(super) file: usize,
    pub(super) of: PartOf,
    /// Whether the file exists before and after the change.
    pub(super) is_there: [bool; 2],
    pub(super) removed: Names,
    pub(super) added: Names,
    /// All words of the file before and after the change.
    pub(super) words: Rc<[BTreeSet<String>; 2]>,
    /// Whether the part has lines of text.
    pub(super) is_text: bool,
    pub(super) weight: u32,
}

impl PartInfo {
    /// The parts of one file.
    pub(super) fn of_file(
        path: &str,
        parts: &[Part],
        is_there: [bool; 2],
        file: &ChangedTexts,
    ) -> Vec<Self> {
        let is_short = file.texts.iter().all(|text| text.len() <= LONGEST_TEXT);
        let is_read = is_short && !differ::is_document(path);
        let lines: Vec<[BTreeSet<usize>; 2]> =
            parts.iter().map(|part| file.lines_of(part.of)).collect();
        let names = |side: usize| -> Vec<Names> {
            if !is_read {
                return vec![Names::default(); parts.len()];
            }
            let numbered = lines.iter().enumerate();
            let owners: BTreeMap<usize, usize> = numbered
                .flat_map(|(part, lines)| lines[side].iter().map(move |line| (*line, part)))
                .collect();
            let part_of = |line| owners.get(&line).copied();
            differ::names(path, &file.texts[side], parts.len(), part_of)
        };
        let words = |text: &String| {
            if is_read { differ::words(path, text) } else { BTreeSet::new() }
        };
        let mut both_words = file.texts.each_ref().map(words);
        if file.is_moved() {
            // The file is new: its base text is that of the file from which the code was moved.
            both_words[0].clear();
        }
        let words = Rc::new(both_words);
        let both = names(0).into_iter().zip(names(1));
        let known = parts.iter().zip(&lines).zip(both).map(|((part, lines), (removed, added))| {
            let is_text = is_short && lines.iter().any(|side| !side.is_empty());
            Self {
                path: path.to_owned(),
                file: part.file,
                of: part.of,
                // A part that names the file needs the moved code, not its edits.
                is_there: if part.is_edit() { [true, true] } else { is_there },
                removed,
                added,
                words: Rc::clone(&words),
                is_text,
                weight: 0,
            }
        });
        known.collect()
    }

    pub(super) fn is_hunk(&self) -> bool {
        self.of != PartOf::File
    }

    pub(super) fn is_edit(&self) -> bool {
        matches!(self.of, PartOf::Edit { .. })
    }

    /// How likely a part is the cause: code before headers, documents and comments last.
    pub(super) fn weight(&self, is_named: bool, is_idle: bool) -> u32 {
        let code = 50;
        let is_aside = |folder: &str| matches!(folder, "test" | "tests" | "examples");
        let is_test = self.path.split('/').any(is_aside) || file_name(&self.path).contains("test");
        let sides = [&self.removed, &self.added];
        let has_code = sides.iter().any(|names| names.has_code);
        let has_imports = sides.iter().any(|names| names.has_imports);
        if differ::is_document(&self.path) || self.is_text && !has_code && !has_imports {
            1
        } else if self.is_text && !has_code {
            2
        } else if is_named {
            3 * code
        } else if is_test || is_idle || self.of == PartOf::Moved {
            IDLE
        } else if !differ::is_code(&self.path) {
            30
        } else if differ::is_header(&self.path) {
            20
        } else {
            code
        }
    }

    /// Whether a word names this part's file: `src/packed.c`, `packed.c`, `packed` for a module, or
    /// `packed` for `packed/CMakeLists.txt`.
    pub(super) fn is_called(&self, word: &str) -> bool {
        let name = file_name(&self.path);
        if word.contains('.') {
            return file_name(word) == name;
        }
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let is_module = matches!(self.path.rsplit_once('.'), Some((_, "rs" | "py")));
        let parent = self.path.rsplit('/').nth(1).unwrap_or_default();
        let stands_for_folder = matches!(stem, "mod" | "__init__") || name == "CMakeLists.txt";
        let own = if stands_for_folder { parent } else { stem };
        (is_module || stands_for_folder) && file_name(word) == own
    }
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

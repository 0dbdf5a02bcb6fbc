//! Clues for the order of the tests: which parts of a change are likely, and which need others to
//! build. The clues come from names in the changed lines, from the two builds, and from failed
//! builds' messages. No clue decides what a part shows.

use std::collections::{BTreeMap, BTreeSet};

use crate::differ::{self, BuiltSources};
use crate::evaluation::{Culprit, PartOf};
use crate::git::GitError;
use crate::report::relevance;
use crate::search::{Hints, Parts};

use super::change::{Change, Part};
use super::part_info::{PartInfo, file_name};

/// The most parts of a change whose clues and edits are read: in a larger change, names connect
/// everything.
pub(super) const MOST_PARTS: usize = 300;

/// The clues of some parts, numbered in the given order.
pub(super) struct Clues {
    parts: Vec<PartInfo>,
}

impl Clues {
    /// Reads the changed lines of these parts. `built`: the source files of the builds of parent
    /// and commit.
    pub(super) fn of(
        change: &Change<'_>,
        parts: &[Part],
        culprit: &Culprit,
        built: &BuiltSources,
    ) -> Result<Self, GitError> {
        if parts.len() > MOST_PARTS {
            return Ok(Self { parts: Vec::new() });
        }
        let mut of_files: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, part) in parts.iter().enumerate() {
            of_files.entry(part.file).or_default().push(number);
        }
        let mut known: BTreeMap<usize, PartInfo> = BTreeMap::new();
        for (file, numbers) in of_files {
            let own: Vec<Part> = numbers.iter().map(|number| parts[*number]).collect();
            let path = change.path(own[0]);
            let is_named = relevance(&path, culprit.differences.as_ref()) == 0;
            let is_idle = built.is_idle(&path);
            let read =
                PartInfo::of_file(&path, &own, change.is_there(own[0]), &change.texts(file)?);
            known.extend(numbers.into_iter().zip(read.into_iter().map(|part| {
                let weight = part.weight(is_named, is_idle);
                PartInfo { weight, ..part }
            })));
        }
        Ok(Self { parts: known.into_values().collect() })
    }

    /// All clues as hints for the search.
    pub(super) fn hints(&self) -> Hints {
        let weights = self.parts.iter().map(|part| part.weight).enumerate().collect();
        let mut needs = Needs::default();
        self.names_that_come(&mut needs);
        self.names_that_change_or_go(&mut needs);
        self.files(&mut needs);
        self.imports(&mut needs);
        self.edits(&mut needs);
        Hints { weights, needs: needs.found }
    }

    /// Uses of a new name need its declarations.
    fn names_that_come(&self, needs: &mut Needs) {
        let mut declared: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, part) in self.parts.iter().enumerate() {
            for name in part.added.declared.iter().filter(|name| !part.words[0].contains(*name)) {
                declared.entry(name).or_default().push(number);
            }
        }
        for (number, part) in self.parts.iter().enumerate() {
            let is_new = |name: &&String| !part.words[0].contains(*name);
            for name in part.added.used.iter().filter(is_new) {
                needs.add(number, declared.get(name.as_str()).into_iter().flatten().copied());
            }
        }
    }

    /// Binds a function with changed parameters to its calls, a removed name to its last uses, and
    /// the two halves of a moved function.
    fn names_that_change_or_go(&self, needs: &mut Needs) {
        let numbered = || self.parts.iter().enumerate();
        let mut functions: BTreeSet<&String> = BTreeSet::new();
        for part in &self.parts {
            functions.extend(&part.removed.functions);
        }
        for name in functions {
            let adds = |part: &PartInfo| part.added.functions.contains(name);
            let of_files = |has: &dyn Fn(&PartInfo) -> bool| -> BTreeSet<usize> {
                self.parts.iter().filter(|part| has(part)).map(|part| part.file).collect()
            };
            let after = of_files(&adds);
            let before = of_files(&|part| part.removed.functions.contains(name));
            if !after.is_disjoint(&before) {
                let both = |part: &PartInfo| part.added.has(name) && part.removed.has(name);
                needs.bind(numbered().filter(|(_, part)| both(part)).map(|(number, _)| number));
            } else if !after.is_empty() {
                let moves = |part: &PartInfo| adds(part) || part.removed.functions.contains(name);
                needs.bind(numbered().filter(|(_, part)| moves(part)).map(|(number, _)| number));
            }
        }
        for (number, part) in numbered() {
            for name in &part.removed.declared {
                let stays = self.parts.iter().any(|other| other.added.declared.contains(name));
                let uses = |other: &PartInfo| {
                    other.removed.used.contains(name) && !other.words[1].contains(name)
                };
                if !stays {
                    needs.add(number, numbered().filter(|(_, it)| uses(it)).map(|(at, _)| at));
                } else if !part.added.declared.contains(name) {
                    needs.add(number, self.who_import_instead(part, name));
                }
            }
        }
    }

    /// `part` removes a declaration of `name`, and another file declares it now. Returns the parts
    /// that import that other file, because users of the name need it from there. None if the file
    /// of `part` imports the other file: then its users still get the name.
    fn who_import_instead<'c>(
        &'c self,
        part: &'c PartInfo,
        name: &'c String,
    ) -> impl Iterator<Item = usize> + 'c {
        let moved = |to: &&PartInfo| to.file != part.file && to.added.declared.contains(name);
        self.parts.iter().filter(moved).flat_map(move |to| {
            let imports = |it: &PartInfo| it.added.files.iter().any(|file| to.is_called(file));
            let is_passed_on = self.parts.iter().any(|it| it.file == part.file && imports(it));
            let numbered = self.parts.iter().enumerate();
            numbered
                .filter(move |(_, it)| {
                    let has_use = it.words[1].contains(name) || differ::is_header(&it.path);
                    !is_passed_on && has_use && imports(it)
                })
                .map(|(number, _)| number)
        })
    }

    /// A part that names a new file needs that file. A new file needs the part that adds it to the
    /// program's list of sources. The deletion of a file needs the parts that remove its name.
    fn files(&self, needs: &mut Needs) {
        for (number, part) in self.parts.iter().enumerate() {
            let names = |files: &BTreeSet<String>| files.iter().any(|name| part.is_called(name));
            for (other, naming) in self.parts.iter().enumerate() {
                match part.is_there {
                    [false, true] if names(&naming.added.files) => {
                        needs.add(other, [number]);
                        if names(&naming.added.listed) {
                            needs.add(number, [other]);
                        }
                    }
                    [true, false] if names(&naming.removed.files) => needs.add(number, [other]),
                    _ => {}
                }
            }
        }
    }

    /// Within a file, every other hunk needs the hunk that adds imports. A hunk that removes
    /// imports needs every other hunk.
    fn imports(&self, needs: &mut Needs) {
        for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| part.is_hunk()) {
            if part.added.has_code || part.removed.has_code {
                continue;
            }
            let others = self
                .parts
                .iter()
                .enumerate()
                .filter(|(other, it)| it.file == part.file && it.is_hunk() && *other != number);
            for (other, _) in others {
                if part.added.has_imports {
                    needs.add(other, [number]);
                } else if part.removed.has_imports {
                    needs.add(number, [other]);
                }
            }
        }
    }

    /// An edit needs the code that it edits.
    fn edits(&self, needs: &mut Needs) {
        let numbered = || self.parts.iter().enumerate();
        for (number, part) in numbered().filter(|(_, part)| part.is_edit()) {
            let is_its = |it: &PartInfo| it.file == part.file && it.of == PartOf::Moved;
            needs.add(number, numbered().filter(|(_, it)| is_its(it)).map(|(at, _)| at));
        }
    }

    /// Pairs: an edit in the set, and the moved code that the edit needs and the set lacks.
    pub(super) fn edits_without_code(&self, set: &Parts) -> Vec<(usize, usize)> {
        let mut needs = Needs::default();
        self.edits(&mut needs);
        let pairs = needs
            .found
            .into_iter()
            .flat_map(|(edit, codes)| codes.into_iter().map(move |code| (edit, code)));
        pairs.filter(|(edit, code)| set.contains(edit) && !set.contains(code)).collect()
    }

    /// A test of `set` failed, and `said` are the lines about the failure. Returns pairs: a part of
    /// the set, and a part outside of the set that it seems to need.
    pub(super) fn lacking(&self, said: &[String], set: &Parts) -> Vec<(usize, usize)> {
        let numbered = || self.parts.iter().enumerate();
        let mut found = Vec::new();
        for line in said {
            let names = complained_of(line);
            let failed = names.iter().filter(|name| name.contains('.'));
            let failed: Vec<&String> = failed.filter(|file| line.starts_with(*file)).collect();
            for name in &names {
                let declares = |part: &PartInfo| part.added.declared.contains(name);
                let imports_it = |part: &PartInfo| {
                    let imports =
                        |to: &PartInfo| part.added.files.iter().any(|it| to.is_called(it));
                    self.parts.iter().any(|to| declares(to) && imports(to))
                };
                let gives = |part: &PartInfo| {
                    let is_file = part.is_called(name) && !part.is_edit();
                    is_file || declares(part) || part.removed.has(name)
                };
                // The compiler failed in this file, which the set leaves as it was.
                let gives_there = |part: &PartInfo| {
                    let is_there = failed.iter().any(|file| part.is_called(file));
                    is_there && (!part.is_hunk() || imports_it(part))
                };
                let wants = |part: &PartInfo| {
                    let is_file = |file: &String| file_name(file) == file_name(name);
                    let names_it = name.contains('.') && part.added.files.iter().any(is_file);
                    names_it || part.added.has(name) || part.removed.has(name)
                };
                let outside = || numbered().filter(|(at, _)| !set.contains(at));
                for (user, _) in numbered().filter(|(at, part)| set.contains(at) && wants(part)) {
                    let lacks = outside().filter(|(_, part)| gives(part) || gives_there(part));
                    found.extend(lacks.map(|(giver, _)| (user, giver)));
                }
                // The code without the edit does not compile.
                let is_moved = |part: &PartInfo| {
                    let failed_there = failed.iter().any(|file| part.is_called(file));
                    part.of == PartOf::Moved && (failed.is_empty() || failed_there)
                };
                for (moved, code) in numbered().filter(|(at, it)| set.contains(at) && is_moved(it))
                {
                    let edits = |part: &PartInfo| {
                        let is_its = part.is_edit() && part.file == code.file;
                        is_its && (part.removed.has(name) || declares(part))
                    };
                    let lacks = outside().filter(|(_, part)| edits(part));
                    found.extend(lacks.map(|(edit, _)| (moved, edit)));
                }
            }
        }
        found
    }
}

/// The parts that each part needs.
#[derive(Default)]
struct Needs {
    found: BTreeMap<usize, Parts>,
}

impl Needs {
    fn add(&mut self, part: usize, others: impl IntoIterator<Item = usize>) {
        for other in others.into_iter().filter(|other| *other != part) {
            self.found.entry(part).or_default().insert(other);
        }
    }

    /// Makes all these parts need each other.
    fn bind(&mut self, parts: impl Iterator<Item = usize>) {
        let parts: Vec<usize> = parts.collect();
        let next = parts.iter().cycle().skip(1);
        for (part, next) in parts.iter().zip(next) {
            self.add(*part, [*next]);
        }
    }
}

/// The names in a line about a failure: names in quotes, file names, and the name after `symbol:`.
fn complained_of(line: &str) -> BTreeSet<String> {
    let is_quote = |c: char| "'`\"‘’“”".contains(c);
    let mut names = BTreeSet::new();
    let words = |text: &str| -> Vec<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let words = text.split(|c| !is_word(c)).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    for quoted in line.split(is_quote).skip(1).step_by(2) {
        names.extend(words(quoted));
    }
    if let Some((_, symbol)) = line.split_once("symbol: ") {
        names.extend(words(symbol));
    }
    let files = line.split(|c: char| c.is_whitespace() || is_quote(c) || ":,;()".contains(c));
    names.extend(files.filter(|word| word.contains('.')).map(str::to_owned));
    names
}

#[cfg(test)]
mod tests;

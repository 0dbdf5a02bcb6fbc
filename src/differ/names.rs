//! Finds the names that changed lines declare and use. They are clues about which parts of a change
//! need each other. The search reads words, not grammars, so it may be wrong; only the order of
//! tests depends on it.

use std::collections::BTreeSet;

use super::constant_syntax::Language;
use super::name_role::{self, Role, Scope, TokenContext};
use super::tokens::{Comments, Placed, Token, tokens, word};

/// Maximum tokens before a name that are read as its declaration. A list made by macros may have no
/// end that this reader knows, so it would grow without a limit.
const LONGEST_HEAD: usize = 200;

/// The names in some lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// Names that the lines declare for other code: functions, types, members, constants.
    pub declared: BTreeSet<String>,
    /// Those of `declared` that have parameters.
    pub functions: BTreeSet<String>,
    /// All other names.
    pub used: BTreeSet<String>,
    /// Files and modules that the lines name.
    pub files: BTreeSet<String>,
    /// Those of `files` that are in the program because these lines list them: `mod x;`, or a path
    /// in a build file.
    pub listed: BTreeSet<String>,
    /// Whether the lines import something.
    pub has_imports: bool,
    /// Whether the lines have anything else than imports, comments and strings.
    pub has_code: bool,
}

impl Names {
    /// Whether the lines declare or use the name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.declared.contains(name) || self.used.contains(name)
    }
}

/// The names in a text, separately for each of its `parts` parts. `part_of` takes the number of a
/// line, from 0, and returns the index of its part. The path decides the language.
pub(crate) fn names(
    path: &str,
    text: &str,
    parts: usize,
    part_of: impl Fn(usize) -> Option<usize>,
) -> Vec<Names> {
    let language = Language::of(path);
    let tokens = tokens(text, comments(language));
    let mut reader =
        Reader { tokens: &tokens, part_of: &part_of, names: vec![Names::default(); parts] };
    let imports = imports(language, text);
    match language {
        Some(Language::C) => reader.nested(&imports, name_role::c),
        Some(Language::Rust) => reader.nested(&imports, name_role::rust),
        Some(Language::Python) => reader.flat(&imports, name_role::python),
        Some(Language::Cmake | Language::Make) | None => {
            reader.flat(&imports, name_role::build_file);
        }
    }
    let is_source = matches!(language, Some(Language::C | Language::Rust | Language::Python));
    for (number, line) in text.lines().enumerate() {
        let Some(names) = reader.names_of(number) else { continue };
        let words = file_words(line);
        if imports.contains(&number) {
            names.has_imports = true;
            if language == Some(Language::C) {
                names.files.extend(words);
                continue;
            }
            let words: Vec<String> = words
                .flat_map(|word| word.split('.').map(str::to_owned).collect::<Vec<_>>())
                .collect();
            if language == Some(Language::Rust) && line.contains("mod ") {
                names.listed.extend(words.clone());
            }
            names.used.extend(words.clone());
            names.files.extend(words);
        } else if !is_source {
            let is_folder = line.trim_start().starts_with("add_subdirectory");
            let paths: Vec<String> = words.filter(|word| is_folder || is_path(word)).collect();
            names.files.extend(paths.clone());
            names.listed.extend(paths);
        }
    }
    reader.names
}

/// All words of the text outside of comments and strings.
pub(crate) fn words(path: &str, text: &str) -> BTreeSet<String> {
    let tokens = tokens(text, comments(Language::of(path)));
    tokens.iter().filter_map(|placed| word(placed.token)).map(str::to_owned).collect()
}

fn comments(language: Option<Language>) -> Comments {
    match language {
        Some(Language::C | Language::Rust) => Comments::Slashes,
        _ => Comments::Hash,
    }
}

/// The numbers of the lines that import files or modules.
fn imports(language: Option<Language>, text: &str) -> BTreeSet<usize> {
    let starts: &[&str] = match language {
        Some(Language::C) => &["#include", "# include", "#import", "import "],
        Some(Language::Rust) => &["use ", "pub use ", "pub(crate) use ", "mod ", "pub mod "],
        Some(Language::Python) => &["import ", "from "],
        _ => &[],
    };
    let is_import = |line: &str| {
        let line = line.trim_start();
        let is_module = !line.contains("mod ") || line.trim_end().ends_with(';');
        starts.iter().any(|start| line.starts_with(start)) && is_module
    };
    text.lines().enumerate().filter(|(_, line)| is_import(line)).map(|(at, _)| at).collect()
}

/// Words that may be paths of files.
fn file_words(line: &str) -> impl Iterator<Item = String> + Clone {
    let is_path = |c: char| c.is_alphanumeric() || "_-./+".contains(c);
    let words = line.split(move |c| !is_path(c)).filter(|word| !word.is_empty());
    words.map(|word| word.trim_start_matches(['.', '/']).to_owned())
}

/// Whether a word looks like a file's path, and not like a number.
fn is_path(word: &str) -> bool {
    word.contains(['.', '/']) && word.contains(char::is_alphabetic)
}

struct Reader<'a, 't> {
    tokens: &'a [Placed<'t>],
    part_of: &'a dyn Fn(usize) -> Option<usize>,
    names: Vec<Names>,
}

impl Reader<'_, '_> {
    /// Reads a language with braces.
    fn nested(&mut self, imports: &BTreeSet<usize>, role: fn(&TokenContext<'_, '_>) -> Role) {
        let mut scopes: Vec<(Scope, usize)> = Vec::new();
        let (mut depth, mut from) = (0, 0);
        let is_directive = |line: usize| {
            let first = self.tokens.partition_point(|placed| placed.line < line);
            self.tokens.get(first).is_some_and(|placed| placed.token == Token::Mark('#'))
        };
        let directives: BTreeSet<usize> = self
            .tokens
            .iter()
            .map(|placed| placed.line)
            .filter(|line| is_directive(*line))
            .collect();
        for (at, placed) in self.tokens.iter().enumerate() {
            if imports.contains(&placed.line) {
                from = at + 1;
                continue;
            }
            let scope = scopes.last().map_or(Scope::Members, |(scope, _)| *scope);
            if let Some(name) = word(placed.token) {
                let first = from.max(at.saturating_sub(LONGEST_HEAD)).min(at);
                let head = &self.tokens[first..at];
                let around = TokenContext { tokens: self.tokens, at, scope, head };
                let is_open = scope != Scope::Body && depth == 0;
                let is_defined = around.is_word(-1, &["define"]) && around.is_mark(-2, "#");
                let role = if is_defined {
                    Role::Declared
                } else if is_open && !directives.contains(&placed.line) {
                    role(&around)
                } else {
                    Role::Used
                };
                self.note(name, role, placed.line);
            } else {
                self.note_code(placed.line);
            }
            let Token::Mark(mark) = placed.token else { continue };
            if directives.contains(&placed.line) {
                from = at + 1;
                continue;
            }
            match mark {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = usize::saturating_sub(depth, 1),
                '{' => {
                    let inner = name_role::inner(scope, depth, &self.tokens[from.min(at)..at]);
                    scopes.push((inner, depth));
                    (depth, from) = (0, at + 1);
                }
                '}' => {
                    depth = scopes.pop().map_or(0, |(_, depth)| depth);
                    from = at + 1;
                }
                ';' if depth == 0 => from = at + 1,
                _ => {}
            }
        }
    }

    /// Reads a language without braces.
    fn flat(&mut self, imports: &BTreeSet<usize>, role: fn(&TokenContext<'_, '_>) -> Role) {
        for (at, placed) in self.tokens.iter().enumerate() {
            let around = TokenContext { tokens: self.tokens, at, scope: Scope::Members, head: &[] };
            match word(placed.token) {
                _ if imports.contains(&placed.line) => {}
                Some(name) => self.note(name, role(&around), placed.line),
                None => self.note_code(placed.line),
            }
        }
    }

    fn note(&mut self, name: &str, role: Role, line: usize) {
        let Some(names) = self.names_of(line) else { return };
        names.has_code = true;
        if role != Role::Used {
            names.declared.insert(name.to_owned());
        }
        if matches!(role, Role::Function | Role::Method) {
            names.functions.insert(name.to_owned());
        }
        if matches!(role, Role::Used | Role::Method) {
            names.used.insert(name.to_owned());
        }
    }

    fn note_code(&mut self, line: usize) {
        if let Some(names) = self.names_of(line) {
            names.has_code = true;
        }
    }

    /// The names of the part that a line belongs to.
    fn names_of(&mut self, line: usize) -> Option<&mut Names> {
        (self.part_of)(line).map(|part| &mut self.names[part])
    }
}

#[cfg(test)]
mod tests;

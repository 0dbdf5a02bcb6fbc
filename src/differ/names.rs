//! Finds the names that changed lines declare and use. They are clues about which parts of a change
//! need each other. The search reads words, not grammars, so it may be wrong; only the order of
//! tests depends on it.

use std::collections::BTreeSet;

use super::constant_syntax::{Language, is_code};
use super::tokens::{Comments, Placed, Token, tokens};

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
        Some(Language::C) => reader.nested(&imports, c),
        Some(Language::Rust) => reader.nested(&imports, rust),
        Some(Language::Python) => reader.flat(&imports, python),
        Some(Language::Cmake | Language::Make) | None => reader.flat(&imports, build_file),
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

/// Whether other files read this one when they are compiled.
pub(crate) fn is_header(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["cuh", "h", "hh", "hpp", "hxx", "inc", "inl", "ipp", "pyi"].contains(&ending)
}

/// Whether the name shows that no build reads the file.
pub(crate) fn is_document(path: &str) -> bool {
    const ENDINGS: [&str; 4] = ["md", "rst", "adoc", "html"];
    const NAMES: [&str; 7] =
        ["AUTHORS", "CHANGELOG", "CHANGES", "CONTRIBUTING", "LICENSE", "NEWS", "README"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_in_docs = path.split('/').any(|folder| matches!(folder, "doc" | "docs"));
    ENDINGS.contains(&ending) || NAMES.contains(&stem) || is_in_docs && !is_code(path)
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

fn word(token: Token<'_>) -> Option<&str> {
    match token {
        Token::Word(word) if !word.starts_with(|c: char| c.is_ascii_digit()) => Some(word),
        _ => None,
    }
}

/// The role of a name at one place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Used,
    Declared,
    /// Declared with parameters.
    Function,
    /// `Class::method(` and the like: the class is declared elsewhere.
    Method,
}

/// The content of braces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Members of a type or of a module, or nothing yet.
    Members,
    Enumerators,
    /// Statements or values: names in it mean nothing outside.
    Body,
}

/// A token and the tokens around it.
struct TokenContext<'a, 't> {
    tokens: &'a [Placed<'t>],
    at: usize,
    scope: Scope,
    /// The tokens since the last end of a declaration.
    head: &'a [Placed<'t>],
}

impl<'t> TokenContext<'_, 't> {
    fn token(&self, distance: isize) -> Option<Token<'t>> {
        let at = self.at.checked_add_signed(distance)?;
        self.tokens.get(at).map(|placed| placed.token)
    }

    fn is_mark(&self, distance: isize, marks: &str) -> bool {
        matches!(self.token(distance), Some(Token::Mark(mark)) if marks.contains(mark))
    }

    fn is_word(&self, distance: isize, words: &[&str]) -> bool {
        self.token(distance).and_then(word).is_some_and(|word| words.contains(&word))
    }
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
                    let inner = inner(scope, depth, &self.tokens[from.min(at)..at]);
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

/// The content of the braces after these tokens.
fn inner(outer: Scope, depth: usize, head: &[Placed<'_>]) -> Scope {
    const TYPES: [&str; 10] = [
        "class",
        "struct",
        "union",
        "namespace",
        "extern",
        "trait",
        "impl",
        "mod",
        "interface",
        "protocol",
    ];
    const BEFORE_PARENTHESES: [&str; 4] = ["pub", "__attribute__", "alignas", "__declspec"];
    let words: Vec<&str> = head.iter().filter_map(|placed| word(placed.token)).collect();
    let has = |marks: &str| {
        head.iter().enumerate().any(|(at, placed)| {
            let is_it = matches!(placed.token, Token::Mark(mark) if marks.contains(mark));
            let before = at.checked_sub(1).and_then(|before| word(head[before].token));
            is_it && before.is_none_or(|before| !BEFORE_PARENTHESES.contains(&before))
        })
    };
    if outer == Scope::Body || depth > 0 || has("=") {
        Scope::Body
    } else if words.contains(&"enum") {
        Scope::Enumerators
    } else if words.iter().any(|word| TYPES.contains(word)) && (!has("(") || words[0] == "impl") {
        Scope::Members
    } else {
        Scope::Body
    }
}

/// C, C++, CUDA and their like.
fn c(around: &TokenContext<'_, '_>) -> Role {
    const NO_TYPES: [&str; 12] = [
        "return",
        "else",
        "goto",
        "case",
        "throw",
        "new",
        "delete",
        "sizeof",
        "operator",
        "public",
        "private",
        "namespace",
    ];
    const TYPES: [&str; 4] = ["struct", "class", "union", "enum"];
    if around.is_word(0, &TYPES) {
        return Role::Used;
    }
    if around.scope == Scope::Enumerators {
        let is_first = around.is_mark(-1, "{,");
        return if is_first { Role::Declared } else { Role::Used };
    }
    let is_method = around.is_mark(-1, ":") && around.is_mark(-2, ":") && around.is_mark(1, "(");
    let is_value = around.head.iter().any(|placed| placed.token == Token::Mark('='));
    if is_value && !around.is_mark(-1, ",") {
        return Role::Used;
    }
    if is_method {
        return Role::Method;
    }
    let has_type = around.head.iter().any(|placed| word(placed.token).is_some());
    let is_after_type = match around.token(-1) {
        Some(Token::Word(before)) => !NO_TYPES.contains(&before),
        Some(Token::Mark('*' | '&' | '>' | ',')) => has_type,
        // `typedef struct { … } NAME;`
        Some(Token::Mark('}')) => around.is_mark(1, ";"),
        _ => false,
    };
    let is_attribute = |word: &str| word.starts_with("__");
    let is_end =
        around.is_mark(1, "(;=,[{:") || around.token(1).and_then(word).is_some_and(is_attribute);
    let is_forward = around.is_word(-1, &TYPES) && around.is_mark(1, ";");
    let is_scope = around.is_mark(1, ":") && around.is_mark(2, ":");
    match is_after_type && is_end && !is_forward && !is_scope {
        true if around.is_mark(1, "(") => Role::Function,
        true => Role::Declared,
        false => Role::Used,
    }
}

fn rust(around: &TokenContext<'_, '_>) -> Role {
    const ITEMS: [&str; 9] =
        ["struct", "enum", "union", "trait", "mod", "const", "static", "type", "mut"];
    if around.is_word(-1, &["fn"]) {
        return Role::Function;
    }
    let is_item = around.is_word(-1, &ITEMS)
        || around.is_mark(-1, "!") && around.is_word(-2, &["macro_rules"]);
    let is_first = around.is_mark(-1, "{,)]") || around.is_word(-1, &["pub"]);
    let is_member = match around.scope {
        Scope::Enumerators => is_first,
        _ => is_first && around.is_mark(1, ":") && !around.is_mark(2, ":"),
    };
    if is_item || is_member { Role::Declared } else { Role::Used }
}

fn python(around: &TokenContext<'_, '_>) -> Role {
    if around.is_word(-1, &["def"]) {
        return Role::Function;
    }
    let is_assigned = around.is_mark(1, "=:") && !around.is_mark(2, "=");
    let is_global = around.tokens[around.at].column == 0;
    let is_own = around.is_mark(-1, ".") && around.is_word(-2, &["self", "cls"]);
    let is_declared = around.is_word(-1, &["class"]) || is_assigned && (is_global || is_own);
    if is_declared { Role::Declared } else { Role::Used }
}

/// Make, CMake, and files of no language that is known here.
fn build_file(around: &TokenContext<'_, '_>) -> Role {
    const SETTERS: [&str; 7] =
        ["set", "option", "add_library", "add_executable", "function", "macro", "define"];
    let is_first = around
        .at
        .checked_sub(1)
        .is_none_or(|before| around.tokens[before].line < around.tokens[around.at].line);
    let is_assigned =
        is_first && (around.is_mark(1, "=") || around.is_mark(1, ":?+!") && around.is_mark(2, "="));
    let is_set = around.is_mark(-1, "(") && around.is_word(-2, &SETTERS);
    if is_assigned || is_set { Role::Declared } else { Role::Used }
}

#[cfg(test)]
mod tests;

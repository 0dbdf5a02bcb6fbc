//! Reads the names in Rust code: what a module declares, defines and imports. It knows only
//! the parts of the language that rules about imports need. The text is well formed, because
//! `rustfmt` accepted it.

use std::collections::{BTreeMap, BTreeSet};

/// What one module declares and names. Everything below `#[cfg(test)]` is left out.
#[derive(Debug, Default)]
pub(super) struct Code {
    /// Modules in files of their own: `mod name;`.
    pub(super) files: BTreeSet<String>,
    /// Modules in the same file: `mod name { … }`.
    pub(super) inner: BTreeMap<String, Code>,
    /// Functions, types, traits, constants and statics.
    pub(super) items: BTreeSet<String>,
    /// One for each name of a `use` tree.
    pub(super) imports: Vec<Import>,
    /// Paths outside of `use`, such as `["super", "run", "Order"]`; a single word is one too.
    pub(super) paths: BTreeSet<Vec<String>>,
}

/// One imported name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// The path of the imported item, or of the module before `::*`.
    pub(super) path: Vec<String>,
    /// The name in the importing module; [`Import::ALL`] for `::*`.
    pub(super) name: String,
    /// Whether the name is exported again: `pub use`, `pub(super) use`.
    pub(super) is_public: bool,
}

impl Import {
    /// The name of an import of all that a module has.
    pub(super) const ALL: &str = "*";
}

impl Code {
    /// Reads a file.
    pub(super) fn of(text: &str) -> Self {
        Reader { tokens: tokens(text), at: 0 }.module()
    }

    /// Whether the code has this name, outside of `use` and `mod`.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.paths.iter().any(|path| path[0] == name)
    }

    /// Adds the names of another variant of this module, for another system.
    fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        self.inner.extend(other.inner);
        self.items.extend(other.items);
        self.imports.extend(other.imports);
        self.paths.extend(other.paths);
    }
}

const TEST_ONLY: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

struct Reader<'t> {
    tokens: Vec<&'t str>,
    at: usize,
}

impl<'t> Reader<'t> {
    /// The token that comes `ahead` of the next one; empty after the last.
    fn peek(&self, ahead: usize) -> &'t str {
        self.tokens.get(self.at + ahead).copied().unwrap_or_default()
    }

    fn next(&mut self) -> &'t str {
        let token = self.peek(0);
        self.at += 1;
        token
    }

    /// Reads to the end of the text, or to the `}` that ends an inner module.
    fn module(&mut self) -> Code {
        let mut code = Code::default();
        let mut depth = 0;
        let mut is_public = false;
        while self.at < self.tokens.len() {
            if self.tokens[self.at..].starts_with(&TEST_ONLY) {
                self.at += TEST_ONLY.len();
                self.skip_item();
                continue;
            }
            // A field or method, not the end of a range.
            let is_member = self.tokens[..self.at].ends_with(&["."])
                && !self.tokens[..self.at].ends_with(&[".", "."]);
            let was_public = std::mem::take(&mut is_public);
            match self.next() {
                "{" => depth += 1,
                "}" if depth == 0 => break,
                "}" => depth -= 1,
                "pub" => {
                    self.skip_scope();
                    is_public = true;
                }
                "mod" => self.inner_module(&mut code),
                // `impl Trait + use<'a>` imports nothing.
                "use" if self.peek(0) != "<" => {
                    self.imports(&[], was_public, &mut code.imports);
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" if depth == 0 => {
                    code.items.insert(self.peek(0).to_owned());
                }
                word if is_word(word) && !is_member => {
                    let path = self.path(word);
                    code.paths.insert(path);
                }
                _ => {}
            }
        }
        code
    }

    /// Skips the scope of `pub(super)` and `pub(in …)`.
    fn skip_scope(&mut self) {
        if self.peek(0) == "(" && ["crate", "super", "self", "in"].contains(&self.peek(1)) {
            while self.next() != ")" {}
        }
    }

    fn inner_module(&mut self, code: &mut Code) {
        let name = self.next().to_owned();
        if self.next() == "{" {
            let inner = self.module();
            code.inner.entry(name).or_default().extend(inner);
        } else {
            code.files.insert(name);
        }
    }

    /// The path that begins with this word.
    fn path(&mut self, first: &str) -> Vec<String> {
        let mut path = vec![first.to_owned()];
        while self.peek(0) == "::" && is_word(self.peek(1)) {
            self.next();
            path.push(self.next().to_owned());
        }
        path
    }

    /// Reads a `use` tree below `prefix`: `a::{b, c as d, e::*}`.
    fn imports(&mut self, prefix: &[String], is_public: bool, found: &mut Vec<Import>) {
        let mut path = prefix.to_vec();
        loop {
            match self.next() {
                "::" => {}
                "{" => {
                    while self.peek(0) != "}" {
                        self.imports(&path, is_public, found);
                        if self.peek(0) == "," {
                            self.next();
                        }
                    }
                    self.next();
                    return;
                }
                Import::ALL => {
                    found.push(Import { path, name: Import::ALL.to_owned(), is_public });
                    return;
                }
                word => {
                    path.push(word.to_owned());
                    if self.peek(0) == "::" {
                        continue;
                    }
                    if word == "self" {
                        path.pop();
                    }
                    let name = if self.peek(0) == "as" {
                        self.next();
                        self.next().to_owned()
                    } else {
                        path.last().cloned().unwrap_or_default()
                    };
                    found.push(Import { path, name, is_public });
                    return;
                }
            }
        }
    }

    /// Skips one item, statement or field.
    fn skip_item(&mut self) {
        let (mut depth, mut angles) = (0, 0);
        while self.at < self.tokens.len() {
            match self.peek(0) {
                "}" | ")" if depth == 0 => return,
                ";" if depth == 0 => break,
                "," if depth == 0 && angles == 0 => break,
                "}" if depth == 1 => break,
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                "<" if depth == 0 => angles += 1,
                ">" if depth == 0 => angles -= 1,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words and signs, without comments, literals and lifetimes.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let word = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (length, is_token) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end + 2), false)
        } else if let Some(length) = string(rest).or_else(|| quoted_char(rest)) {
            (length, false)
        } else if word > 0 {
            (word, true)
        } else if ["::", "->", "=>"].iter().any(|sign| rest.starts_with(sign)) {
            (2, true)
        } else {
            (first.len_utf8(), !first.is_whitespace())
        };
        let (token, after) = rest.split_at(length);
        tokens.extend(is_token.then_some(token));
        rest = after;
    }
    tokens
}

/// The length of the string literal at the beginning: `"…"`, `b"…"`, `r#"…"#`.
fn string(text: &str) -> Option<usize> {
    let letters = text.find(|c| !matches!(c, 'b' | 'c' | 'r'))?;
    let is_raw = text[..letters].ends_with('r');
    let hashes =
        if is_raw { text[letters..].bytes().take_while(|b| *b == b'#').count() } else { 0 };
    let inner = text[letters + hashes..].strip_prefix('"')?;
    let begin = text.len() - inner.len();
    if is_raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(begin + inner.find(&end)? + end.len());
    }
    let mut is_escaped = false;
    let end = inner.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some(begin + end + 1)
}

/// The length of the character literal or lifetime at the beginning.
fn quoted_char(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    if first == '\\' {
        return Some(1 + 2 + inner[2..].find('\'')? + 1);
    }
    let after = &inner[first.len_utf8()..];
    if after.starts_with('\'') {
        return Some(1 + first.len_utf8() + 1);
    }
    Some(1 + inner.find(|c: char| !c.is_alphanumeric() && c != '_')?)
}

#[test]
fn every_form_of_import_is_read() {
    let code = Code::of(
        r##"
        use std::fmt::{self, Write as _};
        pub(in crate::a) use super::{a::{B, C as D}, e::*};
        mod file;
        fn f<'a>(x: &'a str) -> impl Iterator + use<'a> { x.run(); crate::g::h::<u8>('\'', r#"x::y"#) }
        mod inner { use super::f; }
        // use crate::comment;
        #[cfg(test)]
        mod tests { use crate::test::T; }
        struct S { #[cfg(test)] t: crate::test::Map<u8, u8>, u: self::file::U }
        static S2: S = S { u: 1, ..crate::i::J };
        "##,
    );
    let import = |name: &str, path: &str, is_public| Import {
        path: path.split("::").map(str::to_owned).collect(),
        name: name.to_owned(),
        is_public,
    };
    let expected = [
        import("fmt", "std::fmt", false),
        import("_", "std::fmt::Write", false),
        import("B", "super::a::B", true),
        import("D", "super::a::C", true),
        import(Import::ALL, "super::e", true),
    ];
    assert_eq!(code.imports, expected);
    assert_eq!(code.inner["inner"].imports, [import("f", "super::f", false)]);
    assert_eq!(code.files, BTreeSet::from(["file".to_owned()]));
    assert_eq!(code.items, BTreeSet::from(["S", "S2", "f"].map(str::to_owned)));
    let long: Vec<String> =
        code.paths.iter().filter(|path| path.len() > 1).map(|path| path.join("::")).collect();
    assert_eq!(long, ["crate::g::h", "crate::i::J", "self::file::U"]);
    assert!(code.mentions("x") && !code.mentions("run") && !code.mentions("B"));
}

//! The role of a name at one place of a text: whether the place declares the name or uses it. One
//! function for each family of languages.

use super::tokens::{Placed, Token, word};

/// The role of a name at one place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Used,
    Declared,
    /// Declared with parameters.
    Function,
    /// `Class::method(` and the like: the class is declared elsewhere.
    Method,
}

/// The content of braces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Members of a type or of a module, or nothing yet.
    Members,
    Enumerators,
    /// Statements or values: names in it mean nothing outside.
    Body,
}

/// A token and the tokens around it.
pub(super) struct TokenContext<'a, 't> {
    pub(super) tokens: &'a [Placed<'t>],
    pub(super) at: usize,
    pub(super) scope: Scope,
    /// The tokens since the last end of a declaration.
    pub(super) head: &'a [Placed<'t>],
}

impl<'t> TokenContext<'_, 't> {
    fn token(&self, distance: isize) -> Option<Token<'t>> {
        let at = self.at.checked_add_signed(distance)?;
        self.tokens.get(at).map(|placed| placed.token)
    }

    pub(super) fn is_mark(&self, distance: isize, marks: &str) -> bool {
        matches!(self.token(distance), Some(Token::Mark(mark)) if marks.contains(mark))
    }

    pub(super) fn is_word(&self, distance: isize, words: &[&str]) -> bool {
        self.token(distance).and_then(word).is_some_and(|word| words.contains(&word))
    }
}

/// The content of the braces after these tokens.
pub(super) fn inner(outer: Scope, depth: usize, head: &[Placed<'_>]) -> Scope {
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
pub(super) fn c(around: &TokenContext<'_, '_>) -> Role {
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

pub(super) fn rust(around: &TokenContext<'_, '_>) -> Role {
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

pub(super) fn python(around: &TokenContext<'_, '_>) -> Role {
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
pub(super) fn build_file(around: &TokenContext<'_, '_>) -> Role {
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

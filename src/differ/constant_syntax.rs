//! Recognises assignments of constants in several languages, one line at a time.

use std::sync::LazyLock;

use regex::Regex;

use crate::git::pathspec;

/// A family of languages with the same syntax for constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Rust,
    Python,
    Cmake,
    Make,
}

/// An assignment: a name with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: String,
    /// With single spaces, without comments.
    pub(super) value: String,
    /// Whether the name is a variable, not a declared constant. Of a variable, only a new value is
    /// listed, not that the name was added or removed.
    pub(super) is_variable: bool,
}

/// Languages by file extension.
const ENDINGS: [(Language, &[&str]); 4] = [
    (
        Language::C,
        &[
            "c", "cc", "cl", "comp", "cpp", "cu", "cuh", "cxx", "glsl", "h", "hh", "hip", "hpp",
            "hxx", "inc", "inl", "ipp", "m", "metal", "mm",
        ],
    ),
    (Language::Rust, &["rs"]),
    (Language::Python, &["py", "pyi", "pyx"]),
    (Language::Make, &["mk", "mak"]),
];

/// Languages by whole file name, or by the suffix after `*`.
const NAMES: [(Language, &[&str]); 2] = [
    (Language::Cmake, &["CMakeLists.txt", "*.cmake", "*.cmake.in"]),
    (Language::Make, &["Makefile", "makefile", "GNUmakefile", "Makefile.am"]),
];

/// Git pathspecs of the files that can have constants.
pub(crate) fn pathspecs() -> Vec<String> {
    let endings = ENDINGS.iter().flat_map(|(_, endings)| *endings);
    let names = NAMES.iter().flat_map(|(_, names)| *names);
    let endings = endings.map(|ending| pathspec(&format!("**/*.{ending}")));
    endings.chain(names.map(|name| pathspec(&format!("**/{name}")))).collect()
}

/// Whether the name of the file says that it has code or build instructions.
pub(crate) fn is_code(path: &str) -> bool {
    Language::of(path).is_some()
}

impl Language {
    /// The language of the file at this path.
    pub(super) fn of(path: &str) -> Option<Self> {
        let file = path.rsplit('/').next().unwrap_or(path);
        let is_named = |name: &&str| match name.strip_prefix('*') {
            Some(end) => file.ends_with(end),
            None => file == *name,
        };
        let named = NAMES.iter().find(|(_, names)| names.iter().any(is_named));
        let ending = file.rsplit_once('.').map(|(_, ending)| ending);
        let ends = |(_, endings): &&(Self, &[&str])| {
            ending.is_some_and(|ending| endings.contains(&ending))
        };
        named.or_else(|| ENDINGS.iter().find(ends)).map(|(language, _)| *language)
    }

    /// The assignment in a line, if there is one.
    pub(super) fn read(self, line: &str) -> Option<Named> {
        if line.len() > LONGEST {
            return None;
        }
        let line = self.without_comment(line);
        let line = line.trim_end();
        let (name, value, is_variable) = match self {
            Self::C => c(line),
            Self::Rust => rust(line),
            Self::Python => python(line),
            Self::Cmake => cmake(line),
            Self::Make => make(line),
        }?;
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        is_whole(&value).then(|| Named { name: name.to_owned(), value, is_variable })
    }

    /// The line without comments.
    fn without_comment(self, line: &str) -> String {
        let (mut kept, mut rest) = (String::new(), line);
        while let Some(c) = rest.chars().next() {
            let slashes = matches!(self, Self::C | Self::Rust);
            if let Some(text) = TEXT.find(rest) {
                kept.push_str(text.as_str());
                rest = &rest[text.end()..];
                continue;
            }
            if slashes && rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => rest = &rest[end + 2..],
                    None => break,
                }
                continue;
            }
            if (slashes && rest.starts_with("//")) || (!slashes && c == '#') {
                break;
            }
            kept.push(c);
            rest = &rest[c.len_utf8()..];
        }
        kept
    }
}

/// Longer lines are skipped: they are tables or generated code.
const LONGEST: usize = 1000;

/// A quoted string at the beginning.
static TEXT: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"#));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant of ours")
}

type Assignment<'l> = Option<(&'l str, &'l str, bool)>;

fn c(line: &str) -> Assignment<'_> {
    static DEFINE: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^\s*#\s*define\s+(\w+)(?:\s+(.*))?$"));
    static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"^\s*[\w:<>,*&\s]*?\b(constexpr|constinit|const|constant|__constant__)\b[\w:<>,*&\s]*?\b(\w+)\s*(?:\[+[^\]]*\]+\s*)*(?:=\s*(.+?)|(\{.+\}))\s*;$",
        )
    });
    static DIMENSIONS: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^\s*(?:const(?:expr)?\s+)?dim3\s+(\w+)\s*(?:=\s*)?(.+?)\s*;$"));
    static ENUMERATOR: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^\s*([A-Z][A-Z0-9_]+)\s*=\s*([^=,;]+?)\s*,?$"));
    static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"^\s*(?:[A-Za-z_][\w:<>]*[\s*&]+)*([A-Za-z_][\w.]*(?:->[\w.]+)*)\s*=\s*([^=;]+?)\s*;$",
        )
    });
    if let Some(found) = DEFINE.captures(line) {
        // `#define MAX(a, b)` is not a constant.
        let name = found.get(1)?;
        let is_macro = line[name.end()..].starts_with('(');
        return (!is_macro)
            .then(|| (name.as_str(), found.get(2).map_or("", |value| value.as_str()), false));
    }
    if let Some(found) = DIMENSIONS.captures(line) {
        return Some((found.get(1)?.as_str(), found.get(2)?.as_str(), false));
    }
    if let Some(found) = DECLARED.captures(line) {
        let value = found.get(3).or_else(|| found.get(4))?.as_str();
        let is_known = matches!(&found[1], "constexpr" | "constinit") || is_plain(value);
        return is_known.then_some((found.get(2)?.as_str(), value, false));
    }
    if let Some(found) = ENUMERATOR.captures(line) {
        let value = found.get(2)?.as_str();
        return is_plain(value).then_some((found.get(1)?.as_str(), value, false));
    }
    let found = VARIABLE.captures(line)?;
    let value = found.get(2)?.as_str();
    is_literal(value).then_some((found.get(1)?.as_str(), value, true))
}

fn rust(line: &str) -> Assignment<'_> {
    static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static(?:\s+mut)?)\s+(\w+)\s*:[^=]+=\s*(.+?)\s*;$",
        )
    });
    static VARIABLE: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^\s*let\s+(?:mut\s+)?(\w+)\s*(?::[^=]+)?=\s*(.+?)\s*;$"));
    if let Some(found) = DECLARED.captures(line) {
        return Some((found.get(1)?.as_str(), found.get(2)?.as_str(), false));
    }
    let found = VARIABLE.captures(line)?;
    let value = found.get(2)?.as_str();
    is_literal(value).then_some((found.get(1)?.as_str(), value, true))
}

fn python(line: &str) -> Assignment<'_> {
    static ASSIGNED: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^(\s*)([A-Za-z_]\w*)\s*(?::[^=]+)?=\s*([^=].*)$"));
    let found = ASSIGNED.captures(line)?;
    let (name, value) = (found.get(2)?.as_str(), found.get(3)?.as_str());
    let is_top_level = found[1].is_empty();
    if (is_upper_case(name) && is_top_level)
        || ((is_upper_case(name) || is_top_level) && is_plain(value))
    {
        return Some((name, value, false));
    }
    // `num_warps=4,` in a call with one argument per line.
    let value = value.strip_suffix(',').unwrap_or(value);
    is_literal(value).then_some((name, value, true))
}

fn cmake(line: &str) -> Assignment<'_> {
    static OPTION: LazyLock<Regex> = LazyLock::new(|| {
        regex(r#"(?i)^\s*option\s*\(\s*(\w+)\s+(?:"(?:\\.|[^"\\])*"|[^\s")]+)\s*([^\s)]*)\s*\)$"#)
    });
    static SET: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"(?i)^\s*set\s*\(\s*([\w.-]+)\s+(.*?)(?:\s+(?:CACHE\s.*|PARENT_SCOPE\s*))?\)$")
    });
    if let Some(found) = OPTION.captures(line) {
        let value = found.get(2).map_or("", |value| value.as_str());
        // CMake's own default.
        return Some((found.get(1)?.as_str(), if value.is_empty() { "OFF" } else { value }, false));
    }
    let found = SET.captures(line)?;
    Some((found.get(1)?.as_str(), found.get(2)?.as_str(), false))
}

fn make(line: &str) -> Assignment<'_> {
    static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"^ *(?:export +|override +)?([A-Za-z_][\w.-]*)\s*(?:::?:?|[+?!])?=\s*(.*)$")
    });
    let found = ASSIGNED.captures(line)?;
    Some((found.get(1)?.as_str(), found.get(2)?.as_str(), false))
}

/// Whether the value ends on this line.
fn is_whole(value: &str) -> bool {
    let mut depth = 0_i32;
    let mut rest = value;
    while let Some(c) = rest.chars().next() {
        if let Some(text) = TEXT.find(rest) {
            rest = &rest[text.end()..];
            continue;
        }
        depth += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
        rest = &rest[c.len_utf8()..];
    }
    depth == 0 && !value.ends_with(['\\', ',', '+', '*', '/', '|', '&', '<'])
}

/// Whether a word is in capitals, as constants are: `BLOCK_M`.
fn is_upper_case(word: &str) -> bool {
    let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    word.chars().all(is_upper) && word.contains(|c: char| c.is_ascii_uppercase())
}

/// Whether a value is known before run time: numbers, strings, other constants, casts.
fn is_plain(value: &str) -> bool {
    const KNOWN: [&str; 22] = [
        "char",
        "double",
        "false",
        "float",
        "half",
        "infinity",
        "inf",
        "int",
        "limits",
        "long",
        "max",
        "min",
        "nullptr",
        "numeric_limits",
        "short",
        "size_t",
        "sizeof",
        "static_cast",
        "std",
        "true",
        "unsigned",
        "None",
    ];
    let is_type = |word: &str| word.ends_with("_t") || word.ends_with("_MAX");
    let is_k = |word: &str| {
        word.strip_prefix('k')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    words(value).iter().all(|word| {
        let word = word.as_str();
        is_upper_case(word)
            || KNOWN.contains(&word)
            || is_type(word)
            || is_k(word)
            || is_truth(word)
    })
}

/// Whether a value consists only of numbers, strings, truth values and null values.
fn is_literal(value: &str) -> bool {
    words(value).iter().all(|word| is_truth(word)) && !value.contains(['[', '{'])
}

fn is_truth(word: &str) -> bool {
    ["true", "false", "True", "False", "nullptr", "NULL", "None"].contains(&word)
}

/// The names in an expression.
fn words(value: &str) -> Vec<String> {
    static NEITHER: LazyLock<Regex> = LazyLock::new(|| {
        let text = r#""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"#;
        let number = r"\b(?:0[xX][0-9a-fA-F_']+|\d[\d_']*\.?\d*(?:[eE][-+]?\d+)?|\.\d+)(?:[uUlLfFhHzZ]|_?[iuf]\d+|_?usize)*\b\.?";
        regex(&format!("{text}|{number}"))
    });
    static WORD: LazyLock<Regex> = LazyLock::new(|| regex(r"[A-Za-z_]\w*"));
    let bare = NEITHER.replace_all(value, " ");
    WORD.find_iter(&bare).map(|word| word.as_str().to_owned()).collect()
}

#[cfg(test)]
mod tests;

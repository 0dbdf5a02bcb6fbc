//! A small parser of Makefiles: variables, rules, and the simple functions on lists. The
//! output of `$(shell …)` is unknown. Both branches of a condition are read.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::super::tree::{Tree, base, inside, join};

/// The deepest nesting of variables.
const DEEPEST: usize = 12;
/// The most bytes that all expansions may yield. Only a variable that contains itself needs
/// more.
const MOST: usize = 8 << 20;
/// The longest value that may repeat an older value of the same variable, bytes. A value that
/// doubles on every line would fill the memory; beyond this it is unknown.
const LONGEST: usize = 64 << 10;
/// A value that is not known. No reader understands it, so it stays in the text.
const UNKNOWN: &str = "$(shell)";

/// One rule. Variables are expanded later.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) targets: String,
    /// The target pattern of a static pattern rule: `%.o` in `$(OBJ): %.o: %.c`.
    pub(super) pattern: Option<String>,
    pub(super) needs: String,
    pub(super) recipe: Vec<String>,
    pub(super) file: String,
    pub(super) line: usize,
}

/// A parsed Makefile, with the files that it includes.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    variables: HashMap<String, String>,
    files: HashSet<String>,
    /// The bytes that expansions have yielded so far.
    spent: Cell<usize>,
    /// Tracked files below the Makefile's folder, relative to it.
    below: Vec<String>,
    /// Results of `wildcard`, by pattern.
    globs: RefCell<HashMap<String, String>>,
    pub(super) rules: Vec<Rule>,
}

impl Makefile {
    /// Parses a file and the files that it includes.
    pub(super) fn read(tree: &Tree, folder: &str, file: &str) -> Self {
        let mut makefile = Self::default();
        makefile.variables.insert("CURDIR".to_owned(), ".".to_owned());
        makefile.below = tree.below(folder).map(|file| inside(folder, file).to_owned()).collect();
        makefile.add(tree, folder, file);
        makefile
    }

    fn add(&mut self, tree: &Tree, folder: &str, file: &str) {
        if !self.files.insert(file.to_owned()) {
            return;
        }
        let Some(text) = tree.text(file) else { return };
        let mut is_defining = false;
        for (number, line) in logical_lines(&text) {
            if let Some(command) = line.strip_prefix('\t') {
                if let Some(rule) = self.rules.last_mut() {
                    rule.recipe.push(command.trim().to_owned());
                }
                continue;
            }
            let line = without_comment(&line);
            let word = line.split_whitespace().next().unwrap_or_default();
            match word {
                "define" => is_defining = true,
                "endef" => is_defining = false,
                _ if is_defining => {}
                "" | "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif" | "vpath"
                | "unexport" => {}
                "include" | "-include" | "sinclude" => {
                    let names = self.expand(&line[word.len()..], &[]);
                    for name in names.split_whitespace() {
                        self.add(tree, folder, &join(folder, name));
                    }
                }
                _ => self.statement(line, file, number),
            }
        }
    }

    fn statement(&mut self, line: &str, file: &str, number: usize) {
        if let Some((name, operator, value)) = assignment(line) {
            let known = self.variables.get(name).cloned();
            let value = match (operator, known) {
                ("+=", Some(known)) => format!("{known} {value}"),
                ("?=", Some(known)) => known,
                ("!=", _) => UNKNOWN.to_owned(),
                (_, Some(known)) => {
                    with_old_value(name, value, &known).unwrap_or_else(|| UNKNOWN.to_owned())
                }
                (_, None) => value.to_owned(),
            };
            self.variables.insert(name.to_owned(), value);
        } else if let Some((targets, rest)) = split_rule(line) {
            let rest = rest.trim_start_matches(':');
            // A variable that is set for one target only.
            if assignment(rest).is_some() {
                return;
            }
            let (rest, command) = rest.split_once(';').unwrap_or((rest, ""));
            let (pattern, needs) = match split_rule(rest) {
                Some((pattern, needs)) => (Some(pattern.trim().to_owned()), needs),
                None => (None, rest),
            };
            let recipe = (!command.trim().is_empty()).then(|| command.trim().to_owned());
            self.rules.push(Rule {
                targets: targets.to_owned(),
                pattern,
                needs: needs.replace('|', " "),
                recipe: recipe.into_iter().collect(),
                file: file.to_owned(),
                line: number,
            });
        }
    }

    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// The words of a text with variables replaced. Values in `given` take precedence, as on make's
    /// command line.
    pub(super) fn words(&self, text: &str, given: &[(&str, &str)]) -> Vec<String> {
        self.expand(text, given).split_whitespace().map(str::to_owned).collect()
    }

    /// The text with variables replaced. References that are not understood stay as they are.
    pub(super) fn expand(&self, text: &str, given: &[(&str, &str)]) -> String {
        self.expand_to(text, given, 0)
    }

    fn expand_to(&self, text: &str, given: &[(&str, &str)], depth: usize) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let Some((inner, length)) = reference(rest) else {
                // `$@`, `$$`, or a dollar at the end.
                let length = rest.chars().take(2).map(char::len_utf8).sum();
                out.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            };
            let may = depth < DEEPEST && self.spent.get() < MOST;
            match may.then(|| self.value(inner, given, depth)).flatten() {
                Some(value) => {
                    self.spent.set(self.spent.get() + value.len() + 1);
                    out.push_str(&value);
                }
                None => out.push_str(&rest[..length]),
            }
            rest = &rest[length..];
        }
        out.push_str(rest);
        out
    }

    /// The tracked files that match a pattern, separated by spaces.
    fn matches(&self, pattern: &str) -> String {
        if let Some(known) = self.globs.borrow().get(pattern) {
            return known.clone();
        }
        let options = glob::MatchOptions { require_literal_separator: true, ..Default::default() };
        let found = glob::Pattern::new(pattern.trim_start_matches("./")).map_or_else(
            |_| String::new(),
            |glob| {
                let fits = |file: &&String| glob.matches_with(file, options);
                self.below.iter().filter(fits).map(String::as_str).collect::<Vec<_>>().join(" ")
            },
        );
        self.globs.borrow_mut().insert(pattern.to_owned(), found.clone());
        found
    }

    /// The value of a reference, from the text between its brackets.
    fn value(&self, inner: &str, given: &[(&str, &str)], depth: usize) -> Option<String> {
        let expand = |text: &str| self.expand_to(text, given, depth + 1);
        if let Some((function, arguments)) = inner.split_once([' ', '\t']) {
            if function == "wildcard" {
                let patterns = expand(arguments);
                return each(&patterns, |pattern| self.matches(pattern));
            }
            return call(function, &split_arguments(arguments), &expand);
        }
        let variable = |name: &str| -> Option<String> {
            match given.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => Some((*value).to_owned()),
                None => self.variables.get(name).map(|raw| expand(raw)),
            }
        };
        match inner.split_once(':').filter(|(_, change)| change.contains('=')) {
            Some((name, change)) => {
                let (from, to) = change.split_once('=')?;
                let (from, to) = (expand(from), expand(to));
                let words = variable(name)?;
                let suffix = !from.contains('%');
                let (from, to) =
                    if suffix { (format!("%{from}"), format!("%{to}")) } else { (from, to) };
                each(&words, |word| substitute(&from, &to, word))
            }
            None => variable(&expand(inner)),
        }
    }
}

/// Lines joined at a trailing backslash, each with the number of its first line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let (number, mut so_far) = open.take().unwrap_or((index + 1, String::new()));
        let (part, continues) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        so_far.push_str(if so_far.is_empty() { part } else { part.trim_start() });
        if continues {
            so_far.push(' ');
            open = Some((number, so_far));
        } else {
            lines.push((number, so_far));
        }
    }
    lines.extend(open);
    lines
}

fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            '#' if !escaped => return line[..at].trim_end(),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    line.trim_end()
}

/// The name, operator and value of an assignment; `None` if the line is none.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let mut line = line.trim_start();
    for prefix in ["export ", "override "] {
        line = line.strip_prefix(prefix).unwrap_or(line).trim_start();
    }
    let at = line.find('=')?;
    let (before, value) = (&line[..at], &line[at + 1..]);
    let name = before.trim_end_matches([':', '?', '+', '!']);
    let operator = if before.len() == name.len() { "=" } else { &line[name.len()..=at] };
    let name = name.trim();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(is_name))
        .then(|| (name, operator.trim_start(), value.trim()))
}

/// Splits a line at the first colon outside brackets.
fn split_rule(line: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, c) in line.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return Some((&line[..at], &line[at + 1..])),
            _ => {}
        }
    }
    None
}

/// The inner text of the `$(…)` or `${…}` that a text begins with, and the length of the whole
/// reference.
fn reference(text: &str) -> Option<(&str, usize)> {
    let close = match text.as_bytes().get(1)? {
        b'(' => ')',
        b'{' => '}',
        _ => return None,
    };
    let open = if close == ')' { '(' } else { '{' };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().skip(1) {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some((&text[2..at], at + 1));
            }
        }
    }
    None
}

fn split_arguments(text: &str) -> Vec<&str> {
    let mut arguments = Vec::new();
    let (mut depth, mut begin) = (0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                arguments.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    arguments.push(&text[begin..]);
    arguments
}

/// The value of a known function on words; `None` for every other function.
fn call(name: &str, arguments: &[&str], expand: &dyn Fn(&str) -> String) -> Option<String> {
    let arguments: Vec<String> = arguments.iter().map(|text| expand(text)).collect();
    match (name, arguments.as_slice()) {
        ("addprefix", [prefix, words]) => each(words, |w| format!("{}{w}", prefix.trim())),
        ("addsuffix", [suffix, words]) => each(words, |w| format!("{w}{}", suffix.trim())),
        ("patsubst", [from, to, words]) => {
            each(words, |word| substitute(from.trim(), to.trim(), word))
        }
        ("notdir", [words]) => each(words, |word| base(word).to_owned()),
        ("sort" | "strip" | "abspath" | "realpath", [words]) => Some(words.trim().to_owned()),
        _ => None,
    }
}

/// The changed words, separated by spaces; `None` if they are too long together.
fn each(words: &str, change: impl Fn(&str) -> String) -> Option<String> {
    let mut all = String::new();
    for word in words.split_whitespace() {
        if !all.is_empty() {
            all.push(' ');
        }
        all.push_str(&change(word));
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

/// The value of an assignment in which the variable itself stands for its old value:
/// `CFLAGS := $(CFLAGS) -O3`. `None` if it gets too long.
fn with_old_value(name: &str, value: &str, old: &str) -> Option<String> {
    let mut value = value.to_owned();
    for reference in [format!("$({name})"), format!("${{{name}}}")] {
        let count = value.matches(&reference).count();
        if count == 0 {
            continue;
        }
        if value.len() + count * old.len() > LONGEST {
            return None;
        }
        value = value.replace(&reference, old);
    }
    Some(value)
}

/// Replaces the `%` of `to` by the stem: the part of the word that the `%` of `from` matches. The
/// word itself if it does not match `from`.
pub(super) fn substitute(from: &str, to: &str, word: &str) -> String {
    stem_of(from, word).map_or_else(|| word.to_owned(), |stem| to.replacen('%', stem, 1))
}

/// The part of a word that the `%` of a pattern matches.
pub(super) fn stem_of<'w>(pattern: &str, word: &'w str) -> Option<&'w str> {
    let (before, behind) = pattern.split_once('%')?;
    word.strip_prefix(before)?.strip_suffix(behind)
}

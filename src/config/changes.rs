//! Changes that options of one command make to a configuration: `--set KEY=VALUE` and `--arg
//! MEASURE=WORDS`. They change the tree of the file before it is read. The place of each changed
//! value is its option, so that messages name the option.

use toml_edit::{Key, Value};

use crate::evaluation::{FormName, OptionChange};

use super::document::{self, Data, Entry, Node, Table};
use super::merge::{NAMED, merge_over};
use super::problem::{Location, Problem, no_measure};

/// The options of one command that change its configuration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changes<'a> {
    /// Each `KEY=VALUE` of `--set`.
    pub set: &'a [String],
    /// Each `MEASURE=WORDS` of `--arg`.
    pub arg: &'a [String],
}

/// Keys of a `[[require]]`, which has exactly one of them.
const REQUIRE_FORMS: [&str; 2] = ["pattern", "checks"];

/// Splits `KEY=VALUE` into the parts of the dotted key and the value. A value that is not TOML is
/// a string.
///
/// # Errors
/// The reason why the text is refused.
pub(crate) fn key_and_value(written: &str) -> Result<(Vec<String>, Value), &'static str> {
    let (key, value) = written.split_once('=').ok_or("write KEY=VALUE")?;
    let keys = Key::parse(key).map_err(|_| "the key is not one of TOML's")?;
    let keys = keys.iter().map(|key| key.get().to_owned()).collect();
    let value = value.trim();
    Ok((keys, value.parse().unwrap_or_else(|_| Value::from(value))))
}

/// `KEY=VALUE` as [`key_and_value`] reads it, for a value that is text.
pub(crate) fn assignment(keys: &[&str], value: &str) -> String {
    let keys: Vec<String> = keys.iter().map(|key| Key::new(*key).to_string()).collect();
    format!("{}={}", keys.join("."), Value::from(value))
}

/// Applies each `--set` to a tree that still has its overrides. The value counts at every commit,
/// so overrides lose the keys that are set.
pub(super) fn set_all(
    document: &mut Node,
    set: &[String],
    problems: &mut Vec<Problem>,
) -> Vec<OptionChange> {
    let mut changes = Vec::new();
    for written in set {
        let option = CommandOption::new("--set", written);
        match option.set(document, written, problems) {
            Ok(change) => changes.push(change),
            Err(what) => problems.push(option.problem(what)),
        }
    }
    changes
}

/// Appends the words of each `--arg` to the measure's command and to the commands that overrides
/// give the measure. The tree must be valid without these words.
pub(super) fn append_all(
    document: &mut Node,
    args: &[String],
    problems: &mut Vec<Problem>,
) -> Vec<OptionChange> {
    let mut changes = Vec::new();
    for written in args {
        let option = CommandOption::new("--arg", written);
        match option.append(document, written) {
            Ok(change) => changes.push(change),
            Err(what) => problems.push(option.problem(what)),
        }
    }
    changes
}

/// One option as typed.
struct CommandOption {
    text: String,
    place: Location,
}

impl CommandOption {
    fn new(name: &str, written: &str) -> Self {
        let text = format!("{name} {}", typed(written));
        let place = Location { file: text.as_str().into(), line: 0, column: 0 };
        Self { text, place }
    }

    fn problem(&self, what: String) -> Problem {
        Problem { place: self.place.clone(), key: String::new(), what, is_missing: false }
    }

    fn change(&self, former: Option<String>, overrides: usize) -> OptionChange {
        OptionChange { option: self.text.clone(), former, overrides }
    }

    /// Applies `--set`; the error says why it is refused.
    fn set(
        &self,
        document: &mut Node,
        written: &str,
        problems: &mut Vec<Problem>,
    ) -> Result<OptionChange, String> {
        let (keys, value) = key_and_value(written)?;
        let words: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut leaf = self.leaf(&value);
        self.mark(&mut leaf);
        let (former, overrides) = match words.as_slice() {
            ["build", "cmake" | "cargo" | "make" | "target"] => {
                return Err("is not a key of oracle.toml: `init` builds a command from it. Set \
                            build.commands"
                    .to_owned());
            }
            ["override" | "patch" | "overlay", ..] => {
                return Err("cannot be set by an option: write it into the file".to_owned());
            }
            ["guard", metric @ .., key] if !metric.is_empty() => {
                // The name of a metric may contain a dot.
                let metric = metric.join(".");
                (self.set_in_list(document, "guard", ("metric", &metric), key, leaf)?, 0)
            }
            ["require", measure, key] => {
                (self.set_in_list(document, "require", ("measure", measure), key, leaf)?, 0)
            }
            [list @ ("guard" | "require" | "measure" | "prepare")]
            | [list @ ("guard" | "require" | "measure" | "prepare"), _] => {
                return Err(format!("name the {list} and its key: {list}.NAME.KEY"));
            }
            _ => {
                let former = find(document, &words).map(Node::to_toml_value);
                let tree = self.tree(&words, leaf);
                merge_over(document, &tree, "", problems);
                (former, strip_overrides(document, &tree))
            }
        };
        Ok(self.change(former, overrides))
    }

    /// The value as a node.
    fn leaf(&self, value: &Value) -> Node {
        let mut none = Vec::new();
        let mut parsed = document::parse(&format!("value = {value}"), &self.text, &mut none);
        let entry = parsed.table_mut().and_then(|table| table.remove("value"));
        entry.map(|entry| entry.value).unwrap_or_default()
    }

    /// Gives a tree this option as its place.
    fn mark(&self, node: &mut Node) {
        node.place = self.place.clone();
        match &mut node.data {
            Data::List(items) => items.iter_mut().for_each(|item| self.mark(item)),
            Data::Table(table) => {
                for entry in &mut table.0 {
                    entry.place = self.place.clone();
                    self.mark(&mut entry.value);
                }
            }
            _ => {}
        }
    }

    /// The tables around a value.
    fn tree(&self, keys: &[&str], leaf: Node) -> Node {
        keys.iter().rev().fold(leaf, |inner, key| {
            let entry = Entry { key: (*key).to_owned(), place: self.place.clone(), value: inner };
            Node { place: self.place.clone(), data: Data::Table(Table(vec![entry])) }
        })
    }

    /// Sets a key of the `[[list]]` entry with this name, created if there is none. Removes the
    /// other forms of a guard or requirement. Returns what the entry had.
    fn set_in_list(
        &self,
        document: &mut Node,
        list: &str,
        (name_key, name): (&str, &str),
        key: &str,
        leaf: Node,
    ) -> Result<Option<String>, String> {
        let guard_forms = FormName::ALL.map(FormName::key);
        let forms: &[&str] = if list == "guard" { &guard_forms } else { &REQUIRE_FORMS };
        let Some(root) = document.table_mut() else { return Ok(None) };
        if root.get(list).is_none() {
            let value = Node { place: self.place.clone(), data: Data::List(Vec::new()) };
            let entry = Entry { key: list.to_owned(), place: self.place.clone(), value };
            root.0.push(entry);
        }
        let Some(Node { data: Data::List(tables), .. }) = root.get_mut(list) else {
            return Err(format!("{list} is not an array of tables"));
        };
        let is_it =
            |node: &Node| node.table().and_then(|table| table.get(name_key)?.text()) == Some(name);
        let at = tables.iter().position(is_it).unwrap_or_else(|| {
            let name = Node { place: self.place.clone(), data: Data::Text(name.to_owned()) };
            tables.push(self.tree(&[name_key], name));
            tables.len() - 1
        });
        let Some(table) = tables[at].table_mut() else { return Ok(None) };
        let mut former = table.remove(key).map(|entry| entry.value.to_toml_value());
        if forms.contains(&key) {
            for form in forms {
                if let Some(old) = table.remove(form) {
                    former = Some(format!("{form} = {}", old.value.to_toml_value()));
                }
            }
        }
        let place = self.place.clone();
        table.0.push(Entry { key: key.to_owned(), place, value: leaf });
        Ok(former)
    }

    /// Applies `--arg`; the error says why it is refused.
    fn append(&self, document: &mut Node, written: &str) -> Result<OptionChange, String> {
        let (measure, words) = written.split_once('=').ok_or("write MEASURE='WORDS'")?;
        // Checked alone: an open quote here could pair with a quote of the command.
        match shlex::split(words) {
            None => return Err("a quote is never closed".to_owned()),
            Some(words) if words.is_empty() => return Err("has no words to append".to_owned()),
            Some(_) => {}
        }
        let Some(root) = document.table_mut() else { return Err(no_measure(measure, [])) };
        let Some(Node { data: Data::List(measures), .. }) = root.get_mut("measure") else {
            return Err(no_measure(measure, []));
        };
        let name = |node: &Node| node.table()?.get("name")?.text().map(str::to_owned);
        let names: Vec<String> = measures.iter().filter_map(name).collect();
        let found = measures.iter_mut().find(|node| name(node).as_deref() == Some(measure));
        let Some(found) = found else {
            return Err(no_measure(measure, names.iter().map(String::as_str)));
        };
        if let Some(command) = found.table_mut().and_then(|table| table.get_mut("command")) {
            self.append_to(command, words);
        }
        let mut overrides = 0;
        if let Some(Node { data: Data::List(bodies), .. }) = root.get_mut("override") {
            for body in bodies {
                let command = find_mut(body, &["measure", measure, "command"]);
                let is_changed = command.is_some_and(|command| self.append_to(command, words));
                overrides += usize::from(is_changed);
            }
        }
        Ok(self.change(None, overrides))
    }

    /// Appends to a command; returns false if it is not a string.
    fn append_to(&self, command: &mut Node, words: &str) -> bool {
        let Node { place, data: Data::Text(text) } = command else { return false };
        // A new line ends a comment that the command may end with.
        text.push(if text.contains('#') { '\n' } else { ' ' });
        text.push_str(words.trim());
        *place = self.place.clone();
        true
    }
}

/// The argument as a user could type it: `ppl='-ctk q8_0'`.
fn typed(written: &str) -> String {
    // Only a NUL cannot be quoted, and no argument has one.
    let quoted = |text: &str| shlex::try_quote(text).unwrap_or_default().into_owned();
    let is_plain = |key: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !key.is_empty() && key.chars().all(is_plain)
    };
    match written.split_once('=') {
        Some((key, value)) if is_plain(key) => format!("{key}={}", quoted(value)),
        _ => quoted(written),
    }
}

/// Removes the keys of `tree` from every override, and overrides that are left without a change.
/// Returns how many overrides lost a key.
fn strip_overrides(document: &mut Node, tree: &Node) -> usize {
    let Some(root) = document.table_mut() else { return 0 };
    let Some(Node { data: Data::List(bodies), .. }) = root.get_mut("override") else { return 0 };
    let (Some(keys), mut count) = (tree.table(), 0) else { return 0 };
    bodies.retain_mut(|body| {
        let Some(table) = body.table_mut() else { return true };
        let is_changed = strip(table, keys);
        count += usize::from(is_changed);
        !is_changed || table.0.iter().any(|entry| entry.key != "when")
    });
    if bodies.is_empty() {
        root.remove("override");
    }
    count
}

/// Removes the keys of `keys` from `table`, and tables that become empty. Returns whether a key
/// was removed.
fn strip(table: &mut Table, keys: &Table) -> bool {
    let mut is_changed = false;
    for entry in &keys.0 {
        let inner = table.get_mut(&entry.key).and_then(Node::table_mut);
        match (inner, entry.value.table()) {
            (Some(inner), Some(keys)) => {
                if strip(inner, keys) {
                    is_changed = true;
                    if inner.0.is_empty() {
                        table.remove(&entry.key);
                    }
                }
            }
            _ => is_changed |= table.remove(&entry.key).is_some(),
        }
    }
    is_changed
}

/// The node at a path; a measure or prepare step is found by its name.
fn find<'d>(node: &'d Node, keys: &[&str]) -> Option<&'d Node> {
    let [key, rest @ ..] = keys else { return Some(node) };
    let inner = node.table()?.get(key)?;
    match (&inner.data, rest) {
        (Data::List(items), [name, rest @ ..]) if NAMED.contains(key) => {
            let is_it =
                |item: &&Node| item.table().and_then(|t| t.get("name")?.text()) == Some(*name);
            find(items.iter().find(is_it)?, rest)
        }
        _ => find(inner, rest),
    }
}

fn find_mut<'d>(node: &'d mut Node, keys: &[&str]) -> Option<&'d mut Node> {
    let [key, rest @ ..] = keys else { return Some(node) };
    find_mut(node.table_mut()?.get_mut(key)?, rest)
}

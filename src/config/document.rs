//! A TOML text as an owned tree. Every key and value knows its place, so a message names the
//! right file and line even after the trees of several files are merged.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml::value::Datetime;

use super::problem::{Location, Problem};

/// A value and its place in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) place: Location,
    pub(super) data: Data,
}

/// TOML's types.
#[derive(Clone, Debug)]
pub(super) enum Data {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    Date(Datetime),
    List(Vec<Node>),
    Table(Table),
}

impl Default for Data {
    fn default() -> Self {
        Self::Table(Table::default())
    }
}

/// A table in the order of its file.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(pub(super) Vec<Entry>);

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Location,
    pub(super) value: Node,
}

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|f| f.key == key).map(|f| &f.value)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.0.iter_mut().find(|f| f.key == key).map(|f| &mut f.value)
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.0.iter().position(|f| f.key == key)?;
        Some(self.0.remove(at))
    }
}

impl Node {
    pub(super) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn table(&self) -> Option<&Table> {
        match &self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(super) fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The type of the value for messages, with its article: `a string`.
    pub(super) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Text(_) => "a string",
            Data::Integer(_) => "an integer",
            Data::Float(_) => "a float",
            Data::Flag(_) => "a boolean",
            Data::Date(_) => "a date",
            Data::List(_) => "an array",
            Data::Table(_) => "a table",
        }
    }

    /// Whether this tree has a key or value at `place`.
    pub(super) fn has(&self, place: &Location) -> bool {
        self.place == *place
            || match &self.data {
                Data::List(items) => items.iter().any(|n| n.has(place)),
                Data::Table(table) => {
                    table.0.iter().any(|f| f.place == *place || f.value.has(place))
                }
                _ => false,
            }
    }

    /// The tree as TOML again; comments and layout are gone.
    pub(super) fn to_toml(&self) -> String {
        match self.to_value() {
            toml::Value::Table(table) => {
                toml::to_string(&table).expect("every tree that was read can be written")
            }
            other => other.to_string(),
        }
    }

    /// A value as TOML on one line.
    pub(super) fn to_toml_value(&self) -> String {
        self.to_value().to_string()
    }

    fn to_value(&self) -> toml::Value {
        match &self.data {
            Data::Text(text) => text.clone().into(),
            Data::Integer(x) => (*x).into(),
            Data::Float(x) => (*x).into(),
            Data::Flag(x) => (*x).into(),
            Data::Date(x) => (*x).into(),
            Data::List(items) => items.iter().map(Self::to_value).collect::<Vec<_>>().into(),
            Data::Table(table) => toml::Value::Table(
                table.0.iter().map(|f| (f.key.clone(), f.value.to_value())).collect(),
            ),
        }
    }
}

/// Parses a text. Parts that are not valid TOML are reported and left out.
pub(super) fn parse(text: &str, file: &str, problems: &mut Vec<Problem>) -> Node {
    let (tree, errors) = DeTable::parse_recoverable(text);
    let mut reader = TreeReader { text, file: file.into(), lines: line_starts(text), problems };
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        reader.report_problem(at, format!("not valid TOML: {}", error.message()));
    }
    let place = reader.place(tree.span().start);
    let table = reader.table(tree.into_inner());
    Node { place, data: Data::Table(table) }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

struct TreeReader<'a> {
    text: &'a str,
    file: Arc<str>,
    lines: Vec<usize>,
    problems: &'a mut Vec<Problem>,
}

impl TreeReader<'_> {
    fn place(&self, at: usize) -> Location {
        let at = at.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines[line - 1];
        let column = self.text.get(start..at).map_or(at - start, |s| s.chars().count()) + 1;
        Location { file: Arc::clone(&self.file), line, column }
    }

    fn report_problem(&mut self, at: usize, what: String) {
        let place = self.place(at);
        self.problems.push(Problem { place, key: String::new(), what, is_missing: false });
    }

    fn table(&mut self, table: DeTable<'_>) -> Table {
        let fields = table.into_iter().map(|(key, value)| Entry {
            place: self.place(key.span().start),
            key: key.into_inner().into_owned(),
            value: self.node(value),
        });
        Table(fields.collect())
    }

    fn node(&mut self, value: Spanned<DeValue<'_>>) -> Node {
        let at = value.span().start;
        let data = match value.into_inner() {
            DeValue::String(text) => Data::Text(text.into_owned()),
            DeValue::Integer(x) => {
                Data::Integer(i64::from_str_radix(x.as_str(), x.radix()).unwrap_or_else(|_| {
                    self.report_problem(at, "the integer does not fit into 64 bits.".to_owned());
                    i64::MAX
                }))
            }
            // The TOML parser has checked the grammar. A number that overflows parses to an
            // infinity, which numeric keys refuse.
            DeValue::Float(x) => Data::Float(x.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(x) => Data::Flag(x),
            DeValue::Datetime(x) => Data::Date(x),
            DeValue::Array(items) => {
                Data::List(items.into_iter().map(|item| self.node(item)).collect())
            }
            DeValue::Table(table) => Data::Table(self.table(table)),
        };
        Node { place: self.place(at), data }
    }
}

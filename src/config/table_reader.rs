//! Typed access to a table of the tree. A problem is reported, and reading goes on.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Template;
use super::document::{Data, Table};
use super::field::Field;
use super::problem::{Location, did_you_mean};
use super::reader::Reader;

/// A table that is being read. [`TableReader::finish`] reports the keys that no code asked for.
#[derive(Debug)]
pub(super) struct TableReader<'d> {
    pub(super) key: String,
    pub(super) place: &'d Location,
    table: &'d Table,
    known: Vec<&'static str>,
    later: Vec<&'static str>,
    elsewhere: Vec<(&'static str, &'static str)>,
}

impl<'d> TableReader<'d> {
    pub(super) fn new(key: &str, place: &'d Location, table: &'d Table) -> Self {
        Self {
            key: key.to_owned(),
            place,
            table,
            known: Vec::new(),
            later: Vec::new(),
            elsewhere: Vec::new(),
        }
    }

    fn dotted(&self, key: &str) -> String {
        if self.key.is_empty() { key.to_owned() } else { format!("{}.{key}", self.key) }
    }

    /// The value of an optional key.
    pub(super) fn get(&mut self, key: &'static str) -> Option<Field<'d>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key).map(|node| Field { key: self.dotted(key), node })
    }

    /// The value of a required key. Reports the key if it is missing, with a line that may be
    /// copied.
    pub(super) fn need(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
        line: &str,
    ) -> Option<Field<'d>> {
        let field = self.get(key);
        if field.is_none() {
            reader.report_missing(self.place, &self.dotted(key), &format!("; e.g. `{line}`"));
        }
        field
    }

    /// The same for a key with a few allowed values, if they are known.
    pub(super) fn need_one_of(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
        line: &str,
        allowed: &str,
    ) -> Option<Field<'d>> {
        let field = self.get(key);
        if field.is_none() {
            let mut rest = format!("; e.g. `{line}`");
            if !allowed.is_empty() {
                let _ = write!(rest, ". Allowed: {allowed}");
            }
            reader.report_missing(self.place, &self.dotted(key), &rest);
        }
        field
    }

    /// The table of a key. A missing table reads as empty, so that its defaults apply.
    pub(super) fn section(&mut self, reader: &mut Reader, key: &'static str) -> TableReader<'d> {
        const EMPTY: &Table = &Table(Vec::new());
        let place = self.place;
        let dotted = self.dotted(key);
        self.get(key)
            .and_then(|field| field.section(reader))
            .unwrap_or_else(|| TableReader::new(&dotted, place, EMPTY))
    }

    /// The tables of `[[key]]`. Their keys are `key[N]`, counted from 1.
    pub(super) fn sections(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
    ) -> Vec<TableReader<'d>> {
        let Some(field) = self.get(key) else { return Vec::new() };
        let Data::List(items) = &field.node.data else {
            let what = format!("expected [[{key}]] tables, found {}.", field.node.kind());
            reader.report_problem(&field.node.place, &field.key, what);
            return Vec::new();
        };
        let numbered = items.iter().enumerate();
        numbered
            .filter_map(|(i, node)| {
                Field { key: format!("{}[{}]", field.key, i + 1), node }.section(reader)
            })
            .collect()
    }

    /// As [`TableReader::sections`], but at least one table is required. `lines`: an example of
    /// such a table, for the message.
    pub(super) fn some_sections(
        &mut self,
        reader: &mut Reader,
        key: &'static str,
        lines: &str,
    ) -> Vec<TableReader<'d>> {
        let none = match self.get(key) {
            None => true,
            Some(field) => matches!(&field.node.data, Data::List(items) if items.is_empty()),
        };
        if none {
            let rest = format!(": at least one [[{key}]] is needed; e.g. {lines}");
            reader.report_missing(self.place, &self.dotted(key), &rest);
        }
        self.sections(reader, key)
    }

    /// Declares keys that a later version will have. They get a message of their own.
    pub(super) fn later(&mut self, keys: &[&'static str]) {
        self.later.extend(keys);
    }

    /// Declares a key that belongs elsewhere: the words after `unknown key; `.
    pub(super) fn elsewhere(&mut self, key: &'static str, place: &'static str) {
        self.elsewhere.push((key, place));
    }

    /// All entries, for tables whose keys the user chooses.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'d str, &'d Location, Field<'d>)> {
        self.table.0.iter().map(|entry| {
            let field = Field { key: self.dotted(&entry.key), node: &entry.value };
            (entry.key.as_str(), &entry.place, field)
        })
    }

    /// Reports every key that no code asked for.
    pub(super) fn finish(self, reader: &mut Reader) {
        #[cfg(test)]
        reader
            .allowed
            .push((self.key.clone(), self.known.iter().map(|key| (*key).to_owned()).collect()));
        for field in &self.table.0 {
            let key = field.key.as_str();
            if self.later.contains(&key) {
                reader.report_problem(&field.place, &self.dotted(key), "not available yet.");
            } else if !self.known.contains(&key) {
                let other = self.elsewhere.iter().find(|(one, _)| *one == key);
                let guess = match other {
                    Some((_, place)) => format!("; {place}."),
                    None => did_you_mean(key, self.known.iter().copied()),
                };
                let what = format!("unknown key{guess} Allowed: {}", self.known.join(", "));
                reader.report_problem(&field.place, &self.dotted(key), what);
            }
        }
    }
}

/// Values that are tables.
impl<'d> Field<'d> {
    pub(super) fn section(&self, reader: &mut Reader) -> Option<TableReader<'d>> {
        match &self.node.data {
            Data::Table(table) => Some(TableReader::new(&self.key, &self.node.place, table)),
            _ => self.expected(reader, "a table"),
        }
    }

    /// A table of environment variables.
    pub(super) fn env(&self, reader: &mut Reader) -> BTreeMap<String, Template> {
        let Some(section) = self.section(reader) else { return BTreeMap::new() };
        let mut env = BTreeMap::new();
        for (name, place, field) in section.entries() {
            if name.is_empty() || name.contains(['=', '\0']) {
                reader.report_problem(place, &field.key, "not a name of an environment variable.");
            } else if name.starts_with("GIT_") {
                let what = "GIT_* is stripped from every command's environment.";
                reader.report_problem(place, &field.key, what);
            }
            // A variable may have an empty value.
            let template = match &field.node.data {
                Data::Text(text) if text.is_empty() => Template::parse("", &reader.names).ok(),
                _ => field.template(reader),
            };
            env.extend(template.map(|t| (name.to_owned(), t)));
        }
        env
    }
}

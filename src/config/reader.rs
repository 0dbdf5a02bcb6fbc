//! Typed access to a tree. A problem is reported, and reading goes on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::document::{Data, Node, Table};
use super::problem::{Location, Problem, did_you_mean};
use super::{Command, Names, Placeholder, Template};

/// The longest time-out. No command needs more, and sums of times must not overflow.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// The state of the reader: problems and declared names.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) problems: Vec<Problem>,
    /// The names from `[inputs]` and `[[prepare]]` that templates may use, as far as readable.
    pub(super) names: Names,
    /// Names that stand for another path in each cell, though templates use them as inputs.
    pub(super) cell_inputs: Vec<String>,
    /// Whether `{chunks}` will have a value.
    pub(super) chunks: bool,
    /// Every table that was read, with its allowed keys, and every key that takes one of a few
    /// words, with its allowed words. Tests compare the schema with this list.
    #[cfg(test)]
    pub(super) allowed: Vec<(String, Vec<String>)>,
}

impl Reader {
    pub(super) fn report_problem(&mut self, place: &Location, key: &str, what: impl Into<String>) {
        let problem = Problem { place: place.clone(), key: key.to_owned(), what: what.into() };
        self.problems.push(problem);
    }
}

/// A value and its dotted key.
#[derive(Clone, Debug)]
pub(super) struct Field<'d> {
    pub(super) key: String,
    pub(super) node: &'d Node,
}

/// A table that is being read. [`TableReader::finish`] reports the keys that no code asked for.
#[derive(Debug)]
pub(super) struct TableReader<'d> {
    pub(super) key: String,
    pub(super) place: &'d Location,
    table: &'d Table,
    known: Vec<&'static str>,
    later: Vec<&'static str>,
}

impl<'d> TableReader<'d> {
    pub(super) fn new(key: &str, place: &'d Location, table: &'d Table) -> Self {
        Self { key: key.to_owned(), place, table, known: Vec::new(), later: Vec::new() }
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
            reader.report_problem(
                self.place,
                &self.dotted(key),
                format!("is missing; e.g. `{line}`"),
            );
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
            let mut what = format!("is missing; e.g. `{line}`");
            if !allowed.is_empty() {
                let _ = write!(what, ". Allowed: {allowed}");
            }
            reader.report_problem(self.place, &self.dotted(key), what);
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

    /// As [`TableReader::sections`], but at least one table is required. `lines`: such a table.
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
            let what = format!("is missing: at least one [[{key}]] is needed; e.g. {lines}");
            reader.report_problem(self.place, &self.dotted(key), what);
        }
        self.sections(reader, key)
    }

    /// Declares keys that a later version will have. They get a message of their own.
    pub(super) fn later(&mut self, keys: &[&'static str]) {
        self.later.extend(keys);
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
                let guess = did_you_mean(key, self.known.iter().copied());
                let what = format!("unknown key{guess} Allowed: {}", self.known.join(", "));
                reader.report_problem(&field.place, &self.dotted(key), what);
            }
        }
    }
}

impl<'d> Field<'d> {
    pub(super) fn refuse(&self, reader: &mut Reader, what: impl Into<String>) {
        reader.report_problem(&self.node.place, &self.key, what);
    }

    fn expected<T>(&self, reader: &mut Reader, expected: &str) -> Option<T> {
        self.refuse(reader, format!("expected {expected}, found {}.", self.node.kind()));
        None
    }

    pub(super) fn section(&self, reader: &mut Reader) -> Option<TableReader<'d>> {
        match &self.node.data {
            Data::Table(table) => Some(TableReader::new(&self.key, &self.node.place, table)),
            _ => self.expected(reader, "a table"),
        }
    }

    pub(super) fn text(&self, reader: &mut Reader) -> Option<&'d str> {
        match &self.node.data {
            Data::Text(text) if text.is_empty() => {
                self.refuse(reader, "may not be empty.");
                None
            }
            Data::Text(text) => Some(text),
            Data::Integer(_) | Data::Float(_) | Data::Flag(_) => {
                self.expected(reader, "a string (in quotes)")
            }
            _ => self.expected(reader, "a string"),
        }
    }

    /// A string, or a number as text.
    pub(super) fn word_or_number(&self, reader: &mut Reader) -> Option<String> {
        match &self.node.data {
            Data::Integer(number) => Some(number.to_string()),
            Data::Float(number) => Some(number.to_string()),
            _ => self.text(reader).map(str::to_owned),
        }
    }

    pub(super) fn flag(&self, reader: &mut Reader) -> Option<bool> {
        match self.node.data {
            Data::Flag(flag) => Some(flag),
            _ => self.expected(reader, "true or false"),
        }
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.node.data, Data::Table(_))
    }

    /// A flag, or one word in its place, which gives `Some(None)`.
    #[allow(clippy::option_option)] // nothing usable, the word, or the flag
    pub(super) fn flag_or(&self, reader: &mut Reader, word: &str) -> Option<Option<bool>> {
        match &self.node.data {
            Data::Flag(flag) => Some(Some(*flag)),
            Data::Text(text) if *text == word => Some(None),
            Data::Text(text) => {
                self.refuse(
                    reader,
                    format!("`{text}` is not allowed. Allowed: true, false, \"{word}\""),
                );
                None
            }
            _ => self.expected(reader, &format!("true, false or \"{word}\"")),
        }
    }

    /// A whole number, at least 1.
    pub(super) fn count(&self, reader: &mut Reader) -> Option<u32> {
        let Data::Integer(x) = self.node.data else {
            return self.expected(reader, "a whole number");
        };
        let count = u32::try_from(x).ok().filter(|n| *n >= 1);
        if count.is_none() {
            self.refuse(reader, format!("{x} is out of range; allowed: 1 to {}", u32::MAX));
        }
        count
    }

    /// A whole number from 0 to `most`.
    pub(super) fn count_to(&self, reader: &mut Reader, most: u32) -> Option<u32> {
        let Data::Integer(x) = self.node.data else {
            return self.expected(reader, "a whole number");
        };
        let count = u32::try_from(x).ok().filter(|n| *n <= most);
        if count.is_none() {
            self.refuse(reader, format!("{x} is out of range; allowed: 0 to {most}"));
        }
        count
    }

    /// A finite number, integer or float.
    pub(super) fn number(&self, reader: &mut Reader) -> Option<f64> {
        let number = match self.node.data {
            Data::Integer(x) => x as f64,
            Data::Float(x) => x,
            _ => return self.expected(reader, "a number"),
        };
        if number.is_finite() {
            Some(number)
        } else {
            self.refuse(reader, "must be a finite number.");
            None
        }
    }

    pub(super) fn list(&self, reader: &mut Reader) -> Option<Vec<Field<'d>>> {
        let Data::List(items) = &self.node.data else {
            return self.expected(reader, "an array");
        };
        let numbered = items.iter().enumerate();
        Some(
            numbered
                .map(|(i, node)| Field { key: format!("{}[{}]", self.key, i + 1), node })
                .collect(),
        )
    }

    /// An array of strings, none empty.
    pub(super) fn texts(&self, reader: &mut Reader) -> Vec<String> {
        let spots = self.list(reader).unwrap_or_default();
        spots.iter().filter_map(|field| field.text(reader).map(str::to_owned)).collect()
    }

    /// One of a few words. `later` holds words that only a later version will have.
    pub(super) fn choice<T: Copy>(
        &self,
        reader: &mut Reader,
        choices: &[(&str, T)],
        later: &[&str],
    ) -> Option<T> {
        let word = self.text(reader)?;
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        #[cfg(test)]
        reader
            .allowed
            .push((self.key.clone(), names.iter().map(|name| (*name).to_owned()).collect()));
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == word) {
            return Some(*choice);
        }
        let all = names.join(", ");
        if later.contains(&word) {
            self.refuse(reader, format!("`{word}` is not available yet. Available: {all}"));
        } else {
            let guess = did_you_mean(word, names.iter().copied().chain(later.iter().copied()));
            self.refuse(reader, format!("`{word}` is not allowed{guess} Allowed: {all}"));
        }
        None
    }

    /// A duration such as `"30m"` or `"1h 30m"`, longer than 0.
    pub(super) fn duration(&self, reader: &mut Reader) -> Option<Duration> {
        let text = match &self.node.data {
            Data::Integer(_) | Data::Float(_) => {
                return self.expected(reader, "a time with its unit in quotes, such as \"90s\"");
            }
            _ => self.text(reader)?,
        };
        let Ok(signed) = text.parse::<jiff::SignedDuration>() else {
            let what =
                format!("`{text}` is not a time; write it as \"90s\", \"30m\" or \"1h 30m\".");
            self.refuse(reader, what);
            return None;
        };
        match Duration::try_from(signed) {
            Ok(time) if !time.is_zero() && time <= LONGEST => Some(time),
            _ => {
                let what = format!(
                    "`{text}` is out of range; allowed: more than 0, at most a year (8760h)."
                );
                self.refuse(reader, what);
                None
            }
        }
    }

    /// A size such as `"50 GiB"`, in bytes, more than 0.
    pub(super) fn size(&self, reader: &mut Reader) -> Option<u64> {
        let example = "a size with its unit in quotes, such as \"50 GiB\"";
        let text = match &self.node.data {
            Data::Integer(_) | Data::Float(_) => return self.expected(reader, example),
            _ => self.text(reader)?,
        };
        let size = size(text);
        if size.is_none() {
            let what = format!("`{text}` is not {example}; units: MB, GB, TB, MiB, GiB, TiB.");
            self.refuse(reader, what);
        }
        size
    }

    /// A regular expression, not empty.
    pub(super) fn pattern(&self, reader: &mut Reader) -> Option<regex::Regex> {
        match regex::Regex::new(self.text(reader)?) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                // The crate's message has several lines with a caret. Its last line is the reason.
                let said = error.to_string();
                let last = said.lines().last().unwrap_or_default().trim();
                let last = last.strip_prefix("error: ").unwrap_or(last);
                self.refuse(reader, format!("not a regular expression: {last}."));
                None
            }
        }
    }

    pub(super) fn template(&self, reader: &mut Reader) -> Option<Template> {
        match Template::parse(self.text(reader)?, &reader.names) {
            Ok(template) => {
                self.check_chunks(reader, std::slice::from_ref(&template));
                Some(template)
            }
            Err(error) => {
                self.refuse(reader, error.to_string());
                None
            }
        }
    }

    pub(super) fn command(&self, reader: &mut Reader) -> Option<Command> {
        match Command::parse(self.text(reader)?, &reader.names) {
            Ok(command) => {
                self.check_chunks(reader, &command.words);
                Some(command)
            }
            Err(error) => {
                self.refuse(reader, error.to_string());
                None
            }
        }
    }

    /// An array of commands.
    pub(super) fn commands(&self, reader: &mut Reader) -> Vec<Command> {
        let spots = self.list(reader).unwrap_or_default();
        spots.iter().filter_map(|field| field.command(reader)).collect()
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

    /// A relative path that does not leave its folder.
    pub(super) fn inner_path(&self, reader: &mut Reader) -> Option<String> {
        let text = self.text(reader)?;
        let leaves = text.split('/').any(|part| part == "..");
        if text.starts_with(['/', '~']) || leaves {
            self.refuse(
                reader,
                format!("`{text}` must be a relative path that does not leave the tree."),
            );
            return None;
        }
        Some(text.to_owned())
    }

    fn check_chunks(&self, reader: &mut Reader, words: &[Template]) {
        if !reader.chunks
            && words.iter().flat_map(Template::placeholders).any(|p| *p == Placeholder::Chunks)
        {
            self.refuse(reader, "{chunks} needs `chunks` in [run].");
        }
    }
}

/// The bytes of `50 GiB` or `1.5 TB`; `None` for other texts, and for less than a byte.
fn size(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    let unit = match unit {
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1_u64 << 40,
        _ => return None,
    };
    let (whole, part) = number.trim_end().split_once('.').unwrap_or((number.trim_end(), "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let parts = 10_u64.pow(u32::try_from(part.len()).ok()?);
    let part = part.parse::<u64>().ok()? * unit / parts;
    let size = whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(part)?;
    (size > 0).then_some(size)
}

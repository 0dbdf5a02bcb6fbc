//! Typed access to one value of the tree. A problem is reported, and reading goes on.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::document::{Data, Node};
use super::problem::did_you_mean;
use super::reader::Reader;
use super::{Command, Placeholder, Template};

/// How deeply groups and repetitions of a regular expression may be nested. The crate's own limit,
/// 250, overflows the stack of a thread of 2 MiB in a build without optimisation.
const DEEPEST_REGEX: u32 = 60;

/// The longest time-out. No command needs more, and sums of times must not overflow.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// A value and its dotted key.
#[derive(Clone, Debug)]
pub(super) struct Field<'d> {
    pub(super) key: String,
    pub(super) node: &'d Node,
}

impl<'d> Field<'d> {
    pub(super) fn refuse(&self, reader: &mut Reader, what: impl Into<String>) {
        reader.report_problem(&self.node.place, &self.key, what);
    }

    /// Reports that the value has another type than this.
    pub(super) fn expected<T>(&self, reader: &mut Reader, expected: &str) -> Option<T> {
        self.refuse(reader, format!("expected {expected}, found {}.", self.node.kind()));
        None
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
        self.count_in(reader, 1..=u32::MAX)
    }

    /// A whole number from 0 to `most`.
    pub(super) fn count_to(&self, reader: &mut Reader, most: u32) -> Option<u32> {
        self.count_in(reader, 0..=most)
    }

    /// A whole number of this range.
    pub(super) fn count_in(&self, reader: &mut Reader, range: RangeInclusive<u32>) -> Option<u32> {
        let Data::Integer(x) = self.node.data else {
            return self.expected(reader, "a whole number");
        };
        let count = u32::try_from(x).ok().filter(|n| range.contains(n));
        if count.is_none() {
            let (least, most) = range.into_inner();
            self.refuse(reader, format!("{x} is out of range; allowed: {least} to {most}"));
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

    /// A finite number, at least 0.
    pub(super) fn tolerance(&self, reader: &mut Reader) -> Option<f64> {
        let tolerance = self.number(reader)?;
        if tolerance < 0.0 {
            self.refuse(reader, "a tolerance cannot be negative; 0 allows no change.");
        }
        Some(tolerance)
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
        let fields = self.list(reader).unwrap_or_default();
        fields.iter().filter_map(|field| field.text(reader).map(str::to_owned)).collect()
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
        let pattern =
            regex::RegexBuilder::new(self.text(reader)?).nest_limit(DEEPEST_REGEX).build();
        match pattern {
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
        let fields = self.list(reader).unwrap_or_default();
        fields.iter().filter_map(|field| field.command(reader)).collect()
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

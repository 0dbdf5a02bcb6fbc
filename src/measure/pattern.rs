//! Matches a pattern line by line, on both streams in the order of arrival.

mod beginnings;
mod cut;
mod not_a_number;
mod unit;

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::config::{MeasureKind, Pick};
use crate::evaluation::{Failure, Metric, Reading, Unreadable, Value};

use super::repeats::{are_repeats, made_of};
use super::value::{keep_worse, number_in, reading};

use beginnings::Beginnings;
use not_a_number::NotANumber;

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    not_a_number: NotANumber,
    kind: MeasureKind,
    groups: Vec<Group>,
}

/// One group of the pattern. Each group picks among its own matches, so that an alternation
/// `prompt (?<pp>…)|decode (?<tg>…)` finds each value on a separate line.
#[derive(Debug)]
struct Group {
    index: usize,
    metric: Metric,
    picked: Picked,
    /// The units behind the numbers that count; empty text if there is no unit.
    units: BTreeSet<String>,
    /// The lines that show this metric.
    beginnings: Beginnings,
}

/// The text that a group has in a line.
struct Taken<'l> {
    text: Result<&'l str, Failure>,
    unit: String,
    /// False for a fact, for a part of a number, and for a text in place of a number.
    is_number: bool,
}

#[derive(Debug)]
enum Picked {
    First(Option<Result<String, Failure>>),
    Last(Option<Result<String, Failure>>),
    /// A value computed from all matches.
    Computed {
        all: Pick,
        numbers: Vec<f64>,
        failure: Option<Failure>,
    },
}

impl Pattern {
    /// Named groups yield `MEASURE.NAME`. Without named groups, the first unnamed group or the
    /// whole match yields `MEASURE`. Facts have no order and no sum, so every pick except
    /// `first` acts as `last`.
    pub(super) fn new(measure: &str, regex: &Regex, pick: Pick, kind: MeasureKind) -> Self {
        let named: Vec<_> = regex
            .capture_names()
            .enumerate()
            .filter_map(|(index, name)| Some((index, Metric::named(measure, name?))))
            .collect();
        let metrics = if named.is_empty() {
            vec![(usize::from(regex.captures_len() > 1), Metric::of(measure))]
        } else {
            named
        };
        let groups = metrics
            .into_iter()
            .map(|(index, metric)| Group {
                index,
                metric,
                picked: Picked::new(pick, kind),
                units: BTreeSet::new(),
                beginnings: Beginnings::default(),
            })
            .collect();
        Self { regex: regex.clone(), not_a_number: NotANumber::default(), kind, groups }
    }

    /// Takes one line; true if the pattern matches, or if another text in place of its number
    /// counts.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let mut starts = Vec::new();
        // By place in the line, since the first or the last one may count.
        let mut taken = BTreeMap::new();
        for captures in self.regex.captures_iter(line) {
            let Some(whole) = captures.get(0) else { continue };
            starts.push(whole.start());
            let end = whole.end();
            for (number, group) in self.groups.iter().enumerate() {
                let Some(found) = captures.get(group.index) else { continue };
                let text = found.as_str().trim();
                let one = match self.kind {
                    MeasureKind::Number => {
                        let text = cut::refuse_part(&group.metric, line, end, found).map(|()| text);
                        let unit = unit::unit_behind(line, found.end(), end);
                        Taken { is_number: text.is_ok(), text, unit }
                    }
                    MeasureKind::Fact => Taken::without_number(text),
                };
                taken.insert((found.start(), number), one);
            }
        }
        if self.kind == MeasureKind::Number {
            for (index, found) in self.not_a_number.groups(&self.regex, line, &starts) {
                let number = self.groups.iter().position(|group| group.index == index);
                let Some(number) = number else { continue };
                let place = (found.start(), number);
                let has_number = taken.keys().any(|(_, other)| *other == number);
                let is_lost = !has_number && self.groups[number].lacks_number(&line[..place.0]);
                // A number that the pattern took here is only a part: `1.` of `1.#QNAN`.
                if is_lost || taken.contains_key(&place) {
                    taken.insert(place, Taken::without_number(found.as_str()));
                }
            }
        }
        let matched = !starts.is_empty() || !taken.is_empty();
        for ((start, number), one) in taken {
            self.groups[number].add(&line[..start], one);
        }
        matched
    }

    /// The reading of a run that ended with exit code 0.
    pub(super) fn finish(self) -> Result<Reading, Failure> {
        let Self { regex, kind, groups, .. } = self;
        let (mut repeats, mut units) = (BTreeMap::new(), BTreeMap::new());
        let mut values = Vec::new();
        for Group { metric, picked, units: printed, .. } in groups {
            if kind == MeasureKind::Number {
                units.insert(metric.clone(), printed.into_iter().collect());
            }
            if let Some(numbers) = picked.repeats() {
                repeats.insert(metric.clone(), numbers.to_vec());
            }
            let value = picked.value(&metric, kind, &regex);
            values.push((metric, value));
        }
        Ok(Reading { repeats, units, ..reading(values)? })
    }
}

impl<'l> Taken<'l> {
    fn without_number(text: &'l str) -> Self {
        Self { text: Ok(text), unit: String::new(), is_number: false }
    }
}

impl Group {
    /// `before`: the text of the line before what was taken.
    fn add(&mut self, before: &str, taken: Taken<'_>) {
        match self.picked {
            Picked::First(Some(_)) => return,
            Picked::First(None) => self.units.clear(),
            Picked::Last(_) => {
                self.units.clear();
                if taken.is_number {
                    self.beginnings.add(before);
                }
            }
            Picked::Computed { .. } => {}
        }
        self.units.insert(taken.unit);
        self.picked.add(&self.metric, taken.text);
    }

    /// Whether a text behind this beginning of a line is in place of a number: an earlier line with
    /// the same beginning had a number. Lines with other beginnings show other things. False unless
    /// the last match counts: the other picks may take a text from a warm-up, such as `speed: nan`.
    fn lacks_number(&self, before: &str) -> bool {
        matches!(self.picked, Picked::Last(_)) && self.beginnings.has(before)
    }
}

impl Picked {
    fn new(pick: Pick, kind: MeasureKind) -> Self {
        match (pick, kind) {
            (Pick::First, _) => Self::First(None),
            (Pick::Last, _) | (_, MeasureKind::Fact) => Self::Last(None),
            (all, MeasureKind::Number) => {
                Self::Computed { all, numbers: Vec::new(), failure: None }
            }
        }
    }

    fn add(&mut self, metric: &Metric, taken: Result<&str, Failure>) {
        match self {
            Self::First(Some(_)) => {}
            Self::First(picked) | Self::Last(picked) => *picked = Some(taken.map(str::to_owned)),
            // Every match counts here, so a NaN or a non-number makes the value fail;
            // `f64::min` would silently skip a NaN.
            Self::Computed { numbers, failure, .. } => {
                match taken.and_then(|text| number_in(metric, text)) {
                    Ok(value) => numbers.extend(value.number()),
                    Err(new) => keep_worse(failure, new),
                }
            }
        }
    }

    /// The numbers, if they are repeats of one measurement.
    fn repeats(&self) -> Option<&[f64]> {
        match self {
            Self::Computed { all, numbers, .. } if are_repeats(*all, numbers) => Some(numbers),
            _ => None,
        }
    }

    fn value(self, metric: &Metric, kind: MeasureKind, regex: &Regex) -> Result<Value, Failure> {
        let no_match = || {
            Failure::unreadable(
                Unreadable::NoMatch(metric.to_string()),
                format!("{metric}: no line of the output matches `{regex}`"),
            )
        };
        match self {
            Self::First(text) | Self::Last(text) => {
                let text = text.ok_or_else(no_match)??;
                match kind {
                    MeasureKind::Number => number_in(metric, &text),
                    MeasureKind::Fact => Ok(Value::Fact(text)),
                }
            }
            Self::Computed { failure: Some(failure), .. } => Err(failure),
            Self::Computed { all, numbers, .. } => {
                super::value::finite(metric, made_of(all, &numbers).ok_or_else(no_match)?)
            }
        }
    }
}

#[cfg(test)]
mod tests;

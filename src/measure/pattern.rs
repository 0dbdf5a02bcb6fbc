//! Matches a pattern line by line, on both streams in the order of arrival.

mod cut;

use std::collections::BTreeMap;

use regex::Regex;

use crate::config::{MeasureKind, Pick};
use crate::evaluation::{Failure, Metric, Reading, Unreadable, Value};

use super::repeats::{are_repeats, made_of};
use super::value::{keep_worse, number_in, reading};

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
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
            .map(|(index, metric)| Group { index, metric, picked: Picked::new(pick, kind) })
            .collect();
        Self { regex: regex.clone(), kind, groups }
    }

    /// Takes one line; true if the pattern matches.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let mut matched = false;
        for captures in self.regex.captures_iter(line) {
            matched = true;
            let end = captures.get(0).map_or(0, |whole| whole.end());
            for group in &mut self.groups {
                if let Some(found) = captures.get(group.index) {
                    let taken = match self.kind {
                        MeasureKind::Number => cut::refuse_part(&group.metric, line, end, found),
                        MeasureKind::Fact => Ok(()),
                    };
                    group.picked.add(&group.metric, taken.map(|()| found.as_str().trim()));
                }
            }
        }
        matched
    }

    /// The reading of a run that ended with exit code 0.
    pub(super) fn finish(self) -> Result<Reading, Failure> {
        let Self { regex, kind, groups } = self;
        let mut repeats = BTreeMap::new();
        let mut values = Vec::new();
        for Group { metric, picked, .. } in groups {
            if let Some(numbers) = picked.repeats() {
                repeats.insert(metric.clone(), numbers.to_vec());
            }
            let value = picked.value(&metric, kind, &regex);
            values.push((metric, value));
        }
        Ok(Reading { repeats, ..reading(values)? })
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

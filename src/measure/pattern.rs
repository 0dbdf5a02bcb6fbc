//! A pattern matched line by line, on both streams in the order the lines arrived.

use regex::Regex;

use crate::config::{MeasureKind, Pick};
use crate::evaluation::{Failure, Metric, Reading, Value};

use super::value::{keep_worse, number_in, reading, unreadable};

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    kind: MeasureKind,
    groups: Vec<Group>,
}

/// One group of the pattern, which picks among its own matches: an alternation
/// `prompt (?<pp>…)|decode (?<tg>…)` finds each figure on a line of its own.
#[derive(Debug)]
struct Group {
    index: usize,
    metric: Metric,
    picked: Picked,
}

#[derive(Debug)]
enum Picked {
    First(Option<String>),
    Last(Option<String>),
    Folded { fold: fn(f64, f64) -> f64, so_far: Option<f64>, failure: Option<Failure> },
}

impl Pattern {
    /// Named groups yield `MEASURE.NAME`; where there are none, the first unnamed group, or
    /// else the whole match, yields `MEASURE`. Facts have no order and no sum: for them every
    /// pick but the first is the last.
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

    /// Takes one line; true when the pattern matches in it.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let mut matched = false;
        for captures in self.regex.captures_iter(line) {
            matched = true;
            for group in &mut self.groups {
                if let Some(found) = captures.get(group.index) {
                    group.picked.add(&group.metric, found.as_str().trim());
                }
            }
        }
        matched
    }

    /// What a run that ended with exit code 0 says.
    pub(super) fn finish(self) -> Result<Reading, Failure> {
        let Self { regex, kind, groups } = self;
        reading(groups.into_iter().map(|Group { metric, picked, .. }| {
            let value = picked.value(&metric, kind, &regex);
            (metric, value)
        }))
    }
}

impl Picked {
    fn new(pick: Pick, kind: MeasureKind) -> Self {
        let folded = |fold| Self::Folded { fold, so_far: None, failure: None };
        match (pick, kind) {
            (Pick::First, _) => Self::First(None),
            (Pick::Last, _) | (_, MeasureKind::Fact) => Self::Last(None),
            (Pick::Min, MeasureKind::Number) => folded(f64::min),
            (Pick::Max, MeasureKind::Number) => folded(f64::max),
            (Pick::Sum, MeasureKind::Number) => folded(|a, b| a + b),
        }
    }

    fn add(&mut self, metric: &Metric, text: &str) {
        match self {
            Self::First(Some(_)) => {}
            Self::First(picked) | Self::Last(picked) => *picked = Some(text.to_owned()),
            // Every match counts here, so one that is NaN or no number spoils the lot;
            // `f64::min` would quietly step over a NaN.
            Self::Folded { fold, so_far, failure } => match number_in(metric, text) {
                Ok(value) => {
                    let number = value.number();
                    *so_far = so_far.zip(number).map(|(a, b)| fold(a, b)).or(number);
                }
                Err(new) => keep_worse(failure, new),
            },
        }
    }

    fn value(self, metric: &Metric, kind: MeasureKind, regex: &Regex) -> Result<Value, Failure> {
        let no_match = || {
            unreadable(
                &format!("{metric}: no match"),
                format!("{metric}: no line of the output matches `{regex}`"),
            )
        };
        match self {
            Self::First(text) | Self::Last(text) => {
                let text = text.ok_or_else(no_match)?;
                match kind {
                    MeasureKind::Number => number_in(metric, &text),
                    MeasureKind::Fact => Ok(Value::Fact(text)),
                }
            }
            Self::Folded { failure: Some(failure), .. } => Err(failure),
            Self::Folded { so_far, .. } => {
                super::value::finite(metric, so_far.ok_or_else(no_match)?)
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! The matches of a group that count, and the value they make.

use regex::Regex;

use crate::config::{MeasureKind, Pick};
use crate::evaluation::{Failure, Metric, Unreadable, Value, parse_number};
use crate::measure::repeats::{are_repeats, made_of};
use crate::measure::value::{finite, keep_worse, number_in};

/// What a group took so far from the matches that count.
#[derive(Debug)]
pub(super) enum Picked {
    First(Option<Result<String, Failure>>),
    Last(Option<Result<String, Failure>>),
    /// A value computed from all matches.
    Computed {
        all: Pick,
        numbers: Vec<f64>,
        failure: Option<Failure>,
    },
}

/// NaN or an infinity on a line before which the output has no number of a group.
#[derive(Debug)]
pub(super) struct Stray {
    pub(super) text: String,
    pub(super) line: String,
    /// Whether it is in place of the group's number if the output has no such number at all.
    pub(super) is_certain: bool,
}

impl Picked {
    pub(super) fn new(pick: Pick, kind: MeasureKind) -> Self {
        match (pick, kind) {
            (Pick::First, _) => Self::First(None),
            (Pick::Last, _) | (_, MeasureKind::Fact) => Self::Last(None),
            (all, MeasureKind::Number) => {
                Self::Computed { all, numbers: Vec::new(), failure: None }
            }
        }
    }

    pub(super) fn add(&mut self, metric: &Metric, taken: Result<&str, Failure>) {
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
    pub(super) fn repeats(&self) -> Option<&[f64]> {
        match self {
            Self::Computed { all, numbers, .. } if are_repeats(*all, numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The text of the one match that counts.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::First(text) | Self::Last(text) => text.as_ref()?.as_deref().ok(),
            Self::Computed { .. } => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::First(text) | Self::Last(text) => text.is_none(),
            Self::Computed { numbers, failure, .. } => numbers.is_empty() && failure.is_none(),
        }
    }

    /// `stray`: NaN or an infinity in place of a number.
    pub(super) fn value(
        self,
        metric: &Metric,
        kind: MeasureKind,
        regex: &Regex,
        stray: Option<&Stray>,
    ) -> Result<Value, Failure> {
        let no_match = || {
            let certain = stray.filter(|stray| stray.is_certain);
            if let Some(number) = certain.and_then(|stray| parse_number(&stray.text)) {
                return Failure::not_finite(&metric.to_string(), number);
            }
            let hint = stray.map_or(String::new(), |Stray { text, line, .. }| {
                format!(
                    "; if `{text}` of the line `{line}` is in place of the number, let the group \
                     take any word, as in `(\\S+)`"
                )
            });
            Failure::unreadable(
                Unreadable::NoMatch(metric.to_string()),
                format!("{metric}: no line of the output matches `{regex}`{hint}"),
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
                finite(metric, made_of(all, &numbers).ok_or_else(no_match)?)
            }
        }
    }
}

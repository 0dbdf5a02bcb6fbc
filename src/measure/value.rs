//! Turns what a parser found for a metric into its value, or into a failure.

use crate::evaluation::{
    Failure, FailureKind, Metric, Reading, Unreadable, Value, is_rounded, parse_number,
};

/// The number as a value of `metric`; NaN and infinities are failures of kind
/// [`FailureKind::Nan`], never values.
pub(super) fn finite(metric: &Metric, number: f64) -> Result<Value, Failure> {
    if number.is_finite() {
        return Ok(Value::Number(number));
    }
    Err(Failure::not_finite(&metric.to_string(), number))
}

/// Parses the text found for `metric` as a finite number.
pub(super) fn number_in(metric: &Metric, text: &str) -> Result<Value, Failure> {
    match parse_number(text) {
        Some(_) if is_rounded(text) => Err(too_many_digits(metric, text)),
        Some(number) => finite(metric, number),
        None => Err(not_a_number(metric, text)),
    }
}

/// The failure if the text found for `metric` is not a number.
pub(super) fn not_a_number(metric: &Metric, text: &str) -> Failure {
    in_place_of_number(metric, &format!("`{}` is not a number", excerpt(text)))
}

/// The failure if the number found for `metric` has more digits than an `f64`: it may name
/// something, as a checksum does, and another one would be equal to it.
pub(super) fn too_many_digits(metric: &Metric, text: &str) -> Failure {
    let what = format!(
        "`{}` has too many digits: a number keeps 15 to 17 of them, and two such values could look \
         equal; set `kind = \"fact\"` for a checksum or a name, or let the program print fewer \
         digits",
        excerpt(text)
    );
    in_place_of_number(metric, &what)
}

/// The failure if the output has something else in place of the number of `metric`. `what`: a
/// sentence without the metric.
pub(super) fn in_place_of_number(metric: &Metric, what: &str) -> Failure {
    Failure::unreadable(Unreadable::NotANumber(metric.to_string()), format!("{metric}: {what}"))
}

/// The reading from all values, or the failure to report. NaN comes before other failures, since
/// NaN says more about the commit than a missing value.
pub(super) fn reading(
    values: impl IntoIterator<Item = (Metric, Result<Value, Failure>)>,
) -> Result<Reading, Failure> {
    let mut reading = Reading::default();
    let mut failure = None;
    for (metric, value) in values {
        match value {
            Ok(value) => drop(reading.values.insert(metric, value)),
            Err(new) => keep_worse(&mut failure, new),
        }
    }
    failure.map_or(Ok(reading), Err)
}

/// Keeps the first failure, unless only the new one is a NaN.
pub(super) fn keep_worse(kept: &mut Option<Failure>, new: Failure) {
    let is_worse = |old: &Failure| old.kind != FailureKind::Nan && new.kind == FailureKind::Nan;
    if kept.as_ref().is_none_or(is_worse) {
        *kept = Some(new);
    }
}

/// The beginning of a text, short enough for one sentence.
pub(super) fn excerpt(text: &str) -> String {
    const LIMIT: usize = 80;
    if text.chars().count() <= LIMIT {
        return text.to_owned();
    }
    text.chars().take(LIMIT).chain(['…']).collect()
}

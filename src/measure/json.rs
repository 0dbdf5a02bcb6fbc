//! Reads values from a JSON document on stdout.
//!
//! The document is all of stdout or, since engines print banners first, begins at a line with `{`
//! or `[` and goes on to the end. At most one such line starts a valid document: text that starts
//! at an inner bracket has one closing bracket too many. Text after the document is an error: it
//! belongs on stderr.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::Value as Json;

use crate::config::MeasureKind;
use crate::evaluation::{Failure, Metric, PrintedUnits, Reading, Unreadable, Value, parse_number};

use super::unit::unit_in;
use super::value::{excerpt, not_a_number, number_in, reading};

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct Document {
    kind: MeasureKind,
    /// Metric → pointer (RFC 6901).
    pointers: Vec<(Metric, String)>,
}

impl Document {
    pub(super) fn new(
        measure: &str,
        pointers: &BTreeMap<Option<String>, String>,
        kind: MeasureKind,
    ) -> Self {
        let pointers = pointers
            .iter()
            .map(|(name, pointer)| {
                (Metric { measure: measure.to_owned(), name: name.clone() }, pointer.clone())
            })
            .collect();
        Self { kind, pointers }
    }

    /// The reading of a run that ended with exit code 0.
    pub(super) fn finish(self, text: &str) -> Result<Reading, Failure> {
        let document = document_in(text).ok_or_else(|| no_document(text))?;
        let units = match self.kind {
            MeasureKind::Number => self
                .pointers
                .iter()
                .map(|(metric, pointer)| (metric.clone(), units_at(&document, pointer)))
                .collect(),
            MeasureKind::Fact => BTreeMap::new(),
        };
        let reading = reading(self.pointers.into_iter().map(|(metric, pointer)| {
            let value = value_at(&document, &pointer, &metric, self.kind);
            (metric, value)
        }))?;
        Ok(Reading { units, ..reading })
    }
}

/// The unit of a number, if a key beside it says the unit: `unit`, or `time_unit` for `real_time`.
fn units_at(document: &Json, pointer: &str) -> PrintedUnits {
    let beside = pointer.rsplit_once('/').and_then(|(parent, key)| {
        let fields = document.pointer(parent)?.as_object()?;
        let names_unit = |name: &str| {
            let name = name.trim_end_matches('s').strip_suffix("unit");
            name.is_some_and(|name| key.contains(name.trim_end_matches('_')))
        };
        fields.iter().find_map(|(name, value)| value.as_str().filter(|_| names_unit(name)))
    });
    [unit_in(beside.unwrap_or_default())].into_iter().collect()
}

/// The failure if stdout is not a document.
pub(super) fn no_document(text: &str) -> Failure {
    let start = excerpt(text.trim_start().lines().next().unwrap_or_default());
    let detail = if start.is_empty() {
        "nothing on stdout where a JSON document belongs".to_owned()
    } else {
        format!("stdout is no JSON document; it begins with `{start}`")
    };
    Failure::unreadable(Unreadable::NoJson, detail)
}

/// The one document in `text`.
pub(super) fn document_in(text: &str) -> Option<Json> {
    find_document(text).or_else(|| find_document(&quote_bare_nan(text)?))
}

fn find_document(text: &str) -> Option<Json> {
    // Scalars are documents too, but only without any other output.
    if let Ok(document) = serde_json::from_str(text) {
        return Some(document);
    }
    // The search goes backwards, so that each attempt stops at its own closing bracket. The time is
    // linear in the length for each level of nesting.
    let mut end = text.len();
    while end > 0 {
        let start = text[..end].rfind('\n').map_or(0, |at| at + 1);
        let from = text[start..].trim_start();
        let opens = text[start..end].trim_start().starts_with(['{', '[']);
        if opens && serde_json::from_str::<IgnoredAny>(from).is_ok() {
            return serde_json::from_str(from).ok();
        }
        end = start.saturating_sub(1);
    }
    None
}

/// Quotes `NaN`, `-Infinity`, `nan` and the like outside of strings; `None` if there are none.
/// JSON has no such numbers, but Python and printf write them, and NaN must not count as "no
/// value".
fn quote_bare_nan(text: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "+-.#()".contains(c);
    let mut quoted = String::with_capacity(text.len() + 64);
    let mut changed = false;
    let (mut in_string, mut rest) = (false, text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' if in_string => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            c if !in_string && is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, behind) = rest.split_at(length);
        rest = behind;
        // JSON strings contain no line break, so an unpaired quote in a banner ends with its line.
        in_string = (in_string != (first == '"')) && first != '\n';
        if !in_string && is_word(first) && parse_number(word).is_some_and(|n| !n.is_finite()) {
            changed = true;
            quoted.extend(['"']);
            quoted.push_str(word);
            quoted.extend(['"']);
        } else {
            quoted.push_str(word);
        }
    }
    changed.then_some(quoted)
}

fn value_at(
    document: &Json,
    pointer: &str,
    metric: &Metric,
    kind: MeasureKind,
) -> Result<Value, Failure> {
    let found = document.pointer(pointer).ok_or_else(|| {
        Failure::unreadable(
            Unreadable::Nothing { metric: metric.to_string(), at: pointer.to_owned() },
            format!("{metric}: nothing at `{pointer}`; {}", deepest(document, pointer)),
        )
    })?;
    let wrong = || not_a_number(metric, &describe(found));
    match (kind, found) {
        (MeasureKind::Number, Json::String(text)) => number_in(metric, text),
        (MeasureKind::Number, Json::Number(number)) => {
            number.as_f64().map(Value::Number).ok_or_else(wrong)
        }
        (MeasureKind::Number, _) => Err(wrong()),
        (MeasureKind::Fact, Json::String(text)) => Ok(Value::Fact(text.trim().to_owned())),
        (MeasureKind::Fact, Json::Array(_) | Json::Object(_)) => Err(Failure::unreadable(
            Unreadable::NotSingle(metric.to_string()),
            format!("{metric}: `{pointer}` is {}, not a single value", describe(found)),
        )),
        (MeasureKind::Fact, scalar) => Ok(Value::Fact(scalar.to_string())),
    }
}

/// The deepest level of `pointer` that exists, and what is there.
fn deepest(document: &Json, pointer: &str) -> String {
    let cuts = pointer.match_indices('/').map(|(at, _)| at).rev();
    let (path, there) = cuts
        .map(|at| &pointer[..at])
        .find_map(|path| Some((path, document.pointer(path)?)))
        .unwrap_or(("", document));
    match path {
        "" => format!("the document is {}", describe(there)),
        _ => format!("`{path}` is {}", describe(there)),
    }
}

fn describe(json: &Json) -> String {
    match json {
        Json::Array(items) => format!("an array of {}", items.len()),
        Json::Object(fields) if fields.is_empty() => "an empty object".to_owned(),
        Json::Object(fields) => {
            let keys: Vec<_> = fields.keys().map(String::as_str).collect();
            excerpt(&format!("an object with {}", keys.join(", ")))
        }
        scalar => excerpt(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests;

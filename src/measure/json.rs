//! Reads values from a JSON document on stdout.
//!
//! The document is all of stdout or, since engines print banners first, begins at a line with `{`
//! or `[` and goes on to the end. At most one such line starts a valid document: text that starts
//! at an inner bracket has one closing bracket too many. Text after the document is an error: it
//! belongs on stderr.

mod named_numbers;
mod places;
mod pointer;

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json};

use crate::config::MeasureKind;
use crate::evaluation::{
    Failure, Metric, PrintedUnits, Reading, Unreadable, Value, ValueForms, form_of_parts,
    is_rounded, parse_number,
};

use super::form::{WORDS, form_of};
use super::unit::unit_in;
use super::value::{excerpt, not_a_number, number_in, reading, too_many_digits};

pub(crate) use named_numbers::named_numbers;
use places::places_at;
use pointer::{child, keys_of};

/// Below this, an `f64` holds every whole number.
const LEAST_ROUNDED: f64 = 9_007_199_254_740_992.0;

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
        let form = |(metric, pointer): &(Metric, String)| {
            let place = form_at(&document, pointer)?;
            Some((metric.clone(), ValueForms::from_iter([place])))
        };
        let forms = self.pointers.iter().filter_map(form).collect();
        let place = |(metric, pointer): &(Metric, String)| {
            Some((metric.clone(), places_at(&document, pointer)?))
        };
        let places = self.pointers.iter().filter_map(place).collect();
        let reading = reading(self.pointers.into_iter().map(|(metric, pointer)| {
            let value = value_at(&document, &pointer, &metric, self.kind, text);
            (metric, value)
        }))?;
        Ok(Reading { units, forms, places, ..reading })
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

/// The form of a value's place: what the elements of arrays on the way to it are, and the texts
/// beside the value. `None` without both. Then the pointer names all keys, so it leads to the same
/// thing in each document.
fn form_at(document: &Json, pointer: &str) -> Option<String> {
    let mut parts = Vec::new();
    // The length of the array of which `at` is an element.
    let mut length = None;
    let mut at = document;
    let mut keys = keys_of(pointer).peekable();
    while let Some(key) = keys.next() {
        match at {
            Json::Array(items) => parts.extend(length.replace(items.len()).map(element_of)),
            Json::Object(fields) => {
                let element = length.take();
                let is_near = element.is_some() || keys.peek().is_none();
                let texts = if is_near { texts_beside(fields, &key) } else { Vec::new() };
                parts.extend(element.filter(|_| texts.is_empty()).map(element_of));
                parts.extend(texts);
            }
            _ => {}
        }
        at = child(at, &key)?;
    }
    parts.extend(length.map(element_of));
    (!parts.is_empty()).then(|| form_of_parts(parts))
}

/// The texts of an object, such as a name, besides that at a key. Units are compared by themselves;
/// texts of numbers, such as times, and long texts are no names.
fn texts_beside(fields: &Map<String, Json>, key: &str) -> Vec<String> {
    let others = fields.iter().filter(|(name, _)| *name != key && !is_key_of_unit(name));
    let text = |(name, value): (&String, &Json)| {
        let text = value.as_str().filter(|text| text.split_whitespace().count() <= WORDS)?;
        let form = form_of(text);
        let is_name = form.split(' ').any(|word| word != "#");
        is_name.then(|| format!("{name} {form}"))
    };
    others.filter_map(text).collect()
}

fn is_key_of_unit(name: &str) -> bool {
    name.trim_end_matches('s').ends_with("unit")
}

/// What an element without texts is: one of an array of this length.
fn element_of(length: usize) -> String {
    match length {
        1 => "the only element",
        2 => "one of two elements",
        3 => "one of three elements",
        _ => "one of several elements",
    }
    .to_owned()
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

/// How the document prints this number, if it is a whole number that was rounded.
fn rounded_in(text: &str, number: f64) -> Option<&str> {
    if number.abs() < LEAST_ROUNDED {
        return None;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    // The JSON parser may be wrong in the last bit.
    let is_near = |other: f64| (other - number).abs() <= number.abs() * 1e-12;
    let mut words = text.split(|c| !is_part(c));
    words.find(|word| is_rounded(word) && parse_number(word).is_some_and(is_near))
}

/// `text`: the whole output.
fn value_at(
    document: &Json,
    pointer: &str,
    metric: &Metric,
    kind: MeasureKind,
    text: &str,
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
            let number = number.as_f64().ok_or_else(wrong)?;
            match rounded_in(text, number) {
                Some(printed) => Err(too_many_digits(metric, printed)),
                None => Ok(Value::Number(number)),
            }
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

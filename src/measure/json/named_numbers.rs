//! What a document says beside its numbers: the keys on the way to each, and the texts of the
//! elements of arrays.

use serde_json::{Map, Value as Json};

use crate::evaluation::PlaceNames;

use super::document_in;

/// Collects the wanted numbers of a document.
struct Walk<'d, 'w> {
    is_wanted: &'w dyn Fn(f64) -> bool,
    /// The keys and texts on the way to the current value.
    says: Vec<&'d str>,
    found: Vec<(f64, PlaceNames)>,
}

/// The wanted numbers of the document in a run's output, and the names beside each. None if there
/// is no document.
pub(crate) fn named_numbers(text: &str, is_wanted: &dyn Fn(f64) -> bool) -> Vec<(f64, PlaceNames)> {
    let Some(document) = document_in(text) else { return Vec::new() };
    let mut walk = Walk { is_wanted, says: Vec::new(), found: Vec::new() };
    walk.visit(&document, false);
    walk.found
}

impl<'d> Walk<'d, '_> {
    fn visit(&mut self, at: &'d Json, is_in_array: bool) {
        match at {
            Json::Number(number) => self.add(number.as_f64()),
            // Some programs write numbers as texts.
            Json::String(text) => self.add(text.trim().parse().ok()),
            Json::Array(items) => {
                for item in items {
                    self.visit(item, true);
                }
            }
            Json::Object(fields) => {
                let known = self.says.len();
                if is_in_array {
                    add_texts(fields, &mut self.says);
                }
                for (key, value) in fields {
                    self.says.push(key);
                    self.visit(value, is_in_array);
                    self.says.pop();
                }
                self.says.truncate(known);
            }
            Json::Null | Json::Bool(_) => {}
        }
    }

    fn add(&mut self, number: Option<f64>) {
        if let Some(number) = number.filter(|number| (self.is_wanted)(*number)) {
            self.found.push((number, PlaceNames::in_text(&self.says.join(" "))));
        }
    }
}

/// Adds the texts of an object and of the objects in it.
fn add_texts<'d>(fields: &'d Map<String, Json>, texts: &mut Vec<&'d str>) {
    for value in fields.values() {
        match value {
            Json::String(text) => texts.push(text),
            Json::Object(inner) => add_texts(inner, texts),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_the_texts_of_elements_are_names() {
        let names = |text: &str| {
            let found = named_numbers(text, &|number| number > 5.0);
            found.into_iter().map(|(_, names)| names).collect::<Vec<_>>()
        };
        let of = |texts: &[&str]| -> Vec<PlaceNames> {
            texts.iter().map(|one| PlaceNames::in_text(one)).collect()
        };
        let both = of(&["exact ppl", "approx ppl"]);
        assert_eq!(names(r#"{"exact": {"ppl": 7.01}, "approx": {"ppl": "7.50", "n": 2}}"#), both);
        let elements = r#"banner
            [{"of": {"model": "q4"}, "ppl": 7.01}, {"of": {"model": "f16"}, "ppl": 7.5}]"#;
        let both = of(&["q ppl", "f ppl"]);
        assert_eq!(names(elements), both);
        // Nothing tells these apart.
        let same = of(&["r ppl", "r ppl"]);
        assert_eq!(names(r#"{"r": [{"ppl": 7.01}, {"ppl": 7.5}]}"#), same);
        assert_eq!(names(r#"{"model": "f16", "r": {"ppl": [7.01, 7.5]}}"#), same);
        assert!(names("no document").is_empty());
    }
}

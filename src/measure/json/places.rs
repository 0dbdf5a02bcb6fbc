//! What the elements of arrays say on the way to a value: the texts, whole numbers and truth values
//! in an element that has the value, and in the other elements.

use serde_json::{Map, Value as Json};

use crate::evaluation::{OutputPlace, ValuePlaces};

use super::pointer::{child, keys_of};

/// Maximum number of fields of one place, and of other elements of one array.
const MOST: usize = 32;
/// Maximum length of a text that counts, in bytes.
const LONGEST: usize = 200;

/// A place with its fields, and what stands there.
type Place<'d> = (OutputPlace, &'d Json);

/// The places of a value. `None` if no array is on the way to it, or if its element says nothing.
pub(super) fn places_at(document: &Json, pointer: &str) -> Option<ValuePlaces> {
    let keys: Vec<String> = keys_of(pointer).collect();
    let (own, value) = place_of(document, &keys)?;
    let mut others = Vec::new();
    let mut at = document;
    for (depth, key) in keys.iter().enumerate() {
        if let Json::Array(items) = at {
            let indices = (0..items.len()).map(|index| index.to_string());
            for index in indices.filter(|index| index != key).take(MOST) {
                let mut other = keys.clone();
                other[depth] = index;
                let other = place_of(document, &other);
                others.extend(other.map(|(place, found)| (place, found == value)));
            }
        }
        at = child(at, key)?;
    }
    ValuePlaces::new(own, others)
}

/// The place at these keys: the fields of the array elements on the way.
fn place_of<'d>(document: &'d Json, keys: &[String]) -> Option<Place<'d>> {
    let mut fields = Vec::new();
    let (mut at, mut path, mut is_in_array) = (document, String::new(), false);
    for key in keys {
        match at {
            Json::Array(_) => is_in_array = true,
            Json::Object(all) if is_in_array => {
                add_fields(all, &path, Some(key.as_str()), &mut fields);
                path = format!("{path}/{key}");
            }
            _ => {}
        }
        at = child(at, key)?;
    }
    Some((fields.into_iter().take(MOST).collect(), at))
}

/// Adds the fields of an object and of the objects in it, except one key.
fn add_fields(
    all: &Map<String, Json>,
    path: &str,
    except: Option<&str>,
    fields: &mut Vec<(String, String)>,
) {
    for (key, value) in all.iter().filter(|(key, _)| Some(key.as_str()) != except) {
        let path = format!("{path}/{key}");
        match value {
            Json::String(text) if text.len() <= LONGEST => {
                fields.push((path, text.trim().to_owned()));
            }
            Json::Number(number) if !number.is_f64() => fields.push((path, number.to_string())),
            Json::Bool(_) => fields.push((path, value.to_string())),
            Json::Object(inner) => add_fields(inner, &path, None, fields),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str, pointer: &str) -> Option<ValuePlaces> {
        places_at(&serde_json::from_str(text).unwrap(), pointer)
    }

    /// What tells the values apart that a pointer finds in two documents.
    fn told(pointer: &str, documents: [&str; 2]) -> Option<[String; 2]> {
        let [one, two] = documents.map(|text| places(text, pointer).unwrap());
        Some(one.told_apart(&two)?.map(|shown| shown.to_string()))
    }

    #[test]
    fn elements_that_change_places_are_told_apart() {
        for (pointer, documents, wanted) in [
            (
                "/r/0/ppl",
                [
                    r#"{"r": [{"n_ctx": 512, "ppl": 7.1}, {"n_ctx": 2048, "ppl": 6.9}]}"#,
                    r#"{"r": [{"n_ctx": 2048, "ppl": 6.9}, {"n_ctx": 512, "ppl": 7.5}]}"#,
                ],
                ["`n_ctx 512`", "`n_ctx 2048`"],
            ),
            (
                "/0/ppl",
                [
                    r#"[{"p": {"m": "/q4"}, "ppl": 7.1}, {"p": {"m": "/f16"}, "ppl": 6}]"#,
                    r#"[{"p": {"m": "/f16"}, "ppl": 6}, {"p": {"m": "/q4"}, "ppl": 7}]"#,
                ],
                ["`p/m /q4`", "`p/m /f16`"],
            ),
            (
                "/0/of/ppl",
                [
                    r#"[{"id": "a", "of": {"ppl": 1}}, {"id": "b", "of": {"ppl": 2}}]"#,
                    r#"[{"id": "b", "of": {"ppl": 2}}]"#,
                ],
                ["`id a`", "`id b`"],
            ),
        ] {
            assert_eq!(told(pointer, documents), Some(wanted.map(str::to_owned)), "{pointer}");
        }
    }

    #[test]
    fn counts_and_measured_numbers_are_no_names() {
        let counted = |own: u32, other: u32| {
            format!(r#"[{{"n": {own}, "s": 0.5, "ppl": 7}}, {{"n": {other}, "s": 0.6, "ppl": 6}}]"#)
        };
        let told = |one: &str, two: &str| told("/0/ppl", [one, two]);
        assert_eq!(told(&counted(4, 3), &counted(5, 4)), None);
        assert!(told(&counted(4, 3), &counted(3, 4)).is_some());
        let equal = r#"[{"id": "b", "ppl": 7}, {"id": "a", "ppl": 7}]"#;
        assert_eq!(told(equal, r#"[{"id": "a", "ppl": 7}, {"id": "b", "ppl": 7}]"#), None);
    }

    #[test]
    fn a_value_outside_of_arrays_has_no_places() {
        assert_eq!(places(r#"{"model": "q4", "ppl": 7.1}"#, "/ppl"), None);
        assert_eq!(places("[7.1, 6.9]", "/0"), None);
        assert_eq!(places(r#"[{"id": "a"}]"#, "/0/ppl"), None);
        assert!(places(r#"[{"id": "a", "ppl": 1}]"#, "/0/ppl").is_some());
    }
}

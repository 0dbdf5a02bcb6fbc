//! The JSON schema of `oracle.toml`, for editors. It contains those rules of the reader that a
//! schema can express. Only the reader checks placeholders, globs, and whether a metric's measure
//! exists. So the schema never refuses a file that this program reads. Tests compare the two.

mod document;
mod failures;
mod guards;
mod measures;
mod sweep;
mod values;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Map, Value, json};

use self::document::Document;
use super::read::WHOLE_HUNT;

/// The schema in draft 7, which TOML editors support. The text ends with a newline.
pub fn schema() -> String {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut generator = settings.with_transform(Plain).into_generator();
    let mut schema = generator.root_schema_for::<Document>().to_value();
    // An override may have the keys of the document, except those that belong to the whole hunt.
    // Its schema is derived from the document's: two separate lists would diverge.
    let body = override_body(&schema);
    let overrides = at(&mut schema, &["properties", "override", "items"]);
    overrides["properties"].as_object_mut().expect("an override has keys").extend(body);
    overrides["minProperties"] = json!(2);
    // People read the schema from its top, so these keys come first.
    let mut whole = Map::new();
    for key in ["$schema", "title", "description"] {
        whole.extend(schema.as_object_mut().and_then(|keys| keys.shift_remove_entry(key)));
    }
    whole.extend(schema.as_object().cloned().unwrap_or_default());
    format!("{:#}\n", Value::Object(whole))
}

/// Removes `null`, which TOML does not have, and the names of Rust's integer types.
#[derive(Clone, Debug)]
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        object.remove("format");
        if let Some(Value::String(words)) = object.get_mut("description") {
            *words = words.replace('\n', " ");
        }
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(values)) = object.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
            choices.retain(|choice| *choice != json!({"type": "null"}));
            if let [Value::Object(only)] = choices.as_slice() {
                let only = only.clone();
                object.remove("anyOf");
                for (key, value) in only {
                    object.entry(key).or_insert(value);
                }
            }
        }
    }
}

/// The keys that an override may set. None of them is required, and none has a default.
fn override_body(document: &Value) -> Map<String, Value> {
    let mut document = document.clone();
    for (path, _) in WHOLE_HUNT {
        let (key, tables) = path.split_last().expect("a path has a key");
        let mut table = &mut document["properties"];
        for name in tables {
            table = at(table, &[name, "properties"]);
        }
        table.as_object_mut().expect("a table has keys").shift_remove(*key);
    }
    let mut measure = at(&mut document, &["properties", "measure", "items"]).take();
    at(&mut measure, &["properties"]).as_object_mut().expect("keys").shift_remove("name");
    // The allowed keys depend on the parser, which may be set in the overridden measure and not
    // here.
    measure.as_object_mut().expect("a measure is a table").shift_remove("allOf");
    document["properties"]["measure"] = json!({
        "description": "Measures by name: measure.NAME.command = \"…\"",
        "type": "object",
        "additionalProperties": measure,
    });
    let mut prepare = at(&mut document, &["properties", "prepare", "items"]).take();
    at(&mut prepare, &["properties"]).as_object_mut().expect("keys").shift_remove("name");
    document["properties"]["prepare"] = json!({
        "description": "Steps by name: prepare.NAME.command = \"…\"",
        "type": "object",
        "additionalProperties": prepare,
    });
    let Value::Object(mut body) = document["properties"].take() else {
        unreachable!("a document has keys")
    };
    for (key, table) in &mut body {
        // An override replaces an array whole, so the items still need their required keys.
        if key != "require" {
            nothing_needed(table);
        }
    }
    body
}

fn nothing_needed(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    object.shift_remove("required");
    object.shift_remove("default");
    for key in ["properties", "additionalProperties"] {
        match object.get_mut(key) {
            Some(Value::Object(below)) if key == "properties" => {
                below.values_mut().for_each(nothing_needed);
            }
            Some(below) => nothing_needed(below),
            None => {}
        }
    }
}

fn at<'v>(value: &'v mut Value, path: &[&str]) -> &'v mut Value {
    path.iter().fold(value, |value, key| &mut value[*key])
}

//! The reference documentation and the schema agree: both have the same keys, types, words and
//! defaults. The tests in `schema` compare the schema with the reader.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::schema::{SCHEMA, words};
use crate::config::PARSER_KEYS;
use crate::config::placeholder::PLAIN;
use crate::config::read::WHOLE_HUNT;

const REFERENCE: &str = include_str!("../../../docs/oracle-toml.md");

/// The keys of a section, each with the cell of its type and default.
type Keys = BTreeMap<String, String>;

/// The rows of the tables whose first column is `column`, by section: the title of the second
/// column, and the cells.
fn rows(column: &str) -> BTreeMap<String, Vec<(String, Vec<&'static str>)>> {
    let mut rows: BTreeMap<String, Vec<(String, Vec<&str>)>> = BTreeMap::new();
    let (mut section, mut columns) = (String::new(), Vec::new());
    for line in REFERENCE.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = match title {
                "Top level" => String::new(),
                title => title.trim_matches(['[', ']']).to_owned(),
            };
        }
        let Some(row) = line.strip_prefix('|') else {
            columns.clear();
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        if columns.is_empty() {
            columns = cells;
        } else if columns[0] == column && !cells[0].starts_with("---") {
            rows.entry(section.clone()).or_default().push((columns[1].to_owned(), cells));
        }
    }
    rows
}

/// The words in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Each section's keys.
fn keys() -> BTreeMap<String, Keys> {
    let mut sections: BTreeMap<String, Keys> = BTreeMap::new();
    for (section, rows) in rows("key") {
        for (about, cells) in rows {
            for key in quoted(cells[0]) {
                // The table of [failures] has no column for the type.
                let is_default = about == "default";
                let cell = if is_default { format!("; {}", cells[1]) } else { cells[1].to_owned() };
                // `when` is a table whose keys follow it in the same table.
                let (section, key) = match section.as_str() {
                    "override" if key != "when" => ("override.when".to_owned(), key),
                    _ => (section.clone(), key),
                };
                let other = sections.entry(section).or_default().insert(key.to_owned(), cell);
                assert_eq!(other, None, "`{key}` is in the table twice");
            }
        }
    }
    sections
}

/// The schema of a section's table.
fn table(section: &str) -> &'static Value {
    section.split('.').filter(|part| !part.is_empty()).fold(&*SCHEMA, |at, part| {
        let below = &at["properties"][part];
        if below["items"].is_object() { &below["items"] } else { below }
    })
}

/// The schema's keys of a section, without those that the table of parsers describes.
fn described(section: &str) -> BTreeMap<String, &'static Value> {
    let keys =
        table(section)["properties"].as_object().unwrap_or_else(|| panic!("no section {section}"));
    let is_its = |key: &str| match section {
        "override" => key == "when",
        "measure" => !PARSER_KEYS.contains(&key),
        _ => true,
    };
    keys.iter().filter(|(key, _)| is_its(key)).map(|(key, v)| (key.clone(), v)).collect()
}

fn sections_of_schema() -> BTreeSet<String> {
    let top = SCHEMA["properties"].as_object().unwrap();
    let is_table =
        |value: &Value| value["properties"].is_object() || value["items"]["properties"].is_object();
    let tables = top.iter().filter(|(_, value)| is_table(value)).map(|(key, _)| key.clone());
    tables.chain(["", "override.when", "executor.build"].map(str::to_owned)).collect()
}

#[test]
fn the_reference_has_the_schemas_keys_and_no_others() {
    let mut written = keys();
    // The top level's other keys are one row, which names the sections.
    let top = rows("key").remove("").unwrap();
    let named =
        top.iter().flat_map(|(_, cells)| quoted(cells[0]).into_iter().chain(quoted(cells[2])));
    let named: BTreeSet<String> = named.map(str::to_owned).collect();
    assert_eq!(named, described("").into_keys().collect());
    written.remove("");
    let mut sections = sections_of_schema();
    sections.remove("");
    assert_eq!(written.keys().cloned().collect::<BTreeSet<_>>(), sections);
    for (section, keys) in &written {
        let schema = described(section);
        let schema: BTreeSet<&String> = schema.keys().collect();
        assert_eq!(keys.keys().collect::<BTreeSet<_>>(), schema, "[{section}]");
    }
    // Every section has a heading, also those whose keys the user chooses.
    for key in described("").keys().filter(|key| *key != "version") {
        let is_heading =
            |line: &str| *line == *format!("## [{key}]") || *line == *format!("## [[{key}]]");
        assert!(REFERENCE.lines().any(is_heading), "no heading for `{key}`");
    }
}

#[test]
fn the_reference_has_the_schemas_types_and_defaults() {
    for (section, keys) in keys().iter().filter(|(section, _)| !section.is_empty()) {
        let schema = described(section);
        let needed = table(section)["required"].as_array();
        let is_needed = |key: &str| needed.is_some_and(|keys| keys.contains(&json!(key)));
        for (key, cell) in keys {
            let place = format!("[{section}] {key}: `{cell}`");
            let (kind, default) = cell.split_once("; ").unwrap_or((cell, ""));
            let about = schema[key];
            assert_eq!(is_needed(key), default.starts_with("needed"), "{place}");
            assert!(is_kind(kind, about), "{place} is described as {about:#}");
            assert!(is_default(default, &about["default"]), "{place}: {}", about["default"]);
        }
    }
}

/// Whether the schema of a key is what the reference's word for its type means.
fn is_kind(kind: &str, schema: &Value) -> bool {
    let is = |name: &str| schema["type"] == json!(name);
    let chosen = words(schema);
    match kind {
        // In [failures]: a policy, `hunt` or `transient`.
        "" => {
            chosen == BTreeSet::from(["skip", "bad"]) || schema["anyOf"].is_array() || is("array")
        }
        "see below" => chosen == quoted_in_first_column("parser"),
        "`true`" => schema["const"] == json!(true),
        "boolean" => is("boolean"),
        "boolean or `\"runs\"`" => {
            let kinds = schema["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
            let [flag, word] = kinds else { return false };
            flag["type"] == json!("boolean") && words(word) == BTreeSet::from(["runs"])
        }
        "count" => is("integer") && schema["minimum"] == json!(1),
        "time" => is("string") && schema["examples"].is_array(),
        "size" => schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("GiB")),
        "number" => is("number") && schema.get("minimum").is_none(),
        "number ≥ 0" => is("number") && schema["minimum"] == json!(0),
        "number between 0.5 and 1, both excluded" => {
            schema["exclusiveMinimum"] == json!(0.5) && schema["exclusiveMaximum"] == json!(1)
        }
        "0 to 100" => schema["minimum"] == json!(0) && schema["maximum"] == json!(100),
        "commands" | "paths" | "patterns" | "strings" => {
            is("array") && schema["items"]["type"] == json!("string")
        }
        "`[FILE, TEXT]`" => is("array") && schema["minItems"] == json!(2),
        "table of strings" => schema["additionalProperties"]["type"] == json!("string"),
        "table" => schema["properties"].is_object(),
        "tables" => schema["items"]["properties"].is_object(),
        "table of values" => schema["additionalProperties"]["anyOf"].is_array(),
        "command"
        | "name"
        | "path"
        | "regular expression"
        | "revision"
        | "string"
        | "web address"
        | "path or glob below `{out}`" => is("string") && chosen.is_empty(),
        words => {
            let words: Vec<&str> =
                quoted(words).into_iter().map(|word| word.trim_matches('"')).collect();
            !chosen.is_empty() && words.into_iter().collect::<BTreeSet<_>>() == chosen
        }
    }
}

/// Whether the reference's words for a default mean the schema's.
fn is_default(words: &str, default: &Value) -> bool {
    let plain = words.replace(['`', '"'], "");
    match default {
        // None, or one that depends on the machine or the commit.
        Value::Null => !words.starts_with(['`', '"']),
        Value::Array(items) if items.is_empty() => words == "none",
        Value::Object(_) => words == "none",
        Value::String(text) => *text == plain,
        other => serde_json::from_str(words.trim_matches('`')).is_ok_and(|it: Value| it == *other),
    }
}

fn quoted_in_first_column(column: &str) -> BTreeSet<&'static str> {
    rows(column).into_values().flatten().flat_map(|(_, cells)| quoted(cells[0])).collect()
}

#[test]
fn the_table_of_parsers_has_their_further_keys() {
    let mut written: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, cells) in rows("parser").into_values().flatten() {
        for parser in quoted(cells[0]) {
            let its = quoted(cells[1]).into_iter().filter(|word| PARSER_KEYS.contains(word));
            written.insert(parser, its.collect());
        }
    }
    // The schema refuses a key for every parser that does not have it.
    let rules = SCHEMA["properties"]["measure"]["items"]["allOf"].as_array().unwrap();
    let parsers = words(&SCHEMA["properties"]["measure"]["items"]["properties"]["parser"]);
    for (parser, keys) in written {
        assert!(parsers.contains(parser), "{parser}");
        let allowed = PARSER_KEYS.into_iter().filter(|key| {
            rules.iter().all(|rule| {
                let parsers = &rule["if"]["properties"]["parser"];
                let listed = parsers["enum"].as_array().cloned();
                let listed = listed.unwrap_or_else(|| vec![parsers["const"].clone()]);
                let branch = if listed.contains(&json!(parser)) { "then" } else { "else" };
                rule[branch]["properties"][key] != json!(false)
            })
        });
        assert_eq!(keys, allowed.collect(), "{parser}");
    }
}

#[test]
fn the_reference_has_every_placeholder_and_no_other() {
    let written = rows("placeholder").into_values().flatten();
    let written: BTreeSet<String> = written
        .flat_map(|(_, cells)| quoted(cells[0]))
        .map(|word| word.trim_matches(['{', '}']).to_owned())
        .collect();
    let plain = PLAIN.iter().map(|(name, _)| (*name).to_owned());
    let named = ["inputs.NAME", "matrix.NAME", "sweep.NAME", "prepare.NAME"].map(str::to_owned);
    assert_eq!(written, plain.chain(named).collect());
}

#[test]
fn the_reference_has_the_keys_that_no_override_may_set() {
    let beginning = "Refused, because they belong to the whole hunt: ";
    let written = REFERENCE.lines().find_map(|line| line.strip_prefix(beginning)).unwrap();
    let written: BTreeSet<String> = quoted(written).into_iter().map(str::to_owned).collect();
    assert_eq!(written, WHOLE_HUNT.iter().map(|(path, _)| path.join(".")).collect());
}

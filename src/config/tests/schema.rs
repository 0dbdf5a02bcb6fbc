//! The schema and the reader agree: both have the same keys, words and defaults. The schema
//! alone refuses no text.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::*;
use crate::config::document::{self, Node};
use crate::config::read::{self, WHOLE_HUNT};
use crate::config::reader::Reader;
use crate::config::schema::schema;

pub(super) static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&schema()).unwrap());
static VALIDATOR: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::draft7::new(&SCHEMA).unwrap());

/// Parts of the reader's messages whose problems a schema can find too.
const SAYABLE: &[&str] = &[
    "unknown key",
    "is missing",
    "expected ",
    "is not allowed",
    "out of range; allowed: 1 to",
    "out of range; allowed: more than 0.5",
    "may not be empty",
    "cannot be negative",
    "is not available yet. Available",
    "not available yet.",
    "has no tolerance",
    "a guard has one form",
    "belongs to the parser",
    "both given",
    "belongs to the whole hunt",
    "changes nothing",
    "is empty; give one or more",
    "this program reads version 1",
    "is not a JSON pointer",
    "exit-code` reads nothing",
    "GIT_* is stripped",
    "false guards nothing",
    "a measure keeps its name",
];

/// The schema accepts what the reader accepts. It refuses a text if the reader refuses it with
/// one of [`SAYABLE`].
#[track_caller]
pub(super) fn assert_agrees(text: &str, read: &Result<Config, ConfigError>) {
    let Ok(document) = toml::from_str::<toml::Value>(text) else { return };
    let valid = VALIDATOR.is_valid(&serde_json::to_value(document).unwrap());
    match read {
        Ok(_) => assert!(valid, "only the schema refuses\n{text}"),
        Err(error) => {
            // Two parts that are valid alone may be wrong after an override is merged. The schema
            // cannot see that.
            let sayable = |problem: &&Problem| {
                SAYABLE.iter().any(|words| problem.what.contains(words))
                    && !problem.what.contains("] applied: ")
            };
            let said = error.problems.iter().find(sayable);
            assert!(!valid || said.is_none(), "the schema takes {}\n{text}", said.unwrap());
        }
    }
}

/// A document with every table that the reader knows, and every key that takes one of a few
/// words.
const WHOLE: &str = r#"
version = 1
[inputs]
model = "m.bin"
[worktree]
[build]
mode = "clean"
confirm = "reuse"
unread = "build"
[run]
[sweep]
parameters.threads = [1, 2]
[environment]
home = "empty"
[statistics]
[failures]
build = "skip"
crash = "bad"
nan = "bad"
timeout = "bad"
unreadable = "bad"
[[prepare]]
name = "gguf"
command = "x"
failure = "bad"
[[measure]]
name = "ppl"
command = "x"
parser = "regex"
pattern = "(.)"
pick = "last"
kind = "number"
failures = { crash = "bad", nan = "bad", timeout = "bad", unreadable = "bad" }
[[require]]
measure = "ppl"
pattern = "x"
[[require]]
measure = "ppl"
checks = "same-set"
[[guard]]
metric = "ppl"
max = 1
[[measure]]
name = "logits"
command = "x"
parser = "logits"
file = "{out}/logits.npy"
[[guard]]
metric = "logits"
preset = "lossy"
[[level]]
name = "kernel"
measures = ["ppl"]
[notify]
[executor]
kind = "local"
confirm = "same-node"
build.max_jobs = 2
measure.max_jobs = 1
[[executor.slots]]
cpus = "0"
[limits]
[ruler]
paths = ["bench/**"]
[[patch]]
file = "fix.diff"
when = { exists = "x" }
[[overlay]]
from = "HEAD"
paths = ["bench/**"]
when = { exists = "x" }
[[override]]
when = { exists = "x" }
run.threads = 1
"#;

/// The part of the schema for a key such as `measure.ppl.failures` or `guard[1]`.
fn schema_at(key: &str) -> &'static Value {
    let mut at = &*SCHEMA;
    for part in key.split('.').filter(|part| !part.is_empty()) {
        at = match part.split_once('[') {
            _ if matches!(part, "ppl" | "gguf" | "logits") => &at["items"],
            Some((name, _)) => &at["properties"][name]["items"],
            None => &at["properties"][part],
        };
    }
    at
}

#[test]
fn the_schema_has_exactly_the_keys_and_words_of_the_reader() {
    let mut problems = Vec::new();
    let mut tree = document::parse(WHOLE, "oracle.toml", &mut problems);
    let allowed = allowed(&mut tree);
    let tables = allowed.iter().map(|(key, _)| key.as_str()).collect::<BTreeSet<_>>();
    for key in ["", "build", "measure.ppl", "guard[1]", "override[1].when", "failures.nan"] {
        assert!(tables.contains(key), "the reader did not come to `{key}`: {tables:?}");
    }
    let mut walked = BTreeSet::new();
    for (key, names) in &allowed {
        let at = schema_at(key);
        let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let described = match at["properties"].as_object() {
            Some(keys) => {
                assert_eq!(at["additionalProperties"], json!(false), "{key}");
                keys.keys().map(String::as_str).collect::<BTreeSet<_>>()
            }
            None => words(at),
        };
        assert_eq!(known, described, "{key}");
        walked.insert(std::ptr::from_ref(at));
    }
    // In the other direction: the schema has no table or list of words that the reader did not
    // read.
    let mut missed = Vec::new();
    report_unread(&SCHEMA, "", &walked, &mut missed);
    missed.retain(|path| path != ".override.items");
    assert!(missed.is_empty(), "the reader never came to {missed:?}");
}

/// The words of `enum`, or of `oneOf` constants with a description each.
pub(super) fn words(schema: &Value) -> BTreeSet<&str> {
    let listed = schema["enum"].as_array().into_iter().flatten();
    let chosen = schema["oneOf"].as_array().into_iter().flatten().map(|one| &one["const"]);
    listed.chain(chosen).filter_map(Value::as_str).collect()
}

fn report_unread(
    schema: &Value,
    path: &str,
    walked: &BTreeSet<*const Value>,
    missed: &mut Vec<String>,
) {
    let is_closed = schema["properties"].is_object() || !words(schema).is_empty();
    if is_closed && !walked.contains(&std::ptr::from_ref::<Value>(schema)) {
        missed.push(path.to_owned());
    }
    if let Some(keys) = schema["properties"].as_object() {
        // The body of an override is derived from the document. The next test checks it.
        let body = path == ".override.items";
        for (key, below) in keys.iter().filter(|(key, _)| !body || *key == "when") {
            report_unread(below, &format!("{path}.{key}"), walked, missed);
        }
    }
    if schema["items"].is_object() {
        report_unread(&schema["items"], &format!("{path}.items"), walked, missed);
    }
}

#[test]
fn an_override_has_the_keys_of_the_document_except_those_of_the_whole_hunt() {
    let keys = |schema: &Value| -> BTreeSet<String> {
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let whole = |path: &[&str]| WHOLE_HUNT.iter().any(|(other, _)| *other == path);
    let item = &SCHEMA["properties"]["override"]["items"];
    let mut body = keys(&SCHEMA);
    body.retain(|key| !whole(&[key]));
    body.insert("when".to_owned());
    assert_eq!(keys(item), body);
    for table in ["build", "run", "worktree", "failures"] {
        let mut inner = keys(&SCHEMA["properties"][table]);
        inner.retain(|key| !whole(&[table, key]));
        assert_eq!(keys(&item["properties"][table]), inner, "{table}");
    }
    for list in ["measure", "prepare"] {
        let mut named = keys(&SCHEMA["properties"][list]["items"]);
        named.remove("name");
        assert_eq!(keys(&item["properties"][list]["additionalProperties"]), named, "{list}");
    }
}

#[test]
fn a_default_of_the_schema_is_what_leaving_the_key_out_means() {
    let mut document: Value = toml::from_str::<toml::Value>(SMALL)
        .map(|value| serde_json::to_value(value).unwrap())
        .unwrap();
    document["prepare"] = json!([{ "name": "gguf", "command": "x" }]);
    let bare = toml::to_string(&document).unwrap();
    let mut count = 0;
    for table in ["worktree", "build", "run", "statistics", "failures", "environment"] {
        let defaults = defaults(&SCHEMA["properties"][table]);
        count += defaults.as_object().unwrap().len();
        document[table] = defaults;
    }
    for list in ["measure", "prepare"] {
        let its = defaults(&SCHEMA["properties"][list]["items"]);
        for (key, value) in its.as_object().unwrap() {
            // `pick` belongs to another parser than this measure's.
            if key != "pick" {
                document[list][0][key] = value.clone();
                count += 1;
            }
        }
    }
    assert!(count > 15, "{document:#}");
    let text = toml::to_string(&document).unwrap();
    // Only `cwd` is `None` by default, although the schema names a default value.
    let mut said = parse(&text).unwrap();
    assert_eq!(said.measures[0].cwd.take().unwrap().text(), "{src}");
    assert_eq!(seen(&said), seen(&parse(&bare).unwrap()));
}

fn defaults(table: &Value) -> Value {
    let keys = table["properties"].as_object().unwrap().iter();
    keys.filter_map(|(key, about)| Some((key.clone(), about.get("default")?.clone()))).collect()
}

#[test]
fn every_key_is_described() {
    fn check(schema: &Value, path: &str) {
        for (key, below) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            let words = below["description"].as_str().unwrap_or_default();
            assert!(!words.is_empty(), "{path}");
            check(below, &path);
            check(&below["items"], &path);
        }
    }
    check(&SCHEMA, "");
}

#[test]
fn the_worked_examples_are_valid() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["oracle.toml", "src/config/tests/contract.toml"] {
        let text = std::fs::read_to_string(top.join(file)).unwrap();
        let document: toml::Value = toml::from_str(&text).unwrap();
        let document = serde_json::to_value(document).unwrap();
        let errors: Vec<_> = VALIDATOR.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{file}: {errors:#?}");
    }
}

#[test]
fn the_schema_file_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle.schema.json");
    let written = std::fs::read_to_string(file).unwrap_or_default();
    assert!(written == schema(), "run: cargo run -- schema > oracle.schema.json");
}

/// Every table of a document with its allowed keys, and every key that takes one of a few words
/// with its allowed words.
fn allowed(document: &mut Node) -> Vec<(String, Vec<String>)> {
    let mut reader = Reader::default();
    read::take(&mut reader, document);
    read::read_document(&mut reader, document, Path::new("/"));
    reader.allowed
}

//! `[[prepare]]`, `[[measure]]` and `[[require]]` as types, for the schema alone.
#![expect(dead_code, reason = "only their schema is made; no value ever is")]
#![expect(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "editors show these comments as they are"
)]

use std::collections::BTreeMap;

use schemars::{JsonSchema, json_schema};
use serde_json::json;

use super::super::parser::{PARSER_KEYS, PICKS};
use super::super::parser_table::{FileUse, PARSERS, ParserRow};
use super::failures::{Policy, RunFailures};
use super::values::{BelowOut, Env, Pointer, Text, Time};

/// A step between build and measures.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Prepare {
    /// The step's name, unique: letters, digits, _ and -. {prepare.NAME} is the folder that the
    /// step fills.
    name: Text,
    /// The command. It runs in {src} and is split into words as a shell would split it; no shell
    /// runs. Placeholders: {prepare.NAME} of this step and of earlier steps, {src} {build} {cache}
    /// {jobs} {threads} {commit} {short} {parent} {commit_date} {inputs.NAME}.
    command: Text,
    /// The longest time of the command: "90s", "30m", "1h 30m".
    #[schemars(extend("default" = "30m"))]
    timeout: Option<Time>,
    /// Environment variables. Placeholders are filled in.
    #[schemars(extend("default" = {}))]
    env: Option<Env>,
    /// Files that must be in the step's folder afterwards, as paths relative to that folder.
    #[schemars(extend("default" = []))]
    outputs: Option<Vec<Text>>,
    /// What a commit counts as if the step fails.
    #[schemars(extend("default" = "skip"))]
    failure: Option<Policy>,
}

/// One thing to run, and how to read what it prints.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = parsers_keys)]
pub(super) struct Measure {
    /// The measure's name, unique: letters, digits, _ and -.
    name: Text,
    /// The command, split into words as a shell would split it; no shell runs. Placeholders: {src}
    /// {build} {out} {cache} {jobs} {threads} {chunks} {commit} {short} {parent} {commit_date}
    /// {inputs.NAME} {matrix.NAME} {sweep.NAME} {prepare.NAME}.
    command: Text,
    /// How its output is read.
    parser: Parser,
    /// A regular expression. Parser regex: each line of stdout and stderr is matched; a named group
    /// (?<tg>…) yields MEASURE.tg, and one unnamed group, or none, yields MEASURE. Parser
    /// llama-eval-callback: only tensors with a matching name are read.
    pattern: Option<Text>,
    /// How several values become one. Parser regex: the values of several matches. Parser
    /// llama-bench: a test's repetitions, by default their median. No other parser has this key.
    #[schemars(extend("default" = "last"))]
    pick: Option<Pick>,
    /// A JSON pointer (RFC 6901) into the document on stdout, such as "/results/0/value".
    /// Parser json only.
    pointer: Option<Pointer>,
    /// Several JSON pointers: NAME = "/a/0/b" yields MEASURE.NAME. Parser json only.
    #[schemars(extend("minProperties" = 1))]
    pointers: Option<BTreeMap<String, Pointer>>,
    /// The kind of prompt, such as code, reasoning, recall or prose, for the report. Parser text
    /// only.
    category: Option<Text>,
    /// A file that the run writes; it is read instead of the run's output. A path or a glob below
    /// {out}, such as "{out}/report.xml". All parsers but exit-code.
    file: Option<BelowOut>,
    /// Whether the values are numbers or facts. A fact is kept as text. Only the parsers regex and
    /// json yield facts.
    #[schemars(extend("default" = "number"))]
    kind: Option<Kind>,
    /// The longest time of one run: "90s", "30m", "1h 30m".
    #[schemars(extend("default" = "20m"))]
    timeout: Option<Time>,
    /// Environment variables. Placeholders are filled in.
    #[schemars(extend("default" = {}))]
    env: Option<Env>,
    /// The working folder. Placeholders are filled in.
    #[schemars(extend("default" = "{src}"))]
    cwd: Option<Text>,
    /// Commands to run before each run, in the same folder and environment.
    #[schemars(extend("default" = []))]
    before: Option<Vec<Text>>,
    /// Commands to run after each run, in the same folder and environment.
    #[schemars(extend("default" = []))]
    after: Option<Vec<Text>>,
    /// What of bisect-ppl may not happen on this machine at the same time: `true`, no other build or
    /// run, for times and speeds; "runs", no other run, for a GPU that one run fills.
    #[schemars(extend("default" = false))]
    exclusive: Option<Exclusive>,
    /// How many runs of each build do not count, before the first run that counts.
    #[schemars(range(min = 0, max = 100), extend("default" = 0))]
    warmup: Option<u32>,
    /// What failures of this measure count as, if that differs from [failures].
    failures: Option<RunFailures>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum Exclusive {
    Flag(bool),
    Word(ExclusiveRuns),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum ExclusiveRuns {
    Runs,
}

/// Which keys go with which parser.
fn parsers_keys(schema: &mut schemars::Schema) {
    let is = |parsers: &[&str]| json!({ "properties": { "parser": { "enum": parsers } }, "required": ["parser"] });
    let mut rules = Vec::new();
    for key in PARSER_KEYS {
        let owners = ParserRow::names_where(|row| row.keys.contains(&key));
        rules.push(json!({ "if": is(&owners), "else": { "properties": { key: false } } }));
    }
    for row in PARSERS {
        let needed: Vec<_> =
            row.needs_one_of.iter().map(|key| json!({ "required": [key] })).collect();
        if !needed.is_empty() {
            rules.push(json!({ "if": is(&[row.name]), "then": { "oneOf": needed } }));
        }
        let then = match row.file {
            FileUse::Allowed => continue,
            FileUse::Needed => json!({ "required": ["file"] }),
            FileUse::Refused => json!({ "properties": { "file": false } }),
        };
        rules.push(json!({ "if": is(&[row.name]), "then": then }));
    }
    schema.insert("allOf".to_owned(), rules.into());
}

/// The name of a parser.
pub(super) struct Parser(String);

impl JsonSchema for Parser {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "parser".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = |row: &ParserRow| json!({ "description": row.about, "type": "string", "const": row.name });
        let all: Vec<_> = PARSERS.iter().map(one).collect();
        json_schema!({ "oneOf": all })
    }
}

/// The word for a way to choose one of several values.
pub(super) struct Pick(String);

impl JsonSchema for Pick {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "pick".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words: Vec<&str> = PICKS.iter().map(|(word, _)| *word).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum Kind {
    Number,
    Fact,
}

/// What a run must show to count.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = one_requirement)]
pub(super) struct Require {
    /// The measure whose runs are checked.
    measure: Text,
    /// A regular expression. At least one line of stdout or stderr must match.
    pattern: Option<Text>,
    /// The same checks or tests must run as at the good endpoint, by name and without skipped
    /// ones. For the parsers llama-bench, llama-eval-callback (tensors), lm-eval, parity and junit.
    checks: Option<SameChecks>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum SameChecks {
    SameSet,
}

fn one_requirement(schema: &mut schemars::Schema) {
    let one_of = serde_json::json!([{ "required": ["pattern"] }, { "required": ["checks"] }]);
    schema.insert("oneOf".to_owned(), one_of);
}

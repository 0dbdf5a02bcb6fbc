//! `[[prepare]]`, `[[measure]]` and `[[require]]` as types, for the schema alone.
#![expect(dead_code, reason = "only their schema is made; no value ever is")]
#![expect(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "editors show these comments as they are"
)]

use std::collections::BTreeMap;

use schemars::{JsonSchema, json_schema};

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
    /// Whether no other build or run of bisect-ppl may happen on this machine at the same time. For
    /// times and speeds.
    #[schemars(extend("default" = false))]
    exclusive: Option<bool>,
    /// How many runs of each build do not count, before the first run that counts.
    #[schemars(range(min = 0, max = 100), extend("default" = 0))]
    warmup: Option<u32>,
    /// What failures of this measure count as, if that differs from [failures].
    failures: Option<RunFailures>,
}

/// Which keys go with which parser.
fn parsers_keys(schema: &mut schemars::Schema) {
    let is = |parser: &str| json_schema!({ "properties": { "parser": { "const": parser } }, "required": ["parser"] });
    let is_one_of = |parsers: &[&str]| json_schema!({ "properties": { "parser": { "enum": parsers } }, "required": ["parser"] });
    schema.insert(
        "allOf".to_owned(),
        serde_json::json!([
            {
                "if": is("regex"),
                "then": { "required": ["pattern"] },
            },
            { "if": is("text"), "else": { "properties": { "category": false } } },
            { "if": is("logits"), "then": { "required": ["file"] } },
            {
                "if": is_one_of(&["regex", "llama-eval-callback"]),
                "else": { "properties": { "pattern": false } },
            },
            {
                "if": is_one_of(&["regex", "llama-bench"]),
                "else": { "properties": { "pick": false } },
            },
            {
                "if": is("json"),
                "then": { "oneOf": [{ "required": ["pointer"] }, { "required": ["pointers"] }] },
                "else": { "properties": { "pointer": false, "pointers": false } },
            },
            { "if": is("exit-code"), "then": { "properties": { "file": false } } },
        ]),
    );
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum Parser {
    /// llama-perplexity's output, of any year: its final estimate, and the value after each
    /// chunk.
    LlamaPerplexity,
    /// llama-bench's JSON (-o json or -o jsonl), of any year: MEASURE.pp512, MEASURE.tg128,
    /// MEASURE.pp512_tg128, MEASURE.pp512_d4096.
    LlamaBench,
    /// What llama-perplexity prints with --kl-divergence, of any year: MEASURE.mean_kld,
    /// MEASURE.kld_99, MEASURE.same_top_p and so on.
    LlamaKld,
    /// llama-eval-callback's tensors: MEASURE.result_output, the sum of a tensor's values, and
    /// MEASURE.result_output-shown, the sum of the values that are printed.
    LlamaEvalCallback,
    /// A file with logits (.npy, .safetensors, llama.cpp's KL-divergence base file), compared with
    /// that of the good endpoint: MEASURE.max_abs, MEASURE.min_cosine, MEASURE.mean_kl and so on.
    Logits,
    /// Generated text on stdout: MEASURE.words, distinct_1, distinct_2, repeated_4.
    Text,
    /// The tensors of a run: a folder of .npy files, .safetensors files, or without `file` what
    /// llama-eval-callback prints. They are compared after a first bad commit was found.
    Tensors,
    /// The results of lm-evaluation-harness: MEASURE.TASK-acc.
    LmEval,
    /// The output of kernels' test programs: MEASURE.failed, MEASURE.passed, MEASURE.skipped,
    /// MEASURE.max_diff, MEASURE.loss, and the distance of each check, MEASURE.CHECK.
    Parity,
    /// A test report in JUnit's XML: MEASURE.tests, passed, failures, errors, skipped.
    Junit,
    /// A pattern with named groups, or one unnamed group.
    Regex,
    /// A JSON document on stdout.
    Json,
    /// The exit code is the value.
    ExitCode,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum Pick {
    First,
    Last,
    Min,
    Max,
    Sum,
    Median,
    Mean,
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

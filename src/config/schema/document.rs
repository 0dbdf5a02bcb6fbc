//! `oracle.toml` as types, for the schema alone: the reader in `read` reads it.
#![expect(dead_code, reason = "only their schema is made; no value ever is")]
#![expect(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "editors show these comments as they are"
)]

use std::collections::BTreeMap;

use schemars::{JsonSchema, json_schema};

/// How commits are built and measured, and what counts as worse.
#[derive(JsonSchema)]
#[schemars(rename = "oracle.toml", deny_unknown_fields)]
pub(super) struct Document {
    /// Of this format.
    #[schemars(schema_with = "one")]
    version: u32,
    /// What every run reads: NAME = "PATH", a file, a folder or a glob. Hashed into every
    /// evaluation. Commands name it as {inputs.NAME}.
    inputs: Option<BTreeMap<String, Text>>,
    /// What measures are repeated over, from one build: AXIS = [VALUES]. `threads` and
    /// `chunks` stand for {threads} and {chunks}; another axis is named as {inputs.AXIS}, its
    /// values being paths, or as {matrix.AXIS}. A measure that names an axis has a cell for
    /// each of its values.
    matrix: Option<Matrix>,
    worktree: Option<Worktree>,
    build: Option<Build>,
    /// Steps between build and measures, made once for each build: a model that each commit's own
    /// tool converts. Measures name what they made as {prepare.NAME}.
    prepare: Option<Vec<Prepare>>,
    /// Things to run. Each yields metrics called MEASURE or MEASURE.NAME, and always
    /// MEASURE.wall_s (seconds) and MEASURE.peak_rss_mib (MiB).
    #[schemars(length(min = 1))]
    measure: Vec<Measure>,
    run: Option<Run>,
    /// What a run must show to count at all; a run that does not is untestable.
    require: Option<Vec<Require>>,
    /// Tolerances. A commit is bad when it breaks any of them.
    #[schemars(length(min = 1))]
    guard: Vec<Guard>,
    statistics: Option<Statistics>,
    failures: Option<Failures>,
    environment: Option<Environment>,
    /// Changes that are made to commits before they are built, in order.
    patch: Option<Vec<Patch>>,
    /// Files of one revision that are laid over every commit before it is built.
    overlay: Option<Vec<FileOverlay>>,
    ruler: Option<Ruler>,
    /// How some commits differ. Every override whose condition holds is laid over, in order:
    /// tables are merged, everything else is replaced, arrays whole.
    r#override: Option<Vec<Override>>,
}

fn one(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    json_schema!({ "const": 1 })
}

/// A string that says something.
struct Text(String);

impl JsonSchema for Text {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "text".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "string", "minLength": 1 })
    }
}

/// A length of time such as "90s", "30m" or "1h 30m": more than 0, at most a year.
struct Time(String);

impl JsonSchema for Time {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "time".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "string", "minLength": 1, "examples": ["90s", "30m", "1h 30m"] })
    }
}

/// A whole number from 1.
struct Count(u32);

impl JsonSchema for Count {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "count".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
    }
}

/// Environment variables; placeholders are filled in. GIT_* is stripped from every command's
/// environment.
struct Env(BTreeMap<String, String>);

impl JsonSchema for Env {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "env".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": { "type": "string" },
            "propertyNames": { "pattern": "^[^=]+$", "not": { "pattern": "^GIT_" } },
        })
    }
}

/// The axes that measures are repeated over, each with its values.
struct Matrix(BTreeMap<String, Vec<Text>>);

impl JsonSchema for Matrix {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "matrix".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "minItems": 1,
                "items": { "type": ["string", "number"], "minLength": 1 },
            },
        })
    }
}

/// Where and how commits are checked out.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Worktree {
    /// Where commits are checked out and built; from the folder of this file. Default: the
    /// user's cache folder.
    dir: Option<Text>,
    /// Paths of the user's checkout that are linked in; relative, inside it, not .git.
    link: Option<Vec<Text>>,
    /// Check submodules out, each at the commit's own pin.
    #[schemars(extend("default" = true))]
    submodules: Option<bool>,
    /// Fetch the files that Git LFS keeps elsewhere; they stay pointers otherwise.
    #[schemars(extend("default" = false))]
    lfs: Option<bool>,
    /// A submodule, or a folder with another project's sources: where a first bad commit moves it,
    /// the hunt goes on among its commits.
    descend: Option<Text>,
}

/// How a commit is built.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Build {
    /// Run in order in {src}, split as a shell would; no shell runs. Placeholders: {src}
    /// {build} {cache} {jobs} {threads} {commit} {short} {parent} {commit_date}
    /// {inputs.NAME}. None: nothing to build.
    #[schemars(extend("default" = []))]
    commands: Option<Vec<Text>>,
    /// Declared environment; placeholders are filled in.
    #[schemars(extend("default" = {}))]
    env: Option<Env>,
    /// Whether the build folder is kept between commits of the search; never for a
    /// confirmation.
    #[schemars(extend("default" = "clean"))]
    mode: Option<BuildMode>,
    /// For each command: "90s", "30m", "1h 30m".
    #[schemars(extend("default" = "30m"))]
    timeout: Option<Time>,
    /// Commits that touch only these cannot change the result: git pathspecs, such as
    /// "docs/**" or "*.md".
    #[schemars(extend("default" = []))]
    ignore: Option<Vec<Text>>,
    /// Only commits that touch these can change the result: git pathspecs, such as "src/**".
    #[schemars(extend("default" = []))]
    paths: Option<Vec<Text>>,
    /// {jobs}. Default: the cores of the slot.
    jobs: Option<Count>,
    /// Whether the first bad commit and its parents are built afresh.
    #[schemars(extend("default" = "rebuild"))]
    confirm: Option<ConfirmBuild>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum BuildMode {
    Clean,
    Incremental,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum ConfirmBuild {
    Rebuild,
    Reuse,
}

/// A step between build and measures.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Prepare {
    /// Unique; letters, digits, _ and -. {prepare.NAME} is the folder that it fills.
    name: Text,
    /// What to run in {src}, split as a shell would; no shell runs. Placeholders: {prepare.NAME}
    /// of its own and of those before it, {src} {build} {cache} {jobs} {threads} {commit} {short}
    /// {parent} {commit_date} {inputs.NAME}.
    command: Text,
    /// Of the command: "90s", "30m", "1h 30m".
    #[schemars(extend("default" = "30m"))]
    timeout: Option<Time>,
    /// Declared environment; placeholders are filled in.
    #[schemars(extend("default" = {}))]
    env: Option<Env>,
    /// What must lie in its folder then, relative to that.
    #[schemars(extend("default" = []))]
    outputs: Option<Vec<Text>>,
    /// What a commit counts as where it fails.
    #[schemars(extend("default" = "skip"))]
    failure: Option<Policy>,
}

/// One thing to run, and how to read what it prints.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = parsers_keys)]
struct Measure {
    /// Unique; letters, digits, _ and -.
    name: Text,
    /// What to run, split as a shell would; no shell runs. Placeholders: {src} {build} {out}
    /// {cache} {jobs} {threads} {chunks} {commit} {short} {parent} {commit_date}
    /// {inputs.NAME}.
    command: Text,
    /// How its output is read.
    parser: Parser,
    /// A regular expression, matched line by line on both streams. Named groups (?<tg>…) yield
    /// MEASURE.tg; one unnamed group, or none, yields MEASURE. Parser regex; for
    /// llama-eval-callback, the names of the tensors that are looked at.
    pattern: Option<Text>,
    /// Which match counts, where there are several, or what is made of them; of llama-bench's
    /// repetitions, where the default is the median. Parsers regex and llama-bench only.
    #[schemars(extend("default" = "last"))]
    pick: Option<Pick>,
    /// A JSON pointer (RFC 6901) into the document on stdout, such as "/results/0/value".
    /// Parser json only.
    pointer: Option<Pointer>,
    /// Several: NAME = "/a/0/b" yields MEASURE.NAME. Parser json only.
    #[schemars(extend("minProperties" = 1))]
    pointers: Option<BTreeMap<String, Pointer>>,
    /// A file that the run leaves, read in place of what is printed: a path or a glob below
    /// {out}, such as "{out}/report.xml". All parsers but exit-code.
    file: Option<BelowOut>,
    /// A fact is kept as text; only from regex and json.
    #[schemars(extend("default" = "number"))]
    kind: Option<Kind>,
    /// Of one run: "90s", "30m", "1h 30m".
    #[schemars(extend("default" = "20m"))]
    timeout: Option<Time>,
    /// Declared environment; placeholders are filled in.
    #[schemars(extend("default" = {}))]
    env: Option<Env>,
    /// Working folder.
    #[schemars(extend("default" = "{src}"))]
    cwd: Option<Text>,
    /// Commands to run before each run, in the same folder and environment.
    #[schemars(extend("default" = []))]
    before: Option<Vec<Text>>,
    /// Commands to run after each run, in the same folder and environment.
    #[schemars(extend("default" = []))]
    after: Option<Vec<Text>>,
    /// Whether nothing of bisect-ppl may build or run beside it on this machine; for figures
    /// that are times or speeds.
    #[schemars(extend("default" = false))]
    exclusive: Option<bool>,
    /// Launches of each build that do not count, before the first that does.
    #[schemars(range(min = 0, max = 100), extend("default" = 0))]
    warmup: Option<u32>,
    /// What this measure's failures count as, where that is not as in [failures].
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
enum Parser {
    /// llama-perplexity's output, of any year: its final estimate, and the value after each
    /// chunk.
    LlamaPerplexity,
    /// llama-bench's JSON (-o json or -o jsonl), of any year: MEASURE.pp512, MEASURE.tg128,
    /// MEASURE.pp512_tg128, MEASURE.pp512_d4096.
    LlamaBench,
    /// What llama-perplexity prints with --kl-divergence, of any year: MEASURE.mean_kld,
    /// MEASURE.kld_99, MEASURE.same_top_p and so on.
    LlamaKld,
    /// llama-eval-callback's tensors: MEASURE.result_output, the sum of its values, and
    /// MEASURE.result_output-shown, of those that are shown.
    LlamaEvalCallback,
    /// The results of lm-evaluation-harness: MEASURE.TASK-acc.
    LmEval,
    /// What test programs of kernels print: MEASURE.failed, MEASURE.passed, MEASURE.skipped,
    /// MEASURE.max_diff, MEASURE.loss, and a distance a check.
    Parity,
    /// A test report in JUnit's XML: MEASURE.tests, passed, failures, errors, skipped.
    Junit,
    /// A pattern with named groups, or one unnamed group.
    Regex,
    /// A JSON document on stdout.
    Json,
    /// Any exit code is a reading.
    ExitCode,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum Pick {
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
enum Kind {
    Number,
    Fact,
}

struct BelowOut(String);

impl JsonSchema for BelowOut {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "below-out".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "string", "pattern": "^\\{out\\}/." })
    }
}

struct Pointer(String);

impl JsonSchema for Pointer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "pointer".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "string", "pattern": "^(/([^~]|~[01])*)$" })
    }
}

/// What {threads} and {chunks} stand for.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Run {
    /// {threads}. Default: the cores of the slot.
    threads: Option<Count>,
    /// {chunks}, which has no value without this.
    chunks: Option<Count>,
}

/// What a run must show to count at all.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = one_requirement)]
struct Require {
    /// Whose runs.
    measure: Text,
    /// A regular expression; some line of the output must match, on either stream.
    pattern: Option<Text>,
    /// The checks or tests that ran, by name and without those that were skipped, must be those
    /// of the good endpoint. For the parsers llama-bench,
    /// llama-eval-callback (tensors), lm-eval, parity and junit.
    checks: Option<SameChecks>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum SameChecks {
    SameSet,
}

fn one_requirement(schema: &mut schemars::Schema) {
    let one_of = serde_json::json!([{ "required": ["pattern"] }, { "required": ["checks"] }]);
    schema.insert("oneOf".to_owned(), one_of);
}

/// A tolerance on a metric; exactly one form a guard.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = one_form)]
struct Guard {
    /// MEASURE or MEASURE.NAME, one that its measure yields.
    metric: Text,
    /// How far the value may rise above the good endpoint's, in the metric's own unit.
    #[schemars(range(min = 0))]
    max_increase: Option<f64>,
    /// The same in percent of the good endpoint's value.
    #[schemars(range(min = 0))]
    max_increase_percent: Option<f64>,
    /// How far the value may fall below the good endpoint's, in the metric's own unit.
    #[schemars(range(min = 0))]
    max_decrease: Option<f64>,
    /// The same in percent of the good endpoint's value.
    #[schemars(range(min = 0))]
    max_decrease_percent: Option<f64>,
    /// The largest value that is right, whatever the good endpoint's is.
    max: Option<f64>,
    /// The smallest value that is right, whatever the good endpoint's is.
    min: Option<f64>,
    /// Must equal the good endpoint's bit for bit; the only form for facts.
    #[schemars(schema_with = "only_true")]
    unchanged: Option<bool>,
}

fn only_true(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    json_schema!({ "const": true })
}

fn one_form(schema: &mut schemars::Schema) {
    let forms: Vec<_> = schema
        .get("properties")
        .and_then(serde_json::Value::as_object)
        .map(|keys| keys.keys().filter(|key| *key != "metric").collect())
        .unwrap_or_default();
    let one_of = forms.iter().map(|form| serde_json::json!({ "required": [form] }));
    let one_of = serde_json::Value::Array(one_of.collect());
    schema.insert("required".to_owned(), serde_json::json!(["metric"]));
    schema.insert("oneOf".to_owned(), one_of);
}

/// How sure, and how much it may cost.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Statistics {
    /// What a confirmation must reach where values do not repeat; more than 0.5, less than 1.
    #[schemars(extend("default" = 0.99, "exclusiveMinimum" = 0.5, "exclusiveMaximum" = 1))]
    confidence: Option<f64>,
    /// Runs that a hunt may make; what is in the store costs nothing.
    #[schemars(extend("default" = 600))]
    max_runs: Option<Count>,
    /// Whether the search may read fewer chunks, where a command takes {chunks} and the
    /// endpoints show that fewer are enough. Endpoints and confirmation read all.
    #[schemars(extend("default" = true))]
    short_text: Option<bool>,
}

/// What a commit counts as that cannot be measured.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Failures {
    /// It does not build.
    #[schemars(extend("default" = "skip"))]
    build: Option<Policy>,
    /// It dies by a signal or leaves with an error.
    #[schemars(extend("default" = "skip"))]
    crash: Option<Policy>,
    /// It prints NaN or an infinity where a number belongs.
    #[schemars(extend("default" = "bad"))]
    nan: Option<Policy>,
    /// It outlives the time-out.
    #[schemars(extend("default" = "skip"))]
    timeout: Option<Policy>,
    /// Exit code 0, and no value where the parser looks.
    #[schemars(extend("default" = "skip"))]
    unreadable: Option<Policy>,
    /// Texts in a failing command's output that betray the machine's fault.
    #[schemars(extend("default" = ["no CUDA-capable device", "Xid", "uncorrectable ECC"]))]
    transient: Option<Vec<Text>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct RunFailures {
    /// It dies by a signal or leaves with an error.
    crash: Option<Policy>,
    /// It prints NaN or an infinity where a number belongs.
    nan: Option<Policy>,
    /// It outlives the time-out.
    timeout: Option<Policy>,
    /// Exit code 0, and no value where the parser looks.
    unreadable: Option<Policy>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum Policy {
    /// Untestable.
    Skip,
    /// Bad.
    Bad,
}

/// What else the figures depend on.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Environment {
    /// Commands whose output is part of an evaluation's key and of the report; no placeholders.
    #[schemars(extend("default" = []))]
    probe: Option<Vec<Text>>,
    /// Inherited variables on which figures depend besides those that always count; `*` ends a
    /// beginning.
    #[schemars(extend("default" = []))]
    vars: Option<Vec<Text>>,
}

/// How some commits differ.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Override {
    /// Which commits: all that is given must hold.
    when: When,
}

/// A change that is made to commits before they are built, from a file or from a commit. Where
/// it is made already it is passed over; where it does not apply the commit is untestable.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["file"] }, { "required": ["commit"] }]))]
struct Patch {
    /// A unified diff, as `git diff` writes it; from the folder of this file.
    file: Option<Text>,
    /// What this revision changes against its first parent.
    commit: Option<Text>,
    /// Which commits: all that is given must hold. Default: all of them.
    when: Option<When>,
}

/// Files of one revision that are laid over every commit before it is built.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FileOverlay {
    /// The revision whose files they are; resolved when the hunt begins.
    from: Text,
    /// Git pathspecs, such as "bench/**": what matches is exactly as at that revision.
    #[schemars(length(min = 1))]
    paths: Vec<Text>,
    /// Which commits: all that is given must hold. Default: all of them.
    when: Option<When>,
}

/// What measures, rather than what is measured: where the first bad commit touches it, either
/// side is measured with the other's, and the report says with which the step goes.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Ruler {
    /// Git pathspecs, such as "bench/**" or "tests/golden/**".
    #[schemars(length(min = 1))]
    paths: Vec<Text>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1))]
struct When {
    /// This path is not in the commit's tree.
    missing: Option<Text>,
    /// This path is in the commit's tree.
    exists: Option<Text>,
    /// [FILE, TEXT]: the file is in the tree and contains the text.
    contains: Option<[Text; 2]>,
    /// The commit descends from this revision, or is it.
    has_ancestor: Option<Text>,
    /// The commit does not.
    lacks_ancestor: Option<Text>,
}

//! `oracle.toml` as types, for the schema alone: the reader in `read` reads it.
#![expect(dead_code, reason = "only their schema is made; no value ever is")]
#![expect(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "editors show these comments as they are"
)]

use std::collections::BTreeMap;

use schemars::{JsonSchema, json_schema};

use super::sweep::Sweep;

/// How commits are built and measured, and what counts as worse.
#[derive(JsonSchema)]
#[schemars(rename = "oracle.toml", deny_unknown_fields)]
pub(super) struct Document {
    /// The version of this format.
    #[schemars(schema_with = "one")]
    version: u32,
    /// Files that builds and runs read: NAME = "PATH", a file, a folder or a glob. Commands name
    /// an input as {inputs.NAME}. Its content is part of the key of every evaluation that names
    /// it.
    inputs: Option<BTreeMap<String, Text>>,
    /// Values for which measures are repeated, with one build: AXIS = [VALUES]. The axes
    /// `threads` and `chunks` set {threads} and {chunks}. Commands name another axis as
    /// {inputs.AXIS} if its values are paths, or as {matrix.AXIS} if they are text. A measure that
    /// names an axis has a cell for each value of the axis.
    matrix: Option<Matrix>,
    sweep: Option<Sweep>,
    worktree: Option<Worktree>,
    build: Option<Build>,
    /// Steps between build and measures that run once for each build, such as the conversion of a
    /// model by each commit's own tool. Measures name the folder of a step as {prepare.NAME}.
    prepare: Option<Vec<Prepare>>,
    /// Commands to run. Each yields metrics called MEASURE or MEASURE.NAME, and always
    /// MEASURE.wall_s (seconds) and MEASURE.peak_rss_mib (MiB).
    #[schemars(length(min = 1))]
    measure: Vec<Measure>,
    run: Option<Run>,
    /// What a run must show to count. A run that does not show it makes its commit untestable.
    require: Option<Vec<Require>>,
    /// Tolerances. A commit is bad when it breaks any of them.
    #[schemars(length(min = 1))]
    guard: Vec<Guard>,
    /// Checks of the engine from its kernels up, the lowest first. They run at the first bad commit
    /// and its parent.
    level: Option<Vec<Level>>,
    statistics: Option<Statistics>,
    failures: Option<Failures>,
    environment: Option<Environment>,
    /// Changes that are applied to commits before they are built, in order.
    patch: Option<Vec<Patch>>,
    /// Files of one revision that are put into every commit before it is built.
    overlay: Option<Vec<FileOverlay>>,
    ruler: Option<Ruler>,
    report: Option<Report>,
    limits: Option<Limits>,
    notify: Option<Notify>,
    /// Differences for some commits. Every override whose condition holds is applied, in order:
    /// tables are merged, everything else is replaced, arrays as a whole.
    r#override: Option<Vec<Override>>,
}

fn one(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    json_schema!({ "const": 1 })
}

/// A string that is not empty.
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

/// A size such as "500 MB" or "50 GiB".
struct Size(String);

impl JsonSchema for Size {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "size".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let pattern = "^[0-9]+(\\.[0-9]+)? *(MB|GB|TB|MiB|GiB|TiB)$";
        json_schema!({ "type": "string", "pattern": pattern, "examples": ["50 GiB", "500 MB"] })
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
    /// The folder in which commits are checked out and built. A relative path starts from the
    /// folder of this file. Default: the user's cache folder.
    dir: Option<Text>,
    /// Paths of your checkout that are linked into each commit's checkout: relative, inside the
    /// checkout, not .git.
    link: Option<Vec<Text>>,
    /// Whether submodules are checked out, each at the revision that the commit pins.
    #[schemars(extend("default" = true))]
    submodules: Option<bool>,
    /// Whether the files of Git LFS are fetched. Otherwise they stay pointers of three lines.
    #[schemars(extend("default" = false))]
    lfs: Option<bool>,
    /// A submodule, or a folder with a copy of another project. If a first bad commit updates it,
    /// a second hunt searches that project's commits.
    descend: Option<Text>,
}

/// How a commit is built.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Build {
    /// The commands that build a commit. They run in order in {src}. Each is split into words as a
    /// shell would split it; no shell runs. Placeholders: {src} {build} {cache} {jobs} {threads}
    /// {commit} {short} {parent} {commit_date} {inputs.NAME}. Without commands, nothing is built.
    #[schemars(extend("default" = []))]
    commands: Option<Vec<Text>>,
    /// Environment variables. Placeholders are filled in.
    #[schemars(extend("default" = {}))]
    env: Option<Env>,
    /// Whether the build folder is empty for each commit (clean) or kept between the commits of a
    /// search (incremental). For a confirmation it is always empty.
    #[schemars(extend("default" = "clean"))]
    mode: Option<BuildMode>,
    /// The longest time of each command: "90s", "30m", "1h 30m".
    #[schemars(extend("default" = "30m"))]
    timeout: Option<Time>,
    /// Commits that touch only these files cannot change the result. Git pathspecs, such as
    /// "docs/**" or "*.md".
    #[schemars(extend("default" = []))]
    ignore: Option<Vec<Text>>,
    /// Only commits that touch these files can change the result. Git pathspecs, such as "src/**".
    #[schemars(extend("default" = []))]
    paths: Option<Vec<Text>>,
    /// The value of {jobs}. Default: the cores of this machine.
    jobs: Option<Count>,
    /// Whether the first bad commit and its parents are built again for the confirmation (rebuild)
    /// or the builds of the search are used (reuse).
    #[schemars(extend("default" = "rebuild"))]
    confirm: Option<ConfirmBuild>,
    /// Whether the search leaves out commits that change no file that the builds of both ends read
    /// (skip), or builds them like others (build).
    #[schemars(extend("default" = "skip"))]
    unread: Option<UnreadCommits>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum BuildMode {
    Clean,
    Incremental,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum UnreadCommits {
    Skip,
    Build,
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
struct Measure {
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

/// The values of {threads} and {chunks}.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Run {
    /// The value of {threads}. Default: the cores of this machine.
    threads: Option<Count>,
    /// The value of {chunks}. Without this key, no command may name {chunks}.
    chunks: Option<Count>,
    /// Whether builds and runs happen in a sandbox, without network, where they can write only to
    /// folders of their own. Needs bubblewrap.
    #[schemars(extend("default" = false))]
    sandbox: Option<bool>,
}

/// What a run must show to count.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = one_requirement)]
struct Require {
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
enum SameChecks {
    SameSet,
}

fn one_requirement(schema: &mut schemars::Schema) {
    let one_of = serde_json::json!([{ "required": ["pattern"] }, { "required": ["checks"] }]);
    schema.insert("oneOf".to_owned(), one_of);
}

/// A tolerance on a metric. Each guard has exactly one form.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = one_form)]
struct Guard {
    /// The metric: MEASURE or MEASURE.NAME. Its measure must yield it.
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
    /// The largest allowed value, whatever the good endpoint's value is.
    max: Option<f64>,
    /// The smallest allowed value, whatever the good endpoint's value is.
    min: Option<f64>,
    /// The value must equal the good endpoint's bit for bit. The only form for facts.
    #[schemars(schema_with = "only_true")]
    unchanged: Option<bool>,
    /// For a measure with the parser `logits`, whose name is then the `metric`: a named tolerance.
    preset: Option<LogitsPreset>,
}

/// The named tolerances of logits (docs/logits.md).
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum LogitsPreset {
    /// All bits are equal.
    Bitwise,
    /// max |Δ| at most 1e-5.
    LosslessF32,
    /// max |Δ| at most 1e-3.
    LosslessF16,
    /// Each cosine at least 0.999, and mean KL at most 0.01 nats.
    Lossy,
}

/// One level of the engine.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Level {
    /// The level's name, unique. kernel, layer, stage, forward, gradients and training have
    /// tolerances of their own.
    name: Text,
    /// The measures that check it.
    #[schemars(length(min = 1))]
    measures: Vec<Text>,
    /// The largest difference between the first bad commit and its parent, in each metric's unit.
    /// Default: by the name.
    #[schemars(range(min = 0))]
    tolerance: Option<f64>,
    /// For the level training: how many steps the measures train.
    steps: Option<Count>,
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

/// The confidence of an answer, and the cost of a hunt.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Statistics {
    /// The confidence that a confirmation must reach; more than 0.5, less than 1.
    #[schemars(extend("default" = 0.99, "exclusiveMinimum" = 0.5, "exclusiveMaximum" = 1))]
    confidence: Option<f64>,
    /// The most runs that a hunt may make. Results from the store do not count.
    #[schemars(extend("default" = 600))]
    max_runs: Option<Count>,
    /// Whether the search may read fewer chunks if a command takes {chunks} and the endpoints show
    /// that fewer are enough. The endpoints and the confirmation read all chunks.
    #[schemars(extend("default" = true))]
    short_text: Option<bool>,
}

/// How much disk a hunt may use.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Limits {
    /// All folders to build and run in. Above it, finished builds that nobody uses are removed
    /// before the next build, oldest first.
    slots: Option<Size>,
    /// The built files in these folders. Above it, finished builds that nobody uses are removed
    /// before the next build, oldest first.
    #[schemars(extend("default" = "50 GiB"))]
    builds: Option<Size>,
    /// The logs in the store. Above it, the hunt stops before the next build.
    logs: Option<Size>,
    /// The files with tensors in the store. Above it, the hunt stops before the next build.
    tensors: Option<Size>,
}

/// What a commit that cannot be measured counts as.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Failures {
    /// The commit does not build.
    #[schemars(extend("default" = "skip"))]
    build: Option<Policy>,
    /// A signal ends a run, or a run exits with an error.
    #[schemars(extend("default" = "skip"))]
    crash: Option<Policy>,
    /// A run prints NaN or an infinity where a number belongs.
    #[schemars(extend("default" = "bad"))]
    nan: Option<Policy>,
    /// A run takes longer than its time-out.
    #[schemars(extend("default" = "skip"))]
    timeout: Option<Policy>,
    /// A run exits with 0, but there is no value where the parser looks.
    #[schemars(extend("default" = "skip"))]
    unreadable: Option<Policy>,
    /// Texts in a failing command's output that show a fault of the machine.
    #[schemars(extend("default" = ["no CUDA-capable device", "Xid", "uncorrectable ECC"]))]
    transient: Option<Vec<Text>>,
    /// Whether the hunt goes on if the bad end fails although the guards are on metrics. It then
    /// looks for that failure. "ask": on a terminal the user is asked; otherwise the hunt goes on,
    /// and the report says so.
    #[schemars(extend("default" = "ask"))]
    hunt: Option<FailureHunt>,
    /// The pauses before the hunt tries again after a fault of the machine. When all are used up,
    /// the hunt stops with exit code 5 and can be resumed. An empty array: it stops at once.
    #[schemars(extend("default" = ["1s", "5s", "30s", "2m", "10m"]))]
    pauses: Option<Vec<Time>>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum FailureHunt {
    Flag(bool),
    Word(Ask),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum Ask {
    Ask,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct RunFailures {
    /// A signal ends a run, or a run exits with an error.
    crash: Option<Policy>,
    /// A run prints NaN or an infinity where a number belongs.
    nan: Option<Policy>,
    /// A run takes longer than its time-out.
    timeout: Option<Policy>,
    /// A run exits with 0, but there is no value where the parser looks.
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

/// What else the values depend on.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Environment {
    /// Commands whose output is part of an evaluation's key and of the report; no placeholders.
    #[schemars(extend("default" = []))]
    probe: Option<Vec<Text>>,
    /// More environment variables that change results, besides the built-in list. A `*` at the end
    /// matches any ending.
    #[schemars(extend("default" = []))]
    vars: Option<Vec<Text>>,
    /// Which builds and runs get an empty home folder.
    #[schemars(extend("default" = "checked"))]
    home: Option<HomeUse>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum HomeUse {
    /// Those of a confirmation; if they contradict the search, all.
    Checked,
    /// None.
    Shared,
    /// All.
    Empty,
}

/// Differences for some commits.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Override {
    /// Which commits: all given conditions must hold.
    when: When,
}

/// A change that is applied to commits before they are built, from a file or from a commit. A
/// commit that already has the change is left as it is. If the patch does not apply, the commit is
/// untestable.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["file"] }, { "required": ["commit"] }]))]
struct Patch {
    /// A unified diff, as `git diff` writes it. A relative path starts from the folder of this
    /// file.
    file: Option<Text>,
    /// The change of this revision against its first parent.
    commit: Option<Text>,
    /// Which commits: all given conditions must hold. Default: all commits.
    when: Option<When>,
}

/// Files of one revision that are put into every commit before it is built.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FileOverlay {
    /// The revision that the files come from. It is resolved when the hunt starts.
    from: Text,
    /// Git pathspecs, such as "bench/**". Matching files become exactly as at that revision.
    #[schemars(length(min = 1))]
    paths: Vec<Text>,
    /// Which commits: all given conditions must hold. Default: all commits.
    when: Option<When>,
}

/// Files that measure, not files that are measured, such as a benchmark. If the first bad commit
/// changes them, the commit is measured with its parent's files too, and the parent with the
/// commit's. The report says whether the step comes from these files.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Ruler {
    /// Git pathspecs, such as "bench/**" or "tests/golden/**".
    #[schemars(length(min = 1))]
    paths: Vec<Text>,
}

/// Settings of the report.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Report {
    /// The page of a commit in a browser; {commit} stands for its full name. Default: the page on
    /// the site of the remote `origin`, if it is GitHub, GitLab or Gitea. A hunt inside a dependency
    /// uses the dependency's own remote.
    commit_url: Option<Text>,
}

/// Who is told how a hunt ended.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Notify {
    /// Run at the end of a hunt, however it ends, with JSON on stdin and in BISECT_PPL_* variables.
    /// Split into words as a shell does; no shell, no placeholders. `--on-finish` replaces it.
    command: Option<Text>,
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
    /// The commit is this revision, or descends from it.
    has_ancestor: Option<Text>,
    /// The commit is not this revision, and does not descend from it.
    lacks_ancestor: Option<Text>,
}

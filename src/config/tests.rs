//! Tests of the whole module: from a text to a configuration or to problems.

mod changes;
mod inputs;
mod laid;
mod matrix;
mod overrides;
mod prepare;
mod reference;
mod refusals;
mod schema;
mod sweep;

use std::path::Path;
use std::time::Duration;

use super::*;
use crate::evaluation::{GuardForm, Metric};

/// The smallest valid configuration.
const SMALL: &str = r#"version = 1
[[measure]]
name = "ppl"
command = "{build}/ppl"
parser = "llama-perplexity"
[[guard]]
metric = "ppl"
max_increase = 0.05
"#;

/// Reads a text and checks that the schema agrees.
fn parse(text: &str) -> Result<Config, ConfigError> {
    let read = Config::parse(text, Path::new("/base"), "oracle.toml");
    schema::assert_agrees(text, &read);
    read
}

/// All public fields as text, for comparisons.
fn seen(config: &Config) -> String {
    let Config {
        inputs,
        base,
        worktree,
        build,
        prepares,
        measures,
        levels,
        sweep,
        run,
        requires,
        guards,
        statistics,
        failures,
        overrides,
        probes,
        home,
        variables,
        patches,
        overlays,
        ruler,
        commit_url,
        executor,
        limits,
        notify,
        part,
        inline,
        source: _,
    } = config;
    format!(
        "{inputs:?}\n{base:?}\n{worktree:?}\n{build:?}\n{prepares:#?}\n{measures:#?}\n{levels:?}\n{sweep:?}\n{run:?}\n{requires:?}\n{guards:?}\n{statistics:?}\n{failures:?}\n{overrides:?}\n{probes:?}\n{variables:?}\n{home:?}\n{patches:?}\n{overlays:?}\n{ruler:?}\n{commit_url:?}\n{executor:?}\n{limits:?}\n{notify:?}\n{part:?} {inline:?}"
    )
}

#[test]
fn defaults_are_those_of_the_reference() {
    let config = parse(SMALL).unwrap();
    assert_eq!(config.build.mode, BuildMode::Clean);
    assert_eq!(config.build.timeout, Duration::from_mins(30));
    assert_eq!(config.build.confirm, ConfirmBuild::Rebuild);
    assert_eq!(config.build.keep, Duration::from_secs(30));
    assert_eq!(config.build.unread, UnreadCommits::Skip);
    assert_eq!(config.build.jobs, None);
    assert!(config.build.commands.is_empty());
    assert!(config.worktree.submodules);
    assert_eq!(config.worktree.dir, None);
    assert_eq!(config.run, Run { threads: None, chunks: None, sandbox: false });
    assert_eq!(config.statistics, Statistics { confidence: 0.99, max_runs: 600, short_text: true });
    assert_eq!(config.failures.nan, Policy::Bad);
    assert_eq!(config.failures.crash, Policy::Skip);
    assert_eq!(config.failures.transient.len(), 3);
    let ppl = config.measure("ppl").unwrap();
    assert_eq!(ppl.timeout, Duration::from_mins(20));
    assert_eq!(ppl.kind, MeasureKind::Number);
    assert_eq!(ppl.failures, config.failures);
    assert_eq!(config.guards[0].form, GuardForm::MaxIncrease(0.05));
    assert_eq!(config.text(), SMALL);
}

#[test]
fn the_contracts_keys_are_read() {
    let config = parse(
        r#"
version = 1
[inputs]
model = "m.bin"
[worktree]
dir = "slots"
link = [".venv", "third_party/x"]
submodules = false
[build]
commands = ["cmake -S {src} -B {build}", "cmake --build {build} -j {jobs}"]
env = { CC = "gcc", EMPTY = "" }
mode = "incremental"
timeout = "1h 30m"
ignore = ["docs/**"]
paths = ["src/**"]
jobs = 3
confirm = "reuse"
[[measure]]
name = "speed"
command = "{build}/bench '{inputs.model}' {chunks}"
parser = "regex"
pattern = 'decode: (?<tg>[0-9.]+) tokens'
pick = "max"
env = { OMP_NUM_THREADS = "{threads}" }
cwd = "{src}/bench"
before = ["sync"]
after = ["true {out}"]
failures = { crash = "bad" }
[[measure]]
name = "launch"
command = "{build}/ppl --describe"
parser = "regex"
pattern = 'block=\(([0-9,]+)\)'
kind = "fact"
[[measure]]
name = "j"
command = "{build}/j"
parser = "json"
pointers = { tg = "/0/avg_ts" }
[[measure]]
name = "one"
command = "{build}/j"
parser = "json"
pointer = "/a~1b/c"
[[measure]]
name = "ok"
command = "{build}/selftest"
parser = "exit-code"
[run]
threads = 2
chunks = 8
[[guard]]
metric = "speed.tg"
max_decrease_percent = 5
[[guard]]
metric = "launch"
unchanged = true
[[guard]]
metric = "launch.wall_s"
max = 10
[[guard]]
metric = "j.tg"
min = -1.5
[[guard]]
metric = "one"
max_increase = 0
[[guard]]
metric = "ok"
unchanged = true
[failures]
timeout = "bad"
transient = []
[environment]
probe = ["cc --version", "awk '{print}'"]
vars = ["ENGINE_*", "MODE"]
[report]
commit_url = "https://git.example.org/engine/+/{commit}"
[executor]
kind = "local"
slots = [
    { env = { CUDA_VISIBLE_DEVICES = "0", MODE = "" }, cpus = "0-2, 7" },
    { env = { CUDA_VISIBLE_DEVICES = "1", MODE = "" }, cpus = "3-6" },
]
[limits]
slots = "1.5 TB"
builds = "20 GiB"
logs = "500 MB"
tensors = "3 MiB"
[notify]
command = "curl -d '{\"a\": 1}' x"
"#,
    )
    .unwrap();
    assert_eq!(config.worktree.dir.as_deref(), Some(Path::new("/base/slots")));
    assert_eq!(config.worktree.link, [".venv", "third_party/x"]);
    assert!(!config.worktree.submodules);
    assert_eq!(config.build.commands[1].words.len(), 5);
    assert_eq!(config.build.timeout, Duration::from_mins(90));
    assert_eq!(config.build.env["EMPTY"].text(), "");
    let speed = config.measure("speed").unwrap();
    assert_eq!(speed.parser.names(), Some(vec![Some("tg".to_owned())]));
    assert!(matches!(speed.parser, Parser::Regex { pick: Pick::Max, .. }));
    assert_eq!((speed.failures.crash, speed.failures.timeout), (Policy::Bad, Policy::Bad));
    assert_eq!(config.failures.crash, Policy::Skip);
    assert_eq!((speed.before.len(), speed.after.len()), (1, 1));
    assert_eq!(config.measure("launch").unwrap().parser.names(), Some(vec![None]));
    assert!(config.failures.transient.is_empty());
    assert_eq!(config.guards[0].metric, Metric::named("speed", "tg"));
    assert_eq!(config.guards[3].form, GuardForm::Min(-1.5));
    assert_eq!(config.probes, [vec!["cc", "--version"], vec!["awk", "{print}"]]);
    assert_eq!(config.variables, ["ENGINE_*", "MODE"]);
    let url = config.commit_url.as_deref();
    assert_eq!(url, Some("https://git.example.org/engine/+/{commit}"));
    let slot = |device: &str, cpus: &[usize]| ExecutorSlot {
        env: [("CUDA_VISIBLE_DEVICES", device), ("MODE", "")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        cpus: cpus.to_vec(),
    };
    let slots = vec![slot("0", &[0, 1, 2, 7]), slot("1", &[3, 4, 5, 6])];
    assert_eq!(config.executor, Executor { slots, own: 0, slurm: None });
    assert_eq!(config.executor.cores(), Some(4));
    let sizes = [1_500_000_000_000, 20 << 30, 500_000_000, 3 << 20].map(Some);
    let DiskLimits { slots, builds, logs, tensors } = config.limits;
    assert_eq!([slots, builds, logs, tensors], sizes);
    let notify = ["curl", "-d", "{\"a\": 1}", "x"].map(str::to_owned);
    assert_eq!(config.notify, Some(notify.to_vec()));
}

#[test]
fn the_examples_of_notify_in_the_docs_are_valid() {
    let document = include_str!("../../docs/notify.md");
    let blocks = document.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut programs = Vec::new();
    for block in blocks {
        programs.push(parse(&format!("{SMALL}{block}")).unwrap().notify.unwrap()[0].clone());
    }
    assert_eq!(programs, ["./tell.sh", "sh", "sh", "sh", "curl"]);
}

/// An example with most of the tables.
#[test]
fn the_contracts_example_is_valid() {
    let config = parse(include_str!("tests/contract.toml")).unwrap();
    assert_eq!(config.measures.len(), 3);
    assert_eq!(config.guards.len(), 2);
    assert_eq!(config.overrides[0].missing.as_deref(), Some("tools/perplexity"));
    assert_eq!(config.failures, Failures::default());
}

#[test]
fn the_worked_example_is_valid() {
    let config = Config::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle.toml")).unwrap();
    assert_eq!(config.base, Path::new(env!("CARGO_MANIFEST_DIR")));
    assert_eq!(config.inputs["model"], "demo/model.bin");
    assert_eq!(config.guards[0].form, GuardForm::MaxIncrease(0.05));
    assert_eq!(config.requires.len(), 1);
}

/// The values that the example calls defaults are the defaults.
#[test]
fn the_worked_example_states_the_true_defaults() {
    let config = Config::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle.toml")).unwrap();
    let bare = parse(SMALL).unwrap();
    assert_eq!(config.statistics, bare.statistics);
    assert_eq!(config.failures, bare.failures);
}

proptest::proptest! {
    /// A part of a file is replaced by random text. The result is a configuration or problems
    /// with a place, never a panic.
    #[test]
    fn a_damaged_file_is_read_or_refused(
        from in 0_usize..4000,
        length in 0_usize..60,
        junk in "[\\[\\]{}='\",.#a-z0-9\n -]{0,8}",
    ) {
        let whole = include_str!("../../oracle.toml");
        let chars: Vec<char> = whole.chars().collect();
        let from = from.min(chars.len());
        let to = (from + length).min(chars.len());
        let damaged: String = chars[..from].iter().copied().chain(junk.chars())
            .chain(chars[to..].iter().copied()).collect();
        match parse(&damaged) {
            Ok(config) => proptest::prop_assert_eq!(config.text(), damaged),
            Err(error) => {
                proptest::prop_assert!(!error.problems.is_empty());
                let lines = damaged.split('\n').count();
                for problem in error.problems {
                    proptest::prop_assert!((1..=lines).contains(&problem.place.line), "{problem}");
                }
            }
        }
    }
}

#[test]
fn ten_mistakes_are_told_at_once() {
    let error = parse(
        r#"version = 2
[inputs]
model = "m.bin"
[build]
comands = ["make -C {scr}"]
timeout = 30
[[measure]]
name = "ppl"
command = "{build}/ppl --model {inputs.modle} | tee log"
parser = "perplexity"
[[measure]]
name = "speed"
command = "{build}/bench {inputs.modle}"
parser = "regex"
pattern = '(?<tg>[0-9.]+) of ([0-9]+)'
[[guard]]
metric = "sped.tg"
max_increase = -0.05
[statistics]
confidence = 99
"#,
    )
    .unwrap_err();
    insta::assert_snapshot!(error, @r#"
    oracle.toml has 10 problems
      oracle.toml:1:11: version: this program reads version 1.
      oracle.toml:5:1: build.comands: unknown key; did you mean `commands`? Allowed: commands, env, mode, timeout, ignore, paths, jobs, confirm, keep, unread
      oracle.toml:6:11: build.timeout: expected a time with its unit in quotes, such as "90s", found an integer.
      oracle.toml:9:11: measure.ppl.command: no shell reads this, so `|` has no effect: quote it if it is meant literally, or write sh -c '…'
      oracle.toml:10:10: measure.ppl.parser: `perplexity` is not allowed; did you mean `llama-perplexity`? Allowed: llama-perplexity, llama-bench, llama-kld, llama-eval-callback, logits, text, tensors, lm-eval, parity, junit, regex, json, exit-code
      oracle.toml:13:11: measure.speed.command: `{inputs.modle}` names no input; did you mean `model`? Declared: model
      oracle.toml:15:11: measure.speed.pattern: has named and unnamed groups: name all, or write (?:…) for those that hold no value.
      oracle.toml:17:10: guard[1].metric: there is no measure `sped`; did you mean `speed`? Measures: ppl, speed
      oracle.toml:18:16: guard[1].max_increase: a tolerance cannot be negative; 0 allows no change.
      oracle.toml:20:14: statistics.confidence: 99 is out of range; allowed: more than 0.5, less than 1.
    "#);
}

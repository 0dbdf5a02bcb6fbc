//! `--deadline`, `--max-runs`, `--max-hours` and `--max-gpu-hours`: a hunt that reaches a limit ends
//! with the best answer so far, and `resume` goes on to the answer of a hunt without limits.

use std::fs;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, PATIENCE, TestEnvironment, graph, line, wait_until};

const CULPRIT: &str = "5";
/// Runs of the hunt: two at each endpoint, three in the search, eight to confirm.
const RUNS: usize = 15;

fn plain() -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let history = line("g g g g g b b b").build(&env);
    Oracle::new(&env).write(&env);
    (env, history)
}

/// The same, but after this many runs the engine waits for the file `go`.
fn waiting_after(runs: usize) -> (TestEnvironment, History) {
    let (env, history) = plain();
    let (log, go) = (env.path("world/starts.log"), env.path("go"));
    let script = env.path("wait.sh");
    let wait = format!(
        "test $(grep -c ^run {log}) -lt {runs} || until test -e {go}; do sleep 0.05; done\n\
         exec \"$@\"\n",
        log = log.display(),
        go = go.display()
    );
    fs::write(&script, wait).unwrap();
    let run = "{build}/engine run ppl src={src} cache={cache} out={out}";
    Oracle::new(&env).ppl_command(&format!("sh {} {run}", script.display())).write(&env);
    (env, history)
}

fn start(env: &TestEnvironment, limits: &[&str]) -> Hunt {
    env.start(&[&["--good", "v1"], limits].concat())
}

fn resume(env: &TestEnvironment, limits: &[&str]) -> Hunt {
    Hunt::of(env, env.run(&[&["resume"], limits].concat()))
}

/// A time in RFC 3339.
fn in_seconds(seconds: u64) -> String {
    (Timestamp::now() + Duration::from_secs(seconds)).to_string()
}

#[test]
fn a_confirmed_commit_whose_rest_was_not_searched_is_no_answer_yet() {
    let env = TestEnvironment::new();
    // The first of the two steps takes 14 runs.
    let history = line("7.0 7.0 7.5 7.5 7.5 7.5 8.5 8.5").build(&env);
    Oracle::new(&env).write(&env);
    let cut = start(&env, &["--max-runs", "14"]).expect(3, "candidates");
    assert_eq!(cut.report["culprits"][0]["commit"], history.commit(2));
    assert_eq!(cut.report["candidates"][0], history.commit(2));
    cut.output.says(&[
        "A first bad commit is confirmed, and the search was cut short",
        "did not check whether this explains all that the bad end shows",
        "goes on with 14 more runs",
    ]);
    let whole = resume(&env, &[]).expect(0, "culprit");
    let named: Vec<&Value> = whole.report["culprits"].as_array().unwrap().iter().collect();
    assert_eq!(named.len(), 2);
    assert_eq!(named[1]["commit"], history.commit(6));
}

/// A hunt that ends after so many runs, and goes on until it has its answer.
fn in_portions(portion: &str) {
    let (env, history) = plain();
    let limits = ["--max-runs", portion];
    let mut hunt = start(&env, &limits).expect(3, "candidates");
    let mut made = vec![env.runs().len()];
    while hunt.report["outcome"] == "candidates" {
        assert!(hunt.candidates(&history).contains(&CULPRIT.to_owned()), "{portion}");
        assert_eq!(hunt.report["limit"]["limit"], "runs");
        let next = format!("resume {} --max-runs {portion}` goes on", hunt.id());
        hunt.output.says(&["runs is spent", &next]);
        hunt = resume(&env, &limits);
        made.push(env.runs().len());
    }
    let hunt = hunt.names(&history, CULPRIT);
    assert_eq!(hunt.report["limit"], Value::Null);
    let portion: usize = portion.parse().unwrap();
    assert!(made.windows(2).all(|two| two[1] - two[0] <= portion), "{made:?}");
    // Each resumed confirmation builds again, and runs of more builds prove more.
    assert!(made.last() <= Some(&RUNS), "{made:?}");
}

#[test]
fn runs_in_small_portions_lead_to_the_same_commit() {
    in_portions("3");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn runs_in_other_portions_lead_to_the_same_commit() {
    for portion in ["1", "6", "14"] {
        in_portions(portion);
    }
}

#[test]
fn the_answer_so_far_is_narrow_and_a_plain_resume_has_no_limit() {
    let (env, history) = plain();
    // The endpoints and two steps of the search.
    let hunt = start(&env, &["--max-runs", "6"]).expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["4", "5"]);
    hunt.output.says(&[
        "The first bad commit may be one of 2",
        "2 commits still in question, if only one commit made the change",
    ]);
    let again = env.run(&["status"]).expect(0).stdout;
    assert!(again.contains("resume"), "{again}");
    resume(&env, &[]).names(&history, CULPRIT);
    assert_eq!(env.runs().len(), RUNS);
    // The hunt is over: new limits change nothing.
    resume(&env, &["--max-runs", "1"]).names(&history, CULPRIT);
    assert_eq!(env.runs().len(), RUNS);
}

#[test]
fn commits_that_the_options_leave_out_are_not_in_question() {
    let env = TestEnvironment::new();
    let plan = graph(&["a: g", "b < a: g", "s1 < a: g", "s2 < s1: b", "m < b s2: b", "e < m: b"]);
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let ends = ["--good", history.commit("a"), "--bad", history.commit("e")];
    let hunt = env.start(&[&ends[..], &["--first-parent", "--max-runs", "1"]].concat());
    let hunt = hunt.expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["b", "e", "m"]);
    hunt.output.says(&["before the endpoints were measured", "these 3 commits"]);
}

#[test]
fn a_commit_that_is_not_confirmed_yet_is_the_only_candidate() {
    let (env, history) = plain();
    let hunt = start(&env, &["--max-runs", "9"]).expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), [CULPRIT]);
    hunt.output.says(&["is found, but not confirmed", "not checked whether its change lasts"]);
    resume(&env, &[]).names(&history, CULPRIT);
}

#[test]
fn the_limit_of_the_configuration_is_replaced() {
    let (env, history) = plain();
    Oracle::new(&env).section("[statistics]\nmax_runs = 5").write(&env);
    start(&env, &[]).expect(3, "candidates").output.says(&["budget of 5 runs", "--max-runs 5"]);
    // Nothing may be run, so the answer is repeated.
    resume(&env, &[]).expect(3, "candidates");
    assert_eq!(env.runs().len(), 5);
    let hunt = resume(&env, &["--max-runs", "4"]).expect(3, "candidates");
    assert_eq!(hunt.report["options"]["limits"]["max_runs"], 4);
    assert_eq!(env.runs().len(), 9);
    resume(&env, &["--max-runs", "50"]).names(&history, CULPRIT);
}

#[test]
fn a_spent_number_of_runs_is_allowed_again_to_a_hunt_with_more_time() {
    let (env, history) = plain();
    let half = RUNS.div_ceil(2);
    Oracle::new(&env).section(&format!("[statistics]\nmax_runs = {half}")).write(&env);
    start(&env, &[]).expect(3, "candidates");
    assert_eq!(env.runs().len(), half);
    resume(&env, &["--max-hours", "1"]).names(&history, CULPRIT);
    assert_eq!(env.runs().len(), RUNS);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_deadline_that_passes_during_a_run_ends_it() {
    let (env, history) = waiting_after(4);
    let hunt = start(&env, &["--deadline", &in_seconds(10)]).expect(3, "candidates");
    env.assert_no_survivors();
    assert_eq!(hunt.report["limit"]["limit"], "deadline");
    assert_eq!(hunt.candidates(&history).len(), 7);
    let ended = env.runs();
    hunt.output.says(&["the deadline 20", " has passed", "7 commits still in question"]);
    fs::write(env.path("go"), "").unwrap();
    let hunt = resume(&env, &["--deadline", &in_seconds(3600)]).names(&history, CULPRIT);
    assert_eq!(hunt.report["totals"]["runs"], RUNS);
    assert_eq!(env.runs().len(), RUNS, "{ended:?}");
}

#[test]
fn hours_that_end_during_a_build_end_it() {
    let (env, history) = plain();
    let (fake, go) = (TestEnvironment::fake(), env.path("go"));
    let wait = format!("until test -e {}; do sleep 0.05; done", go.display());
    let build = format!("sh -c \"{wait}; {fake} build {{src}} {{build}}\"");
    Oracle::new(&env).build_command(&build).write(&env);
    let hunt = start(&env, &["--max-hours", "0.001"]).expect(3, "candidates");
    env.assert_no_survivors();
    assert_eq!(hunt.report["limit"]["limit"], "time");
    assert_eq!(env.runs().len(), 0);
    hunt.output.says(&["the budget of 4 s is spent", "` goes on; --deadline or --max-hours"]);
    fs::write(env.path("go"), "").unwrap();
    resume(&env, &[]).names(&history, CULPRIT);
}

#[test]
fn a_limit_holds_after_an_interruption_and_status_shows_it() {
    let (env, history) = waiting_after(4);
    let deadline = in_seconds(3600);
    let words = ["start", "--good", "v1", "--deadline", &deadline, "--max-runs", "9"];
    let running = env.spawn_product(&words);
    let shown = wait_until(PATIENCE, || {
        let status = env.run(&["status"]).stdout;
        status.contains("limits: until ") && status.contains(" left), 9 runs (4 made)")
    });
    assert!(shown, "{}", env.run(&["status"]).stdout);
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    fs::write(env.path("go"), "").unwrap();
    let hunt = resume(&env, &[]).expect(3, "candidates");
    assert_eq!(env.runs().len(), 9);
    hunt.output.says(&["budget of 9 runs"]);
    resume(&env, &[]).names(&history, CULPRIT);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_the_candidates_have_probabilities() {
    let env = TestEnvironment::new();
    let levels = (0..24).map(|at| if at < 9 { "7.0" } else { "7.6" });
    let plan = line(&levels.collect::<Vec<_>>().join(" "));
    let history = plan.with_all("noise = 0.2").with_all("seed = 3").build(&env);
    Oracle::new(&env).write(&env);
    let search = ["--search", "posterior", "--max-runs", "16"];
    let mut hunt = start(&env, &search).expect(3, "candidates");
    let mut most = 0;
    while hunt.report["outcome"] == "candidates" {
        assert!(hunt.candidates(&history).contains(&"9".to_owned()));
        let known = hunt.report["posterior"].as_array().unwrap().last();
        most = most.max(known.map_or(0, |one| one["commits"].as_array().unwrap().len()));
        hunt = resume(&env, &["--max-runs", "6"]);
    }
    hunt.names(&history, "9");
    assert!(most > 1, "a limit was reached in the search");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_cause_inside_the_commit_is_looked_for_after_a_resume() {
    let env = TestEnvironment::localizing();
    let history = line("g g g b b b")
        .file(3, "kernels/a.conf", "ppl+a = 0.5\n")
        .file(3, "kernels/b.conf", "ppl+b = 0\n")
        .build(&env);
    Oracle::new(&env).write(&env);
    let free = start(&env, &[]).names(&history, "3");
    let all = env.runs().len();
    let sets = |hunt: &Hunt| hunt.report["cause"]["sets"].clone();

    let again = TestEnvironment::localizing();
    let history = line("g g g b b b")
        .file(3, "kernels/a.conf", "ppl+a = 0.5\n")
        .file(3, "kernels/b.conf", "ppl+b = 0\n")
        .build(&again);
    Oracle::new(&again).write(&again);
    let portion = (all - 2).to_string();
    let cut = start(&again, &["--max-runs", &portion]).names(&history, "3");
    assert_eq!(cut.report["limit"]["limit"], "runs");
    let whole = resume(&again, &[]).names(&history, "3");
    assert_eq!(whole.report["limit"], Value::Null);
    assert_eq!(sets(&whole), sets(&free));
    assert_eq!(whole.report["cause"]["revert"], free.report["cause"]["revert"]);
    assert_eq!(again.runs().len(), all);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn gpu_hours_that_the_runs_used_up_end_the_hunt_and_the_report_says_them() {
    let env = TestEnvironment::new();
    let history = line("g g g g g b b b").with_all("chunk_ms = 100").build(&env);
    Oracle::new(&env).write(&env);
    let refused = env.run(&["start", "--good", "v1", "--max-gpu-hours", "1"]).expect(2);
    refused.says(&[
        "oracle.toml does not say how many GPUs a run has",
        "CUDA_VISIBLE_DEVICES in the env",
    ]);
    Oracle::new(&env)
        .section("[executor]\nslots = [{ env = { CUDA_VISIBLE_DEVICES = \"0,1,2,3\" } }]")
        .write(&env);
    // A second of GPUs, which the first runs use up.
    let hunt = start(&env, &["--max-gpu-hours", "0.00000001"]).expect(3, "candidates");
    assert_eq!(hunt.report["limit"]["limit"], "gpu-time");
    hunt.output.says(&["GPU-hours is spent", "--max-gpu-hours limits it again"]);
    let hunt = resume(&env, &[]).names(&history, CULPRIT);
    let totals = &hunt.report["totals"];
    let [runs, gpus] = ["run_s", "gpu_s"].map(|key| totals[key].as_f64().unwrap());
    assert!((gpus - 4.0 * runs).abs() < 1e-6, "{totals}");
    assert!(totals["node_s"].is_null(), "no job: {totals}");
    assert!(hunt.file("report.md").contains("The runs used "), "{totals}");
}

#[test]
fn impossible_limits_are_refused() {
    let (env, _) = plain();
    for (words, said) in [
        (["--deadline", "2026-01-01T08:00:00Z"], "this time is in the past"),
        (["--deadline", "25:00"], "--deadline 25:00: not a time"),
        (["--deadline", "soon"], "write HH:MM, or a date and a time with its offset"),
        (["--max-hours", "0"], "--max-hours 0: not a possible time"),
        (["--max-hours", "nan"], "not a possible time"),
        (["--max-hours", "-1"], "--max-hours -1: not a possible time"),
        (["--max-gpu-hours", "0"], "--max-gpu-hours 0: not a possible time"),
        (["--max-runs", "0"], "0 is not in 1.."),
        (["--max-runs", "-5"], "-5 is not in 1.."),
        (["--on-finish", "a | b"], "no shell reads this"),
        (["--on-finish", ""], "--on-finish: an empty command"),
    ] {
        for command in [&["start", "--good", "v1"][..], &["resume"]] {
            env.run(&[command, &words].concat()).expect(2).says(&[said]);
        }
    }
    assert!(!env.git_folder().join("bisect-ppl/hunts").exists());
}

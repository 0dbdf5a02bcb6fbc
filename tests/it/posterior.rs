//! Hunts in noise over real git: each run of the engine prints another value, from a seed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, PATIENCE, Plan, TestEnvironment, kill, line, wait_until};

/// Commits after the good endpoint, the bad one included.
const COMMITS: usize = 128;
/// The step is three standard deviations of one run.
const DISTANCE: f64 = 3.0;
const NOISE: f64 = 0.2;

/// A line of commits with one step, in noise with outliers and some drift.
fn noisy_line(culprit: usize, seed: usize, commits: usize) -> Plan {
    let level = |commit: usize| {
        if commit < culprit { 7.0 } else { 7.0 + DISTANCE * NOISE }
    };
    let words: Vec<String> = (0..=commits).map(|commit| level(commit).to_string()).collect();
    line(&words.join(" "))
        .with_all(&format!("noise = {NOISE}"))
        .with_all(&format!("seed = {seed}"))
        .with_all("outliers = 0.02")
        .with_all("drift = 0.04 40")
}

/// Builds the history and hunts in it.
fn hunt(plan: Plan, words: &[&str]) -> (TestEnvironment, History, Hunt) {
    hunt_by(plan, words, |oracle| oracle)
}

/// The same, with what `change` makes of the configuration.
fn hunt_by(
    plan: Plan,
    words: &[&str],
    change: impl FnOnce(Oracle) -> Oracle,
) -> (TestEnvironment, History, Hunt) {
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    change(Oracle::new(&env)).write_to(&env.repo().join("oracle.toml"));
    let mut arguments = vec!["start", "--good", "v1", "--bad", "main"];
    arguments.extend(words);
    let output = env.run_in(&env.repo(), &arguments);
    let hunt = Hunt::of(&env, output);
    (env, history, hunt)
}

/// Builds the history and hunts in it for a test that passes or fails.
fn hunt_of_a_test(plan: Plan) -> (TestEnvironment, History, Hunt) {
    hunt_by(plan, &[], |oracle| {
        let oracle = oracle.measure("code", "code", "parser = \"exit-code\"");
        oracle.only_guard("metric = \"code\"\nmax = 0")
    })
}

fn labels(history: &History, list: &Value) -> Vec<usize> {
    let commits = list.as_array().map(Vec::as_slice).unwrap_or_default();
    commits.iter().map(|c| history.label(c.as_str().unwrap()).parse().unwrap()).collect()
}

/// The culprit's place, from the seed and not next to the ends.
fn place(seed: usize) -> usize {
    2 + (seed * 37) % (COMMITS - 3)
}

/// Counts of right, undecided and wrong hunts over these seeds.
fn tally(
    seeds: std::ops::RangeInclusive<usize>,
    breaks: impl Fn(usize, Plan) -> Plan,
) -> [usize; 3] {
    let mut tally = [0; 3];
    for seed in seeds {
        let culprit = place(seed);
        let plan = breaks(culprit, noisy_line(culprit, seed, COMMITS));
        let (_, history, hunt) = hunt(plan, &[]);
        let candidates = labels(&history, &hunt.report["candidates"]);
        let kind = match hunt.report["outcome"].as_str().unwrap() {
            "culprit" if candidates == [culprit] => 0,
            "candidates" if candidates.contains(&culprit) => 1,
            "culprit" | "candidates" => 2,
            _ => 1,
        };
        if kind != 0 {
            println!("seed {seed}: {culprit} was planted; {}", hunt.report["summary"]);
        }
        tally[kind] += 1;
    }
    tally
}

/// Some of forty hunts. Seven tests share the forty, and six of these tests are long. Of all
/// that one process makes, at most two may end undecided, and none may be wrong.
/// A seed does not fix the runs: build and run times decide whether to build or to run again.
fn some_hunts(seeds: std::ops::RangeInclusive<usize>) {
    static UNDECIDED: AtomicUsize = AtomicUsize::new(0);
    let [_, undecided, wrong] = tally(seeds, |_, plan| plan);
    let before = UNDECIDED.fetch_add(undecided, Ordering::SeqCst);
    assert!(
        wrong == 0 && before + undecided <= 2,
        "{before} + {undecided} undecided, {wrong} wrong"
    );
}

#[test]
fn forty_hunts_in_noise_are_right_1() {
    some_hunts(1..=1);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn forty_hunts_in_noise_are_right_2() {
    some_hunts(2..=2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn forty_hunts_in_noise_are_right_3_to_5() {
    some_hunts(3..=5);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn forty_hunts_in_noise_are_right_6_to_10() {
    some_hunts(6..=10);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn forty_hunts_in_noise_are_right_11_to_20() {
    some_hunts(11..=20);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn forty_hunts_in_noise_are_right_21_to_30() {
    some_hunts(21..=30);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn forty_hunts_in_noise_are_right_31_to_40() {
    some_hunts(31..=40);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn beside_commits_that_do_not_build_the_candidates_hold_the_culprit() {
    let [right, undecided, wrong] = tally(1..=1, |culprit, plan| {
        plan.with(culprit - 1, "build_exit = 1").with(culprit, "build_exit = 1")
    });
    assert_eq!((right, undecided, wrong), (0, 1, 0));
}

#[test]
fn a_posterior_search_says_what_it_believes_and_its_log_replays_in_git() {
    let (env, history, hunt) = hunt(noisy_line(20, 7, 40), &["--search", "posterior"]);
    assert_eq!(labels(&history, &hunt.report["candidates"]), [20], "{}", hunt.report["summary"]);
    let culprit = &hunt.report["culprit"];
    assert_eq!(culprit["basis"], "posterior");
    // Later commits were not measured, and nothing shows that the bad end needs this one.
    assert_eq!(culprit["confidence"].as_f64().unwrap(), 0.98);
    let step = culprit["effect"]["own_step"].as_f64().unwrap();
    assert!((step - DISTANCE * NOISE).abs() < 0.4, "{step}");
    let log = env.run_in(&env.repo(), &["log"]).stdout;
    let file = env.repo().join("../bisect.log");
    std::fs::write(&file, &log).unwrap();
    let said = env.git(&["bisect", "replay", file.to_str().unwrap()]);
    assert!(said.contains(&format!("{} is the first bad commit", history.commit(20))), "{said}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn another_hunt_for_the_same_uses_what_was_measured() {
    let (env, history, hunt) = hunt(noisy_line(9, 3, 16), &[]);
    assert_eq!(labels(&history, &hunt.report["candidates"]), [9]);
    let runs = env.starts().len();
    // The store has all runs, unless the second hunt chooses other commits because of other times.
    let output = env.run_in(&env.repo(), &["start", "--good", "v1", "--bad", "main"]);
    let again = Hunt::of(&env, output);
    assert_eq!(labels(&history, &again.report["candidates"]), [9]);
    let starts: Vec<_> = env.starts().into_iter().skip(runs).collect();
    assert!(starts.len() <= runs / 2, "{starts:?}\n{}", again.output.stderr);
    assert!(again.report["culprit"]["confirmed_before"].is_array(), "{}", again.report["culprit"]);
}

/// Two hunts with other good ends share most commits. No new run of a commit is made while the
/// store has one that the second hunt did not take.
#[test]
#[ignore = "long: scripts/test --long"]
fn hunts_that_share_commits_measure_each_of_them_once() {
    let (env, history, first) = hunt(noisy_line(30, 3, 64), &["--search", "posterior"]);
    assert_eq!(labels(&history, &first.report["candidates"]), [30]);
    let stored: Vec<usize> = (0..=64).map(|label| env.runs_of(label)).collect();
    let words = ["start", "--good", history.commit(1), "--bad", "main", "--search", "posterior"];
    let second = Hunt::of(&env, env.run_in(&env.repo(), &words));
    assert_eq!(labels(&history, &second.report["candidates"]), [30]);
    let mut shared = 0;
    for commit in second.report["commits"].as_array().unwrap() {
        let label: usize = history.label(commit["commit"].as_str().unwrap()).parse().unwrap();
        let samples = commit["samples"].as_array().unwrap().iter();
        let (reused, new): (Vec<_>, Vec<_>) =
            samples.filter(|one| one["metric"] == "ppl").partition(|one| one["reused"] == true);
        let is_searched = new.iter().any(|one| one["phase"] == "search");
        assert!(!is_searched || reused.len() >= stored[label], "commit {label}: {commit}");
        shared += usize::from(!reused.is_empty());
    }
    // The search asks about the commits that the first hunt measured, not about their neighbours.
    assert!(shared >= 4, "{shared} commits with stored runs: {}", second.report["commits"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_steps_in_noise_are_both_found() {
    let level = |commit: usize| match commit {
        0..10 => 7.0,
        10..22 => 7.5,
        _ => 8.0,
    };
    let words: Vec<String> = (0..=32).map(|commit| level(commit).to_string()).collect();
    let plan = line(&words.join(" ")).with_all("noise = 0.1").with_all("seed = 5");
    let (env, history, hunt) = hunt(plan, &[]);
    let culprits = hunt.report["culprits"].as_array().unwrap();
    let found: Vec<usize> = culprits
        .iter()
        .map(|c| history.label(c["commit"].as_str().unwrap()).parse().unwrap())
        .collect();
    assert_eq!(found, [10, 22], "{}", hunt.report["summary"]);
    // Commits that are compared in turn keep their builds.
    let mut builds = BTreeMap::new();
    for build in env.records("builds").iter().filter(|build| build["phase"] == "search") {
        let commit = build["commit"].as_str().unwrap().to_owned();
        *builds.entry(commit).or_insert(0) += 1;
    }
    assert!(builds.values().all(|count| *count <= 4), "{builds:?}");
}

/// Hunts in a line with these levels, each from its commit on, in noise of a third of the tolerance.
/// Each of the steps is named, or a candidate.
fn steps_are_named_or_candidates(levels: &[(usize, f64)], steps: &[usize], seed: usize) {
    let level = |commit: usize| levels.iter().rfind(|(from, _)| *from <= commit).unwrap().1;
    let words: Vec<String> = (0..=40).map(|commit| level(commit).to_string()).collect();
    let plan = line(&words.join(" ")).with_all("noise = 0.067").with_all(&format!("seed = {seed}"));
    let (_, history, hunt) = hunt(plan, &[]);
    let mut told = labels(&history, &hunt.report["candidates"]);
    let culprits = hunt.report["culprits"].as_array().unwrap().iter();
    told.extend(
        culprits
            .map(|one| history.label(one["commit"].as_str().unwrap()).parse::<usize>().unwrap()),
    );
    let is_told = steps.iter().all(|step| told.contains(step));
    assert!(is_told, "seed {seed}: {told:?}\n{}", hunt.output.stdout);
}

#[test]
fn two_steps_of_little_more_than_the_tolerance_are_both_told() {
    for seed in 1..=3 {
        steps_are_named_or_candidates(&[(0, 7.0), (14, 7.24), (28, 7.48)], &[14, 28], seed);
    }
}

#[test]
fn a_step_after_a_mend_in_noise_is_told() {
    // The third change takes back one of the first two.
    let levels = [(0, 7.0), (7, 7.4), (14, 7.8), (21, 7.4), (31, 7.66)];
    for seed in 1..=2 {
        steps_are_named_or_candidates(&levels, &[31], seed);
    }
}

#[test]
fn a_flaky_test_is_hunted_by_how_often_it_fails() {
    let mut plan = line(&vec!["g"; 17].join(" ")).with_all("seed = 11");
    for commit in 0..17 {
        let rate = if commit < 11 { "fails = 0.05" } else { "fails = 0.6" };
        plan = plan.with(commit, rate);
    }
    let (_, history, hunt) = hunt_of_a_test(plan);
    let candidates = labels(&history, &hunt.report["candidates"]);
    assert_eq!(candidates, [11], "{}\n{}", hunt.report["summary"], hunt.output.stderr);
    assert_eq!(hunt.report["culprit"]["basis"], "posterior");
    let effect = &hunt.report["culprit"]["effect"];
    assert!(effect["commit"].as_str().unwrap().starts_with("fails in "), "{effect}");
}

#[test]
fn a_test_that_always_passes_is_denied_down_to_a_failure_rate() {
    let (_, _, hunt) = hunt_of_a_test(line("g g g"));
    assert_eq!(hunt.report["outcome"], "no-regression", "{}", hunt.output.stderr);
    let summary = hunt.report["summary"].to_string();
    assert!(summary.contains("in each of 21 runs of bad"), "{summary}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_slower_commit_is_found_on_a_machine_that_drifts() {
    let words = vec!["g"; 33].join(" ");
    let mut plan = line(&words).with_all("seed = 4").with_all("noise = 0.03");
    // A sine of 20 % over forty runs: it moves by more than the step in ten runs.
    plan = plan.with_all("drift = 0.2 40");
    for commit in 0..33 {
        plan = plan.with(commit, if commit < 21 { "tg = 100" } else { "tg = 92" });
    }
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    Oracle::new(&env).only_speed().write_to(&env.repo().join("oracle.toml"));
    let output = env.run_in(&env.repo(), &["start", "--good", "v1", "--bad", "main"]);
    let hunt = Hunt::of(&env, output);
    let candidates = labels(&history, &hunt.report["candidates"]);
    assert_eq!(candidates, [21], "{}\n{}", hunt.report["summary"], hunt.output.stderr);
    let weighed = hunt.file("journal.jsonl");
    assert!(weighed.contains("\"paired\":true"), "it was not noticed that the machine drifts");
}

#[test]
fn the_commit_from_which_repeats_differ_is_found() {
    // The values stay within the tolerance but no longer repeat, as with a race.
    let mut plan = line(&vec!["g"; 17].join(" "));
    for commit in 6..17 {
        plan = plan.with(commit, "ppl = 7.0000 7.0001 7.0003 7.0000 7.0002");
    }
    let (_, history, hunt) = hunt(plan.clone(), &["--target-of", "ppl=spread"]);
    assert_eq!(labels(&history, &hunt.report["candidates"]), [6], "{}", hunt.output.stderr);
    let effect = &hunt.report["culprit"]["effect"];
    assert!(effect["parent"].as_str().unwrap().starts_with("differs in 0 of"), "{effect}");
    // The level shows no regression.
    let (_, _, level) = self::hunt(plan, &[]);
    assert_eq!(level.report["outcome"], "no-regression");
}

#[test]
fn repeats_that_are_alike_at_both_ends_show_nothing() {
    let (env, _, hunt) = hunt(line("g g b b"), &["--target-of", "ppl=spread"]);
    assert_eq!(hunt.report["outcome"], "no-regression", "{}", hunt.output.stderr);
    let refused = |words: &str| {
        let args = ["start", "--good", "v1", "--bad", "main", "--target-of", words];
        env.run_in(&env.repo(), &args)
    };
    for (words, said) in [
        ("ppl", "METRIC=spread"),
        ("ppl=level", "is not a known target"),
        ("speed=spread", "no measure yields speed; there are: ppl"),
    ] {
        let output = refused(words);
        assert_eq!(output.code(), Some(2), "{output:?}");
        assert!(output.stderr.contains(said), "{output:?}");
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn killed_and_taken_up_again_it_measures_nothing_twice() {
    let plan = noisy_line(9, 3, 16).with_all("chunk_ms = 15");
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    Oracle::new(&env).write_to(&env.repo().join("oracle.toml"));
    let words = ["start", "--good", "v1", "--bad", "main", "--search", "posterior"];
    let driver = env.spawn_product(&words);
    let runs = || env.starts().iter().filter(|start| start.kind == "run").count();
    assert!(wait_until(PATIENCE, || runs() >= 14), "it never got that far");
    kill(driver.pid(), Signal::KILL);
    driver.wait();
    env.assert_no_survivors();
    let hunt = env.resume();
    assert_eq!(labels(&history, &hunt.report["candidates"]), [9], "{}", hunt.output.stderr);
    // At most one run was cut off and runs again.
    let counted = usize::try_from(hunt.report["totals"]["runs"].as_u64().unwrap()).unwrap();
    assert!(runs() <= counted + 1, "{} started, {counted} counted", runs());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_filter_that_hides_the_commit_is_dropped() {
    let plan = noisy_line(9, 3, 16).file(3, "docs/a.md", "a change that changes nothing\n");
    let (_, history, hunt) = hunt(plan, &["--", "docs"]);
    assert_eq!(labels(&history, &hunt.report["candidates"]), [9], "{}", hunt.output.stderr);
    assert_eq!(hunt.report["outcome"], "culprit");
    let notes = hunt.report["notes"].to_string();
    assert!(notes.contains("the path filter") && notes.contains("hid"), "{notes}");
}

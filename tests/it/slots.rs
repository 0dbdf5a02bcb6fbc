//! Hunts that measure in several slots at the same time: the same answer from the same samples.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{
    History, Hunt, Oracle, PATIENCE, Plan, Snapshot, TestEnvironment, events, graph, kill, line,
    most_at_once, wait_until,
};

/// For each commit its verdict and the phase and value of each sample, resources left out.
fn used(hunt: &Hunt, history: &History) -> BTreeMap<String, (String, Vec<String>)> {
    let commits = hunt.report["commits"].as_array().unwrap().iter();
    let of = |commit: &Value| {
        let samples = commit["samples"].as_array().unwrap().iter();
        let samples = samples.filter(|sample| {
            let metric = sample["metric"].as_str().unwrap();
            !metric.ends_with("wall_s") && !metric.ends_with("peak_rss_mib")
        });
        let said = samples.map(|s| format!("{} {} {}", s["phase"], s["metric"], s["value"]));
        let label = history.label(commit["commit"].as_str().unwrap()).to_owned();
        (label, (commit["verdict"].to_string(), said.collect()))
    };
    commits.map(of).collect()
}

/// The commits that the search asked about, in order.
fn asked(hunt: &Hunt, history: &History) -> Vec<String> {
    let judged = events(hunt, "judged").into_iter().filter(|event| event["phase"] == "search");
    judged.map(|event| history.label(event["commit"].as_str().unwrap()).to_owned()).collect()
}

fn with_slots(plan: &Plan, slots: &str) -> (TestEnvironment, History, Hunt) {
    let env = TestEnvironment::new();
    let history = plan.clone().build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let hunt = env.start(&["--good", "v1", "--slots", slots]);
    env.assert_no_survivors();
    before.assert_unchanged(&env);
    (env, history, hunt)
}

#[track_caller]
fn the_same_with_so_many_slots(plan: &Plan, numbers: &[&str]) {
    let (_alone, history, alone) = with_slots(plan, "1");
    let expected = (asked(&alone, &history), used(&alone, &history));
    assert!(events(&alone, "ahead").is_empty());
    for slots in numbers {
        let (_env, history, hunt) = with_slots(plan, slots);
        let said = &hunt.output.stderr;
        assert_eq!(hunt.output.code(), alone.output.code(), "{said}");
        assert_eq!((asked(&hunt, &history), used(&hunt, &history)), expected, "{slots}: {said}");
        for field in ["outcome", "summary", "account"] {
            assert_eq!(hunt.report[field], alone.report[field], "{field}");
        }
        for field in ["runs", "builds"] {
            let totals = |hunt: &Hunt| hunt.report["totals"][field].clone();
            assert_eq!(totals(&hunt), totals(&alone), "{slots} slots: {field}\n{said}");
        }
        let ahead = &hunt.report["ahead"];
        assert!(ahead["used"]["runs"].as_u64().unwrap() > 0, "{ahead:#}\n{said}");
        assert!(!events(&hunt, "took-over").is_empty());
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_line_of_commits() {
    let plan = line("g g g g g g g g g g g b b b b b").with_all("chunk_ms = 20");
    the_same_with_so_many_slots(&plan, &["2"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_history_with_merges() {
    let plan = graph(&[
        "a: g",
        "b < a: g",
        "c < a: g",
        "d < c: g",
        "e < b d: g",
        "f < e: g",
        "h < f: g",
        "i < f: g",
        "j < i: b",
        "k < h j: b",
        "l < k: b",
        "m < l: b",
    ]);
    the_same_with_so_many_slots(&plan.with_all("chunk_ms = 20"), &["3"]);
}

#[test]
fn commits_that_cannot_be_tested() {
    let plan = line("g g g g x g x x x g x b x b b b b").with_all("chunk_ms = 20");
    the_same_with_so_many_slots(&plan, &["3"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn commits_that_crash_in_two_slots() {
    let plan = line("g g g s g g s s b s b b b b").with_all("chunk_ms = 20");
    the_same_with_so_many_slots(&plan, &["2"]);
}

/// A line with long runs, so that workers are at work when a test looks.
fn slow(chunk_ms: u32) -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g b b b b b b b b");
    let history = plan.with_all(&format!("chunk_ms = {chunk_ms}")).build(&env);
    Oracle::new(&env).write(&env);
    (env, history)
}

const START: [&str; 5] = ["start", "--good", "v1", "--slots", "3"];

/// The processes of the workers of this test.
fn workers(env: &TestEnvironment) -> Vec<i32> {
    let all = env.processes().into_iter();
    let is_worker = |command: &str| command.contains("oracle") && command.contains("--ahead");
    all.filter(|process| is_worker(&process.command)).map(|process| process.pid).collect()
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_slots_build_both_ends_at_the_same_time() {
    let env = TestEnvironment::new();
    let history = line("g g g g g b b b b").with_all("build_ms = 600").build(&env);
    Oracle::new(&env).write(&env);
    env.start(&["--good", "v1", "--slots", "2"]).names(&history, 5);
    let builds = env.records("builds").into_iter();
    let ends: Vec<[f64; 2]> = builds
        .filter(|build| build["phase"] == "endpoint")
        .map(|build| {
            let end: jiff::Timestamp = build["finished"].as_str().unwrap().parse().unwrap();
            let end = end.as_millisecond() as f64 / 1000.0;
            [end - build["wall_s"].as_f64().unwrap(), end]
        })
        .collect();
    assert_eq!((ends.len(), most_at_once(&ends)), (2, 2), "{ends:?}");
}

/// A hunt is stopped while the ends run, and goes on.
fn builds_of_the_ends_count_after(signal: Signal) {
    let env = TestEnvironment::new();
    let history = line("g g g g g b b b b").with_all("chunk_ms = 100").build(&env);
    Oracle::new(&env).build("keep = \"1ms\"").write(&env);
    let running = env.spawn_product(&["start", "--good", "v1", "--slots", "2"]);
    // Both ends are built, and their first runs go on.
    assert!(wait_until(PATIENCE, || env.runs_of(0) > 0 && env.runs_of(8) > 0));
    kill(running.pid(), signal);
    running.wait();
    env.assert_no_survivors();
    let hunt = env.resume().names(&history, 5);
    let builds = events(&hunt, "build");
    let counted = |label: usize| {
        let is_of = |build: &&Value| build["commit"] == history.commit(label);
        builds.iter().filter(|build| build["phase"] == "endpoint").filter(is_of).count()
    };
    assert_eq!((counted(8), env.builds_of(8)), (1, 1), "{signal:?}: {}", hunt.output.stderr);
    assert!(counted(0) > 0, "{signal:?}: {}", hunt.output.stderr);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn builds_of_the_ends_from_before_a_stop_count() {
    builds_of_the_ends_count_after(Signal::KILL);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn builds_of_the_ends_from_before_an_interrupt_count() {
    builds_of_the_ends_count_after(Signal::INT);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_second_hunt_with_slots_whose_results_are_all_stored_makes_no_build() {
    let (env, history, _) = with_slots(&line("g g g g g b b b b"), "2");
    let made = (env.records("builds").len(), env.runs().len());
    let hunt = env.start(&["--good", "v1", "--slots", "2"]).names(&history, 5);
    let said = &hunt.output.stderr;
    assert_eq!((env.records("builds").len(), env.runs().len()), made, "{said}");
    // A worker that took stored results made nothing.
    let made = |ahead: &serde_json::Value, what: &str| {
        ahead[what].as_array().is_some_and(|made| !made.is_empty())
    };
    assert!(events(&hunt, "ahead").iter().all(|ahead| !made(ahead, "builds")), "{said}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn status_shows_every_slot() {
    let (env, history) = slow(250);
    let running = env.spawn_product(&START);
    assert!(wait_until(PATIENCE, || {
        let said = env.run(&["status"]).stdout;
        ["running: run ppl at ", "slot 2: run ppl at ", "slot 3: run ppl at "]
            .iter()
            .all(|words| said.contains(words) && said.contains("(search)"))
    }));
    let page = || {
        let hunts = env.git_folder().join("bisect-ppl/hunts");
        let hunt = std::fs::read_dir(hunts).unwrap().next().unwrap().unwrap().path();
        std::fs::read_to_string(hunt.join("report.html")).unwrap_or_default()
    };
    assert!(wait_until(PATIENCE, || page().contains("slot 2: run ppl at ")));
    running.wait().expect(0);
    assert_eq!(env.resume().names(&history, 8).output.code(), Some(0));
}

#[test]
fn status_says_that_the_first_slot_waits_for_another_one() {
    let env = TestEnvironment::new();
    // The bad end is built in the second slot, and takes longer than the good end in the first.
    let history = line("g g b b").with(3, "build_ms = 3000").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1", "--slots", "2"]);
    let waits = "running: waiting for what is measured at the same time, for ";
    assert!(wait_until(PATIENCE, || env.run(&["status"]).stdout.contains(waits)));
    running.wait().expect(0);
    assert_eq!(env.resume().names(&history, 2).output.code(), Some(0));
}

#[test]
fn what_no_answer_can_ask_for_is_stopped() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g g g g g b b b b b b b b").with_all("chunk_ms = 100");
    // The search does not ask about these, and they would run for long.
    for label in 1..6 {
        plan = plan.with(label, "chunk_ms = 5000");
    }
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", "3"]).names(&history, 8);
    let cancelled = events(&hunt, "ahead").into_iter().filter(|event| event["cancelled"] == true);
    let cancelled: Vec<Value> = cancelled.collect();
    assert!(!cancelled.is_empty(), "{:#}", hunt.report["ahead"]);
    assert_eq!(hunt.report["ahead"]["cancelled"], cancelled.len());
    // A commit that the search asked about was never stopped.
    for event in &cancelled {
        let label = history.label(event["commit"].as_str().unwrap()).to_owned();
        assert!(!asked(&hunt, &history).contains(&label), "{label}");
    }
    env.assert_no_survivors();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_that_found_no_slot_gets_the_next_one() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g g g g g b b b b b b b b").with_all("chunk_ms = 50");
    // After the first answer no one asks about these. The worker at one of them still has its slot
    // when the next commits get theirs.
    for label in 1..6 {
        plan = plan.with(label, "chunk_ms = 5000");
    }
    // While this commit runs, there is time for both commits that may come next.
    let history = plan.with(9, "chunk_ms = 600").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", "3"]).names(&history, 8);
    assert_eq!(asked(&hunt, &history).last().map(String::as_str), Some("8"));
    let mut taken = events(&hunt, "took-over").into_iter();
    let is_last = |event: &Value| {
        event["phase"] == "search" && history.label(event["commit"].as_str().unwrap()) == "8"
    };
    assert!(taken.any(|event| is_last(&event)), "{:#?}", events(&hunt, "ahead"));
    env.assert_no_survivors();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_killed_worker_changes_nothing() {
    let (env, history) = slow(150);
    let running = env.spawn_product(&START);
    // First at the endpoints, then in the search.
    for runs in [2, 6] {
        assert!(wait_until(PATIENCE, || env.runs().len() >= runs && !workers(&env).is_empty()));
        for pid in workers(&env) {
            kill(pid, Signal::KILL);
        }
    }
    running.wait().expect(0);
    env.assert_no_survivors();
    env.resume().names(&history, 8);
}

/// Ends a driver whose workers are at work, and resumes its hunt.
fn goes_on_after(signal: Signal) {
    let (env, history) = slow(150);
    let running = env.spawn_product(&START);
    assert!(wait_until(PATIENCE, || env.runs().len() > 7 && workers(&env).len() >= 2));
    kill(running.pid(), signal);
    running.wait();
    env.assert_no_survivors();
    let hunt = env.resume().names(&history, 8);
    // The check of the slots came to its end before the search, so it is not made again.
    let checks = events(&hunt, "ahead").into_iter().filter(|event| event["phase"] == "control");
    assert_eq!(checks.count(), 1, "{}", hunt.output.stderr);
    let (_alone, its, alone) =
        with_slots(&line("g g g g g g g g b b b b b b b b").with_all("chunk_ms = 20"), "1");
    assert_eq!(asked(&hunt, &history), asked(&alone, &its));
    assert_eq!(hunt.report["culprit"]["effect"], alone.report["culprit"]["effect"]);
}

#[test]
fn a_killed_driver_leaves_no_worker_and_the_hunt_goes_on() {
    goes_on_after(Signal::KILL);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_interrupted_driver_leaves_no_worker_and_the_hunt_goes_on() {
    goes_on_after(Signal::INT);
}

#[test]
fn exclusive_runs_of_all_slots_take_turns() {
    let env = TestEnvironment::new();
    let town = env.path("town");
    std::fs::create_dir(&town).unwrap();
    let plan = line("g g g g g b b b b").with_all("chunk_ms = 20").with_all("build_ms = 60");
    // The engine logs a fault if another one builds or runs meanwhile.
    let plan = plan.with_all("alone = yes").with_all(&format!("town = {}", town.display()));
    let history = plan.build(&env);
    Oracle::new(&env).ppl("exclusive = true").write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", "3"]).names(&history, 5);
    // How far the workers get with their runs depends on the machine.
    assert!(hunt.report["ahead"]["builds"].as_u64().unwrap() > 0, "{:#}", hunt.report["ahead"]);
    assert_eq!(most_at_once(&env.spans("runs")), 1);
}

#[test]
fn runs_that_disturb_each_other_are_no_failure_of_a_commit() {
    let env = TestEnvironment::new();
    // Engines that run at the same time want one lock, as if it were a port.
    let engine = |ppl: &str| {
        format!(
            "exec 9> '{}'\n\
             flock --nonblock 9 || {{ echo 'bind: address already in use' >&2; exit 1; }}\n\
             sleep 0.3 9>&-\n\
             echo \"Final estimate: PPL = {ppl} +/- 0.1\"\n",
            env.path("port").display()
        )
    };
    let plan = line("g g g g g g g g").program(0, "run.sh", &engine("7.0")).program(
        5,
        "run.sh",
        &engine("9.0"),
    );
    let history = plan.build(&env);
    Oracle::new(&env).ppl_command("sh {src}/run.sh").write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", "2"]).names(&history, 5);
    assert!(hunt.report["culprit"]["failure"].is_null(), "{:#}", hunt.report["culprit"]);
    env.assert_no_survivors();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn builds_go_on_beside_runs_that_take_turns() {
    let env = TestEnvironment::new();
    let plan = line("g g g g g b b b b").with_all("chunk_ms = 60").with_all("build_ms = 60");
    let history = plan.build(&env);
    Oracle::new(&env).ppl("exclusive = \"runs\"").write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", "3"]).names(&history, 5);
    assert!(hunt.report["ahead"]["runs"].as_u64().unwrap() > 0, "{:#}", hunt.report["ahead"]);
    let (runs, builds) = (env.spans("runs"), env.spans("builds"));
    assert_eq!(most_at_once(&runs), 1);
    let is_beside =
        |build: &[f64; 2]| runs.iter().any(|run| build[0] < run[1] && run[0] < build[1]);
    assert!(builds.iter().any(is_beside), "{builds:?} {runs:?}");
}

#[test]
fn runs_of_a_slot_have_its_variables_and_cpus() {
    let env = TestEnvironment::new();
    let history = line("g g g g g b b b b").with_all("chunk_ms = 20").build(&env);
    let slots = "[executor]\nslots = [\n{ env = { DEVICE = \"a\" }, cpus = \"0\" },\n\
                 { env = { DEVICE = \"b\" }, cpus = \"1\" },\n]\n";
    Oracle::new(&env).section(slots).write(&env);
    let hunt = env.start(&["--good", "v1"]).names(&history, 5);
    let mut seen = BTreeMap::new();
    let mut keys = std::collections::BTreeSet::new();
    for run in env.records("runs") {
        let device = run["env"]["DEVICE"].as_str().unwrap().to_owned();
        *seen.entry((device, run["cpus"].to_string())).or_insert(0) += 1;
        if run["commit"] == history.commit("0") {
            keys.insert(run["run_key"].to_string());
        }
    }
    let found: Vec<_> =
        seen.keys().map(|(device, cpus)| (device.as_str(), cpus.as_str())).collect();
    assert_eq!(found, [("a", "[0]"), ("b", "[1]")], "{seen:?}");
    assert_eq!(keys.len(), 1, "the slot is not in the key");
    assert_eq!(hunt.report["machine"]["cores"], 1);
    assert!(hunt.file("report.md").contains(" cores, 1 for each run)"));
}

#[test]
fn impossible_slots_are_refused_before_a_hunt() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let oracle = |slots: &str| {
        Oracle::new(&env).section(&format!("[executor]\nslots = [{slots}]\n")).write(&env);
    };
    let start = |slots: &[&str]| {
        let args: Vec<&str> = ["start", "--good", "v1"].iter().chain(slots).copied().collect();
        env.run(&args).expect(2)
    };
    oracle("{ cpus = \"1000\" }");
    start(&[]).says(&[
        "oracle.toml:",
        ": executor.slots[1].cpus: CPU 1000 is not among those that this process may use",
    ]);
    oracle("{ cpus = \"0-1\" }, { cpus = \"2\" }");
    start(&[]).says(&["all slots need equally many CPUs"]);
    oracle("{}, {}");
    start(&["--slots", "3"]).says(&["--slots 3: oracle.toml allows 2 under [executor]"]);
    let [own, other] = ["oracle.toml", "other.toml"].map(|name| env.repo().join(name));
    fs::rename(own, other).unwrap();
    let named = ["--slots", "3", "--config", "other.toml"];
    start(&named).says(&["--slots 3: other.toml allows 2 under [executor]"]);
    Oracle::new(&env).build("mode = \"auto\"").write(&env);
    start(&["--slots", "2"]).says(&["--slots 2: build.mode = \"auto\" builds all commits"]);
    for wrong in ["0", "65", "x", "2.5", ""] {
        start(&["--slots", wrong]).says(&["for '--slots <N>': write a number from 1 to 64"]);
    }
    assert!(!env.git_folder().join("bisect-ppl/hunts").exists());
}

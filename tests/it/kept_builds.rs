//! Builds that stay after a hunt: a later hunt in the same repository takes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{
    History, Hunt, Oracle, PATIENCE, Plan, Snapshot, TestEnvironment, events, kill, line,
    wait_until,
};

/// A history whose commit 4 is bad, and a configuration whose builds stay.
fn repository() -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let history = line("g g g g b b b b").build(&env);
    first(&env).write(&env);
    (env, history)
}

fn first(env: &TestEnvironment) -> Oracle {
    Oracle::new(env).build("keep = \"1ms\"")
}

/// The same builds, and other runs.
fn second(env: &TestEnvironment) -> Oracle {
    first(env).ppl("cwd = \"{build}\"")
}

fn builds(env: &TestEnvironment) -> usize {
    env.starts().iter().filter(|start| start.kind == "build").count()
}

/// The phases of the builds of earlier hunts that this hunt took.
fn taken(hunt: &Hunt) -> Vec<String> {
    let taken = events(hunt, "build").into_iter().filter(|build| build["reused"] == true);
    taken.map(|build| build["phase"].as_str().unwrap().to_owned()).collect()
}

/// The folders of all builds that stayed.
fn kept(env: &TestEnvironment) -> Vec<PathBuf> {
    let repositories = fs::read_dir(env.path("cache/bisect-ppl")).into_iter().flatten().flatten();
    let slots = repositories.flat_map(|entry| fs::read_dir(entry.path().join("slots")));
    let slots = slots.flatten().flatten().map(|slot| slot.path());
    slots.filter(|slot| slot.join("stamp.json").exists()).collect()
}

#[test]
fn a_second_hunt_builds_only_for_its_confirmation_and_the_bad_end() {
    let (env, history) = repository();
    let before = Snapshot::of(&env);
    env.hunt().names(&history, 4);
    before.assert_unchanged(&env);
    let made = builds(&env);
    assert_eq!(kept(&env).len(), made);
    let before_second = [3, 4, 7].map(|label| env.builds_of(label));
    second(&env).write(&env);
    let before = Snapshot::of(&env);
    let hunt = env.hunt().names(&history, 4);
    before.assert_unchanged(&env);
    assert_eq!(builds(&env) - made, 3, "the commit, its parent and the bad end");
    assert_eq!([3, 4, 7].map(|label| env.builds_of(label)), before_second.map(|count| count + 1));
    let taken = taken(&hunt);
    assert_eq!(taken.len(), made - 2, "{taken:?}");
    assert!(!taken.iter().any(|phase| phase == "confirm"), "{taken:?}");
    env.assert_no_survivors();
}

#[test]
fn both_ends_take_earlier_builds_or_neither_does() {
    let (env, history) = repository();
    env.hunt().names(&history, 4);
    let (good, bad) = (env.builds_of(0), env.builds_of(7));
    // A file of the bad end's build changes.
    for slot in kept(&env) {
        if fs::read_to_string(slot.join("stamp.json")).unwrap().contains(history.commit(7)) {
            fs::write(slot.join("build/tuned"), "").unwrap();
        }
    }
    second(&env).write(&env);
    let hunt = env.hunt().names(&history, 4);
    assert_eq!((env.builds_of(0), env.builds_of(7)), (good + 1, bad + 1));
    assert!(taken(&hunt).iter().all(|phase| phase == "search"), "{:?}", taken(&hunt));
}

#[test]
fn short_builds_do_not_stay_and_gc_removes_those_that_do() {
    let (env, history) = repository();
    env.hunt().names(&history, 4);
    assert!(!kept(&env).is_empty());
    env.run(&["store", "gc"]).expect(0);
    assert!(kept(&env).is_empty());
    Oracle::new(&env).ppl("cwd = \"{build}\"").write(&env);
    env.hunt().names(&history, 4);
    assert!(kept(&env).is_empty());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn builds_from_before_a_change_outside_do_not_count_if_fresh_builds_contradict_them() {
    a_change_outside_between_two_hunts(&[]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn nor_do_they_count_in_a_search_by_the_posterior() {
    a_change_outside_between_two_hunts(&["--search", "posterior"]);
}

/// A line of eight commits that each change a file which builds read.
fn padded(mut plan: Plan) -> Plan {
    for label in 0..8 {
        plan = plan.file(label, "pad", &label.to_string());
    }
    plan
}

/// Builds with `build.sh`, whose builds stay, and measures with `run.sh`. Other words are another
/// measure: nothing stored counts.
fn scripts(env: &TestEnvironment, words: &str) -> Oracle {
    Oracle::new(env)
        .build("keep = \"1ms\"")
        .build_command("sh {src}/build.sh {build}")
        .ppl_command(&format!("sh {{src}}/run.sh {{build}} {words}"))
}

/// A file outside, which no key contains, is part of each build. Each commit changes a file that
/// builds read. The second hunt has these further arguments.
fn a_change_outside_between_two_hunts(more: &[&str]) {
    let env = TestEnvironment::new();
    let outside = env.path("outside");
    let run =
        "awk '{s += $1} END {printf \"Final estimate: PPL = %.1f +/- 0.1\\n\", s}' $1/level\n";
    let mut plan = line("g g g g g g g g").program(0, "run.sh", run);
    for label in [0, 4] {
        let level = if label == 0 { "7.0" } else { "7.5" };
        let build =
            format!("cat pad >/dev/null\n(echo {level}; cat {}) > $1/level\n", outside.display());
        plan = plan.program(label, "build.sh", &build);
    }
    let history = padded(plan).build(&env);
    scripts(&env, "first").write(&env);
    fs::write(&outside, "0\n").unwrap();
    env.hunt().names(&history, 4);
    fs::write(&outside, "1\n").unwrap();
    scripts(&env, "second").write(&env);
    let arguments = [&["--good", "v1", "--bad", "HEAD"], more].concat();
    let hunt = env.start(&arguments).names(&history, 4);
    assert!(hunt.output.stderr.contains("builds of earlier hunts"), "{}", hunt.output.stderr);
    assert!(!taken(&hunt).is_empty());
    assert_eq!(hunt.report["culprit"]["effect"]["parent"], 8.0, "{:#}", hunt.report["culprit"]);
}

/// With the second file outside, commit 6 mends the change of commit 4.
#[test]
fn a_bad_end_that_a_new_build_mends_is_found_although_its_build_stayed() {
    let env = TestEnvironment::new();
    let outside = env.path("outside");
    let run = "echo \"Final estimate: PPL = $(cat $1/level) +/- 0.1\"\n";
    let mut plan = line("g g g g g g g g").program(0, "run.sh", run);
    for (label, level) in [(0, "7.0"), (4, "7.5"), (6, "$(cat OUTSIDE)")] {
        let level = level.replace("OUTSIDE", &outside.display().to_string());
        plan = plan.program(
            label,
            "build.sh",
            &format!("cat pad >/dev/null\necho {level} > $1/level\n"),
        );
    }
    let history = padded(plan).build(&env);
    scripts(&env, "first").write(&env);
    fs::write(&outside, "7.5\n").unwrap();
    env.hunt().names(&history, 4);
    fs::write(&outside, "7.0\n").unwrap();
    scripts(&env, "second").write(&env);
    let hunt = env.start(&["--good", "v1", "--bad", "HEAD"]).expect(4, "no-regression");
    assert!(!taken(&hunt).is_empty());
    hunt.output.says(&["a new build of the bad end", "was 7.5, and is 7 now"]);
}

/// A line whose runs are long, so that workers measure ahead.
fn slow() -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g g g g b b b b b").with_all("chunk_ms = 100");
    let history = plan.build(&env);
    first(&env).write(&env);
    (env, history)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn builds_of_workers_stay_for_the_workers_of_later_hunts() {
    let (env, history) = slow();
    let start = ["--good", "v1", "--slots", "2"];
    let earlier = env.start(&start).names(&history, 11);
    let is_workers = |slot: &PathBuf| {
        let name = slot.file_name().unwrap().to_str().unwrap();
        name == "1" || name.starts_with("1.")
    };
    assert!(kept(&env).iter().any(is_workers), "{:?}", kept(&env));
    let made: Vec<Value> = events(&earlier, "ahead")
        .iter()
        .flat_map(|done| done["builds"].as_array().unwrap().clone())
        .map(|build| build[0].clone())
        .collect();
    second(&env).write(&env);
    let before = Snapshot::of(&env);
    let hunt = env.start(&start).names(&history, 11);
    before.assert_unchanged(&env);
    let taken: Vec<Value> =
        events(&hunt, "build").into_iter().filter(|build| build["reused"] == true).collect();
    assert!(taken.iter().any(|build| made.contains(&build["attempt"])), "{taken:#?}");
    assert!(taken.iter().all(|build| build["phase"] == "search"), "{taken:#?}");
}

#[test]
fn a_stopped_search_makes_no_finished_build_again() {
    let (env, history) = slow();
    let running = env.spawn_product(&["start", "--good", "v1", "--slots", "2"]);
    // The ends and the check of the slots have five runs; a worker measures ahead.
    assert!(wait_until(PATIENCE, || env.runs().len() > 6));
    kill(running.pid(), Signal::INT);
    running.wait();
    env.assert_no_survivors();
    env.resume().names(&history, 11);
    let mut made = BTreeMap::<String, usize>::new();
    for build in env.records("builds").iter().filter(|build| build["phase"] == "search") {
        *made.entry(history.label(build["commit"].as_str().unwrap()).to_owned()).or_default() += 1;
    }
    assert!(!made.is_empty() && made.values().all(|count| *count == 1), "{made:?}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_search_tests_a_built_commit_that_splits_the_range_nearly_as_well() {
    let env = TestEnvironment::new();
    let words: Vec<&str> = (0..=40).map(|at| if at < 30 { "g" } else { "b" }).collect();
    let history = line(&words.join(" ")).build(&env);
    first(&env).write(&env);
    env.hunt().names(&history, 30);
    assert_eq!(env.builds_of(20), 1, "git's first choice");
    second(&env).write(&env);
    let hunt = env.start(&["--good", "v1", "--bad", history.commit(38)]).names(&history, 30);
    let judged = events(&hunt, "judged").into_iter().filter(|one| one["phase"] == "search");
    let asked: Vec<String> =
        judged.map(|one| history.label(one["commit"].as_str().unwrap()).to_owned()).collect();
    assert_eq!(asked.first().map(String::as_str), Some("20"), "{asked:?}");
    assert_eq!((env.builds_of(19), env.builds_of(20)), (0, 1), "git asks about 19");
}

//! Slots have different paths: engines and builds that hold the path, and runs that are compared
//! with those of another path.

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{
    History, Hunt, Oracle, PATIENCE, TestEnvironment, events, kill, line, wait_until,
};

/// The guard of hunts for a rise.
const RISE: &str = "metric = \"ppl\"\nmax_increase = 0.2";

/// The hunt of an engine whose perplexity depends on the number of the slot's folder, by 1.
fn depends_on_its_path(
    bases: [u32; 2],
    slots: &str,
    guard: &str,
) -> (TestEnvironment, History, Hunt) {
    let engine = |base: u32| {
        format!(
            "n=${{1#*/slots/}}; n=${{n%%/*}}; n=${{n%.*}}\n\
             echo \"Final estimate: PPL = $(({base} + n)).0 +/- 0.1\"\n"
        )
    };
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g").program(0, "run.sh", &engine(bases[0])).program(
        5,
        "run.sh",
        &engine(bases[1]),
    );
    let history = plan.build(&env);
    Oracle::new(&env).ppl_command("sh {src}/run.sh {build}").only_guard(guard).write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", slots]);
    (env, history, hunt)
}

/// The perplexity depends on the slot.
fn other_values_in_slots(slots: &str) {
    let (_env, history, hunt) = depends_on_its_path([7, 9], slots, RISE);
    assert_eq!(events(&hunt, "one-slot").len(), 1, "{}", hunt.output.stderr);
    assert!(hunt.output.stderr.contains("begins again with one slot"));
    hunt.names(&history, 5);
    let (_env, _, hunt) = depends_on_its_path([7, 7], slots, RISE);
    let hunt = hunt.expect(4, "no-regression");
    let commits = hunt.report["commits"].as_array().unwrap().iter();
    let samples = commits.flat_map(|commit| commit["samples"].as_array().unwrap());
    let mut values = samples.filter(|one| one["metric"] == "ppl").map(|one| &one["value"]);
    assert!(values.all(|value| *value == 7.0), "{:#}", hunt.report["commits"]);
}

#[test]
fn slots_that_give_other_values_are_not_used() {
    other_values_in_slots("3");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_slots_that_give_other_values_are_not_used() {
    other_values_in_slots("2");
}

/// The hunt of an engine in noise whose perplexity is higher by 0.5 in the first slot. `bases`: the
/// perplexity of the first five commits and of the others.
fn depends_on_its_path_in_noise(bases: [&str; 2], slots: &str) -> (History, Hunt, TestEnvironment) {
    let engine = |base: &str| {
        format!(
            "case $1 in */slots/0/*) shift=0.5 ;; *) shift=0 ;; esac\n\
             r=$(od -An -N2 -tu2 /dev/urandom)\n\
             awk -v level={base} -v shift=$shift -v \"r=$r\" 'BEGIN {{\n\
             print \"Final estimate: PPL = \" (level + shift + r * 0.04 / 65536) \" +/- 0.1\" }}'\n"
        )
    };
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g").program(0, "run.sh", &engine(bases[0])).program(
        5,
        "run.sh",
        &engine(bases[1]),
    );
    let history = plan.build(&env);
    Oracle::new(&env).ppl_command("sh {src}/run.sh {build}").write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", slots]);
    (history, hunt, env)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn slots_of_another_level_in_noise_are_not_used() {
    for slots in ["2", "3"] {
        // The first slot shows the good end as bad as the other one shows the bad end.
        let (history, hunt, _env) = depends_on_its_path_in_noise(["7.0", "7.5"], slots);
        let said = &hunt.output.stderr;
        assert_eq!(events(&hunt, "one-slot").len(), 1, "{slots}: {said}");
        let words = "another level, beyond the noise, in another slot";
        let mut notes = events(&hunt, "note").into_iter();
        assert!(notes.any(|note| note["text"].as_str().unwrap().contains(words)), "{said}");
        hunt.names(&history, 5);
    }
    let (_, hunt, _env) = depends_on_its_path_in_noise(["7.0", "7.0"], "3");
    let hunt = hunt.expect(4, "no-regression");
    let commits = hunt.report["commits"].as_array().unwrap().iter();
    let samples = commits.flat_map(|commit| commit["samples"].as_array().unwrap());
    let mut values = samples.filter(|one| one["metric"] == "ppl").map(|one| &one["value"]);
    let is_of_first_slot = |value: &Value| value.as_f64().unwrap() >= 7.5;
    assert!(values.all(is_of_first_slot), "{:#}", hunt.report["commits"]);
}

#[test]
fn runs_of_the_driver_in_another_slot_do_not_count_in_one_slot() {
    // The second slot shows the bad end as high as the first one shows the good end. Before it
    // denies a fall, the driver runs this build there itself.
    let guard = "metric = \"ppl\"\nmax_decrease = 0.2";
    let (_env, history, hunt) = depends_on_its_path([7, 6], "2", guard);
    assert_eq!(events(&hunt, "one-slot").len(), 1, "{}", hunt.output.stderr);
    hunt.names(&history, 5);
}

/// That no value differed between slots, and that values of two slots were really compared.
#[track_caller]
fn uses_its_slots(env: &TestEnvironment, history: &History, hunt: &Hunt) {
    let said = &hunt.output.stderr;
    assert!(events(hunt, "one-slot").is_empty() && !said.contains("with one slot"), "{said}");
    assert!(hunt.report["ahead"]["used"]["runs"].as_u64().unwrap() > 0, "{said}");
    let slot = |run: &Value| run["slot"].as_str().unwrap().to_owned();
    let runs = env.records("runs").into_iter().filter(|run| run["commit"] == history.commit("0"));
    let (checks, own): (Vec<Value>, Vec<Value>) = runs.partition(|run| run["phase"] == "control");
    assert!(!checks.is_empty(), "{said}");
    for check in &checks {
        assert!(own.iter().any(|run| slot(run) != slot(check)), "{}\n{said}", slot(check));
    }
}

#[test]
fn runs_of_an_earlier_hunt_are_compared_with_those_of_another_slot() {
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g b b b b").with_all("chunk_ms = 20");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let earlier = ["--good", "v1", "--bad", history.commit("3")];
    env.start(&earlier).expect(4, "no-regression");
    let hunt = env.start(&["--good", "v1", "--slots", "2"]).names(&history, 8);
    uses_its_slots(&env, &history, &hunt);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_hunt_that_was_killed_while_slots_were_compared_uses_them_all() {
    let env = TestEnvironment::new();
    // The driver runs the good end twice. The second slot runs the bad end, then the good end.
    let history = line("g g g g g g g g b b b b").with_all("chunk_ms = 200").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1", "--slots", "2"]);
    assert!(wait_until(PATIENCE, || env.runs_of(0) >= 3));
    kill(running.pid(), Signal::KILL);
    running.wait();
    env.assert_no_survivors();
    let hunt = env.resume().names(&history, 8);
    uses_its_slots(&env, &history, &hunt);
}

/// The hunt of an engine that keeps the path of its build folder in a file.
fn holds_its_path(slots: &str) -> (TestEnvironment, Hunt) {
    let build = "printf 'built in %s, %s\\n' \"$2\" \"$1\" > \"$2/place\"\n";
    let run = |ppl: &str| {
        format!("read -r place < \"$1/place\"\necho \"Final estimate: PPL = {ppl} +/- 0.1\"\n")
    };
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g").program(0, "build.sh", build);
    let plan = plan.program(0, "run.sh", &run("7.0")).program(5, "run.sh", &run("9.0"));
    let history = plan.build(&env);
    let oracle = Oracle::new(&env).build_command("sh {src}/build.sh {src} {build}");
    oracle.ppl_command("sh {src}/run.sh {build}").write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", slots]).names(&history, 5);
    (env, hunt)
}

#[test]
fn builds_that_hold_the_path_of_their_slot_repeat() {
    let confirmed = |hunt: &Hunt| -> usize {
        events(hunt, "build").iter().filter(|event| event["phase"] == "confirm").count()
    };
    let (_alone, alone) = holds_its_path("1");
    let (_env, hunt) = holds_its_path("2");
    let said = &hunt.output.stderr;
    assert!(hunt.report["ahead"]["used"]["runs"].as_u64().unwrap() > 0, "{said}");
    assert_eq!(confirmed(&hunt), confirmed(&alone), "{said}");
    assert_eq!(hunt.report["totals"]["builds"], alone.report["totals"]["builds"], "{said}");
    // The file with the path is not among those that the culprit changes.
    let unlike = |hunt: &Hunt| hunt.report["culprit"]["ran"]["unlike"].clone();
    assert_eq!(unlike(&hunt), unlike(&alone), "{said}");
    assert_eq!(unlike(&hunt).as_array().map(Vec::len), Some(1), "{said}");
}

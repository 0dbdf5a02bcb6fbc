//! Later hunts, parallel hunts and stopped hunts: no hunt repeats a measurement that the store
//! has.

use super::hunt;
use crate::kit::{History, Hunt, Oracle, PATIENCE, Snapshot, TestEnvironment, line, wait_until};

fn tolerance(limit: f64) -> String {
    format!("metric = \"ppl\"\nmax_increase = {limit:?}")
}

#[test]
fn the_same_pair_again_costs_nothing() {
    let told = hunt(line("g g g g b b b b")).finds("4").costs(15, 7);
    let first = told.hunt.id();
    let told = told.again().finds("4").costs(0, 0);
    assert_ne!(first, told.hunt.id());
    let samples = told.commit("4")["samples"].as_array().unwrap();
    assert!(!samples.is_empty() && samples.iter().all(|s| s["reused"] == true), "{samples:#?}");
}

#[test]
fn another_pair_costs_only_what_is_new() {
    let told = hunt(line("g g g g b b b b b")).between("0", "7").finds("4").costs(15, 7);
    // Two runs of the new endpoint, one of the other one, since only an earlier hunt ran that, one
    // of commit 2, which git now picks, and one fresh run each of 3 and 4, from new builds. The
    // stored confirmation is not enough: another hunt made it than the runs of the new endpoint.
    told.again().between("0", "8").finds("4").costs(6, 5);
}

#[test]
fn a_hunt_that_ended_says_its_answer_again() {
    hunt(line("g g b b")).finds("2").costs(14, 6).resumed().finds("2").counting(14, 6).costs(0, 0);
}

#[test]
fn another_tolerance_judges_again_without_a_run() {
    let told = hunt(line("g g g g b b b b")).finds("4").costs(15, 7);
    let told = told.again().oracle(|o| o.only_guard(&tolerance(0.3))).finds("4").costs(0, 0);
    let percent = "metric = \"ppl\"\nmax_increase_percent = 1.0";
    let told = told.again().oracle(|o| o.only_guard(percent)).finds("4").costs(0, 0);
    told.again().oracle(|o| o.only_guard(&tolerance(0.6))).shows_no_regression().costs(4, 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_tighter_tolerance_runs_only_what_is_missing() {
    let told = hunt(line("7.0 7.0 7.1 7.1 7.5 7.5 7.5 7.5")).finds("4").costs(16, 7);
    let known = told.env().runs().len();
    let row = told.again().oracle(|oracle| oracle.only_guard(&tolerance(0.05)));
    let told = row.finds("2 4").costs(10, 6);
    let new = told.env().runs()[known..].to_vec();
    // Commit 4 rewrites the line that 2 wrote, so one commit after 4 is run to see if 2 lasts. The
    // bad end is run once, since its runs are the first hunt's, and the confirmation of 2 is not.
    assert!(new.iter().all(|label| ["1", "2", "6", "7"].contains(&label.as_str())), "{new:?}");
    assert_eq!(new.iter().filter(|label| *label == "7").count(), 1, "{new:?}");
}

#[test]
fn another_measure_runs_nothing_else_again() {
    let told = hunt(line("g g g b b b")).finds("3").costs(15, 7);
    let keys = "parser = \"regex\"\npattern = 'decode: (?<tg>[0-9.]+) tokens'";
    let row = told.again().oracle(|oracle| oracle.measure("speed", "speed", keys));
    // The new measure at both endpoints, from a build of each.
    let told = row.finds("3").costs(4, 2);
    let last = told.env().starts().split_off(15 + 7);
    assert!(last.iter().all(|start| start.kind == "build" || start.measure == "speed"));
}

#[test]
fn another_input_makes_old_runs_worthless() {
    let command = "{build}/engine run ppl src={src} cache={cache} out={out} m={inputs.model}";
    let told = hunt(line("g g b b")).oracle(|o| o.ppl_command(command)).finds("2").costs(14, 6);
    let change = |env: &mut crate::kit::TestEnvironment, _: &crate::kit::History| {
        std::fs::write(env.path("inputs/model.bin"), "other weights\n").unwrap();
    };
    told.again().given(change).finds("2").costs(14, 6);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_hunts_at_once_in_one_repository_do_not_disturb_each_other() {
    let plan = line("7.0 7.0 7.5 7.5 7.5 7.5 8.1 8.1").with_all("chunk_ms = 30");
    let row = hunt(plan);
    let (env, history) = (&row.env, &row.history);
    Oracle::new(env).write(env);
    let before = Snapshot::of(env);
    let commits = ["0", "3", "7"].map(|label| history.commit(label));
    let [zero, three, seven] = commits;
    let early = env.spawn_product(&["start", "--good", zero, "--bad", three]);
    assert!(wait_until(PATIENCE, || !env.runs().is_empty()));
    let late = env.spawn_product(&["start", "--good", three, "--bad", seven]);
    let [early, late] = [early, late].map(|hunt| Hunt::of(env, hunt.wait()));
    assert_eq!(early.names(history, 2).culprits(history), ["2"]);
    assert_eq!(late.names(history, 6).culprits(history), ["6"]);
    before.assert_unchanged(env);
    env.assert_no_survivors();
}

/// A run depends on the shell's variables that can change results. The configuration can add more
/// variables.
#[test]
fn another_environment_is_measured_anew() {
    let told = hunt(line("g g b b")).finds("2").costs(14, 6);
    let told = told.again().variable("OMP_NUM_THREADS", "1").finds("2").costs(14, 6);
    assert_eq!(told.hunt.report["environment"]["printenv OMP_NUM_THREADS"], "1");
    let report = told.hunt.file("report.md");
    assert!(report.contains("the surroundings differ: OMP_NUM_THREADS: "), "{report}");
    let told = told.again().finds("2").costs(0, 0);
    let told = told.again().variable("ENGINE_MODE", "fast").finds("2").costs(0, 0);
    let counts = |oracle: Oracle| oracle.section("[environment]\nvars = ['ENGINE_*']");
    told.again().oracle(counts).finds("2").costs(14, 6);
}

/// The default number of threads is that of the usable cores, and results may depend on it.
#[test]
#[ignore = "long: scripts/test --long"]
fn other_cores_are_measured_anew() {
    let cores = std::thread::available_parallelism().unwrap().get();
    assert!(cores > 1, "this test needs two cores");
    let told = hunt(line("g g b b")).finds("2").costs(14, 6);
    let product = TestEnvironment::product();
    let words = ["-c", "0", product, "start", "--no-localize", "--good", "v1", "--bad", "main"];
    let env = told.env();
    let runs = env.runs().len();
    let output = env.tool(&env.repo(), "taskset", &words).expect(0);
    assert_eq!(env.runs().len() - runs, 14, "nothing of the first hunt is used");
    output.says(&[&format!("the surroundings differ: cores: 1, was {cores}")]);
}

/// A system library that the engine loads is replaced between two hunts.
#[test]
#[ignore = "long: scripts/test --long"]
fn another_library_is_measured_anew() {
    let library = |text: &'static str| {
        move |env: &mut TestEnvironment, _: &History| {
            std::fs::write(env.path("shim.c"), text).unwrap();
            let words = ["-shared", "-fPIC", "-o", "new.so", "shim.c"];
            env.tool(&env.path(""), "cc", &words).expect(0);
            std::fs::rename(env.path("new.so"), env.path("shim.so")).unwrap();
        }
    };
    let row = hunt(line("g g b b").with_all("chunk_ms = 60")).given(library("int one;\n"));
    let shim = row.env.path("shim.so");
    let told = row.variable("LD_PRELOAD", shim).finds("2").costs(14, 6);
    let told = told.again().finds("2").costs(0, 0);
    let row = told.again().given(library("int two = 2;\n"));
    row.saying(&["has changed since stored runs loaded it"]).finds("2").costs(14, 6);
}

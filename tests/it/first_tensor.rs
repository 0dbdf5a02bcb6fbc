//! The parser `tensors`: after a first bad commit was found, its first different tensor is named.

use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, Plan, TestEnvironment, line};

/// The tensors of most commits, and those of commits with the defect.
const BASE: &str = "tensors = l_out-0:1.5 l_out-1:2 l_out-2:1 result_output:3";
const BROKEN: &str = "tensors = l_out-0:1.5 l_out-1:2.5 l_out-2:1.25 result_output:3.5";

struct World {
    env: TestEnvironment,
    history: History,
}

/// Six commits; from commit 3 on, perplexity is worse and a tensor differs.
fn world(env: TestEnvironment, change: impl FnOnce(Plan) -> Plan) -> World {
    let plan = line("7.0 7.0 7.0 8.0 8.0 8.0").with_all(BASE);
    let plan = (3..6).fold(plan, |plan, label| plan.with(label, BROKEN));
    let history = change(plan).build(&env);
    Oracle::new(&env).measure("dump", "dump", "parser = \"tensors\"").write(&env);
    World { env, history }
}

impl World {
    /// How often the tensors of a commit were printed.
    fn dumps_of(&self, label: usize) -> usize {
        let label = label.to_string();
        let starts = self.env.starts();
        starts.iter().filter(|start| start.measure == "dump" && start.label == label).count()
    }

    fn dumps(&self) -> Vec<usize> {
        (0..6).map(|label| self.dumps_of(label)).collect()
    }
}

fn tensors(hunt: &Hunt) -> &Value {
    &hunt.report["tensors"][0]
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_level_may_name_tensors() {
    let env = TestEnvironment::localizing();
    let world = world(env, |plan| plan);
    let level = |name: &str, tolerance| {
        format!("[[level]]\nname = \"{name}\"\nmeasures = [\"dump\"]\ntolerance = {tolerance}")
    };
    let oracle = Oracle::new(&world.env).measure("dump", "dump", "parser = \"tensors\"");
    oracle.section(&level("strict", 0.4)).section(&level("coarse", 0.6)).write(&world.env);
    let hunt = world.env.hunt().names(&world.history, 3);
    hunt.output.says(&["Levels: strict fails (dump.max_abs 0.5: l_out-1); it is the lowest level"]);
    let levels = hunt.report["levels"].as_array().unwrap();
    let shows: Vec<&Value> = levels.iter().map(|level| &level["shows"]).collect();
    assert_eq!(shows, ["fails", "passes"]);
    // The dumps of the level serve for the first tensor too.
    assert_eq!(world.dumps(), [1, 0, 2, 2, 0, 0]);
}

#[test]
fn only_parent_commit_and_good_end_are_dumped_and_the_first_tensor_is_named() {
    let world = world(TestEnvironment::localizing(), |plan| plan);
    let hunt = world.env.hunt().names(&world.history, 3);
    let found = tensors(&hunt);
    let first = usize::try_from(found["first"].as_u64().unwrap()).unwrap();
    assert_eq!(found["tensors"][first]["name"], "l_out-1");
    assert_eq!(found["tensors"][first]["max_abs"], 0.5);
    assert_eq!(found["tensors"][first]["noise"], 0.0);
    assert_eq!(found["harmless"], world.history.commit(0));
    assert_eq!((&found["beyond"], &found["printed_only"]), (&3.into(), &true.into()));
    // Printed tensors have no digest of their own, so the commit is dumped twice too.
    assert_eq!(world.dumps(), [1, 0, 2, 2, 0, 0]);
    let said = "tolerance 0.0001, noise 0";
    for form in ["report.md", "report.html"] {
        assert!(hunt.file(form).contains(said), "{form}");
    }
    assert!(hunt.output.stdout.contains("First different tensor: l_out-1 (max |Δ| 0.5"));
    assert!(hunt.file("report.html").contains("RMS, after each layer"));
    assert!(hunt.file("report.md").contains("## How the difference grows"));

    // The store has the runs.
    let again = world.env.hunt().names(&world.history, 3);
    assert_eq!(again.report["totals"]["runs"], 0);
    assert_eq!(tensors(&again)["tensors"], found["tensors"]);
    // The journal has the answer.
    world.env.run(&["resume", &again.id()]).expect(0);
    assert_eq!(world.dumps(), [1, 0, 2, 2, 0, 0]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn without_a_localisation_nothing_is_dumped() {
    // This environment passes --no-localize.
    let world = world(TestEnvironment::new(), |plan| plan);
    let hunt = world.env.hunt().names(&world.history, 3);
    assert_eq!(*tensors(&hunt), Value::Null);
    assert_eq!(world.dumps(), [0; 6]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_that_cannot_be_dumped_is_named_all_the_same() {
    let world = world(TestEnvironment::localizing(), |plan| plan.with(3, "tensors = "));
    let hunt = world.env.hunt().names(&world.history, 3);
    assert_eq!(*tensors(&hunt), Value::Null);
    let note = "were not compared: of ";
    assert!(hunt.file("report.md").contains(note), "{}", hunt.file("report.md"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_harmless_change_of_the_same_size_leaves_nothing_beyond_the_tolerance() {
    // Before the parent, the same tensors moved by half as much.
    let earlier = "tensors = l_out-0:1.5 l_out-1:2.25 l_out-2:1.125 result_output:3.25";
    let world = world(TestEnvironment::localizing(), |plan| plan.with(0, earlier));
    let hunt = world.env.hunt().names(&world.history, 3);
    let found = tensors(&hunt);
    assert_eq!((&found["first"], &found["beyond"]), (&Value::Null, &0.into()));
    let none = "First different tensor: none: 4 tensors within their tolerances";
    assert!(hunt.output.stdout.contains(none), "{}", hunt.output.stdout);
}

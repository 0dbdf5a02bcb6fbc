//! A later commit takes back most of a step in another file, and a little of the step is left at
//! the bad end. All levels repeat, so each commit that changes the level is seen.

use crate::kit::{History, Hunt, Oracle, Plan, TestEnvironment, graph, line};

/// A change of a kernel: the commit, the kernel, and what it adds to the perplexity from there on.
type Change<'a> = (&'a str, &'a str, f64);

/// A hunt in this history with kernels that add nothing in the commit `0`, and these changes.
fn hunt_in(env: &TestEnvironment, plan: Plan, changes: &[Change<'_>]) -> (History, Hunt) {
    let kernels = [("0", "a", 0.0), ("0", "b", 0.0), ("0", "c", 0.0)];
    let mut plan = plan;
    for (commit, kernel, adds) in kernels.iter().chain(changes) {
        let path = format!("kernels/{kernel}.conf");
        plan = plan.file(commit, path, &format!("ppl+{kernel} = {adds}\n"));
    }
    let history = plan.build(env);
    Oracle::new(env).write(env);
    (history, env.hunt())
}

fn on_a_line(env: &TestEnvironment, changes: &[Change<'_>]) -> (History, Hunt) {
    hunt_in(env, line(&["7.0"; 40].join(" ")), changes)
}

/// Most of a step is taken back, and the step is named.
fn a_little_is_left(env: &TestEnvironment) {
    let (history, hunt) = on_a_line(env, &[("10", "a", 1.89), ("31", "b", -1.46)]);
    let hunt = hunt.names(&history, 10);
    assert!(hunt.report["culprit"]["confidence"].as_f64().unwrap() <= 0.98);
    assert_eq!(hunt.report["culprit"]["perhaps_mended_by"], history.commit(31));
    hunt.output.says(&["may have taken back its whole step"]);
}

#[test]
fn the_step_of_which_a_little_is_left_is_named() {
    a_little_is_left(&TestEnvironment::new());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn with_localisation_the_step_of_which_a_little_is_left_is_named() {
    a_little_is_left(&TestEnvironment::localizing());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_after_the_whole_one_was_taken_back_is_named() {
    let env = TestEnvironment::new();
    let changes = [("10", "a", 1.89), ("28", "b", -1.89), ("33", "c", 0.43)];
    let (history, hunt) = on_a_line(&env, &changes);
    let hunt = hunt.names(&history, 33);
    assert_eq!(hunt.culprits(&history), ["33"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_before_the_whole_one_was_taken_back_is_named() {
    let env = TestEnvironment::new();
    let changes = [("10", "a", 1.89), ("20", "c", 0.43), ("28", "b", -1.89)];
    let (history, hunt) = on_a_line(&env, &changes);
    let hunt = hunt.names(&history, 20);
    assert_eq!(hunt.culprits(&history), ["20"]);
}

/// A hunt in which commit 10 makes a step, and the commits 5 to 9 do not build. The commits 16 and
/// 27 take the step back, and 35 makes another one. 16 leaves so little that another commit may
/// have made the rest. `second`: what 27 adds.
fn after_an_untestable_span(env: &TestEnvironment, second: f64) -> (History, Hunt) {
    let mut plan = line(&["7.0"; 40].join(" "));
    for label in 5..10 {
        plan = plan.with(label, "build_exit = 1");
    }
    let changes = [("10", "a", 4.83), ("16", "b", -4.4), ("27", "c", second), ("35", "d", 1.01)];
    hunt_in(env, plan, &changes)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_after_another_was_taken_back_in_two_parts_is_named() {
    let env = TestEnvironment::new();
    let (history, hunt) = after_an_untestable_span(&env, -0.43);
    let hunt = hunt.names(&history, 35);
    assert_eq!(hunt.culprits(&history), ["35"]);
}

#[test]
fn a_step_of_which_the_second_part_leaves_something_too_is_open() {
    let env = TestEnvironment::new();
    let (history, hunt) = after_an_untestable_span(&env, -0.3);
    let hunt = hunt.expect(3, "candidates");
    assert!(hunt.candidates(&history).contains(&"10".to_owned()), "{}", hunt.output.stdout);
}

/// A graph in which `merge` merges a branch of the commits `x`, `y` and `z` that begins at `base`.
fn merged(base: &str) -> Plan {
    let side = format!("x < {base}: g");
    let mut commits = vec!["0: g", "1 < 0: g", "2 < 1: g", "step < 2: g", "4 < step: g"];
    commits.extend([side.as_str(), "y < x: g", "z < y: g"]);
    commits.extend(["5 < 4: g", "6 < 5: g", "merge < 6 z: g", "7 < merge: g", "8 < 7: g"]);
    commits.extend(["9 < 8: g", "10 < 9: g", "11 < 10: g", "12 < 11: g"]);
    graph(&commits)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_merge_that_improves_both_its_parents_leaves_the_step_named() {
    let env = TestEnvironment::new();
    let changes = [("step", "a", 1.89), ("merge", "b", -1.46)];
    let (history, hunt) = hunt_in(&env, merged("4"), &changes);
    hunt.names(&history, "step");
}

#[test]
fn a_merge_with_a_branch_that_never_had_the_step_tells_nothing() {
    let env = TestEnvironment::new();
    // The merge takes back the whole step; what is left comes from its branch.
    let brought = [("y", "c", 0.43), ("merge", "c", 0.43)];
    let changes = [&[("step", "a", 1.89), ("merge", "b", -1.89)][..], &brought].concat();
    let (history, hunt) = hunt_in(&env, merged("1"), &changes);
    let hunt = hunt.expect(3, "candidates");
    assert!(hunt.candidates(&history).contains(&"y".to_owned()), "{}", hunt.output.stdout);
}

#[test]
fn an_improvement_that_a_merge_brings_in_undoes_no_step_on_another_line() {
    // `step` and `other` are on separate lines, which `both` joins. `better` is on a branch without
    // `other`, and `in` merges it.
    let mut commits = vec!["0: g", "step < 0: g", "2 < 0: g", "other < 2: g", "4 < other: g"];
    commits.extend(["3 < step: g", "both < 3 4: g", "5 < both: g", "6 < 5: g"]);
    commits.extend(["x < 3: g", "better < x: g", "y < better: g", "in < 6 y: g"]);
    commits.extend(["8 < in: g", "9 < 8: g", "10 < 9: g"]);
    let brought = [("both", "b", 0.37), ("in", "c", -0.85)];
    let own = [("step", "a", 1.23), ("other", "b", 0.37), ("better", "c", -0.85)];
    let env = TestEnvironment::new();
    let (history, hunt) = hunt_in(&env, graph(&commits), &[&own[..], &brought].concat());
    let hunt = hunt.names(&history, "step");
    let mut named = hunt.culprits(&history);
    named.sort();
    assert_eq!(named, ["other", "step"]);
}

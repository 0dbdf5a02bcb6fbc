//! Histories with merges.

use super::hunt;
use crate::kit::{Oracle, Plan, TestEnvironment, graph};

#[test]
fn it_is_on_a_merged_side_branch() {
    let plan = graph(&[
        "a: g",
        "b < a: g",
        "c < b: g",
        "s1 < a: g",
        "s2 < s1: b",
        "s3 < s2: b",
        "m < c s3: b",
        "e < m: b",
    ]);
    let told = hunt(plan).finds("s2").costs(13, 7);
    assert_eq!(told.label(&told.hunt.report["culprit"]["parent"]), "s1");
}

#[test]
fn it_is_on_the_main_line_beside_a_good_branch() {
    let plan = graph(&["a: g", "b < a: b", "s1 < a: g", "s2 < s1: g", "m < b s2: b", "e < m: b"]);
    hunt(plan).finds("b").costs(15, 7);
}

#[test]
fn the_merge_itself_is_bad() {
    let plan = graph(&["a: g", "b < a: g", "s < a: g", "m < b s: b", "e < m: b"]);
    let told = hunt(plan).finds("m").costs(19, 8);
    let parents = ["b", "s"].map(|label| told.row.history.commit(label));
    assert_eq!(told.hunt.report["parents"], serde_json::json!(parents));
    for parent in ["b", "s"] {
        let samples = told.commit(parent)["samples"].as_array().unwrap();
        assert!(samples.iter().any(|s| s["phase"] == "confirm"), "{samples:#?}");
    }
}

#[test]
fn two_branches_that_are_good_alone_do_not_go_together() {
    // One branch begins to need a file, the other removes the file.
    let plan = graph(&["a: g", "b < a: g", "s < a: g", "m < b s: g", "e < m: g"])
        .file("a", "tables/rope", "x\n")
        .with("b", "needs = tables/rope")
        .without("s", "tables/rope")
        .with("m", "needs = tables/rope")
        .without("m", "tables/rope")
        .with("e", "needs = tables/rope");
    hunt(plan).finds("m").costs(20, 8);
}

#[test]
fn an_octopus_brings_it_with_its_third_branch() {
    let plan = graph(&["a: g", "b < a: g", "c < a: g", "d < a: b", "o < b c d: b", "e < o: b"]);
    hunt(plan).finds("d").costs(16, 8);
}

#[test]
fn an_octopus_itself_is_bad() {
    let plan = graph(&["a: g", "b < a: g", "c < a: g", "d < a: g", "o < b c d: b", "e < o: b"]);
    let told = hunt(plan).finds("o").costs(24, 10);
    assert_eq!(told.hunt.report["parents"].as_array().unwrap().len(), 3);
}

#[test]
fn a_step_is_measured_against_the_worst_parent() {
    // Both parents already have half of the change; the merge adds too little to be blamed.
    let plan = graph(&["a: 7.0", "b < a: 7.15", "s < a: 7.18", "m < b s: 7.26", "e < m: 7.26"]);
    hunt(plan).blames_nobody_for("m b").costs(18, 8);
}

#[test]
fn a_merge_that_takes_the_good_side_heals_it() {
    let healed = |last: &str| {
        let last = [format!("d < c: {last}"), format!("e < d: {last}")];
        let plan = ["a: g", "b < a: g", "s < a: b", "m < b s: g", "c < m: g", &last[0], &last[1]];
        hunt(graph(&plan))
    };
    let told = healed("7.6").finds("d").costs(13, 7);
    assert_eq!(told.env().runs_of("s"), 0, "what was healed is not asked for");
    // `d` makes the same change as `s`: the change landed again.
    let told = healed("b").finds("s d").costs(16, 10);
    assert_eq!(told.label(&told.hunt.report["culprit"]["commit"]), "d");
}

#[test]
fn what_good_has_is_not_found_behind_a_branch_that_lacks_it() {
    // The branch forks off before `b`, whose step the good end has. The merge is compared with `d`.
    let plan = graph(&[
        "a: 7.0",
        "b < a: 7.38",
        "c < b: 7.38",
        "d < c: 7.38",
        "s < a: 7.0",
        "t < s: 7.49",
        "m < d t: 7.87",
        "e < m: 7.87",
    ]);
    hunt(plan).between("c", "e").finds("t").costs(26, 11);
}

/// `s` makes the change and the merge does not, but `s` cannot be measured: it has the bug that `b`
/// fixes.
#[test]
fn a_merge_is_not_named_alone_if_its_branch_cannot_be_measured() {
    let plan = graph(&["a: n", "b < a: g", "c < b: g", "s < a: n", "m < c s: g", "e < m: g"])
        .file("a", "kernels/a.conf", "ppl+a = 0\n")
        .file("s", "kernels/a.conf", "ppl+a = 0.5\n")
        .file("m", "kernels/a.conf", "ppl+a = 0.5\n");
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.start(&["--good", history.commit("b"), "--bad", "main"]);
    let hunt = hunt.expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["m", "s"]);
    assert!(hunt.culprits(&history).is_empty(), "{}", hunt.output.stdout);
}

#[test]
fn first_parent_names_the_merge_that_brought_it() {
    let plan = graph(&["a: g", "b < a: g", "s1 < a: g", "s2 < s1: b", "m < b s2: b", "e < m: b"]);
    let told = hunt(plan).with(&["--first-parent"]).finds("m").costs(14, 6);
    assert_eq!(["s1", "s2"].map(|label| told.env().runs_of(label)), [0, 0]);
}

#[test]
fn good_is_on_another_branch_and_the_merge_base_is_good() {
    let plan = graph(&["a: g", "x < a: g", "b < a: g", "c < b: b", "d < c: b"]);
    let told = hunt(plan).between("x", "d").finds("c").costs(15, 7);
    assert_eq!(told.label(&told.hunt.report["good"]["commit"]), "x");
    assert_eq!(told.env().runs_of("a"), 1, "the merge base");
}

#[test]
fn good_is_on_another_branch_and_the_merge_base_is_bad() {
    let plan = graph(&["a: b", "x < a: g", "b < a: b", "c < b: b"]);
    hunt(plan).between("x", "c").saying(&["merge base"]).shows_no_regression().costs(5, 3);
}

#[test]
fn good_is_on_another_branch_and_the_merge_base_cannot_be_built() {
    let plan = graph(&["a: x", "x < a: g", "b < a: g", "c < b: b"]);
    hunt(plan).between("x", "c").saying(&["merge base"]).cannot_be_measured().costs(4, 4);
}

/// Both sides merge x and y, so the tips p and q have two best merge bases.
fn criss_cross(x: &str, y: &str) -> Plan {
    graph(&[
        "a: g",
        &format!("x < a: {x}"),
        &format!("y < a: {y}"),
        "p1 < x y: g",
        "p < p1: g",
        "q1 < y x: g",
        "q2 < q1: b",
        "q < q2: b",
    ])
}

#[test]
fn criss_cross_merges_with_good_merge_bases() {
    hunt(criss_cross("g", "g")).between("p", "q").finds("q2").costs(16, 8);
}

#[test]
fn criss_cross_merges_with_one_bad_merge_base() {
    // Git asks for y first, and one bad merge base is enough.
    for (x, y, bases) in [("g", "b", 1), ("b", "g", 2)] {
        let row = hunt(criss_cross(x, y)).between("p", "q").saying(&["merge base"]);
        row.shows_no_regression().costs(4 + bases, 2 + bases);
    }
}

#[test]
fn a_root_of_its_own_is_merged_in() {
    let plan = graph(&["a: g", "b < a: g", "u1: g", "u2 < u1: g", "m < b u2: b", "e < m: b"]);
    hunt(plan).finds("m").costs(19, 8);
}

#[test]
fn a_bad_root_of_its_own_has_no_parent_to_be_measured_against() {
    let plan = graph(&["a: g", "b < a: g", "u1: b", "u2 < u1: b", "m < b u2: b", "e < m: b"]);
    hunt(plan).saying(&["no parent"]).leaves("u1").costs(6, 4);
}

#[test]
fn an_unbuildable_root_is_merged_in_as_a_subfolder_would_be() {
    let plan = graph(&["a: g", "b < a: g", "u1: x", "u2 < u1: x", "m < b u2: b", "e < m: b"]);
    hunt(plan).leaves("m u1 u2").costs(6, 8).agrees_with_git();
}

#[test]
fn good_and_bad_have_nothing_in_common() {
    let plan = graph(&["a: g", "b < a: g", "u1: b", "u2 < u1: b"]);
    hunt(plan).between("b", "u2").gets_refused(&["common"]).costs(0, 0);
}

#[test]
fn many_branches_merged_one_after_another() {
    let mut commits = vec!["0: g".to_owned()];
    for index in 1..=8 {
        let before = index - 1;
        let word = if index >= 6 { "b" } else { "g" };
        let side = if index == 6 { "b" } else { "g" };
        commits.push(format!("s{index} < {before}: {}", if index > 6 { "b" } else { "g" }));
        commits.push(format!("t{index} < s{index}: {}", if index > 6 { "b" } else { side }));
        commits.push(format!("{index} < {before} t{index}: {word}"));
    }
    let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
    hunt(graph(&commits)).finds("t6").costs(15, 9);
}

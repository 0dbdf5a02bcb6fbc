//! Histories with merges.

use crate::kit::{History, Oracle, TestEnvironment, graph};

fn laid_out(commits: &[&str]) -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let history = graph(commits).build(&env);
    Oracle::new(&env).write(&env);
    (env, history)
}

#[test]
fn it_is_found_on_a_merged_side_branch() {
    let (env, history) = laid_out(&[
        "a: g",
        "b < a: g",
        "c < b: g",
        "s1 < a: g",
        "s2 < s1: b",
        "s3 < s2: b",
        "m < c s3: b",
        "e < m: b",
    ]);
    let hunt = env.hunt().names(&history, "s2");
    assert_eq!(history.label(hunt.report["culprit"]["parent"].as_str().unwrap()), "s1");
}

#[test]
fn a_merge_that_is_bad_by_itself_is_named_with_both_parents_measured() {
    let (env, history) = laid_out(&["a: g", "b < a: g", "s < a: g", "m < b s: b", "e < m: b"]);
    let hunt = env.hunt().names(&history, "m");
    assert_eq!(
        hunt.report["parents"],
        serde_json::json!([history.commit("b"), history.commit("s")])
    );
    for parent in ["b", "s"] {
        assert!(env.runs_of(parent) >= 1, "{:?}", env.runs());
        let samples = hunt.commit(&history, parent)["samples"].as_array().unwrap();
        assert!(samples.iter().any(|s| s["phase"] == "confirm"), "{samples:#?}");
    }
}

#[test]
fn a_step_is_measured_against_the_worst_parent() {
    // Both parents carry half of it already; the merge adds too little to be blamed.
    let (env, history) =
        laid_out(&["a: 7.0", "b < a: 7.15", "s < a: 7.18", "m < b s: 7.26", "e < m: 7.26"]);
    let hunt = env.hunt().expect(3, "gradual");
    assert!(hunt.report["culprit"].is_null());
    assert_eq!(history.label(hunt.report["candidates"][0].as_str().unwrap()), "m");
}

#[test]
fn first_parent_names_the_merge_that_brought_it() {
    let (env, history) =
        laid_out(&["a: g", "b < a: g", "s1 < a: g", "s2 < s1: b", "m < b s2: b", "e < m: b"]);
    env.start(&["--good", "v1", "--first-parent"]).names(&history, "m");
    assert_eq!([env.runs_of("s1"), env.runs_of("s2")], [0, 0], "{:?}", env.runs());
}

#[test]
fn a_good_commit_on_another_branch_is_taken_when_the_merge_base_is_good() {
    let (env, history) = laid_out(&["a: g", "x < a: g", "b < a: g", "c < b: b", "d < c: b"]);
    let good = history.commit("x").to_owned();
    let hunt = env.start(&["--good", &good]).names(&history, "c");
    assert!(env.runs_of("a") >= 1, "the merge base was measured: {:?}", env.runs());
    assert_eq!(hunt.report["good"]["commit"], good.as_str());
}

#[test]
fn a_bad_merge_base_ends_the_hunt() {
    let (env, history) = laid_out(&["a: b", "x < a: g", "b < a: b", "c < b: b"]);
    let good = history.commit("x").to_owned();
    let hunt = env.start(&["--good", &good]).expect(4, "no-regression");
    hunt.output.says(&["merge base"]);
}

#[test]
fn each_merge_base_of_histories_that_crossed_is_asked() {
    // Two merge bases, p and q. One of them is bad: what is wrong at bad was mended on the way
    // to good.
    for wrong in ["p", "q"] {
        let word = |base| if base == wrong { "b" } else { "g" };
        let (env, history) = laid_out(&[
            "a: g",
            &format!("p < a: {}", word("p")),
            &format!("q < a: {}", word("q")),
            "x < p q: g",
            "y < q p: b",
            "z < y: b",
        ]);
        let good = history.commit("x").to_owned();
        let hunt = env.start(&["--good", &good]).expect(4, "no-regression");
        hunt.output.says(&["merge base", &history.commit(wrong)[..10]]);
    }
    let crossed =
        ["a: g", "p < a: g", "q < a: g", "x < p q: g", "y < q p: g", "z < y: b", "e < z: b"];
    let (env, history) = laid_out(&crossed);
    let good = history.commit("x").to_owned();
    env.start(&["--good", &good]).names(&history, "z");
}

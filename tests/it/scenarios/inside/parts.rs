//! The cause inside a first bad commit of a dependency.

use std::fs;

use serde_json::Value;

use super::{G, Kernels, PassedHunt, Row, descending, inner, row};
use crate::kit::TestEnvironment;

/// `hunk 2 of 2 mul.conf`, for each part of the only set of a cause.
fn only_set(report: &Value) -> Vec<String> {
    let sets = report["cause"]["sets"].as_array().unwrap_or_else(|| panic!("{report:#}"));
    let [set] = sets.as_slice() else { panic!("{sets:?}") };
    let shown = |part: &Value| match &part["of"] {
        Value::String(whole) => format!("{whole} {}", part["path"].as_str().unwrap()),
        of => format!("hunk {} {}", of["hunk"]["number"], part["path"].as_str().unwrap()),
    };
    set["parts"].as_array().unwrap().iter().map(shown).collect()
}

/// A file of thirty lines, the first and the last of them given.
fn long(first: &str, last: &str) -> String {
    let middle: Vec<String> = (0..30).map(|number| format!("# line {number}")).collect();
    format!("{first}\n{}\n{last}\n", middle.join("\n"))
}

/// Commit 2 changes two places of `add.conf`, and `tests.conf`. The second hunk of `add.conf` is
/// bad.
fn with_two_hunks(env: &TestEnvironment) -> Kernels {
    let mut kernels = Kernels::new(env, &[G]);
    kernels.commit(env, "add", ("add.conf", long("# old", "ppl+add = 0")));
    fs::write(kernels.folder.join("tests.conf"), "# beside it\n").unwrap();
    env.git_in(&kernels.folder, &["add", "tests.conf"]);
    kernels.commit(env, "faster", ("add.conf", long("# new", "ppl+add = 0.5")));
    kernels.commit(env, "words", ("mul.conf", "# words\n".to_owned()));
    kernels
}

/// The second hunk alone makes the step, and the bad end without it is good.
fn names_the_second_hunk(inside: &Value) {
    assert_eq!(only_set(inside), ["hunk 2 add.conf"]);
    let cause = &inside["cause"];
    assert_eq!(
        (&cause["end"], &cause["revert"]),
        (&"complete".into(), &"heals".into()),
        "{cause:#}"
    );
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_hunk_inside_the_submodule_is_named_and_its_revert_heals() {
    let env = TestEnvironment::localizing();
    let kernels = with_two_hunks(&env);
    let row = row(env, kernels.pinned(1, 3));
    row.write_oracle();
    let hunt = row.run();
    let told = PassedHunt { row, hunt };
    let inside = inner(&told, 0);
    assert_eq!(kernels.name(&inside["culprit"]["commit"]), 2);
    names_the_second_hunk(&inside);
    // The patch is for a checkout of the engine's commit, with its submodule.
    let env = told.env();
    let folder = told.hunt.folder.with_file_name(inside["hunt"].as_str().unwrap());
    let patch = folder.join("revert.patch").display().to_string();
    env.git(&["checkout", "--quiet", told.row.history.commit("2")]);
    env.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "update"]);
    env.git(&["apply", &patch]);
    let text = fs::read_to_string(env.repo().join("kernels/add.conf")).unwrap();
    assert_eq!(text, long("# new", "ppl+add = 0"));
    env.git_in(&env.repo().join("kernels"), &["checkout", "--quiet", "add.conf"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_hunk_inside_a_copy_is_named_and_its_revert_heals() {
    let env = TestEnvironment::localizing();
    let kernels = with_two_hunks(&env);
    let add = |commit| kernels.text(&env, commit, "add.conf");
    let plan = kernels.copied(&env, 1, 3);
    // The copy leaves out `tests.conf`.
    let plan = plan.file(0, "kernels/add.conf", &add(1)).file(2, "kernels/add.conf", &add(3));
    let row = Row::of(env, plan).oracle(descending).given(|env, _| kernels.fetch(env));
    row.write_oracle();
    let hunt = row.run();
    let told = PassedHunt { row, hunt };
    let inside = inner(&told, 0);
    assert_eq!(inside["culprit"]["subject"], "faster");
    names_the_second_hunk(&inside);
}

//! Good and bad on different branches: the hunt begins at their merge base, or measures it.

use super::hunt;
use super::merges::first_build_flips;
use crate::kit::{Plan, graph};

#[test]
fn good_is_on_another_branch_and_the_merge_base_is_good() {
    let plan = graph(&["a: g", "x < a: g", "b < a: g", "c < b: b", "d < c: b"]);
    let told = hunt(plan).between("x", "d").finds("c").costs(15, 7);
    assert_eq!(told.label(&told.hunt.report["good"]["commit"]), "x");
    assert_eq!(told.env().runs_of("a"), 1, "the merge base");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn good_is_on_another_branch_and_worse_than_the_merge_base() {
    let plan = graph(&["a: 6.0", "x < a: 7.0", "b < a: 7.0", "c < b: 7.5", "d < c: 7.5"]);
    let (told, history) = hunt(plan).between("x", "d").hunted();
    assert_eq!(told.culprits(&history), ["c"], "{}", told.output.stdout);
    assert!(told.output.stderr.contains("is better than good"), "{}", told.output.stderr);
}

#[test]
fn good_is_on_another_branch_and_the_merge_base_is_bad() {
    let plan = graph(&["a: b", "x < a: g", "b < a: b", "c < b: b"]);
    let row = hunt(plan).between("x", "c").saying(&["merge base", "of 1 commit measured"]);
    row.shows_no_regression().costs(9, 5);
}

/// The first build of the merge base by chance shows what the bad end shows.
#[test]
fn one_build_of_the_merge_base_does_not_deny_a_regression() {
    let plan = graph(&["a: g", "x < a: g", "b < a: g", "c < b: b", "d < c: b"]);
    let (told, history) = hunt(first_build_flips(plan, "a")).between("x", "d").hunted();
    assert!(!told.output.stdout.contains("on the way to good"), "{}", told.output.stdout);
    let named = told.culprits(&history);
    let is_open = told.candidates(&history).contains(&"c".to_owned());
    assert!(named == ["c"] || (named.is_empty() && is_open), "{}", told.output.stdout);
}

/// `x` and `f` mend the merge base in the same way. `y` breaks the line of `f` again by as much.
#[test]
#[ignore = "long: scripts/test --long"]
fn good_is_on_another_branch_and_the_way_from_the_merge_base_was_good_in_between() {
    let commits = "a:g, x < a:g, g < x:g, b < a:g, c < b:g, f < c:g, d < f:g, y < d:g, e < y:g";
    let mut plan = graph(&commits.split(',').collect::<Vec<_>>())
        .file("a", "kernels/mended.conf", "ppl+mended = 0.5\n")
        .file("y", "kernels/broken.conf", "ppl+broken = 0.5\n");
    for mend in ["x", "f"] {
        plan = plan.file(mend, "kernels/mended.conf", "ppl+mended = 0\n");
    }
    let (told, history) = hunt(plan).between("g", "e").hunted();
    assert_eq!(told.culprits(&history), ["y"], "{}", told.output.stdout);
    assert!(told.output.stderr.contains("the search begins there"), "{}", told.output.stderr);
}

/// The same, but the mend comes in by a merge, and `c` beside its branch is bad.
#[test]
#[ignore = "long: scripts/test --long"]
fn good_is_on_another_branch_and_the_way_from_the_merge_base_was_mended_by_a_merge() {
    let commits = "a:g, x < a:g, b < a:g, f < b:g, c < b:g, m < c f:g, d < m:g, y < d:g, e < y:g";
    let mut plan = graph(&commits.split(',').collect::<Vec<_>>())
        .file("a", "kernels/mended.conf", "ppl+mended = 0.5\n")
        .file("y", "kernels/broken.conf", "ppl+broken = 0.5\n");
    for mend in ["x", "f", "m"] {
        plan = plan.file(mend, "kernels/mended.conf", "ppl+mended = 0\n");
    }
    let (told, history) = hunt(plan).between("x", "e").hunted();
    assert_eq!(told.culprits(&history), ["y"], "{}", told.output.stdout);
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
#[ignore = "long: scripts/test --long"]
fn criss_cross_merges_with_good_merge_bases() {
    hunt(criss_cross("g", "g")).between("p", "q").finds("q2").costs(16, 8);
}

#[test]
fn criss_cross_merges_with_one_bad_merge_base() {
    // q1 has both merge bases and is good, so the search begins there.
    for (x, y) in [("g", "b"), ("b", "g")] {
        let (told, history) = hunt(criss_cross(x, y)).between("p", "q").hunted();
        assert_eq!(told.culprits(&history), ["q2"], "{}", told.output.stdout);
        assert!(told.output.stderr.contains("their merge base"), "{}", told.output.stderr);
    }
}

#[test]
fn good_and_bad_have_nothing_in_common() {
    let plan = graph(&["a: g", "b < a: g", "u1: b", "u2 < u1: b"]);
    hunt(plan).between("b", "u2").gets_refused(&["common"]).costs(0, 0);
}

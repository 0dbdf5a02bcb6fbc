//! Later measurements correct the answer on commits that the hunt found earlier. If values alone do
//! not decide, the text of the change does.

use super::hunt;
use crate::kit::{Plan, graph, line};

/// A line of commits with one file for each kernel. An entry is a commit, a kernel, and
/// what the kernel adds to the perplexity of 7 from this commit on.
pub(super) fn kernels(commits: usize, changes: &[(usize, &str, f64)]) -> Plan {
    with_kernels(line(&vec!["7.0"; commits].join(" ")), changes)
}

fn with_kernels(plan: Plan, changes: &[(usize, &str, f64)]) -> Plan {
    let mut plan = plan;
    for (_, name, _) in changes {
        plan = plan.file(0, format!("kernels/{name}.conf"), &format!("ppl+{name} = 0\n"));
    }
    for (commit, name, adds) in changes {
        plan = plan.file(commit, format!("kernels/{name}.conf"), &format!("ppl+{name} = {adds}\n"));
    }
    plan
}

#[test]
fn a_change_that_a_later_culprit_puts_back_is_not_named_beside_it() {
    let changes = [(9, "a", 0.4), (20, "a", 0.0), (20, "b", 2.0)];
    let told = hunt(kernels(24, &changes)).finds("20").costs(32, 17);
    let notes = told.hunt.file("report.md");
    assert!(notes.contains(" made a step: ") && notes.contains("undone by"), "{notes}");
    let said = &told.hunt.output.stdout;
    assert!(said.contains("\nEarlier step: ") && said.contains(", undone by "), "{said}");
}

#[test]
fn a_mend_on_a_branch_that_was_measured_later_counts() {
    let plan = graph(&[
        "0: 7.0",
        "1 < 0: 7.0",
        "2 < 1: 7.0",
        "3 < 2: 7.0",
        "4 < 3: 7.0",
        "a < 2: 7.0",
        "5 < 4: 7.0",
        "6 < 5 a: 7.0",
        "7 < 6: 7.0",
    ]);
    let plan = with_kernels(plan, &[(2, "a", 0.43)]);
    let plan = plan
        .file(0, "kernels/other.conf", "ppl+other = 0\n")
        .file("a", "kernels/other.conf", "ppl+other = -0.43\n")
        .file(6, "kernels/other.conf", "ppl+other = -0.43\n")
        .file(6, "kernels/b.conf", "ppl+b = 3.08\n");
    hunt(plan).finds("6").costs(31, 13);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_change_that_failures_hid_may_be_undone_and_landed_again_after_them() {
    let nan = |commit: usize| if (10..30).contains(&commit) { "n" } else { "7.0" };
    let words: Vec<&str> = (0..64).map(nan).collect();
    let changes = [(15, "a", 3.79), (52, "a", 0.0), (56, "a", 3.79)];
    let (told, history) = hunt(with_kernels(line(&words.join(" ")), &changes)).hunted();
    assert_eq!(told.culprits(&history), ["56"], "{}", told.output.stdout);
}

#[test]
fn a_change_that_was_out_of_the_tree_where_nothing_can_be_measured_may_be_anothers() {
    let nan = |commit: usize| if (12..20).contains(&commit) { "n" } else { "7.0" };
    let words: Vec<&str> = (0..28).map(nan).collect();
    let changes = [(9, "a", 0.4), (14, "a", 0.0), (16, "a", 0.4)];
    let told = hunt(with_kernels(line(&words.join(" ")), &changes)).leaves("9 16").costs(22, 14);
    assert!(told.hunt.file("report.md").contains("puts the change of"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_mend_is_of_the_change_whose_files_its_commit_puts_back() {
    let changes =
        [(8, "a", 0.83), (12, "b", 1.06), (12, "c", 0.83), (13, "c", 0.0), (14, "b", 0.0)];
    hunt(kernels(20, &changes)).finds("8").costs(29, 18);
}

#[test]
fn a_bad_end_that_is_a_little_better_than_the_found_commit_is_looked_into() {
    let changes = [(1, "a", 0.46), (27, "b", -0.46), (28, "c", 0.44)];
    hunt(kernels(29, &changes)).finds("28").costs(24, 15);
}

#[test]
fn what_is_left_of_a_step_is_measured_from_where_it_began() {
    // The level rises by 2.05 from below the good level; later 0.3 of this is mended.
    let changes = [(5, "a", -1.36), (9, "b", 2.05), (14, "c", -0.3), (16, "d", 0.39)];
    hunt(kernels(24, &changes)).finds("9 16").costs(31, 17);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_and_a_mend_on_a_merged_branch_are_found_though_little_is_left_of_them() {
    // On the branch the level rises by 0.77 and falls by 0.70, and its merge makes it 0.07 worse.
    // Either the fall mends most of that rise, or it mends the first step and a part of that rise.
    let plan = graph(&[
        "0: 7.0",
        "1 < 0: 7.0",
        "2 < 1: 7.0",
        "3 < 2: 7.0",
        "4 < 3: 7.0",
        "x < 3: 7.0",
        "y < x: 7.0",
        "5 < 4 y: 7.0",
        "6 < 5: 7.0",
        "7 < 6: 7.0",
    ]);
    let plan = with_kernels(plan, &[(2, "a", 0.4)]).file(0, "kernels/b.conf", "ppl+b = 0\n").file(
        0,
        "kernels/c.conf",
        "ppl+c = 0\n",
    );
    let plan = ["x", "y", "5"]
        .iter()
        .fold(plan, |plan, at| plan.file(at, "kernels/b.conf", "ppl+b = 0.77\n"));
    let plan =
        ["y", "5"].iter().fold(plan, |plan, at| plan.file(at, "kernels/c.conf", "ppl+c = -0.7\n"));
    hunt(plan).leaves("2 x").costs(31, 17);
}

#[test]
fn a_commit_that_puts_files_back_while_the_level_moves_a_little_may_have_made_another_step() {
    let changes = [(9, "a", 0.45), (20, "a", 0.0), (20, "b", 0.36)];
    let plan = kernels(24, &changes).file(9, "notes", "a is on\n");
    let told = hunt(plan).leaves("9 20").costs(18, 11);
    assert!(told.hunt.file("report.md").contains("puts files of"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_a_stray_run_does_not_say_where_the_level_falls() {
    let calm = "ppl = 7.00 7.01 7.02 6.99 7.03 7.01 6.98 7.00 7.02 7.01";
    let stray = "ppl = 5.20 7.01 7.02 6.99 7.03 7.01 6.98 7.00 7.02 7.01";
    let mut plan = kernels(20, &[(3, "a", 0.7), (4, "b", 0.5), (14, "a", 0.0)]);
    for label in 0..20 {
        plan = plan.with(label, if (10..14).contains(&label) { stray } else { calm });
    }
    hunt(plan.file(3, "notes", "a is on\n")).finds("4").costs(73, 23);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_merge_that_brings_a_mend_in_is_no_second_mend() {
    // x mends half of the step; the main line has that half until it merges the branch.
    let plan = graph(&[
        "0: 7.0",
        "1 < 0: 7.0",
        "2 < 1: 7.0",
        "3 < 2: 7.0",
        "x < 2: 7.0",
        "y < x: 7.0",
        "z < y: 7.0",
        "4 < 3: 7.0",
        "5 < 4 z: 7.0",
        "6 < 5: 7.0",
    ]);
    let plan = with_kernels(plan, &[(2, "a", 0.4), (2, "b", 0.4)]);
    let plan =
        ["x", "5"].iter().fold(plan, |plan, at| plan.file(at, "kernels/b.conf", "ppl+b = 0\n"));
    hunt(plan).finds("2").costs(28, 15);
}

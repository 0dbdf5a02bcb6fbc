//! Later measurements correct the answer on commits that the hunt found earlier. If values alone do
//! not decide, the text of the change does.

use super::hunt;
use crate::kit::{Plan, graph, line};

/// A line of commits with one file for each kernel. An entry is a commit, a kernel, and
/// what the kernel adds to the perplexity of 7 from this commit on.
fn kernels(commits: usize, changes: &[(usize, &str, f64)]) -> Plan {
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
    assert!(told.hunt.file("report.md").contains("puts files of"));
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
fn a_change_that_was_out_of_the_tree_where_nothing_can_be_measured_may_be_anothers() {
    let nan = |commit: usize| if (12..20).contains(&commit) { "n" } else { "7.0" };
    let words: Vec<&str> = (0..28).map(nan).collect();
    let changes = [(9, "a", 0.4), (14, "a", 0.0), (16, "a", 0.4)];
    let told = hunt(with_kernels(line(&words.join(" ")), &changes)).leaves("9 16").costs(22, 14);
    assert!(told.hunt.file("report.md").contains("puts the change of"));
}

#[test]
fn a_mend_is_of_the_change_whose_files_its_commit_puts_back() {
    let changes =
        [(8, "a", 0.83), (12, "b", 1.06), (12, "c", 0.83), (13, "c", 0.0), (14, "b", 0.0)];
    hunt(kernels(20, &changes)).finds("8").costs(26, 17);
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

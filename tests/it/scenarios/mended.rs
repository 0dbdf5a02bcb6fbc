//! A regression that was mended before the bad end does not explain the bad end's level.

use super::hindsight::kernels;
use super::{Row, hunt};
use crate::kit::{Plan, graph, line};

/// A line of 64 commits. An entry is a commit, and the word for this commit and those after it.
fn spans(spans: &[(usize, &str)]) -> Plan {
    let word = |commit: usize| {
        let span = spans.iter().rfind(|(from, _)| *from <= commit);
        span.map_or("7.0", |(_, word)| *word)
    };
    line(&(0..64).map(word).collect::<Vec<_>>().join(" "))
}

/// The commits from one to another, as an answer lists them.
fn all(from: usize, to: usize) -> String {
    (from..=to).map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
}

/// Writes a comment into a file of its own, which adds nothing to the perplexity.
fn notes(plan: Plan, commit: usize, text: &str) -> Plan {
    plan.file(commit, "kernels/notes.conf", &format!("# {text}\n"))
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_huge_step_that_was_mended_does_not_hide_the_one_that_stayed() {
    hunt(spans(&[(25, "100000"), (37, "7.0"), (50, "7.3")])).finds("50").costs(37, 24);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn nan_that_was_mended_does_not_hide_the_step_that_stayed() {
    hunt(spans(&[(25, "n"), (37, "7.0"), (50, "7.3")])).finds("50").costs(37, 25);
}

#[test]
fn a_step_that_was_undone_is_not_named() {
    hunt(spans(&[(20, "7.5"), (36, "7.0"), (50, "7.3")])).finds("50").costs(36, 21);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_that_was_undone_right_before_the_next_one_is_not_named() {
    hunt(spans(&[(20, "7.5"), (40, "7.0"), (45, "7.4")])).finds("45").costs(33, 18);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_within_a_mended_one_is_the_one_that_stayed() {
    hunt(spans(&[(20, "7.5"), (30, "7.8"), (36, "7.3")])).finds("30").costs(38, 22);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_that_was_made_good_in_part_stays_named() {
    let speed = [(20, "9.0"), (40, "8.2")];
    hunt(spans(&speed)).finds("20").costs(27, 18);
}

#[test]
fn next_to_nothing_left_of_a_huge_step_may_be_anothers() {
    let told = hunt(spans(&[(25, "100000"), (37, "7.3")]));
    told.leaves(&all(25, 37)).costs(26, 17);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_regression_reverted_and_landed_again_is_told_both_times() {
    let told = hunt(spans(&[(20, "7.5"), (30, "7.0"), (34, "7.5")])).finds("20 34").costs(29, 17);
    assert_eq!(told.label(&told.hunt.report["culprit"]["commit"]), "34");
}

#[test]
fn one_change_picked_to_two_branches_is_told_for_both() {
    let plan = graph(&[
        "0: g",
        "1 < 0: g",
        "a < 1: g",
        "b < a: b",
        "c < b: b",
        "2 < 1: g",
        "3 < 2: b",
        "4 < 3: b",
        "5 < 4 c: b",
        "6 < 5: b",
    ]);
    hunt(plan).finds("3 b").costs(26, 12);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_large_step_from_below_good_is_the_one_and_not_the_small_one_that_crosses() {
    let told = hunt(spans(&[(10, "6.5"), (30, "7.15"), (50, "7.25")]));
    told.finds("30").costs(34, 22);
}

#[test]
fn a_side_branch_from_before_a_fix_is_set_aside() {
    let plan = graph(&[
        "0: b",
        "1 < 0: g",
        "2 < 1: g",
        "3 < 0: b",
        "4 < 3: b",
        "5 < 2: g",
        "6 < 5 4: g",
        "7 < 6: g",
        "8 < 7: g",
        "9 < 8: b",
        "10 < 9: b",
    ]);
    hunt(plan).between("2", "10").finds("9").costs(15, 7);
}

#[test]
fn a_step_that_another_file_makes_again_may_be_either_commits() {
    let plan = kernels(24, &[(5, "a", 0.36), (15, "a", 0.0), (15, "b", 0.36)]);
    hunt(notes(plan, 5, "rows of four")).leaves(&all(5, 15)).costs(22, 13);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_part_that_was_put_back_beside_another_change_may_be_made_again() {
    let made = [(5, "a", 0.63), (5, "b", 0.63), (15, "c", 0.63)];
    let put_back = [(8, "a", 0.0), (15, "b", 0.0)];
    let plan = kernels(24, &[&made[..], &put_back].concat());
    hunt(notes(plan, 5, "rows of four")).leaves(&all(5, 23)).costs(31, 17);
}

#[test]
fn small_steps_after_the_found_one_are_no_single_commits() {
    let told = hunt(spans(&[(10, "7.5"), (20, "7.6"), (45, "7.7"), (60, "7.75")]));
    let told = told.finds("10").costs(24, 14);
    told.hunt
        .output
        .says(&["0.5 explained, 0.25 left in small steps (none above the tolerance of 0.2)"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn what_is_left_of_a_change_is_tested_if_a_part_was_put_back() {
    let plan = notes(kernels(24, &[(5, "a", 0.36)]), 0, "plain");
    let plan = notes(notes(plan, 5, "rows of four"), 15, "plain");
    let plan = plan.file(15, "kernels/c.conf", "# a cell more\n");
    hunt(plan).finds("5").costs(22, 13);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_new_file_that_was_renamed_later_is_not_put_back() {
    let plan = line(&["7.0"; 24].join(" "));
    let plan = plan.file(5, "kernels/fast.conf", "ppl+a = 0.36\n");
    let plan = plan.file(15, "kernels/quick.conf", "ppl+a = 0.36\n");
    let plan = plan.without(15, "kernels/fast.conf");
    hunt(plan).finds("5").costs(18, 10);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_fix_that_another_file_makes_again_may_be_either_commits() {
    let fixed = [(0, "a", 0.36), (5, "a", 0.0), (15, "a", 0.36), (15, "b", -0.36)];
    let plan = kernels(24, &fixed);
    hunt(notes(plan, 5, "rows of four")).for_the_fix().leaves(&all(5, 15)).costs(22, 13);
}

/// Commit 8 makes a step, and 9 takes it back in another file. From 10 to 17 runs or builds fail.
/// `behind`: what happens there.
fn failing_after_a_mend(behind: &[(usize, &str, f64)]) -> Row {
    let changes = [[(8, "a", 0.63), (9, "b", -0.63)].as_slice(), behind].concat();
    let mut plan = kernels(29, &changes);
    for (commit, name, text) in [
        (0, "runs", "# well\n"),
        (0, "builds", "# well\n"),
        (10, "runs", "# fails\nfate = inf\n"),
        (14, "builds", "# fails\nbuild_exit = 1\nbuild_says = invalid argument in launch\n"),
        (15, "runs", "# well\n"),
        (18, "builds", "# well\n"),
    ] {
        plan = plan.file(commit, format!("kernels/{name}.conf"), text);
    }
    hunt(plan).between("5", "28")
}

#[test]
fn a_mend_that_was_taken_back_behind_failures_leaves_the_step_to_its_commit() {
    let (told, history) = failing_after_a_mend(&[(12, "b", 0.0)]).hunted();
    told.names(&history, 8);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_that_is_still_mended_in_another_file_was_made_again_behind_failures() {
    let again = [(12, "b", 0.0), (13, "b", -0.63), (14, "c", 0.63)];
    let (told, _) = failing_after_a_mend(&again).hunted();
    told.expect(3, "candidates");
}

/// The commits 3 to 5 do not build, and 4 makes a step. 8 writes this text in place of the step's
/// line, and `later` is what a commit adds after that. The new files of 3 and 5 stay.
fn step_among_commits_that_do_not_build(text: &str, later: &[(usize, &str, f64)]) -> Row {
    let mut plan = notes(kernels(12, later), 5, "rows of four");
    for (commit, name, text) in [
        (3, "builds", "build_exit = 1\n"),
        (4, "a", "ppl+a = 0.3\n"),
        (6, "builds", "# builds again\n"),
        (8, "a", text),
    ] {
        plan = plan.file(commit, format!("kernels/{name}.conf"), text);
    }
    hunt(plan)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_among_commits_that_do_not_build_is_no_answer_if_only_its_lines_were_taken_back() {
    let row = step_among_commits_that_do_not_build("ppl+a = 0\n", &[(10, "b", 0.3)]);
    let (told, history) = row.hunted();
    let told = told.names(&history, 10);
    assert_eq!(told.culprits(&history), ["10"]);
}

#[test]
fn commits_that_do_not_build_stay_candidates_if_the_lines_were_only_rewritten() {
    let row = step_among_commits_that_do_not_build("# as before\nppl+a = 0.30\n", &[]);
    let (told, history) = row.hunted();
    let told = told.expect(3, "candidates");
    assert_eq!(told.candidates(&history), ["3", "4", "5", "6"]);
}

/// The mend `f` is no copy of `x`, changes the same file, and lies between the commits that are
/// chosen at equal distances: all of these are bad.
#[test]
fn both_ways_from_a_bad_merge_base_were_mended_in_the_same_file() {
    let mut commits = vec!["a:g".to_owned(), "x < a:g".to_owned()];
    let mut parent = "a";
    for label in "b c d h i f y j k l m e".split(' ') {
        commits.push(format!("{label} < {parent}:g"));
        parent = label;
    }
    let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
    let plan = graph(&commits)
        .file("a", "kernels/mended.conf", "ppl+mended = 0.5\n")
        .file("x", "kernels/mended.conf", "ppl+mended = 0\n")
        .file("f", "kernels/mended.conf", "ppl+mended = 0.0\n")
        .file("y", "kernels/broken.conf", "ppl+broken = 0.5\n");
    let (told, history) = hunt(plan).between("x", "e").hunted();
    assert_eq!(told.culprits(&history), ["y"], "{}", told.output.stdout);
    assert!(told.output.stderr.contains("the search begins there"), "{}", told.output.stderr);
}

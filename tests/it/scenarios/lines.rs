//! A line of commits with one step in it.

use super::hunt;
use crate::kit::line;

#[test]
#[ignore = "long: scripts/test --long"]
fn it_lies_in_the_middle() {
    let told = hunt(line("g g g g b b b b")).finds("4").costs(15, 7);
    let env = told.env();
    assert_eq!([env.runs_of(0), env.runs_of(7)], [2, 2], "endpoints: {:?}", env.runs());
    assert_eq!(
        [env.runs_of(3), env.runs_of(4)],
        [5, 5],
        "once in the search, thrice and once more to confirm"
    );
    assert_eq!([env.builds_of(3), env.builds_of(4)], [2, 2], "confirmed from builds of its own");
}

#[test]
fn it_is_the_first_after_good() {
    hunt(line("g b b b b b")).finds("1").costs(12, 6);
}

#[test]
fn it_is_the_bad_endpoint() {
    hunt(line("g g g g g b")).finds("5").costs(14, 6);
}

#[test]
fn one_commit_lies_between() {
    hunt(line("g b")).finds("1").costs(6, 4);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_commits_lie_between() {
    hunt(line("g b b")).finds("1").costs(11, 5);
    hunt(line("g g b")).finds("2").costs(11, 5);
}

#[test]
fn a_long_line_takes_as_many_steps_as_it_has_binary_digits() {
    let words = ["g"; 77].into_iter().chain(["b"; 52]).collect::<Vec<_>>().join(" ");
    hunt(line(&words)).finds("77").costs(17, 11);
}

#[test]
fn what_got_better_on_the_way_is_no_baseline() {
    hunt(line("7.0 6.5 6.5 7.0 7.5 7.5")).finds("4").costs(14, 7);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn endpoints_within_a_longer_line() {
    let told = hunt(line("g g g g b b b b")).between("2", "6").finds("4").costs(14, 6);
    for label in ["0", "1", "7"] {
        assert_eq!(told.env().runs_of(label), 0, "outside");
    }
}

#[test]
fn commits_of_one_tree_are_one_measurement() {
    // Commit 2 reverts 1, and 3 reverts 2: two trees in four commits.
    let plan = line("g g g g b b").file(0, "version", "id = a\n").file(1, "version", "id = b\n");
    let plan = plan.file(2, "version", "id = a\n").file(3, "version", "id = b\n");
    let told = hunt(plan).finds("4").costs(12, 6);
    assert_eq!(told.env().runs_of("b"), 4, "once, and thrice to confirm");
}

#[test]
fn commits_that_cannot_change_the_result_are_not_built() {
    // Only commits 3 and 6 change files that the build uses; git never picks another.
    let mut plan = line("g g g g g g b b b").file(3, "kernels/a.conf", "# 3\n");
    for label in 0..9 {
        plan = plan.file(label, "version", "id = any\n").file(label, "docs/a.md", "text\n");
        plan = plan.file(label, "docs/b.md", &format!("{label}\n"));
    }
    hunt(plan).oracle(|oracle| oracle.build("ignore = [\"docs/**\"]")).finds("6").costs(16, 8);
}

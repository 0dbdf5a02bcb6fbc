//! Hunts in which a later commit renames the file of the change, or moves its lines to another one.
//! There a commit mends the lines by hand, and another file makes the same step again.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{
    NUMBER, begin, commit_notes, hunt_by, names_or_leaves_open, step, subjects,
};
use crate::kit::{Hunt, TestEnvironment};

const ENGINE: &str = "for one in k kernels other; do [ -f $one ] && . ./$one; done\n\
                      [ -f over ] && scale=7\necho e = $scale";
const NOISY: &str = "for one in k kernels; do [ -f $one ] && . ./$one; done\n\
                     n=$(od -An -N1 -tu1 /dev/urandom)\necho e = $((1000 * scale + 2 * n))";
const GUARD: [&str; 2] = [NUMBER, "metric = \"e\"\nmax_increase = 0.5"];

/// This first line, and so many lines of comments.
fn file(line: &str, lines: usize) -> String {
    let more: Vec<String> = (1..=lines).map(|number| format!("# line {number}\n")).collect();
    format!("{line}\n{}", more.concat())
}

/// The text of the file `other`, which ends with this line.
fn other(line: &str) -> String {
    format!("# others\n# more of them\n{line}")
}

/// A repository in which the commit `step` makes the step, in `k`.
fn stepped(env: &TestEnvironment) {
    put(&env.repo().join("other"), other("").as_bytes());
    put(&env.repo().join("k"), file("scale=6", 6).as_bytes());
    begin(env, ENGINE);
    commit_notes(env, 4);
    step(env, "step", "k", &file("scale=7", 6));
    commit_notes(env, 3);
}

/// A repository in which a commit after `step` moves the line of the step to `other`.
fn stepped_and_moved(env: &TestEnvironment) {
    stepped(env);
    put(&env.repo().join("k"), file("# the kernels", 6).as_bytes());
    step(env, "move", "other", &other("scale=7\n"));
}

/// A hunt after the commit `mend`, which takes the step back by hand with this text of a file, and
/// the commit `over`, which makes the same step again in another file.
fn mended_and_made_again(env: &TestEnvironment, path: &str, mend: &str) -> Hunt {
    commit_notes(env, 3);
    step(env, "mend", path, mend);
    commit_notes(env, 1);
    step(env, "over", "over", "1");
    commit_notes(env, 6);
    hunt_by(env, GUARD)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_mend_is_seen_in_a_file_that_was_renamed_and_grew() {
    let env = TestEnvironment::localizing();
    stepped(&env);
    env.git(&["mv", "k", "kernels"]);
    commit(&env, "rename");
    for lines in [15, 30] {
        step(&env, "grow", "kernels", &file("scale=7", lines));
    }
    let hunt = mended_and_made_again(&env, "kernels", &file("scale=6 # for now", 30));
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["over"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_mend_is_seen_in_the_file_to_which_the_lines_moved() {
    let env = TestEnvironment::localizing();
    stepped_and_moved(&env);
    let hunt = mended_and_made_again(&env, "other", &other("scale=6 # for now\n"));
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["over"]);
}

#[test]
fn lines_that_only_moved_still_make_the_step() {
    let env = TestEnvironment::localizing();
    stepped_and_moved(&env);
    commit_notes(&env, 8);
    assert_eq!(subjects(&hunt_by(&env, GUARD).expect(0, "culprit")), ["step"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_mend_is_seen_in_another_file_than_the_one_that_is_gone() {
    let env = TestEnvironment::localizing();
    stepped(&env);
    env.git(&["rm", "--quiet", "k"]);
    step(&env, "rewrite", "other", &other("scale=$((3 + 4))\n"));
    let hunt = mended_and_made_again(&env, "other", &other("scale=$((3 + 3))\n"));
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["over"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_a_mend_is_seen_under_the_later_name() {
    let env = TestEnvironment::localizing();
    put(&env.repo().join("k"), file("scale=6", 6).as_bytes());
    begin(&env, NOISY);
    commit_notes(&env, 8);
    step(&env, "step", "k", &file("scale=7", 6));
    commit_notes(&env, 3);
    env.git(&["mv", "k", "kernels"]);
    commit(&env, "rename");
    commit_notes(&env, 3);
    // Both stand beside the line of the step, so that no removal tells whether it is needed.
    step(&env, "mend", "kernels", &file("scale=7\nscale=6 # for now", 6));
    step(&env, "over", "kernels", &file("scale=7\nscale=6 # for now\nscale=7 # again", 6));
    commit_notes(&env, 1);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 500"]);
    names_or_leaves_open(&env, &hunt, &["over"]);
}

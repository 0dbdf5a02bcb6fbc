//! Hunts in which a later commit renames the file of the change, or moves its lines to another one.
//! There a commit mends the lines by hand, and another file makes the same step again.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{NUMBER, hunt_by, is_candidate, put_engine, subjects};
use crate::kit::{Hunt, TestEnvironment};

const ENGINE: &str = "for one in k kernels other; do [ -f $one ] && . ./$one; done\n\
                      [ -f over ] && scale=7\necho e = $scale";
const GUARD: [&str; 2] = [NUMBER, "metric = \"e\"\nmax_increase = 0.5"];

/// This first line, and so many lines of comments.
fn file(line: &str, lines: usize) -> String {
    let more: Vec<String> = (1..=lines).map(|number| format!("# line {number}\n")).collect();
    format!("{line}\n{}", more.concat())
}

/// A repository in which `k`, with this number of lines of comments, makes a step.
fn stepped(env: &TestEnvironment, lines: usize) {
    put_engine(env, ENGINE);
    put(&env.repo().join("other"), b"# others\n# more of them\n");
    land(env, "start", &[("k", &file("scale=6", lines))]);
    env.git(&["tag", "v1"]);
    notes(env, "before", 4);
    land(env, "step", &[("k", &file("scale=7", lines))]);
    notes(env, "after", 3);
}

fn land(env: &TestEnvironment, subject: &str, files: &[(&str, &str)]) {
    for (path, text) in files {
        put(&env.repo().join(path), text.as_bytes());
    }
    commit(env, subject);
}

/// Commits that change nothing.
fn notes(env: &TestEnvironment, text: &str, count: usize) {
    for number in 0..count {
        land(env, "note", &[("notes", &format!("{text} {number}"))]);
    }
}

/// `mend` is the text of a file that takes the step back by hand. Then another file makes the same
/// step again, and the hunt begins.
fn mended_and_made_again(env: &TestEnvironment, path: &str, mend: &str) -> Hunt {
    notes(env, "moved", 3);
    land(env, "mend", &[(path, mend)]);
    notes(env, "mended", 1);
    land(env, "over", &[("over", "1")]);
    notes(env, "end", 6);
    hunt_by(env, GUARD)
}

#[test]
fn a_mend_is_seen_in_a_file_that_was_renamed_and_grew() {
    let env = TestEnvironment::localizing();
    stepped(&env, 6);
    env.git(&["mv", "k", "kernels"]);
    commit(&env, "rename");
    for lines in [15, 30] {
        land(&env, "grow", &[("kernels", &file("scale=7", lines))]);
    }
    let hunt = mended_and_made_again(&env, "kernels", &file("scale=6 # for now", 30));
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["over"]);
}

#[test]
fn a_mend_is_seen_in_the_file_to_which_the_lines_moved() {
    let env = TestEnvironment::localizing();
    stepped(&env, 6);
    let rest = file("# the kernels", 6);
    land(&env, "move", &[("k", &rest), ("other", "# others\n# more of them\nscale=7\n")]);
    let mend = "# others\n# more of them\nscale=6 # for now\n";
    let hunt = mended_and_made_again(&env, "other", mend);
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["over"]);
}

#[test]
fn lines_that_only_moved_still_make_the_step() {
    let env = TestEnvironment::localizing();
    stepped(&env, 6);
    let rest = file("# the kernels", 6);
    land(&env, "move", &[("k", &rest), ("other", "# others\n# more of them\nscale=7\n")]);
    notes(&env, "end", 8);
    assert_eq!(subjects(&hunt_by(&env, GUARD).expect(0, "culprit")), ["step"]);
}

#[test]
fn a_file_that_is_gone_leaves_each_later_commit_possible() {
    let env = TestEnvironment::localizing();
    stepped(&env, 6);
    env.git(&["rm", "--quiet", "k"]);
    land(&env, "rewrite", &[("other", "# others\n# more of them\nscale=$((3 + 4))\n")]);
    let mend = "# others\n# more of them\nscale=$((3 + 3))\n";
    let hunt = mended_and_made_again(&env, "other", mend).expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "over"), "{}", hunt.output.stdout);
    hunt.output.says(&["a file of its change is gone there"]);
}

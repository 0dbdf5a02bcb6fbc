//! In noise: later commits that keep most of a named commit's step, or that are better than it for
//! another reason. The named commit's change does not come out of the bad end, because a later
//! commit edits its lines.

use crate::kit::{History, Hunt, Oracle, Plan, TestEnvironment, graph, line};

/// A hunt with this noise of one run. The tolerance is 0.2.
fn hunt_in_noise(plan: Plan, noise: f64, seed: usize) -> (History, Hunt) {
    let env = TestEnvironment::localizing();
    let plan = plan.with_all(&format!("noise = {noise}")).with_all(&format!("seed = {seed}"));
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    (history, env.hunt())
}

/// The commit is named or a candidate, and no sentence says that its step is gone.
fn is_told_without_a_mend(history: &History, hunt: &Hunt, label: &str) {
    let told = [hunt.culprits(history), hunt.candidates(history)].concat();
    assert!(told.contains(&label.to_owned()), "{told:?}\n{}", hunt.output.stdout);
    let gone = format!("the step of {} is gone at", &history.commit(label)[..10]);
    assert!(!hunt.output.stdout.contains(&gone), "{}", hunt.output.stdout);
}

#[test]
fn a_step_of_which_a_later_commit_leaves_more_than_half_is_not_gone() {
    for seed in 1..=2 {
        let plan = line(&["7.0"; 33].join(" "))
            .file("0", "kernels/a.conf", "ppl+a = 0.0\n")
            .file("11", "kernels/a.conf", "ppl+a = 0.6\n")
            .file("22", "kernels/a.conf", "ppl+a = 0.36\n");
        let (history, hunt) = hunt_in_noise(plan, 0.12, seed);
        is_told_without_a_mend(&history, &hunt, "11");
    }
}

#[test]
fn a_step_that_a_merge_brings_to_a_line_with_a_mend_is_not_gone() {
    // `x` makes a step that the main line takes back in `mend`, and the branch forks between them.
    let mut commits = vec!["0: g", "1 < 0: g", "x < 1: g", "2 < x: g", "3 < 2: g"];
    commits.extend(["4 < 3: g", "mend < 4: g", "5 < mend: g", "6 < 5: g"]);
    commits.extend(["b1 < 2: g", "b < b1: g", "b3 < b: g", "merge < 6 b3: g"]);
    commits.extend(["7 < merge: g", "8 < 7: g", "edit < 8: g", "9 < edit: g", "10 < 9: g"]);
    let file = "kernels/b.conf";
    for seed in 1..=2 {
        let plan = graph(&commits)
            .file("x", "kernels/x.conf", "ppl+x = 0.5\n")
            .without("mend", "kernels/x.conf")
            .file("b1", file, "ppl+b = 0.0\n")
            .file("b", file, "ppl+b = 0.44\n")
            .file("b3", file, "ppl+b = 0.44\nppl+n = 0.0\n")
            .file("merge", file, "ppl+b = 0.44\nppl+n = 0.0\n")
            .file("edit", file, "ppl+b = 0.44\nppl+n = 0.0\nppl+m = 0.0\n");
        let (history, hunt) = hunt_in_noise(plan, 0.08, seed);
        is_told_without_a_mend(&history, &hunt, "b");
    }
}

//! A submodule's pin that moves several times.

use super::{G, Kernels, PassedHunt, Row, descending, initialise, inner};
use crate::kit::{Plan, TestEnvironment, line};

impl Kernels {
    /// A history of good commits, as many as there are words. Each of these commits pins the
    /// kernels at one of their commits.
    fn pinned_at(&self, words: &str, moves: &[(usize, usize)]) -> Plan {
        let url = self.folder.display();
        let declared = format!("[submodule \"kernels\"]\n\tpath = kernels\n\turl = {url}\n");
        let plan = line(words).file(0, ".gitmodules", &declared);
        moves
            .iter()
            .fold(plan, |plan, (at, kernel)| plan.pin(at, "kernels", &self.commits[*kernel]))
    }
}

fn hunt_inside(env: TestEnvironment, plan: Plan) -> PassedHunt {
    let row = Row::of(env, plan).oracle(descending).given(|env, _| initialise(env));
    row.write_oracle();
    let hunt = row.run();
    PassedHunt { row, hunt }
}

/// Commit 2 brings a bad kernel. Commit 7 pins another line of the kernels, which is as bad for
/// another reason and does not have this kernel. No commit in between is good, so nothing tells
/// which of the two the bad end needs, and no hunt inside names a kernel that the bad end lacks.
#[test]
fn a_pin_that_leaves_the_bad_kernel_takes_its_move_out_of_the_bad_end() {
    let env = TestEnvironment::localizing();
    let mut kernels = Kernels::new(&env, &[G, "ppl = 7.5"]);
    env.git_in(&kernels.folder, &["checkout", "--quiet", "-b", "side", &kernels.commits[0]]);
    kernels.commit(&env, "harmless", ("add.conf", "# add\n".to_owned()));
    kernels.commit(&env, "as bad", ("add.conf", "ppl+add = 0.5\n".to_owned()));
    let plan = kernels.pinned_at("g g g g g g g g g g", &[(0, 0), (2, 1), (7, 3)]);
    let told = hunt_inside(env, plan);
    let report = &told.hunt.report;
    assert_eq!(report["outcome"], "candidates", "{}", told.hunt.output.stdout);
    assert_eq!(report["cause"]["revert"], "absent", "{:#}", report["cause"]);
    let listed = report["candidates"].as_array().unwrap();
    let labels: Vec<&str> = listed.iter().map(|one| told.label(one)).collect();
    assert!(labels.contains(&"2") && labels.contains(&"7"), "{labels:?}");
    assert!(!told.hunt.output.stdout.contains("Inside kernels"), "{}", told.hunt.output.stdout);
}

/// The same kernel was picked into the line that commit 7 pins, so the bad end has it.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_bad_kernel_that_was_picked_into_another_line_stays() {
    let env = TestEnvironment::localizing();
    let mut kernels = Kernels::new(&env, &[G, "ppl = 7.5"]);
    env.git_in(&kernels.folder, &["checkout", "--quiet", "-b", "side", &kernels.commits[0]]);
    kernels.commit(&env, "harmless", ("add.conf", "# add\n".to_owned()));
    env.git_in(&kernels.folder, &["cherry-pick", &kernels.commits[1]]);
    kernels.note(&env);
    let plan = kernels.pinned_at("g g g g g g g g g g", &[(0, 0), (2, 1), (7, 3)]);
    let told = hunt_inside(env, plan);
    assert_eq!(told.hunt.report["outcome"], "culprit", "{}", told.hunt.output.stdout);
    assert_eq!(told.label(&told.hunt.report["culprit"]["commit"]), "2");
}

/// Commit 2 brings a bad kernel, commit 12 takes its step back in the engine, and commit 13 brings
/// another bad kernel. A search that never measures between 12 and 13 names commit 2.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_that_was_gone_before_the_pin_moved_again_is_not_the_first_moves() {
    let env = TestEnvironment::localizing();
    let mut kernels = Kernels::new(&env, &[G, "ppl+mul = 0.5"]);
    kernels.commit(&env, "as bad", ("add.conf", "ppl+add = 0.5\n".to_owned()));
    let words = ["g"; 15].join(" ");
    let plan = kernels.pinned_at(&words, &[(0, 0), (2, 1), (13, 2)]);
    let plan = [12, 13, 14].iter().fold(plan, |plan, at| plan.with(at, "ppl+mend = -0.5"));
    let told = hunt_inside(env, plan);
    let outside = &told.hunt.report["culprit"];
    assert_eq!(told.hunt.report["outcome"], "culprit", "{}", told.hunt.output.stdout);
    assert_eq!(told.label(&outside["commit"]), "13", "{}", told.hunt.output.stdout);
    let inside = inner(&told, 0);
    assert_eq!(kernels.name(&inside["culprit"]["commit"]), 2, "{inside:#}");
    let [outer, own] = [outside, &inside["culprit"]].map(|one| one["confidence"].as_f64().unwrap());
    assert!(own <= outer, "{own} inside, {outer} outside");
}

/// Without tests of the bad end, later commits without a verdict lower the confidence in the move.
/// The hunt inside has only one commit to search, and rests on that move.
#[test]
fn an_answer_inside_is_no_surer_than_the_one_that_it_rests_on() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, "ppl = 7.5"]);
    let words = ["g"; 12].join(" ");
    let told = hunt_inside(env, kernels.pinned_at(&words, &[(0, 0), (2, 1)]));
    let outside = &told.hunt.report["culprit"];
    assert_eq!(told.label(&outside["commit"]), "2", "{}", told.hunt.output.stdout);
    assert!(outside["confidence"].as_f64().unwrap() <= 0.98, "{outside:#}");
    let inside = inner(&told, 0);
    assert_eq!(inside["culprit"]["confidence"], outside["confidence"], "{inside:#}");
    let id = inside["hunt"].as_str().unwrap();
    let said = told.env().run(&["report", id, "--format", "md"]).expect(0).stdout;
    let why = format!("it rests on the answer of hunt {}", told.hunt.id());
    assert!(said.contains(&why) && said.contains("at most 98 %"), "{said}");
}

/// Commit 2 brings a bad kernel, and commit 6 moves the pin on to a harmless one. The revert of
/// commit 2 conflicts with commit 6, but inside the submodule the bad kernel comes out alone.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_bad_kernel_comes_out_of_a_pin_that_moved_on() {
    let env = TestEnvironment::localizing();
    let mut kernels = Kernels::new(&env, &[G, "ppl = 7.5"]);
    kernels.commit(&env, "harmless", ("add.conf", "# add\n".to_owned()));
    let plan = kernels.pinned_at("g g g g g g g g g g", &[(0, 0), (2, 1), (6, 2)]);
    let told = hunt_inside(env, plan);
    let (report, said) = (&told.hunt.report, &told.hunt.output.stdout);
    let outside = &report["culprit"];
    assert_eq!(report["outcome"], "culprit", "{said}");
    assert_eq!(told.label(&outside["commit"]), "2");
    assert_eq!(report["cause"]["revert"], "heals", "{:#}", report["cause"]);
    let inside = inner(&told, 0);
    assert_eq!(kernels.name(&inside["culprit"]["commit"]), 1, "{inside:#}");
    let [outer, own] = [outside, &inside["culprit"]].map(|one| one["confidence"].as_f64().unwrap());
    assert!(outer > 0.98 && own <= outer, "{own} inside, {outer} outside");

    // The patch is for a checkout of the bad end, with its submodule.
    let env = told.env();
    let patch = told.hunt.folder.join("revert.patch").display().to_string();
    env.git(&["checkout", "--quiet", "main"]);
    env.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "update"]);
    env.git(&["apply", &patch]);
    let text = std::fs::read_to_string(env.repo().join("kernels/mul.conf")).unwrap();
    assert_eq!(text, "\n# 0\n");
    env.git_in(&env.repo().join("kernels"), &["checkout", "--quiet", "mul.conf"]);
}

/// The kernel that commit 6 brings is as bad for another reason: without that of commit 2, the bad
/// end stays as it is. The same if the submodule mended the kernel of commit 2 in its own lines. No
/// hunt inside names a kernel that the bad end does not need.
fn is_needless_after_a_later_move(is_mended: bool) {
    let env = TestEnvironment::localizing();
    let mut kernels = Kernels::new(&env, &[G, "ppl = 7.5"]);
    if is_mended {
        kernels.commit(&env, "mended", ("mul.conf", "# mended\n".to_owned()));
    }
    kernels.commit(&env, "as bad", ("own.conf", "ppl = 7.5\n".to_owned()));
    let last = kernels.commits.len() - 1;
    let plan = kernels.pinned_at("g g g g g g g g g g", &[(0, 0), (2, 1), (6, last)]);
    let told = hunt_inside(env, plan);
    let (report, said) = (&told.hunt.report, &told.hunt.output.stdout);
    assert_eq!(report["outcome"], "candidates", "{said}");
    assert_eq!(report["cause"]["revert"], "still-bad", "{:#}", report["cause"]);
    let listed = report["candidates"].as_array().unwrap();
    let labels: Vec<&str> = listed.iter().map(|one| told.label(one)).collect();
    assert!(labels.contains(&"2") && labels.contains(&"6"), "{labels:?}");
    assert!(!said.contains("Inside kernels") && !said.contains("[[patch]]"), "{said}");
}

#[test]
fn a_bad_kernel_that_a_later_move_makes_needless_is_no_answer() {
    is_needless_after_a_later_move(false);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_bad_kernel_that_was_mended_before_a_later_move_is_no_answer() {
    is_needless_after_a_later_move(true);
}

/// Commit 6 brings a kernel with other lines in place of those of commit 2. No revert comes out, and
/// the answer is no surer for it.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_bad_kernel_whose_lines_were_rewritten_does_not_come_out() {
    let env = TestEnvironment::localizing();
    let kernels = Kernels::new(&env, &[G, "ppl = 7.5", "other = 1\nppl = 7.5"]);
    let plan = kernels.pinned_at("g g g g g g g g g g", &[(0, 0), (2, 1), (6, 2)]);
    let told = hunt_inside(env, plan);
    let report = &told.hunt.report;
    assert_eq!(told.label(&report["culprit"]["commit"]), "2", "{}", told.hunt.output.stdout);
    let conflict = report["cause"]["revert"]["conflict"].as_str();
    assert!(conflict.is_some_and(|said| said.contains("kernels/mul.conf")), "{conflict:?}");
    assert!(report["culprit"]["confidence"].as_f64().unwrap() <= 0.98, "{:#}", report["culprit"]);
    assert!(!told.hunt.folder.join("revert.patch").exists());
}

//! Several first bad commits: the cause inside each, and the bad end without all of them.

use serde_json::Value;

use super::{World, journal, lines, parts, sets, world, world_with};
use crate::kit::{Hunt, Plan, TestEnvironment};

/// Two commits with a step each, the second one with the larger step.
fn two_steps(plan: Plan) -> Plan {
    plan.file(0, "kernels/a.conf", &lines(&[(20, "ppl+a = 0")]))
        .file(0, "kernels/b.conf", "ppl+b = 0\n")
        .file(2, "kernels/a.conf", &lines(&[(3, "# tidied"), (20, "ppl+a = 0.5")]))
        .file(2, "docs/notes.md", "faster\n")
        .file(4, "kernels/b.conf", "ppl+b = 0.8\n")
        .file(4, "docs/notes.md", "faster still\n")
}

fn other_sets(hunt: &Hunt) -> Vec<Vec<String>> {
    let others = hunt.report["other_causes"].as_array().unwrap();
    others.iter().flat_map(|cause| cause["sets"].as_array().unwrap()).map(parts).collect()
}

fn role<'r>(culprit: &'r Value, path: &str) -> &'r str {
    let files = culprit["files"].as_array().unwrap();
    files.iter().find(|file| file["path"] == path).unwrap()["role"].as_str().unwrap()
}

fn read(world: &World, path: &str) -> String {
    std::fs::read_to_string(world.env.repo().join(path)).unwrap()
}

#[test]
fn each_commit_has_its_cause_and_reverting_all_of_them_heals() {
    let world = world(two_steps);
    let hunt = world.finds("4");
    assert_eq!(sets(&hunt), [["file kernels/b.conf"]]);
    assert_eq!(other_sets(&hunt), [["hunk 2 of 2 kernels/a.conf"]]);
    let other = &hunt.report["other_causes"][0];
    assert_eq!(other["commit"], world.history.commit(2));
    assert_eq!(other["end"], "complete");
    assert_eq!(hunt.report["cause"]["revert"], "still-bad");
    let joint = &hunt.report["joint_revert"];
    assert_eq!((&joint["revert"], &joint["patch"]), (&"heals".into(), &"revert-all.patch".into()));
    for (culprit, path) in hunt.report["culprits"].as_array().unwrap().iter().zip(["a", "b"]) {
        assert_eq!(role(culprit, &format!("kernels/{path}.conf")), "necessary");
        assert_eq!(role(culprit, "docs/notes.md"), "innocent");
    }
    // The patch applies to the bad end, and leaves the rest of both changes.
    let patch = hunt.folder.join("revert-all.patch");
    world.env.git(&["apply", patch.to_str().unwrap()]);
    let tidied = lines(&[(3, "# tidied"), (20, "ppl+a = 0")]);
    assert_eq!(read(&world, "kernels/a.conf"), tidied);
    assert_eq!(read(&world, "kernels/b.conf"), "ppl+b = 0\n");
    assert_eq!(read(&world, "docs/notes.md"), "faster still\n");
    let page = hunt.file("report.html");
    let title = format!("Which part of {} makes its step", &world.history.commit(2)[..10]);
    assert!(page.contains(&title) && page.contains("bad end without all causes"), "{page}");
    assert_eq!(page.matches("↓ makes the step").count(), 2);
    hunt.output.says(&[
        "Cause: kernels/b.conf alone makes the step: ppl 8.3",
        "Revert: reverting it alone does not heal the bad end: ppl 7.5",
        "Revert all: reverting the causes of both first bad commits heals the bad end: ppl 7; the \
         patch is revert-all.patch",
        "Also a first bad commit: ",
        "  Cause: hunk 2 of 2 in kernels/a.conf alone makes the step: ppl 7.5",
    ]);
}

/// In noise, the threshold is the middle of the whole change. The bad end without the larger step is
/// on its good side, and still worse than the good end by the smaller step.
#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_one_of_two_reverts_does_not_heal_the_bad_end() {
    let world = world(|plan| two_steps(plan).with_all("noise = 0.02").with_all("seed = 11"));
    let hunt = world.finds("4");
    assert_eq!(hunt.report["cause"]["revert"], "step-gone", "{}", hunt.output.stdout);
    assert_eq!(hunt.report["joint_revert"]["revert"], "heals", "{}", hunt.output.stdout);
    hunt.output.says(&[
        "Revert: reverting it alone takes this step out of the bad end, which is still worse than \
         the good end by more than the tolerance: ppl 7.",
    ]);
}

#[test]
fn a_bad_end_that_stays_bad_without_both_commits_has_another_cause() {
    // Commit 5 makes the same step, which only shows without the two others.
    let fake = TestEnvironment::fake();
    let build = format!(
        "sh -c \"cd {{src}}; if test -e floor && grep -q b.=.0$ kernels/b.conf && grep -q a.=.0$ \
         kernels/a.conf; then echo ppl+c=1.3 > kernels/c.conf; fi; {fake} build {{src}} {{build}}\""
    );
    let world = world_with(
        |plan| two_steps(plan).file(5, "floor", "1.3\n"),
        |oracle| oracle.build_command(&build),
    );
    let hunt = world.env.hunt().expect(3, "candidates");
    assert_eq!(hunt.report["joint_revert"]["revert"], "still-bad");
    assert!(hunt.report["culprit"].is_null(), "{}", hunt.report["culprit"]);
    let candidates = hunt.report["candidates"].as_array().unwrap();
    let expected = ["2", "3", "4", "5"].map(|label| world.history.commit(label));
    assert_eq!(candidates.len(), expected.len(), "{candidates:?}");
    assert!(expected.iter().all(|commit| candidates.iter().any(|one| one == commit)));
    let said = "reverting the causes of both first bad commits does not heal the bad end: ppl 8.3";
    let title = format!("Which part of {} makes its step", &world.history.commit("4")[..10]);
    assert!(hunt.file("report.md").contains(&title));
    assert!(hunt.file("report.md").contains(said) && hunt.file("report.html").contains(said));
    hunt.output.says(&[
        "2 first bad commits are confirmed, but do not explain everything",
        "without the confirmed commits the bad end still shows it, at least in part: another commit \
         may do this too",
        "a hunt with revert-all.patch as a [[patch]] in oracle.toml looks for such a commit",
    ]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_resumed_hunt_takes_no_commit_apart_twice() {
    let world = world(two_steps);
    let whole = world.finds("4");
    let starts = world.env.starts().len();
    let path = whole.folder.join("journal.jsonl");
    let text = journal(&world.env);
    let kept: Vec<&str> =
        text.lines().filter(|line| !line.contains("\"event\":\"ended\"")).collect();
    std::fs::write(&path, kept.join("\n") + "\n").unwrap();
    let again = world.env.resume().expect(0, "culprit");
    for key in ["cause", "other_causes", "joint_revert"] {
        assert_eq!(again.report[key], whole.report[key], "{key}");
    }
    assert_eq!(world.env.starts().len(), starts);
    let count = |event: &str| journal(&world.env).matches(event).count();
    assert_eq!(count("\"event\":\"localizing\""), 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_limit_at_the_second_commit_keeps_the_cause_of_the_first() {
    let free = world(two_steps);
    let whole = free.finds("4");
    let others = whole.report["other_causes"][0]["trials"].as_array().unwrap().len();
    let runs = whole.report["totals"]["runs"].as_u64().unwrap();
    // Without both runs of the joint revert, and without the last repeat of the second commit.
    let limit = format!("[statistics]\nmax_runs = {}", runs - 3);
    assert!(others > 1);
    let limited = world_with(two_steps, |oracle| oracle.section(&limit));
    let hunt = limited.finds("4");
    assert_eq!(hunt.report["cause"]["end"], "complete");
    assert_eq!(hunt.report["other_causes"][0]["end"], "budget");
    assert!(hunt.report.get("joint_revert").is_none());
    // More runs: the hunt goes on where it was.
    let again = limited.env.run(&["resume", "--max-runs", "1000"]);
    let again = Hunt::of(&limited.env, again).expect(0, "culprit");
    assert_eq!(other_sets(&again), other_sets(&whole));
    assert_eq!(again.report["joint_revert"]["revert"], "heals");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn reverts_that_do_not_apply_together_are_told() {
    let world = world(|plan| {
        two_steps(plan).file(
            5,
            "kernels/a.conf",
            &lines(&[(19, "# new"), (20, "ppl+a = 0.51"), (21, "# new")]),
        )
    });
    let hunt = world.finds("4");
    let said = hunt.report["joint_revert"]["revert"]["conflict"].as_str().unwrap();
    assert!(said.contains("kernels/a.conf"), "{said}");
    assert!(!hunt.folder.join("revert-all.patch").exists());
    hunt.output.says(&["Revert all: the reverts do not apply to the bad end together"]);
}

/// Two commits with a part of a fix each, the second one with the larger part.
fn two_fixes(plan: Plan) -> Plan {
    plan.file(0, "kernels/a.conf", &lines(&[(20, "ppl+a = 0.5")]))
        .file(0, "kernels/b.conf", "ppl+b = 0.8\n")
        .file(2, "kernels/a.conf", &lines(&[(3, "# tidied"), (20, "ppl+a = 0")]))
        .file(4, "kernels/b.conf", "ppl+b = 0\n")
        .file(4, "docs/notes.md", "fixed\n")
}

const FIXES: [&str; 5] = ["--find-fix", "--bad", "v1", "--good", "HEAD"];

#[test]
#[ignore = "long: scripts/test --long"]
fn both_parts_of_a_fix_are_needed_at_the_good_end_and_heal_the_bad_one() {
    let world = world(two_fixes);
    let hunt = world.env.start(&FIXES).expect(0, "culprit");
    assert_eq!(hunt.report["culprits"].as_array().unwrap().len(), 2);
    assert_eq!(hunt.report["cause"]["backport"], "still-bad");
    let joint = |key: &str| &hunt.report[format!("joint_{key}")];
    assert_eq!(joint("revert")["revert"], "breaks-again");
    assert!(joint("revert").get("patch").is_none());
    assert_eq!(joint("backport")["backport"], "heals");
    assert_eq!(joint("backport")["patch"], "backport-all.patch");
    let page = hunt.file("report.html");
    assert!(page.contains("good end without all fixes") && page.contains("bad end with all fixes"));
    hunt.output.says(&[
        "Revert all: the good end without both fixes is bad again: ppl 8.3",
        "Backport all: the bad end with both fixes is good: ppl 7; the patch is backport-all.patch",
        "both fixes together heal the bad end",
    ]);
    // The patch applies to the bad end, and brings nothing but the fix.
    world.env.git(&["checkout", "-q", "v1"]);
    world.env.git(&["apply", hunt.folder.join("backport-all.patch").to_str().unwrap()]);
    assert_eq!(read(&world, "kernels/a.conf"), lines(&[(20, "ppl+a = 0")]));
    assert_eq!(read(&world, "kernels/b.conf"), "ppl+b = 0\n");
    assert!(!world.env.repo().join("docs/notes.md").exists());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_bad_end_that_stays_bad_with_both_fixes_needs_another_commit() {
    // Without commit 1, both fixes together do nothing.
    let fake = TestEnvironment::fake();
    let build = format!(
        "sh -c \"cd {{src}}; if ! test -e floor && grep -q b.=.0$ kernels/b.conf && grep -q a.=.0$ \
         kernels/a.conf; then echo ppl+c=1.3 > kernels/c.conf; fi; {fake} build {{src}} {{build}}\""
    );
    let world = world_with(
        |plan| two_fixes(plan).file(1, "floor", "none\n"),
        |oracle| oracle.build_command(&build),
    );
    let hunt = world.env.start(&FIXES).expect(3, "candidates");
    assert_eq!(hunt.report["joint_backport"]["backport"], "still-bad");
    let candidates = hunt.report["candidates"].as_array().unwrap();
    let expected = ["1", "2", "3", "4"].map(|label| world.history.commit(label));
    assert_eq!(candidates.len(), expected.len(), "{candidates:?}");
    assert!(expected.iter().all(|commit| candidates.iter().any(|one| one == commit)));
    let said = "the bad end with both fixes is still bad: ppl 8.3";
    assert!(hunt.file("report.md").contains(said) && hunt.file("report.html").contains(said));
    hunt.output.says(&["another commit before the last of them is needed too"]);
}

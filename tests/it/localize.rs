//! From the first bad commit to its cause: files, hunks, and whether the bad end is good again
//! after a revert.

mod asks_git;
mod attacks;
mod comes_and_goes;
mod moved;
mod several;

use serde_json::Value;

use crate::kit::{
    History, Hunt, Oracle, PATIENCE, Plan, Snapshot, TestEnvironment, line, wait_until,
};

/// Thirty lines, some of them replaced.
fn lines(changes: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let own = changes.iter().find(|(place, _)| *place == number);
        own.map_or_else(|| format!("# line {number}\n"), |(_, text)| format!("{text}\n"))
    };
    (0..30).map(line).collect()
}

struct World {
    env: TestEnvironment,
    history: History,
}

/// A line of six commits with perplexity 7, and files in some of them.
fn world(change: impl FnOnce(Plan) -> Plan) -> World {
    world_with(change, |oracle| oracle)
}

fn world_with(change: impl FnOnce(Plan) -> Plan, adapt: impl FnOnce(Oracle) -> Oracle) -> World {
    let env = TestEnvironment::localizing();
    let plan = line("7.0 7.0 7.0 7.0 7.0 7.0");
    let history = change(plan).build(&env);
    adapt(Oracle::new(&env)).write(&env);
    World { env, history }
}

impl World {
    /// The hunt's report; the first bad commit must be this one.
    fn finds(&self, label: &str) -> Hunt {
        let hunt = self.env.hunt().expect(0, "culprit");
        assert_eq!(hunt.report["culprit"]["commit"], self.history.commit(label));
        hunt
    }
}

/// `hunk 2 of 2 kernels/a.conf` or `edit 1 of 3 src/b.c`, for each part of a set.
fn parts(set: &Value) -> Vec<String> {
    let shown = |part: &Value| {
        let path = part["path"].as_str().unwrap();
        match &part["of"] {
            Value::String(whole) => format!("{whole} {path}"),
            of => {
                let (kind, place) = of.as_object().unwrap().iter().next().unwrap();
                format!("{kind} {} of {} {path}", place["number"], place["of"])
            }
        }
    };
    set["parts"].as_array().unwrap().iter().map(shown).collect()
}

fn sets(hunt: &Hunt) -> Vec<Vec<String>> {
    hunt.report["cause"]["sets"].as_array().unwrap().iter().map(parts).collect()
}

fn role<'r>(hunt: &'r Hunt, path: &str) -> &'r str {
    let files = hunt.report["culprit"]["files"].as_array().unwrap();
    files.iter().find(|file| file["path"] == path).unwrap()["role"].as_str().unwrap()
}

fn trials(hunt: &Hunt) -> usize {
    hunt.report["cause"]["trials"].as_array().unwrap().len()
}

#[test]
fn one_hunk_of_several_files_makes_the_step_and_its_revert_heals() {
    let world = world(|plan| {
        plan.file(0, "kernels/a.conf", &lines(&[(20, "ppl+a = 0")]))
            .file(0, "kernels/b.conf", "ppl+b = 0\n")
            .file(3, "kernels/a.conf", &lines(&[(3, "# tidied"), (20, "ppl+a = 0.5")]))
            .file(3, "kernels/b.conf", "# the same\nppl+b = 0\n")
            .file(3, "docs/notes.md", "faster\n")
            .file(5, "kernels/b.conf", "# later\nppl+b = 0\n")
    });
    let before = Snapshot::of(&world.env);
    let hunt = world.finds("3");
    before.assert_unchanged(&world.env);
    assert_eq!(sets(&hunt), [["hunk 2 of 2 kernels/a.conf"]]);
    let cause = &hunt.report["cause"];
    assert_eq!((&cause["end"], &cause["revert"]), (&"complete".into(), &"heals".into()));
    assert_eq!(cause["sets"][0]["context"], 0);
    assert_eq!(role(&hunt, "kernels/a.conf"), "necessary");
    for innocent in ["kernels/b.conf", "docs/notes.md"] {
        assert_eq!(role(&hunt, innocent), "innocent", "{innocent}");
    }
    assert!(trials(&hunt) <= 7, "{} trials", trials(&hunt));
    // The patch applies to the bad end, and leaves the rest of the change.
    let patch = hunt.folder.join("revert.patch");
    world.env.git(&["apply", patch.to_str().unwrap()]);
    let read = |path: &str| std::fs::read_to_string(world.env.repo().join(path)).unwrap();
    assert_eq!(read("kernels/a.conf"), lines(&[(3, "# tidied"), (20, "ppl+a = 0")]));
    // The tests are in the reports, with their logs.
    assert!(hunt.file("report.md").contains("Which part of the change makes the step"));
    let page = hunt.file("report.html");
    assert!(page.contains("parent with hunk 2 of 2 in kernels/a.conf"), "{page}");
    // The hunk is marked, and its file comes first.
    let changes = &page[page.find("What it changes").unwrap()..];
    let (marked, other) = (changes.find("↓ makes the step"), changes.find("docs/notes.md"));
    assert!(marked.unwrap() < other.unwrap(), "{changes}");
    assert_eq!(changes.matches("↓ makes the step").count(), 1);
    let logs = cause["logs"].as_object().unwrap();
    for trial in cause["trials"].as_array().unwrap() {
        let log = logs[trial["attempts"][0].as_str().unwrap()].as_str().unwrap();
        assert!(hunt.folder.join(log).is_file(), "{log}");
    }
    hunt.output.says(&[
        "Cause: hunk 2 of 2 in kernels/a.conf alone makes the step: ppl 7.5",
        "Rest: the commit without it shows no step: ppl 7",
        "Revert: reverting it heals the bad end: ppl 7; the patch is revert.patch",
    ]);
}

#[test]
fn a_part_that_needs_another_one_is_found_beside_it() {
    let world = world(|plan| {
        plan.file(0, "kernels/a.conf", "ppl+a = 0\n")
            .file(3, "kernels/a.conf", "ppl+a = 0.5\nneeds = kernels/table.txt\n")
            .file(3, "kernels/table.txt", "1 2 3\n")
            .file(3, "docs/notes.md", "faster\n")
    });
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["file kernels/a.conf"]]);
    let set = &hunt.report["cause"]["sets"][0];
    assert!(set["context"].as_u64().unwrap() >= 1);
    // The set alone cannot run.
    let alone = set["alone"].as_u64().unwrap();
    let alone = &hunt.report["cause"]["trials"][usize::try_from(alone).unwrap()];
    assert_eq!(alone["shows"], "unresolved");
    assert_eq!(role(&hunt, "kernels/a.conf"), "necessary");
    // Whether the table matters is not known.
    assert_eq!(role(&hunt, "kernels/table.txt"), "unknown");
    let said = "kernels/a.conf makes the step, together with ";
    hunt.output.says(&[said]).says(&["kernels/table.txt"]);
}

#[test]
fn a_rest_that_needs_the_cause_is_taken_out_with_it() {
    let world = world(|plan| {
        plan.file(0, "kernels/a.conf", "ppl+a = 0\n")
            .file(3, "kernels/a.conf", "ppl+a = 0\nneeds = kernels/f.conf\n")
            .file(3, "kernels/f.conf", "ppl+f = 0.5\n")
            .file(3, "docs/notes.md", "faster\n")
    });
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["file kernels/f.conf"]]);
    let cause = &hunt.report["cause"];
    assert_eq!(cause["dependents"][0]["path"], "kernels/a.conf");
    assert_eq!((&cause["end"], &cause["revert"]), (&"complete".into(), &"heals".into()));
    // The file was not taken out alone.
    assert_eq!(role(&hunt, "kernels/f.conf"), "unknown");
    // Whether another file makes the step together with that part was not tested.
    assert_eq!(role(&hunt, "docs/notes.md"), "unknown");
    hunt.output.says(&[
        "Rest: the commit without it and the part that needs it shows no step: ppl 7",
        "Revert: reverting it and the part that needs it heals the bad end: ppl 7",
    ]);
}

#[test]
fn half_of_a_change_that_breaks_something_else_is_not_the_cause() {
    // Without the new table the kernel is far worse than the commit, and so is the table alone.
    let world = world(|plan| {
        plan.file(0, "kernels/a.conf", "ppl+a = 0\n")
            .file(0, "kernels/b.conf", "ppl+b = 0\n")
            .file(3, "kernels/a.conf", "ppl+a = 90\n")
            .file(3, "kernels/b.conf", "ppl+b = -90\n")
            .file(3, "kernels/c.conf", "ppl+c = 0.5\n")
            .file(3, "docs/notes.md", "faster\n")
    });
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["file kernels/c.conf"]]);
    assert_eq!(hunt.report["cause"]["end"], "complete");
}

#[test]
fn two_parts_of_which_each_is_enough_are_both_told() {
    let world = world(|plan| {
        plan.file(0, "kernels/a.conf", "# a\n")
            .file(0, "kernels/b.conf", "# b\n")
            .file(3, "kernels/a.conf", "ppl = 7.5\n")
            .file(3, "kernels/b.conf", "ppl = 7.5\n")
            .file(3, "docs/notes.md", "faster\n")
    });
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["file kernels/a.conf"], ["file kernels/b.conf"]]);
    assert_eq!(hunt.report["cause"]["end"], "complete");
    assert_eq!(hunt.report["cause"]["revert"], "heals");
    // The test of the rest is the last one, without both.
    let without = hunt.report["cause"]["without"].as_u64().unwrap();
    let without = &hunt.report["cause"]["trials"][usize::try_from(without).unwrap()];
    assert_eq!((&without["shows"], &without["levels"]["ppl"]), (&"nothing".into(), &7.0.into()));
    // Neither file alone is necessary.
    assert_eq!(role(&hunt, "kernels/a.conf"), "unknown");
}

#[test]
fn a_rest_that_shows_less_than_half_of_the_step_is_told() {
    let world = world(|plan| {
        plan.file(3, "kernels/a.conf", "ppl+a = 0.6\n").file(3, "kernels/b.conf", "ppl+b = 0.4\n")
    });
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["file kernels/a.conf"]]);
    assert_eq!(hunt.report["cause"]["end"], "rest-part");
    assert_eq!(role(&hunt, "kernels/b.conf"), "unknown");
    assert_eq!(hunt.report["cause"]["revert"], "still-bad");
    hunt.output.says(&["Rest: the commit without it shows a smaller part of the step: ppl 7.4"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_two_halves_make_the_step_together() {
    let world =
        world(|plan| {
            plan.with_all("noise = 0.003\nseed = 5")
                .file(3, "kernels/a.conf", "ppl+a = 0.5\n")
                .file(3, "kernels/b.conf", "ppl+b = 0.5\n")
        });
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["file kernels/a.conf", "file kernels/b.conf"]]);
    assert_eq!(hunt.report["cause"]["revert"], "heals");
}

#[test]
fn a_failure_that_is_not_hunted_is_not_localized() {
    let world =
        world(|plan| {
            plan.file(3, "kernels/a.conf", "fate = nan\n")
                .file(3, "docs/notes.md", "faster\n")
                .file(5, "kernels/a.conf", "ppl+a = 0.5\n")
        });
    let hunt = world.env.hunt();
    let sets = hunt.report["cause"]["sets"].as_array().cloned().unwrap_or_default();
    for set in &sets {
        assert_ne!(parts(set), ["file docs/notes.md"]);
    }
}

#[test]
fn a_renamed_a_deleted_and_a_binary_file() {
    let long = |value: &str| lines(&[(20, value)]);
    let renamed = world(|plan| {
        plan.file(0, "kernels/a.conf", &long("ppl+a = 0"))
            .without(3, "kernels/a.conf")
            .file(3, "kernels/z.conf", &long("ppl+a = 0.5"))
            .file(3, "docs/notes.md", "faster\n")
    });
    assert_eq!(sets(&renamed.finds("3")), [["hunk 1 of 1 kernels/z.conf"]]);
    let deleted = world(|plan| {
        plan.file(0, "kernels/fix.conf", "ppl+fix = -0.5\n")
            .file(0, "kernels/blob", "a\0b")
            .without(3, "kernels/fix.conf")
            .file(3, "kernels/blob", "a\0c")
    });
    let hunt = deleted.finds("3");
    assert_eq!(sets(&hunt), [["file kernels/fix.conf"]]);
    let said = "Cause: the removal of kernels/fix.conf alone makes the step: ppl 7\n";
    assert!(hunt.output.stdout.contains(said), "{}", hunt.output.stdout);
    assert_eq!(role(&hunt, "kernels/blob"), "innocent");
    assert_eq!(hunt.report["cause"]["revert"], "heals");
}

#[test]
fn what_a_later_commit_wrote_over_does_not_revert() {
    let world = world(|plan| {
        plan.file(0, "kernels/a.conf", &lines(&[(10, "ppl+a = 0")]))
            .file(3, "kernels/a.conf", &lines(&[(10, "ppl+a = 0.5")]))
            .file(3, "docs/notes.md", "faster\n")
            .file(5, "kernels/a.conf", &lines(&[(9, "# new"), (10, "ppl+a = 0.51"), (11, "# new")]))
    });
    let hunt = world.finds("3");
    let said = hunt.report["cause"]["revert"]["conflict"].as_str().unwrap();
    assert!(said.contains("kernels/a.conf"), "{said}");
    assert!(!hunt.folder.join("revert.patch").exists());
    hunt.output.says(&["Revert: the revert does not apply to the bad end"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_crash_is_localized_too() {
    let world = world(|plan| {
        plan.file(0, "kernels/a.conf", "# a\n")
            .file(3, "kernels/a.conf", "# a\nfate = crash:11\n")
            .file(3, "docs/notes.md", "faster\n")
    });
    let args = ["--good", "v1", "--bad", "HEAD", "--allow-failure-hunt"];
    let hunt = world.env.start(&args).expect(0, "culprit");
    assert_eq!(sets(&hunt), [["file kernels/a.conf"]]);
    assert_eq!(hunt.report["cause"]["revert"], "heals");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_budget_of_runs_ends_it_with_what_is_known() {
    let change = |plan: Plan| {
        (0..8).fold(plan.file(3, "kernels/z.conf", "ppl+z = 0.5\n"), |plan, number| {
            plan.file(3, format!("kernels/{number}.conf"), &format!("ppl+{number} = 0\n"))
        })
    };
    let free = world(change);
    let whole = free.finds("3");
    assert_eq!(sets(&whole), [["file kernels/z.conf"]]);
    let runs = whole.report["totals"]["runs"].as_u64().unwrap();
    // The last eleven: four of the search, four repeats and the revert, three about innocent files.
    let limit = format!("[statistics]\nmax_runs = {}", runs - 11);
    let limited = world_with(change, |oracle| oracle.section(&limit));
    let hunt = limited.finds("3");
    assert_eq!(hunt.report["cause"]["end"], "budget");
    let left = parts(&hunt.report["cause"]["sets"][0]);
    assert!(left.contains(&"file kernels/z.conf".to_owned()), "{left:?}");
    hunt.output.says(&[": the search ended after "]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn too_much_noise_is_told() {
    let change = |plan: Plan| {
        plan.with_all("noise = 0.3\nseed = 5").file(3, "kernels/a.conf", "ppl+a = 1.5\n").file(
            3,
            "docs/notes.md",
            "faster\n",
        )
    };
    let world = world(change);
    let args = ["--good", "v1", "--bad", "HEAD", "--search", "posterior"];
    let hunt = world.env.start(&args).expect(0, "culprit");
    hunt.output.says(&["Cause: not looked for inside the commit: runs vary too much"]);
}

#[test]
fn one_commit_by_hand() {
    let world = world(|plan| {
        plan.file(0, "kernels/a.conf", "ppl+a = 0\n")
            .file(3, "kernels/a.conf", "ppl+a = 0.5\n")
            .file(3, "docs/notes.md", "faster\n")
    });
    let bad = world.history.commit("3").to_owned();
    let hunt = Hunt::of(&world.env, world.env.run(&["localize", &bad])).expect(0, "culprit");
    assert_eq!(sets(&hunt), [["file kernels/a.conf"]]);
    assert_eq!(hunt.report["bad"]["commit"], bad.as_str());
    world.env.run(&["localize", "HEAD"]).expect(4);
    let root = world.history.commit("0").to_owned();
    world.env.run(&["localize", &root]).expect(2).says(&["has no parent to compare it with"]);
    world.env.run(&["localize", "nowhere"]).expect(2).says(&["unknown revision `nowhere`"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_resumed_hunt_tests_nothing_twice() {
    let world = world(|plan| {
        plan.file(3, "kernels/a.conf", "ppl+a = 0.5\n")
            .file(3, "kernels/b.conf", "ppl+b = 0\nbuild_ms = 300\n")
            .file(3, "kernels/c.conf", "ppl+c = 0\n")
    });
    let whole = world.finds("3");
    let starts = world.env.starts().len();
    let journal = whole.folder.join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let kept: Vec<&str> =
        text.lines().filter(|line| !line.contains("\"event\":\"ended\"")).collect();
    std::fs::write(&journal, kept.join("\n") + "\n").unwrap();
    let again = world.env.resume().expect(0, "culprit");
    assert_eq!(again.report["cause"], whole.report["cause"]);
    assert_eq!(world.env.starts().len(), starts);
}

/// The journal of the only hunt.
fn journal(env: &TestEnvironment) -> String {
    let hunts = std::fs::read_dir(env.git_folder().join("bisect-ppl/hunts"));
    let journals =
        hunts.into_iter().flatten().flatten().map(|hunt| hunt.path().join("journal.jsonl"));
    journals.filter_map(|journal| std::fs::read_to_string(journal).ok()).collect()
}

/// A world whose runs take long enough to turn a fault on during one.
fn slow() -> (TestEnvironment, History) {
    let env = TestEnvironment::localizing();
    let plan = line("g g g b b b").file(3, "kernels/a.conf", "ppl+a = 0.5\n");
    let history = plan.with_all("chunk_ms = 50").build(&env);
    (env, history)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_fault_that_passes_does_not_cost_the_cause() {
    let (env, history) = slow();
    Oracle::new(&env).section("[failures]\npauses = ['1s', '1s', '3s']").write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || journal(&env).contains("\"event\":\"localizing\"")));
    env.world("transient", true);
    assert!(wait_until(PATIENCE, || journal(&env).contains("tries again after a pause")));
    env.world("transient", false);
    let hunt = Hunt::of(&env, running.wait()).names(&history, 3);
    assert_eq!(hunt.report["cause"]["end"], "rest-part", "engine.conf makes a step too");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_fault_that_stays_leaves_the_commit_and_says_how_to_go_on() {
    let (env, history) = slow();
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || journal(&env).contains("\"event\":\"localizing\"")));
    env.world("transient", true);
    let hunt = Hunt::of(&env, running.wait()).names(&history, 3);
    env.world("transient", false);
    let commit = &history.commit(3)[..10];
    let advice = format!("`bisect-ppl localize {commit}` goes on");
    hunt.output.says(&["Cause: the tests stopped: ", &advice]);
    let later = Hunt::of(&env, env.run(&["localize", commit])).names(&history, 3);
    assert_eq!(later.report["cause"]["end"], "rest-part", "engine.conf makes a step too");
}

//! Changes that invite a wrong answer: parts that hide each other, values that come and go.

use super::{parts, role, sets, trials, world, world_with};
use crate::kit::{Hunt, TestEnvironment};

/// How the search for the cause ended.
fn end(hunt: &Hunt) -> &serde_json::Value {
    &hunt.report["cause"]["end"]
}

#[test]
#[ignore = "long: scripts/test --long"]
fn of_two_parts_that_are_only_bad_together_neither_is_alone_or_innocent() {
    // `z.conf` of the parent overrides what `a.conf` adds.
    let world = world(|plan| {
        plan.file(0, "kernels/a.conf", "ppl+a = 0\n")
            .file(0, "kernels/z.conf", "ppl+a = 0\n")
            .file(3, "kernels/a.conf", "ppl+a = 0.5\n")
            .file(3, "kernels/z.conf", "# no override\n")
            .file(3, "docs/notes.md", "faster\n")
    });
    let hunt = world.finds("3");
    let set = &hunt.report["cause"]["sets"][0];
    assert_eq!(set["context"], 1, "{set}");
    for path in ["kernels/a.conf", "kernels/z.conf"] {
        assert_ne!(role(&hunt, path), "innocent", "{path}");
    }
    assert!(!hunt.output.stdout.contains("alone makes the step"), "{}", hunt.output.stdout);
}

#[test]
fn a_file_whose_step_another_one_hides_is_not_innocent() {
    // Each of `a` and `c` makes the step; `b` takes one of the two back.
    let world = world(|plan| {
        ["a", "b", "c"]
            .iter()
            .fold(plan, |plan, name| {
                plan.file(0, format!("kernels/{name}.conf"), &format!("ppl+{name} = 0\n"))
            })
            .file(3, "kernels/a.conf", "ppl+a = 0.5\n")
            .file(3, "kernels/b.conf", "ppl+b = -0.5\n")
            .file(3, "kernels/c.conf", "ppl+c = 0.5\n")
            .file(3, "docs/notes.md", "faster\n")
    });
    let hunt = world.finds("3");
    for path in ["kernels/a.conf", "kernels/b.conf", "kernels/c.conf"] {
        assert_ne!(role(&hunt, path), "innocent", "{path}");
    }
    assert_eq!(role(&hunt, "docs/notes.md"), "innocent");
    assert!(trials(&hunt) <= 8, "{} trials", trials(&hunt));
}

#[test]
fn a_part_whose_own_runs_differ_is_not_named() {
    // With `b.conf` and without `z.conf` every second run is good: half of the change is flaky, the
    // whole change is not.
    let world = world(|plan| {
        plan.file(3, "kernels/a.conf", "ppl+a = 0.5\n")
            .file(3, "kernels/b.conf", "ppl = 7.5 7.0\n")
            .file(3, "kernels/z.conf", "ppl = 7.0\n")
            .file(3, "docs/notes.md", "faster\n")
    });
    let hunt = world.finds("3");
    for set in sets(&hunt) {
        assert_ne!(set, ["file kernels/b.conf"]);
    }
    let is_unsteady = end(&hunt)["unsteady"].is_number();
    assert!(is_unsteady || sets(&hunt) == [["file kernels/a.conf"]], "{}", hunt.report["cause"]);
}

#[test]
fn a_bad_end_that_is_good_in_one_of_two_runs_without_the_cause_is_not_healed() {
    // The cause overrides the value that `b.conf` sets later.
    let world = world(|plan| {
        plan.file(3, "kernels/z.conf", "ppl = 7.5\n").file(3, "docs/notes.md", "faster\n").file(
            5,
            "kernels/b.conf",
            "ppl = 7.0 7.5\n",
        )
    });
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["file kernels/z.conf"]]);
    assert_eq!(hunt.report["cause"]["revert"], "unknown");
    assert!(!hunt.output.stdout.contains("heals"), "{}", hunt.output.stdout);
}

#[test]
fn a_commit_in_a_flaky_history_is_not_taken_apart() {
    // Every commit from 3 on is bad in most runs; no single run tells a part from another.
    let world = world(|plan| {
        plan.file(3, "kernels/a.conf", "ppl = 7.5 7.5 7.5 7.0\n").file(
            3,
            "docs/notes.md",
            "faster\n",
        )
    });
    let hunt = world.env.hunt();
    let sets = hunt.report["cause"]["sets"].as_array().cloned().unwrap_or_default();
    for set in &sets {
        assert_ne!(parts(set), ["file docs/notes.md"], "{}", hunt.report["cause"]);
    }
}

#[test]
fn only_the_mode_of_a_file_makes_the_step() {
    let fake = TestEnvironment::fake();
    // The build takes other kernels if it cannot run the script.
    let build = format!(
        "sh -c \"test -x {{src}}/tune.sh || echo ppl+mode=0.5 > {{src}}/kernels/m.conf; \
         {fake} build {{src}} {{build}}\""
    );
    let world = world_with(
        |plan| {
            plan.program(0, "tune.sh", "#!/bin/sh\n")
                .file(0, "kernels/a.conf", "ppl+a = 0\n")
                .file(3, "tune.sh", "#!/bin/sh\n# tuned\n")
                .file(3, "kernels/a.conf", "# the same\nppl+a = 0\n")
        },
        |oracle| oracle.build_command(&build),
    );
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["mode tune.sh"]]);
    assert_eq!(hunt.report["cause"]["revert"], "heals");
    hunt.output.says(&["Cause: the mode of tune.sh alone makes the step: ppl 7.5"]);
}

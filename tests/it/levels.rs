//! `[[level]]`: which levels of the engine differ at the first bad commit.

use serde_json::{Value, json};

use crate::kit::{History, Hunt, Oracle, Plan, TestEnvironment, line};

const LEVELS: &str = "\
[[level]]
name = \"kernel\"
measures = [\"suite\"]

[[level]]
name = \"forward\"
measures = [\"logits\"]

[[level]]
name = \"tools\"
measures = [\"code\"]
tolerance = 0
";

/// Six commits; from commit 3 on perplexity is worse, and what `change` adds.
fn hunt(change: impl FnOnce(Plan) -> Plan) -> (TestEnvironment, History, Hunt) {
    let env = TestEnvironment::localizing();
    let plan = line("7.0 7.0 7.0 7.5 7.5 7.5");
    let history = change(plan.with_all("fails = 0")).build(&env);
    Oracle::new(&env)
        .measure("suite", "suite", "parser = \"parity\"")
        .measure("logits", "logits", "parser = \"logits\"\nfile = \"{out}/logits.npy\"")
        .measure("code", "code", "parser = \"exit-code\"")
        .section(LEVELS)
        .write(&env);
    let hunt = env.hunt().names(&history, 3);
    (env, history, hunt)
}

fn set(plan: Plan, labels: std::ops::Range<usize>, setting: &str) -> Plan {
    labels.fold(plan, |plan, label| plan.with(label, setting))
}

fn shown(hunt: &Hunt) -> Vec<(&str, &str)> {
    let levels = hunt.report["levels"].as_array().unwrap().iter();
    levels.map(|l| (l["name"].as_str().unwrap(), l["shows"].as_str().unwrap())).collect()
}

#[test]
fn the_lowest_level_that_fails_is_told() {
    let (env, _, hunt) = hunt(|plan| {
        let plan = set(plan, 0..3, "checks = q:pass:1e-7 k:pass:1e-7");
        let plan = set(plan, 3..6, "checks = q:pass:1e-7 k:fail:0.5");
        set(plan, 3..6, "shift = 0.5")
    });
    assert_eq!(shown(&hunt), [("kernel", "fails"), ("forward", "fails"), ("tools", "passes")]);
    let said = "Levels: kernel fails (suite.failed 0 → 1); it is the lowest level";
    assert!(hunt.output.stdout.contains(said), "{}", hunt.output.stdout);
    let check = &hunt.report["levels"][0]["checks"][0];
    let attempts = check["attempts"].as_array().unwrap();
    // Two runs of each, since a failed check must fail again; all logs can be read.
    assert_eq!(attempts.len(), 4);
    for attempt in attempts {
        let log = hunt.report["inquiry_logs"][attempt.as_str().unwrap()].as_str().unwrap();
        assert!(hunt.file(log).contains("# command: "), "{log}");
    }
    // The measures of levels run at no other commit.
    let starts = env.starts();
    let of_suite = starts.iter().filter(|start| start.measure == "suite");
    let labels: Vec<&str> = of_suite.map(|start| start.label.as_str()).collect();
    assert_eq!(labels, ["2", "2", "3", "3"]);
}

#[test]
fn passing_kernels_leave_how_the_parts_are_put_together() {
    let (_env, _, hunt) =
        hunt(|plan| set(plan, 0..6, "checks = q:pass:1e-7 k:pass:1e-7").with(3, "shift = 0.5"));
    assert_eq!(shown(&hunt), [("kernel", "passes"), ("forward", "fails"), ("tools", "passes")]);
    let said =
        "kernel passes, forward fails (logits.max_abs 0.5): suspect how the parts are put together";
    for form in ["report.md", "report.html"] {
        assert!(hunt.file(form).contains(said), "{form}");
    }
}

#[test]
fn a_level_that_fails_at_the_parent_too_cannot_be_judged() {
    let (_env, _, hunt) = hunt(|plan| set(plan, 0..6, "checks = "));
    assert_eq!(shown(&hunt), [("kernel", "unknown"), ("forward", "passes"), ("tools", "passes")]);
    let reason = &hunt.report["levels"][0]["checks"][0]["reason"];
    assert!(reason.as_str().unwrap().starts_with("the parent fails too: "), "{reason}");
}

#[test]
fn a_check_that_flakes_or_does_not_run_accuses_nobody() {
    // The commit's check fails in its first run only.
    let (_env, _, flaky) = hunt(|plan| {
        let plan = set(plan, 0..3, "checks = q:pass:1e-7");
        plan.with(3, "flaky_checks = q:fail:0.5").with(3, "checks = q:pass:1e-7")
    });
    assert_eq!(shown(&flaky)[0], ("kernel", "unknown"));
    // The commit's suite skips a check.
    let (_env, _, skipped) = hunt(|plan| {
        let plan = set(plan, 0..3, "checks = q:pass:1e-7 k:pass:1e-7");
        set(plan, 3..6, "checks = q:pass:1e-7 k:skip")
    });
    assert_eq!(shown(&skipped)[0], ("kernel", "unknown"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_check_that_failed_before_accuses_nobody() {
    let (_env, _, failed) = hunt(|plan| set(plan, 0..6, "checks = q:fail:0.5"));
    assert_eq!(shown(&failed)[0], ("kernel", "unknown"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn logits_that_vary_by_themselves_pass() {
    let (_env, _, hunt) =
        hunt(|plan| set(plan.with_all("wiggle = 0.5"), 0..6, "checks = q:pass:1e-7"));
    assert_eq!(shown(&hunt)[1], ("forward", "passes"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_second_hunt_runs_nothing_and_says_the_same() {
    let (env, history, first) = hunt(|plan| set(plan, 0..6, "checks = q:pass:1e-7"));
    let before = env.starts().len();
    let second = env.hunt().names(&history, 3);
    let without_runs = |hunt: &Hunt| -> Value { json!(shown(hunt)) };
    assert_eq!(without_runs(&second), without_runs(&first));
    let suites = env.starts()[before..].iter().filter(|start| start.measure == "suite").count();
    assert_eq!(suites, 0);
}

#[test]
fn bad_levels_are_refused() {
    let env = TestEnvironment::new();
    line("7.0 7.5").build(&env);
    for (level, wanted) in [
        (
            "name = \"kernel\"\nmeasures = [\"pppl\"]",
            "there is no measure `pppl`; did you mean `ppl`? Measures: ppl",
        ),
        ("name = \"kernel\"\nmeasures = []", "needs at least one measure"),
        ("name = \"sampling\"\nmeasures = [\"ppl\"]", "needs a `tolerance`; only kernel, layer"),
        ("name = \"training\"\nmeasures = [\"ppl\"]", "needs its number of steps"),
        (
            "name = \"training\"\nsteps = 1\nmeasures = [\"ppl\"]\n\
             [[level]]\nname = \"training\"\nsteps = 5\nmeasures = [\"ppl\"]",
            "there is a level `training` already; for another number of steps, give it a name such \
             as `training-20`",
        ),
        ("name = \"training-5\"\nmeasures = [\"ppl\"]", "needs its number of steps"),
    ] {
        Oracle::new(&env).section(&format!("[[level]]\n{level}")).write(&env);
        let said = env.run(&["start", "--good", "v1"]).expect(2).stderr;
        assert!(said.contains(wanted), "{level}: {said}");
    }
}

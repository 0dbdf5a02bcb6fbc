//! The plain hunt: a first bad commit on a line.

use crate::kit::{BAD, GOOD, Oracle, Snapshot, TestEnvironment, line};

#[test]
fn a_first_bad_commit_is_found_and_every_run_is_accounted_for() {
    let env = TestEnvironment::new();
    let history = line("g g g g b b b b").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);

    let hunt = env.hunt().names(&history, 4);

    before.assert_unchanged(&env);
    env.assert_no_survivors();
    let first = hunt.output.stderr.lines().next().unwrap();
    assert!(first.starts_with("hunt: ") && first.len() > "hunt: ".len(), "{first}");
    assert!(hunt.output.stdout.contains(history.commit(4)), "{}", hunt.output.stdout);

    assert_eq!([env.runs_of(0), env.runs_of(7)], [2, 2], "endpoints: {:?}", env.runs());
    let searched = ["1", "2", "5", "6"].map(|label| env.runs_of(label));
    assert!(searched.iter().all(|n| *n <= 1), "{:?}", env.runs());
    assert_eq!([env.runs_of(3), env.runs_of(4)], [2, 2], "search and confirmation");
    assert_eq!([env.builds_of(3), env.builds_of(4)], [2, 2], "confirmed from builds of its own");
    assert!(env.runs().len() <= 4 + 3 + 2, "{:?}", env.runs());

    let starts = env.starts();
    let builds = starts.iter().filter(|s| s.kind == "build").count();
    assert_eq!(hunt.total("runs"), env.runs().len() as f64);
    assert_eq!(hunt.total("builds"), builds as f64);
}

#[test]
fn the_report_says_what_was_found_and_where_it_was_read() {
    let env = TestEnvironment::new();
    let history = line("g g b b b")
        .file(2, "kernels/mul.c", "int mul;\nint add;\n")
        .subject(2, "Speed up the multiplication")
        .build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 2);

    let report = &hunt.report;
    assert_eq!(report["schema"], "bisect-ppl/report/1");
    assert_eq!(report["hunt"], hunt.id().as_str());
    assert!(report["tool"].as_str().unwrap().starts_with("bisect-ppl "));
    assert_eq!(report["good"]["commit"], history.commit(0));
    assert_eq!(report["bad"]["commit"], history.commit(4));
    assert_eq!(report["candidates"], serde_json::json!([history.commit(2)]));
    assert_eq!(report["parents"], serde_json::json!([history.commit(1)]));
    let culprit = &report["culprit"];
    assert_eq!(culprit["parent"], history.commit(1));
    assert_eq!(culprit["subject"], "Speed up the multiplication");
    assert!(culprit["author"].as_str().unwrap().contains("Ada Lovelace"));
    assert_eq!(culprit["basis"], "bit-exact");
    let effect = &culprit["effect"];
    assert_eq!(effect["metric"], "ppl");
    assert_eq!((&effect["parent"], &effect["commit"]), (&GOOD.into(), &BAD.into()));
    assert!((effect["own_step"].as_f64().unwrap() - 0.5).abs() < 1e-9);
    let files: Vec<&str> =
        culprit["files"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["engine.conf", "kernels/mul.c", "version"]);
    let mul = &culprit["files"][1];
    assert_eq!((&mul["added"], &mul["removed"]), (&2.into(), &0.into()));
    assert_eq!(report["inputs"]["model"]["sha256"].as_str().unwrap().len(), 64);

    // Every figure leads to the output it was read from.
    for commit in report["commits"].as_array().unwrap() {
        for sample in commit["samples"].as_array().unwrap() {
            let log = hunt.file(sample["log"].as_str().unwrap());
            if sample["metric"] == "ppl" {
                let value = sample["value"].as_f64().unwrap();
                assert!(log.contains(&format!("PPL = {value:.4}")), "{value}: {log}");
            }
        }
    }
    let phases: Vec<&str> = hunt.commit(&history, 2)["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["phase"].as_str().unwrap())
        .collect();
    assert!(phases.contains(&"search") && phases.contains(&"confirm"), "{phases:?}");

    let text = hunt.file("report.md");
    assert!(text.contains("First bad commit") && text.contains("Speed up the multiplication"));
    assert!(text.contains(&history.commit(2)[..10]));
}

#[test]
fn neighbours_both_endpoints_can_be_the_pair() {
    let env = TestEnvironment::new();
    let history = line("g b").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 1);
    assert_eq!(hunt.report["culprit"]["parent"], history.commit(0));
    // Twice as endpoints, then afresh: a confirmation is no repeat of what is known.
    assert_eq!([env.runs_of(0), env.runs_of(1)], [3, 3]);
}

#[test]
fn the_first_and_the_last_commit_of_a_range_can_be_it() {
    for (words, label) in [("g b b b b b", 1), ("g g g g g b", 5)] {
        let env = TestEnvironment::new();
        let history = line(words).build(&env);
        Oracle::new(&env).write(&env);
        env.start(&["--good", "v1"]).names(&history, label);
    }
}

#[test]
fn an_engine_that_got_faster_is_worse_nowhere_else() {
    let env = TestEnvironment::new();
    let plan = line("7.0 6.5 6.5 7.0 7.5 7.5");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    // Against the baseline (7.0), not against what lies between.
    env.hunt().names(&history, 4);
}

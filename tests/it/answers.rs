//! The report of a plain hunt.

use crate::kit::{BAD, GOOD, Oracle, TestEnvironment, line};

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

    // Every value links to the output from which it was read.
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
fn the_step_is_told_over_the_chunks_that_both_commits_read() {
    let env = TestEnvironment::new();
    let history = line("g g b b b").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 2);
    // The good chunks are 7 + 3/16, 7 + 2/16, …; each bad one is 0.5 higher.
    let found = &hunt.report["culprit"]["effect"]["over_text"];
    assert_eq!((&found["chunks"], &found["carrying"]), (&4.into(), &4.into()));
    let ends = |name: &str| [0, 1].map(|end| found[name][end].as_f64().unwrap());
    let ([low, high], [lowest, highest]) = (ends("paired"), ends("plain"));
    assert!(lowest < low && low < 0.5 && 0.5 < high && high < highest, "{found}");
    for name in ["report.md", "report.html"] {
        assert!(hunt.file(name).contains("4 of 4 chunks moved beyond their noise"), "{name}");
    }
}

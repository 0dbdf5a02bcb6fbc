//! Commands about a hunt that has ended: `log`, `report`, `status`, and the script of the report.

use std::fs;

use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, Snapshot, TestEnvironment, line};

fn hunted() -> (TestEnvironment, History, Hunt) {
    let env = TestEnvironment::new();
    let history = line("g g x g b b b").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 4);
    (env, history, hunt)
}

#[test]
fn the_log_replays_in_a_fresh_clone() {
    let (env, history, hunt) = hunted();
    let log = env.run(&["log"]).expect(0).stdout;
    assert_eq!(env.run(&["log", &hunt.id()]).expect(0).stdout, log);
    let clone = env.path("clone");
    env.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    fs::write(env.path("tmp/bisect.log"), log).unwrap();
    env.git_in(&clone, &["bisect", "replay", env.path("tmp/bisect.log").to_str().unwrap()]);
    let bad = env.git_in(&clone, &["rev-parse", "refs/bisect/bad"]);
    assert_eq!(bad.trim(), history.commit(4));
    let said = env.git_in(&clone, &["bisect", "log"]);
    assert!(said.contains(&format!("first bad commit: [{}]", history.commit(4))), "{said}");
}

#[test]
fn reproduce_sh_shows_both_figures_under_any_sh() {
    let (env, _history, hunt) = hunted();
    let script = hunt.folder.join("reproduce.sh");
    let runs = env.runs().len();
    let before = Snapshot::of(&env);
    let output = env.tool(&env.repo(), "sh", &[script.to_str().unwrap()]).expect(0);
    assert!(output.stdout.contains("7.0000") && output.stdout.contains("7.5000"), "{output:?}");
    assert!(env.runs().len() >= runs + 2, "it measures, it does not recite");
    before.assert_unchanged(&env);
}

#[test]
fn the_report_comes_again_from_the_store_alone() {
    let (env, _history, hunt) = hunted();
    let starts = env.starts().len();
    fs::remove_file(hunt.folder.join("report.json")).unwrap();
    let text = env.run(&["report"]).expect(0).stdout;
    assert!(text.contains("First bad commit"), "{text}");
    let json = env.run(&["report", &hunt.id(), "--format", "json"]).expect(0).stdout;
    let again: Value = serde_json::from_str(&json).unwrap();
    for key in ["schema", "hunt", "outcome", "culprit", "candidates", "account", "commits"] {
        assert_eq!(again[key], hunt.report[key], "{key}");
    }
    let file = env.path("tmp/report.md");
    let args = ["report", "--format", "md", "-o", file.to_str().unwrap()];
    let output = env.run(&args).expect(0);
    assert_eq!(output.stdout, "");
    assert!(fs::read_to_string(file).unwrap().contains("First bad commit"));
    assert_eq!(env.starts().len(), starts);
    env.run(&["report", "19990101-000000"]).expect(2).says(&["19990101-000000"]);
}

#[test]
fn status_says_how_a_hunt_stands() {
    let (env, history, hunt) = hunted();
    let output = env.run(&["status"]).expect(0);
    assert!(output.stdout.contains(&hunt.id()), "{}", output.stdout);
    assert!(output.stdout.contains(&history.commit(4)[..7]), "{}", output.stdout);
    env.run(&["status", &hunt.id()]).expect(0);
    env.run(&["status", "nothing"]).expect(2);
}

//! `[notify] command` and `--on-finish`: what the command gets at each end of a hunt, and that the
//! command cannot change the hunt.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kit::{Hunt, Oracle, PATIENCE, Plan, TestEnvironment, line, wait_until};

/// A script that keeps what it gets.
fn teller(env: &TestEnvironment, more: &str) -> String {
    let (script, told) = (env.path("tell.sh"), env.path("told"));
    let text = format!(
        "#!/bin/sh\ncat > {told}.json\nenv | grep ^BISECT_PPL_ | sort > {told}.env\n\
         echo \"$BISECT_PPL_EVENT\" >> {told}.events\necho told\n{more}\n",
        told = told.display()
    );
    fs::write(&script, text).unwrap();
    format!("sh {}", script.display())
}

fn notify(command: &str) -> String {
    format!("[notify]\ncommand = '{command}'")
}

fn told(env: &TestEnvironment) -> Value {
    let json = fs::read(env.path("told.json")).expect("nobody was told");
    serde_json::from_slice(&json).unwrap()
}

fn variable(env: &TestEnvironment, name: &str) -> String {
    let all = fs::read_to_string(env.path("told.env")).unwrap();
    let line = all.lines().find_map(|line| line.strip_prefix(&format!("BISECT_PPL_{name}=")));
    line.unwrap_or_else(|| panic!("no {name} in {all}")).to_owned()
}

fn events(env: &TestEnvironment) -> Vec<String> {
    let all = fs::read_to_string(env.path("told.events")).unwrap_or_default();
    all.lines().map(str::to_owned).collect()
}

/// A hunt in this history whose configuration names the script.
fn hunt(plan: Plan, oracle: impl FnOnce(Oracle) -> Oracle) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::new();
    plan.build(&env);
    let command = teller(&env, "");
    oracle(Oracle::new(&env).section(&notify(&command))).write(&env);
    let hunt = env.hunt();
    (env, hunt)
}

#[test]
fn a_found_commit_is_told_once_with_its_report() {
    let (env, hunt) = hunt(line("g g b b"), |oracle| oracle);
    let hunt = hunt.expect(0, "culprit");
    let json = told(&env);
    assert_eq!(events(&env), ["found"]);
    assert_eq!(json["schema"], "bisect-ppl/notify/1");
    assert_eq!((&json["event"], &json["exit_code"]), (&"found".into(), &0.into()));
    assert_eq!(json["culprit"]["commit"], hunt.culprit());
    assert_eq!(json["culprit"]["author"], "Ada Lovelace <ada@example.org>");
    assert_eq!(json["culprit"]["confidence"], hunt.report["culprit"]["confidence"]);
    assert_eq!(json["error"], Value::Null);
    for form in ["html", "markdown", "json"] {
        assert!(fs::exists(json["report"][form].as_str().unwrap()).unwrap(), "{form}");
    }
    assert_eq!(variable(&env, "EVENT"), "found");
    assert_eq!(variable(&env, "HUNT"), hunt.id());
    assert_eq!(variable(&env, "OUTCOME"), "culprit");
    assert_eq!(variable(&env, "COMMIT"), hunt.culprit());
    assert_eq!(variable(&env, "SUMMARY"), json["summary"].as_str().unwrap());
    assert_eq!(variable(&env, "REPORT"), json["report"]["html"].as_str().unwrap());
    assert!(hunt.file("logs/notify.log").contains("told"));
    assert!(!hunt.output.stderr.contains("warning"), "{}", hunt.output.stderr);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn no_regression_and_a_limit_and_a_fault_are_told() {
    let (env, hunt) = self::hunt(line("g g g g"), |oracle| oracle);
    hunt.expect(4, "no-regression");
    assert_eq!((events(&env), variable(&env, "COMMIT")), (vec!["no-hunt".into()], String::new()));

    let limit = "[statistics]\nmax_runs = 5";
    let (env, hunt) = self::hunt(line("g g g g b b b b"), |oracle| oracle.section(limit));
    hunt.expect(3, "candidates");
    let json = told(&env);
    assert_eq!((events(&env), &json["limit"]["runs"]), (vec!["inconclusive".into()], &5.into()));
    assert_eq!(json["candidates"].as_array().unwrap().len(), 4);
    assert!(json["next"][0].as_str().unwrap().contains("bisect-ppl resume"), "{json:#}");

    let broken = (1..4).fold(line("g g g b b"), |plan, at| plan.with(at, "break_world = broken"));
    let (env, hunt) = self::hunt(broken, |oracle| oracle);
    hunt.expect(5, "interrupted");
    let json = told(&env);
    assert_eq!((events(&env), &json["exit_code"]), (vec!["paused".into()], &5.into()));
    assert!(json["summary"].as_str().unwrap().starts_with("Paused: "), "{json:#}");
    assert!(!json["error"].as_str().unwrap().is_empty());
}

#[test]
fn a_stop_is_told_and_the_option_replaces_the_file() {
    let env = TestEnvironment::new();
    line("g g g b b").with(2, "chunk_ms = 60000").build(&env);
    let file = format!("touch {}", env.path("file").display());
    Oracle::new(&env).section(&notify(&file)).write(&env);
    let command = teller(&env, "");
    let running = env.spawn_product(&["start", "--good", "v1", "--on-finish", &command]);
    assert!(wait_until(PATIENCE, || env.runs_of(2) == 1));
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    assert_eq!(events(&env), ["stopped"]);
    assert!(!env.path("file").exists());
    // Without the option, the file counts again.
    let resumed = env.spawn_product(&["resume"]);
    assert!(wait_until(PATIENCE, || env.runs_of(2) == 2));
    env.run(&["stop"]).expect(0);
    resumed.wait().expect(130);
    assert_eq!(events(&env), ["stopped"]);
    assert!(env.path("file").exists());
}

#[test]
fn a_command_that_fails_or_is_missing_changes_nothing() {
    for (command, words) in [
        ("sh -c \"echo no network >&2; exit 7\"", "exit code 7"),
        ("no-such-program-anywhere x", "no-such-program-anywhere"),
    ] {
        let env = TestEnvironment::new();
        let history = line("g g b b").build(&env);
        Oracle::new(&env).section(&notify(command)).write(&env);
        let hunt = env.hunt().names(&history, "2");
        let log = hunt.file("logs/notify.log");
        assert!(log.contains("# failed: ") && log.contains(words), "{log}");
        hunt.output.says(&["warning: nobody was told", words, "notify.log"]);
    }
}

#[test]
fn a_command_that_hangs_is_ended() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let command = teller(&env, "sleep 1000");
    let words = ["start", "--good", "v1", "--on-finish", &command];
    let running = env.spawn_product(&words);
    assert!(wait_until(PATIENCE, || events(&env) == ["found"]));
    let begun = Instant::now();
    // A person need not wait for the time limit.
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(running.pid()).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    let hunt = Hunt::of(&env, running.wait()).names(&history, "2");
    assert!(begun.elapsed() < Duration::from_secs(45));
    hunt.output.says(&["warning: nobody was told"]);
    env.assert_no_survivors();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_command_that_hangs_is_ended_at_its_time_limit() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let command = teller(&env, "sleep 1000");
    let begun = Instant::now();
    let hunt = env.start(&["--good", "v1", "--on-finish", &command]);
    hunt.names(&history, "2").output.says(&["ran longer than 1 min"]);
    assert!(begun.elapsed() >= Duration::from_mins(1));
    env.assert_no_survivors();
}

#[test]
fn the_words_of_a_commit_are_data() {
    let env = TestEnvironment::new();
    let subject = "'; touch pwned; \" $(touch pwned) `touch pwned` \u{1b}[31mred @/etc/passwd";
    line("g g b b").subject(2, subject).build(&env);
    let said = env.path("said");
    let command = teller(&env, &format!("printf %s \"$BISECT_PPL_SUMMARY\" > {}", said.display()));
    Oracle::new(&env).section(&notify(&command)).write(&env);
    env.hunt().expect(0, "culprit");
    let json = told(&env);
    let found = json["culprit"]["subject"].as_str().unwrap();
    assert!(found.contains("$(touch pwned)"), "{found}");
    let said = fs::read_to_string(said).unwrap();
    assert_eq!(said, json["summary"].as_str().unwrap());
    assert!(said.contains("`touch pwned`") && !said.contains('\u{1b}'), "{said:?}");
    let folders = [env.repo(), env.path(""), json["report"]["html"].as_str().unwrap().into()];
    for folder in folders {
        assert!(!folder.join("pwned").exists());
    }
}

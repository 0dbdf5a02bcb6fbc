//! The plan of a search, and `start --dry-run`.

use std::fs;

use serde_json::Value;

use crate::kit::{Oracle, Snapshot, TestEnvironment, events, line};

#[test]
fn the_plan_is_said_before_the_search_and_stays_in_journal_and_report() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g b b b b b");
    for label in 1..8 {
        plan = plan.with(label, "break_world = broken");
    }
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let stopped = env.hunt();
    assert_eq!(stopped.output.code(), Some(5), "{}", stopped.output.stderr);
    // 3 steps and 2 builds for the confirmation, beside the ends' 2 builds and 4 runs. Builds that
    // are identical to an end's need no run.
    let said = "plan     8 commits, about 3 steps: at least 7 builds and 6 runs, usually up to ";
    let stderr = &stopped.output.stderr;
    let (plan, target) = (stderr.find(said), stderr.find("hunting  ppl"));
    assert!(plan.is_some() && plan > target, "{stderr}");
    assert!(!stderr.contains("until about"), "{stderr}");
    for part in ["ends           2 builds, 4 runs", "search         3-5 builds"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let [event] = events(&stopped, "plan").try_into().unwrap();
    let figures = ["commits", "steps", "builds", "runs"].map(|key| event[key].as_u64().unwrap());
    assert_eq!(figures, [8, 3, 5, 5]);
    // The plan's time is from the mean build and run times at the endpoints.
    let mean = |kind: &str| {
        let events = events(&stopped, kind);
        let endpoints = events.iter().filter(|event| event["phase"] == "endpoint");
        let seconds: Vec<f64> = endpoints.map(|event| event["wall_s"].as_f64().unwrap()).collect();
        seconds.iter().sum::<f64>() / seconds.len() as f64
    };
    let expected = 5.0 * (mean("build") + mean("run"));
    assert!((event["seconds"].as_f64().unwrap() - expected).abs() < 1e-9, "{event}");
    env.run(&["status"]).expect(0).says(&["plan: 8 commits, about 3 steps"]);

    env.world("broken", false);
    let hunt = env.resume().names(&history, 4);
    assert_eq!(events(&hunt, "plan").len(), 1, "a resumed hunt keeps its plan");
    assert_eq!(hunt.report["plan"]["steps"], 3);
    // What the hunt made lies between the bounds of its plan.
    for kind in ["builds", "runs"] {
        let parts = event["parts"].as_array().unwrap();
        let bound = |at: usize| parts.iter().map(|it| it[kind][at].as_u64().unwrap()).sum::<u64>();
        let made = hunt.report["totals"][kind].as_u64().unwrap();
        assert!((bound(0)..=bound(1)).contains(&made), "{kind}: {made}, {event}");
    }
    assert!(
        hunt.file("report.md").contains("Estimated before the search: 8 commits"),
        "in the report"
    );
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_plan_of_a_second_hunt_promises_no_cost_that_the_store_may_save() {
    let env = TestEnvironment::new();
    let history = line("g g g g b b b b b").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 4);
    // The new bad end needs a build. The search asks for other commits, and for some of the same.
    let hunt = env.start(&["--good", "v1", "--bad", "HEAD~1"]).names(&history, 4);
    let [event] = events(&hunt, "plan").try_into().unwrap();
    assert_eq!(event["stored"], true, "{event}");
    let parts = event["parts"].as_array().unwrap();
    for part in parts.iter().filter(|part| part["part"] != "ends") {
        assert_eq!(["builds", "runs"].map(|it| part[it][0].as_u64()), [Some(0); 2], "{part}");
    }
    for kind in ["builds", "runs"] {
        let least: u64 = parts.iter().map(|part| part[kind][0].as_u64().unwrap()).sum();
        let made = hunt.report["totals"][kind].as_u64().unwrap();
        assert!(made >= least, "{kind}: {made}, {event}");
    }
    let said = " (results in the store cost nothing); at most about ";
    assert!(hunt.output.stderr.contains(said), "{}", hunt.output.stderr);
}

#[test]
fn the_plan_says_what_other_slots_measure_ahead() {
    let env = TestEnvironment::new();
    line("g g g g b b b b b").build(&env);
    Oracle::new(&env).write(&env);
    let dry = |more: &[&str]| {
        let args = [&["start", "--good", "v1", "--dry-run"][..], more].concat();
        env.run(&args).expect(0).stdout
    };
    let ahead = "measured ahead  0-5 builds, 0-10 runs more, in other slots (--slots 1 leaves";
    assert!(dry(&["--slots", "2"]).contains(ahead), "{}", dry(&["--slots", "2"]));
    assert!(!dry(&[]).contains("measured ahead"), "{}", dry(&[]));
}

#[test]
fn a_search_of_more_than_an_hour_says_its_end_and_how_to_cut_it() {
    let env = TestEnvironment::new();
    line("g g b b").with(1, "break_world = broken").with(2, "break_world = broken").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt();
    assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
    // The test cannot wait for hours, so it puts a long time into the plan.
    let journal = hunt.file("journal.jsonl");
    let longer = |line: &str| {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        entry.as_object_mut().unwrap().remove("sum");
        if entry["event"] == "plan" {
            entry["seconds"] = 40_000.0.into();
        }
        entry.to_string() + "\n"
    };
    fs::write(hunt.folder.join("journal.jsonl"), journal.lines().map(longer).collect::<String>())
        .unwrap();
    let long = ["about 11 h 06 min, until about ", "ignore", "--first-parent", "ccache"];
    env.run(&["status"]).expect(0).says(&long);
    env.run(&["status", "--watch"]).expect(5).says(&long).says(&["note: the search takes"]);
}

#[test]
fn a_dry_run_says_the_plan_and_begins_nothing() {
    let env = TestEnvironment::new();
    line("g g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let args = ["start", "--good", "v1", "--dry-run"];
    let plan = || {
        let before = Snapshot::of(&env);
        let output = env.run(&args).expect(0);
        before.assert_unchanged(&env);
        crate::bad_input::seen(&env, &output)
    };
    let said = plan();
    assert!(!env.repo().join(".git/bisect-ppl").exists(), "nothing at all is made");
    assert!(env.starts().is_empty(), "{:?}", env.starts());
    insta::assert_snapshot!(said, @r"
    exit code 0
    --- stdout
    good     317bf99e7c change 0
    bad      2ade9f763d change 4
    build    [ENGINE] build {src} {build}
    run      ppl: {build}/engine run ppl src={src} cache={cache} out={out}
    guard    ppl: at most 0.2 more than at good
    slots    [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots (commits are built there)
    plan     4 commits, about 2 steps: at least 6 builds and 6 runs, usually up to 12 and 30 (more if values vary)
             ends           2 builds, 4-8 runs
             search         2-3 builds, 0-6 runs
             confirmation   2-4 builds, 2-10 runs
             later commits  0-3 builds, 0-6 runs, to see whether the step lasts
    --- stderr
    hint: nothing was begun; without --dry-run the hunt begins
    ");
    let two = [&args[..], &["--slots", "2"]].concat();
    let said = "ahead    commits are built and run in 2 slots at the same time; if values vary, ";
    env.run(&two).expect(0).says(&[said]);
    let hunt = env.hunt().expect(0, "culprit");
    let said = plan();
    assert!(said.contains(" (with the durations of hunt [HUNT]; more if values vary)"), "{said}");
    // All of it is in the store.
    let all = "usually up to 12 builds and 30 runs (results in the store cost nothing); at most";
    assert!(said.contains(all), "{said}");
    assert_eq!(env.runs().len() as u64, hunt.report["totals"]["runs"].as_u64().unwrap());
    // What `start` refuses, a dry run refuses in the same words.
    let refused = |args: &[&str]| env.run(args).expect(2).stderr;
    let backwards = ["start", "--good", "HEAD", "--bad", "v1"];
    let dry: Vec<&str> = backwards.iter().copied().chain(["--dry-run"]).collect();
    assert_eq!(refused(&backwards), refused(&dry));
}

//! Slots that would be idle after the search: further pairs of builds in a confirmation, and later
//! commits that are measured to see whether a step lasts.

use serde_json::Value;

use crate::kit::planted::put;
use crate::kit::shell_engine::{NUMBER, begin, commit_notes, step, subjects};
use crate::kit::{Hunt, TestEnvironment, events, most_at_once};

/// A hunt with so many slots. The engine is copied by a build that takes some time; `more`: what
/// the build does then. The commit `step` changes the number. The search asks about the commit
/// after it, so no worker of the search builds the commits that follow.
fn hunt_with(env: &TestEnvironment, more: &str, slots: &str) -> Hunt {
    let build = format!("sleep 0.4\nmkdir -p \"$2\"\ncp \"$1/engine.sh\" \"$2\"\n{more}\n");
    put(&env.repo().join("build.sh"), build.as_bytes());
    put(&env.repo().join("k"), b"scale=7\n");
    begin(env, ". \"$1/k\"; echo e = $scale\n");
    commit_notes(env, 7);
    step(env, "step", "k", "scale=8\n");
    commit_notes(env, 4);
    let oracle = format!(
        "version = 1\n[build]\ncommands = ['sh {{src}}/build.sh {{src}} {{build}}']\n\
         [[measure]]\nname = \"e\"\ncommand = \"sh {{build}}/engine.sh {{src}}\"\n{NUMBER}\n\
         [[guard]]\nmetric = \"e\"\nmax_increase = 0.5\n"
    );
    put(&env.repo().join("oracle.toml"), oracle.as_bytes());
    let hunt = env.start(&["--good", "v1", "--slots", slots]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["step"]);
    env.assert_no_survivors();
    hunt
}

/// When the builds that are wanted began and ended, in seconds, in the order of their beginnings.
fn spans(env: &TestEnvironment, is_wanted: impl Fn(&Value) -> bool) -> Vec<[f64; 2]> {
    let mut spans: Vec<[f64; 2]> = env
        .records("builds")
        .iter()
        .filter(|build| is_wanted(build))
        .map(|build| {
            let end: jiff::Timestamp = build["finished"].as_str().unwrap().parse().unwrap();
            let end = end.as_millisecond() as f64 / 1000.0;
            [end - build["wall_s"].as_f64().unwrap(), end]
        })
        .collect();
    spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
    spans
}

/// The commits that were judged after the confirmation, in order.
fn judged_later(hunt: &Hunt) -> Vec<Value> {
    let journal = hunt.file("journal.jsonl");
    let entries = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let later = entries.skip_while(|entry| entry["event"] != "confirmed");
    later.filter(|entry| entry["event"] == "judged").map(|entry| entry["commit"].clone()).collect()
}

#[test]
#[ignore = "long: scripts/test --long"]
fn later_commits_are_measured_at_the_same_time() {
    let [one, env] = [TestEnvironment::new(), TestEnvironment::new()];
    let (alone, hunt) = (hunt_with(&one, "", "1"), hunt_with(&env, "", "2"));
    let (said, later) = (&hunt.output.stderr, judged_later(&hunt));
    assert_eq!((later.len(), judged_later(&alone).len()), (2, 2), "{said}");
    let builds = spans(&env, |build| later.contains(&build["commit"]));
    assert_eq!((builds.len(), most_at_once(&builds)), (2, 2), "{builds:?}\n{said}");
    // One of them was measured ahead, and counts since the hunt asked for it.
    let is_later = |event: &&Value| later.contains(&event["commit"]);
    let ahead = events(&hunt, "ahead");
    assert_eq!(ahead.iter().filter(is_later).count(), 1, "{ahead:#?}");
    for field in ["runs", "builds"] {
        assert_eq!(hunt.report["totals"][field], alone.report["totals"][field], "{field}\n{said}");
    }
}

#[test]
fn further_builds_of_a_confirmation_are_made_at_the_same_time() {
    let env = TestEnvironment::new();
    let hunt = hunt_with(&env, "echo \"# $(date +%N)\" >>\"$2/engine.sh\"", "2");
    let builds = spans(&env, |build| build["phase"] == "confirm");
    let said = &hunt.output.stderr;
    assert!(builds.len() > 2, "builds differ, so one of each side is too few\n{said}");
    let is_at_once = |pair: &&[[f64; 2]]| most_at_once(pair) == 2;
    let pairs = builds.chunks(2).filter(is_at_once).count();
    assert!(pairs > 1, "only the first pair: {builds:?}\n{said}");
    // Each build is in the journal once.
    let noted = events(&hunt, "build").into_iter().filter(|build| build["phase"] == "confirm");
    assert_eq!(noted.count(), builds.len(), "{said}");
}

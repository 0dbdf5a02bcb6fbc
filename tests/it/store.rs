//! `store`: what it lists and shows, and what `gc` may and must not remove.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{History, Oracle, Snapshot, TestEnvironment, kill, line, wait_until};

fn store(env: &TestEnvironment) -> PathBuf {
    env.repo().join(".git/bisect-ppl")
}

fn hunted() -> (TestEnvironment, History, String) {
    let env = TestEnvironment::new();
    let history = line("g g x g b b b").build(&env);
    Oracle::new(&env).write(&env);
    let id = env.hunt().names(&history, 4).id();
    (env, history, id)
}

/// Number of files with this ending in a folder of the store.
fn count(env: &TestEnvironment, folder: &str, end: &str) -> usize {
    fn walk(folder: PathBuf, end: &str) -> usize {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let counts = entries.map(|entry| {
            let is_folder = entry.file_type().unwrap().is_dir();
            if is_folder {
                walk(entry.path(), end)
            } else {
                usize::from(entry.path().to_string_lossy().ends_with(end))
            }
        });
        counts.sum()
    }
    walk(store(env).join(folder), end)
}

#[test]
fn ls_lists_hunts_and_what_they_take() {
    let (env, history, id) = hunted();
    let out = env.run(&["store", "ls"]).expect(0).stdout;
    let lines: Vec<&str> = out.lines().collect();
    let words: Vec<&str> = lines[0].split("  ").map(str::trim).filter(|w| !w.is_empty()).collect();
    assert_eq!(words, ["hunt", "began", "outcome", "range", "first bad", "runs", "size"]);
    assert!(lines[1].starts_with(&id) && lines[1].contains("culprit"), "{out}");
    assert!(lines[1].contains(&history.commit(4)[..10]), "{out}");
    let runs = count(&env, "runs", ".json");
    assert!(lines[2].starts_with(&format!("{runs} runs (")), "{out}");
    let json: Value =
        serde_json::from_str(&env.run(&["store", "ls", "--json"]).expect(0).stdout).unwrap();
    assert_eq!(json["hunts"][0]["hunt"], id.as_str());
    assert_eq!(json["hunts"][0]["culprit"], history.commit(4));
    assert_eq!(json["runs"]["count"], runs);
    assert!(json["bytes"].as_u64().unwrap() > 0);
}

#[test]
fn show_tells_of_a_hunt_a_commit_a_run_key_and_an_attempt() {
    let (env, history, id) = hunted();
    env.run(&["store", "show", &id[..10]]).expect(0).says(&[&id, "First bad commit"]);
    let of_commit = env.run(&["store", "show", history.commit(4)]).expect(0).stdout;
    assert_eq!(of_commit.matches("ppl 7.5 ").count(), count_runs(&env, &history, 4), "{of_commit}");
    let line = |word: &str| {
        let found = of_commit.lines().find_map(|l| l.trim().strip_prefix(word)).unwrap();
        found.trim().to_owned()
    };
    let (key, log) = (line("run key "), line("log "));
    assert!(fs::read_to_string(&log).unwrap().contains("Final estimate"), "{log}");
    assert_eq!(env.run(&["store", "show", &key[..8]]).expect(0).stdout, of_commit);
    let attempt = PathBuf::from(&log).file_stem().unwrap().to_string_lossy().into_owned();
    let one = env.run(&["store", "show", &attempt]).expect(0).stdout;
    assert!(one.contains(&attempt) && one.lines().count() == 4, "{one}");
    env.run(&["measure", history.commit(2)]).expect(1);
    env.run(&["store", "show", history.commit(2)]).expect(0).says(&["build", "does not build"]);
    env.run(&["store", "show", history.commit(1)]).expect(2).says(&["nothing was measured"]);
    env.run(&["store", "show", "nonsense"]).expect(2).says(&["nonsense", "store ls"]);
}

fn count_runs(env: &TestEnvironment, history: &History, label: usize) -> usize {
    assert_ne!(history.commit(label), "");
    env.runs_of(label)
}

#[test]
fn nothing_that_a_hunt_measured_goes_unasked() {
    let (env, history, _) = hunted();
    let starts = env.starts().len();
    let runs = count(&env, "runs", ".json");
    let before = Snapshot::of(&env);
    env.run(&["store", "gc"]).expect(0).says(&["nothing to remove", "0 B freed"]);
    assert_eq!(count(&env, "runs", ".json"), runs);
    before.assert_unchanged(&env);
    // A second hunt runs nothing and still has its confirmation.
    let hunt = env.hunt().names(&history, 4);
    assert_eq!(env.starts().len(), starts);
    // Its reports and output state the age of the results.
    let today = jiff::Timestamp::now().to_string();
    let words = ["this answer comes from stored runs of", &today[..4]];
    for word in words {
        assert!(hunt.file("report.md").contains(word) && hunt.file("report.html").contains(word));
    }
    assert!(hunt.report["notes"].to_string().contains(words[0]));
    hunt.output.says(&words);
}

#[test]
fn an_old_hunt_goes_when_it_is_asked_for_with_what_only_it_measured() {
    let (env, history, first) = hunted();
    // Hunts of the same second share a prefix of their names, and a prefix selects a hunt.
    let now = || jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    assert!(wait_until(Duration::from_secs(20), || now() > first));
    // Another range of the same history: the hunts share endpoint 6, but not endpoint 3.
    let second = env.start(&["--good", history.commit(3)]).names(&history, 4).id();
    let all = env.run(&["store", "gc", "--older-than", "0s", "--dry-run"]).expect(0);
    all.says(&["would remove 2 hunts", &first, &second]);
    assert_eq!(env.run(&["store", "ls"]).expect(0).stdout.lines().count(), 4, "a dry run is dry");
    let wrong = env.run(&["store", "gc", "--older-than", "soon"]).expect(2);
    wrong.says(&["soon", "30d"]);
    // From here on the first hunt's last event is an hour old.
    age(&env, &first);
    let output = env.run(&["store", "gc", "--older-than", "30m"]).expect(0);
    assert!(output.stdout.contains(&format!("removed 1 hunt: {first}")), "{}", output.stdout);
    assert!(!store(&env).join("hunts").join(&first).exists());
    env.run(&["report", &second]).expect(0);
    env.run(&["report", &first]).expect(2);
    // Runs of the first hunt that the second one used are still stored.
    let starts = env.starts().len();
    env.start(&["--good", history.commit(3)]).names(&history, 4);
    assert_eq!(env.starts().len(), starts);
}

/// Makes all events of a hunt an hour older.
fn age(env: &TestEnvironment, id: &str) {
    let path = store(env).join("hunts").join(id).join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let aged: Vec<String> = text
        .lines()
        .map(|line| {
            let mut entry: Value = serde_json::from_str(line).unwrap();
            let at: jiff::Timestamp = entry["at"].as_str().unwrap().parse().unwrap();
            entry.as_object_mut().unwrap().remove("sum");
            entry["at"] = (at - Duration::from_hours(1)).to_string().into();
            entry.to_string()
        })
        .collect();
    fs::write(path, aged.join("\n") + "\n").unwrap();
}

#[test]
fn nothing_is_removed_while_a_hunt_runs() {
    let env = TestEnvironment::new();
    let plan = line("g g g g g b b b").with_all("chunk_ms = 15").with_all("build_ms = 40");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(Duration::from_secs(20), || env.starts().len() > 2));
    let mut refused = 0;
    while is_driven(&env) {
        for args in [
            &["store", "gc"][..],
            &["store", "gc", "--older-than", "0s"],
            &["store", "forget", "HEAD"],
        ] {
            let output = env.run(args);
            if output.code() == Some(2) {
                refused += 1;
                output.says(&["in use", "status --wait"]);
            }
        }
        env.run(&["store", "ls"]).expect(0);
    }
    assert!(refused > 0);
    // No check of the hunt's files: `--older-than 0s` may remove the hunt right after its end.
    let output = running.wait().expect(0);
    output.says(&["First bad commit", history.commit(5)]);
}

fn is_driven(env: &TestEnvironment) -> bool {
    env.processes().iter().any(|process| process.command.contains("bisect-ppl start"))
}

#[test]
fn what_a_killed_hunt_left_goes_and_it_can_still_be_resumed() {
    let env = TestEnvironment::new();
    let plan = line("g g g g g b b b").with_all("chunk_ms = 15").with_all("build_ms = 40");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    // During the search, with a bisect session and a run in progress.
    assert!(wait_until(Duration::from_secs(20), || env.runs().len() > 4));
    env.processes().iter().for_each(|process| kill(process.pid, Signal::KILL));
    running.wait();
    env.assert_no_survivors();
    let worktrees = || env.git(&["worktree", "list"]).lines().count();
    assert!(worktrees() > 1);
    let runs = count(&env, "runs", ".json");
    // The kernel may still be closing the files of a killed process.
    let is_free = || env.run(&["store", "gc", "--dry-run"]).code() == Some(0);
    assert!(wait_until(Duration::from_secs(20), is_free));
    env.run(&["store", "gc", "--dry-run"]).expect(0).says(&["would remove 1 slot:"]);
    assert!(worktrees() > 1);
    // The builds of good and of the commit under test take turns in it.
    env.run(&["store", "gc"]).expect(0).says(&["removed 1 slot:", "bisect session"]);
    assert_eq!(worktrees(), 1);
    assert_eq!(count(&env, "pending", ""), 0);
    assert_eq!(count(&env, "runs", ".json"), runs);
    env.run(&["store", "gc"]).expect(0).says(&["nothing to remove"]);
    let made = env.runs().len();
    env.resume().names(&history, 5);
    assert!(env.runs().len() <= made + 15 - runs, "what was measured was measured again");
    before.assert_unchanged(&env);
}

#[test]
fn a_repository_without_a_hunt_has_an_empty_store_and_none_is_made() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    env.run(&["store", "ls"]).expect(0).says(&["no hunts", "0 runs"]);
    env.run(&["store", "gc"]).expect(0).says(&["nothing was ever measured"]);
    env.run(&["store", "forget", "HEAD"]).expect(0).says(&["nothing is stored of"]);
    env.run(&["store", "show", "HEAD"]).expect(2).says(&["nothing was measured"]);
    for args in [&["status"][..], &["report"], &["log"], &["resume"], &["stop"]] {
        env.run(args).expect(2).says(&["no hunt", "bisect-ppl start"]);
    }
    assert!(!store(&env).exists(), "looking made a store");
}

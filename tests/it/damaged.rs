//! Damaged records: a log that somebody changed, or a record that cannot be read. Each is set
//! aside, reported and measured again; none stops a hunt.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, TestEnvironment, line, wait_until};
use crate::worlds::dice::Dice;

fn hunted() -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let history = line("g g g b b").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 3);
    (env, history)
}

fn store(env: &TestEnvironment) -> PathBuf {
    env.repo().join(".git/bisect-ppl")
}

/// Every file with this ending in a folder of the store, sorted.
fn files(env: &TestEnvironment, folder: &str, end: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), end, found);
            } else if entry.path().to_string_lossy().ends_with(end) {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    walk(&store(env).join(folder), end, &mut found);
    found.sort();
    found
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The records of a commit's runs.
fn records_of(env: &TestEnvironment, commit: &str) -> Vec<PathBuf> {
    let mut all = files(env, "runs", ".json");
    all.retain(|path| json(path)["commit"] == commit);
    all
}

/// Fails unless a note of the report has all these words.
#[track_caller]
fn notes(hunt: &Hunt, words: &[&str]) {
    let notes = hunt.report["notes"].as_array().unwrap();
    let has = |note: &Value| words.iter().all(|word| note.as_str().unwrap().contains(word));
    assert!(notes.iter().any(has), "{words:?} in {notes:#?}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_logs_that_were_swapped_are_noticed() {
    let (env, history) = hunted();
    let of = |label: usize| records_of(&env, history.commit(label));
    for (good, bad) in of(0).iter().zip(of(4)) {
        let [good, bad] = [good, &bad].map(|record| record.with_extension("log"));
        let between = good.with_extension("between");
        fs::rename(&good, &between).unwrap();
        fs::rename(&bad, &good).unwrap();
        fs::rename(&between, &bad).unwrap();
    }
    let before = env.runs().len();
    let hunt = env.hunt().names(&history, 3);
    // The stored confirmation does not count: the runs of both ends that its hunt made are gone.
    assert_eq!(
        env.runs().len(),
        before + 6,
        "two of each end, one each of the commit and its parent"
    );
    let good = &history.commit(0)[..10];
    notes(&hunt, &[good, "damaged", "another SHA-256", "measured again"]);
    assert_eq!(files(&env, "runs", ".json.damaged").len(), 4);
    assert_eq!(files(&env, "runs", ".log.damaged").len(), 4);
    // The next hunt uses the new runs.
    env.hunt().names(&history, 3);
    assert_eq!(env.runs().len(), before + 6);
}

#[test]
fn a_log_that_was_edited_or_cut_or_removed_is_noticed() {
    let ways: [fn(&Path); 4] = [
        |log| fs::write(log, "").unwrap(),
        |log| fs::remove_file(log).unwrap(),
        |log| {
            let text = fs::read_to_string(log).unwrap();
            fs::write(log, text.replace("7.5", "7.0")).unwrap();
        },
        |log| {
            let text = fs::read(log).unwrap();
            fs::write(log, &text[..text.len() / 2]).unwrap();
        },
    ];
    let (env, history) = hunted();
    for way in ways {
        let before = env.runs().len();
        for record in records_of(&env, history.commit(4)) {
            way(&record.with_extension("log"));
        }
        let hunt = env.hunt().names(&history, 3);
        notes(&hunt, &[&history.commit(4)[..10], "damaged"]);
        // Two runs of this end. One run each of the other end, of the commit and of its parent,
        // since an earlier hunt made their stored runs.
        assert_eq!(env.runs().len(), before + 5);
    }
}

/// Flips a random bit of the text in each of these records.
fn flip(records: &[PathBuf], dice: &mut Dice) {
    for record in records {
        let mut text = fs::read(record).unwrap();
        // The digest of the record is at its end.
        let end = text.windows(7).rposition(|window| window == b"\"sum\": ").unwrap();
        text[dice.below(end)] ^= 1 << dice.below(8);
        fs::write(record, text).unwrap();
    }
}

#[test]
fn a_flipped_bit_in_a_record_is_noticed() {
    let env = TestEnvironment::new();
    let history = line("g g x g b b").with(3, "fate = crash:9").build(&env);
    Oracle::new(&env).write(&env);
    let right = env.hunt().expect(3, "candidates").candidates(&history);
    let mut dice = Dice::new(20_261_124);
    for (folder, name, reason) in [
        ("runs", "the run", "its record"),
        ("builds", "the build", "its record"),
        ("controls", "the run", "the result of its control run"),
    ] {
        let records = files(&env, folder, ".json");
        assert!(!records.is_empty(), "{folder}");
        flip(&records, &mut dice);
        let hunt = env.hunt().expect(3, "candidates");
        assert_eq!(hunt.candidates(&history), right, "{folder}");
        notes(&hunt, &[name, "is damaged", reason, "measured again"]);
    }
    let before = env.starts().len();
    env.hunt().expect(3, "candidates");
    assert_eq!(env.starts().len(), before, "what was measured again counts");
}

#[test]
fn a_flipped_bit_in_a_confirmation_is_noticed() {
    let (env, history) = hunted();
    let mut dice = Dice::new(20_261_125);
    flip(&files(&env, "confirmations", ".json"), &mut dice);
    let hunt = env.hunt().names(&history, 3);
    notes(&hunt, &["the confirmation", "is damaged", "its record"]);
}

#[test]
fn a_record_without_a_digest_is_still_read() {
    let (env, history) = hunted();
    let folders = ["runs", "builds", "confirmations"];
    for record in folders.map(|folder| files(&env, folder, ".json")).concat() {
        let mut old = json(&record);
        let fields = old.as_object_mut().unwrap();
        assert!(fields.remove("sum").is_some(), "{fields:#?}");
        fields.remove("log_sha256");
        fs::write(&record, old.to_string()).unwrap();
    }
    let before = env.starts().len();
    env.hunt().names(&history, 3);
    assert_eq!(env.starts().len(), before);
}

#[test]
fn one_damaged_record_blocks_nothing() {
    let (env, history) = hunted();
    let hunt = fs::read_dir(store(&env).join("hunts")).unwrap().next().unwrap().unwrap().path();
    let mut records = vec![
        records_of(&env, history.commit(0)).remove(0),
        records_of(&env, history.commit(4)).remove(0),
        files(&env, "confirmations", ".json").remove(0),
        hunt.join("history"),
        hunt.join("inside.json"),
    ];
    records.extend(files(&env, "builds", ".json").into_iter().take(2));
    records.extend(files(&env, "setups", ".json").into_iter().take(1));
    for record in &records {
        fs::write(record, "{ \"attempt\": \"\\u0000").unwrap();
    }
    let reading: [&[&str]; 6] = [
        &["store", "ls"],
        &["store", "show", history.commit(4)],
        &["store", "show", history.commit(3)],
        &["store", "gc", "--dry-run"],
        &["report"],
        &["status"],
    ];
    for args in reading {
        env.run(args).expect(0);
    }
    env.run(&["store", "show", history.commit(4)]).says(&["damaged", "cannot be read"]);
    assert!(files(&env, "runs", ".damaged").is_empty(), "looking moves nothing");
    env.resume().names(&history, 3);
    let again = env.hunt().names(&history, 3);
    notes(&again, &["the run", "cannot be read", "measured again"]);
    notes(&again, &["the confirmation", "cannot be read"]);
    for args in reading {
        env.run(args).expect(0);
    }
    env.run(&["store", "gc"]).expect(0);
}

#[test]
fn a_failed_build_whose_control_cannot_be_read_is_tried_again() {
    let env = TestEnvironment::new();
    let history = line("g g x b b").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().expect(3, "candidates");
    let mut builds = files(&env, "builds", ".json");
    builds.retain(|path| json(path)["commit"] == history.commit(2));
    let attempt = json(&builds[0])["attempt"].as_str().unwrap().to_owned();
    fs::create_dir_all(store(&env).join("controls")).unwrap();
    fs::write(store(&env).join("controls").join(format!("{attempt}.json")), "?").unwrap();
    let before = env.builds_of(2);
    let hunt = env.hunt();
    assert_eq!(env.builds_of(2), before + 2, "{}", hunt.output.stderr);
    notes(&hunt, &["the build", "the result of its control run", "measured again"]);
}

#[test]
fn a_frozen_configuration_that_was_edited_is_refused() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 15").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(Duration::from_secs(20), || env.runs().len() > 2));
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    let hunt = fs::read_dir(store(&env).join("hunts")).unwrap().next().unwrap().unwrap().path();
    let frozen = fs::read_to_string(hunt.join("oracle.toml")).unwrap();
    let edited = frozen.replace("max_increase = 0.2", "max_increase = 0.9");
    fs::write(hunt.join("oracle.toml"), &edited).unwrap();
    let before = env.starts().len();
    let words = ["not the configuration that the hunt began with", "restore", "start a new hunt"];
    env.run(&["resume"]).expect(5).says(&words);
    assert_eq!(env.starts().len(), before);
    env.run(&["report"]).expect(0).says(&["not the one that the hunt began with"]);
    fs::remove_file(hunt.join("oracle.toml")).unwrap();
    env.run(&["resume"]).expect(5).says(&words);
    fs::write(hunt.join("oracle.toml"), &frozen).unwrap();
    env.resume().names(&history, 3);
}

#[test]
fn an_oracle_of_a_hunt_whose_configuration_was_edited_stops() {
    let env = TestEnvironment::new();
    let plan = line("g g g g g b b b").with_all("chunk_ms = 15").with_all("build_ms = 40");
    plan.build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(Duration::from_secs(20), || env.runs().len() > 3));
    let hunt = fs::read_dir(store(&env).join("hunts")).unwrap().next().unwrap().unwrap().path();
    let mut file = fs::OpenOptions::new().append(true).open(hunt.join("oracle.toml")).unwrap();
    file.write_all(b"# mine\n").unwrap();
    running.wait().expect(5).says(&["not the configuration that the hunt began with", "restore"]);
}

#[test]
fn stop_ends_nobody_but_the_driver() {
    let env = TestEnvironment::new();
    line("g b").with_all("chunk_ms = 3000").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(Duration::from_secs(20), || !env.runs().is_empty()));
    let hunt = fs::read_dir(store(&env).join("hunts")).unwrap().next().unwrap().unwrap().path();
    let told = fs::read_to_string(hunt.join("driver")).unwrap();
    let mut command = env.command("sleep", &env.path("tmp"));
    command.arg("60").env("TOKEN", env.path("tmp"));
    let mut stranger = command.spawn().unwrap();
    let (driver, _) = told.split_once(' ').unwrap();
    for text in ["1", "nonsense", "", &stranger.id().to_string(), driver, &format!("{driver} 7")] {
        fs::write(hunt.join("driver"), text).unwrap();
        env.run(&["stop"]).expect(5).says(&["runs", "nothing was ended"]);
        assert!(stranger.try_wait().unwrap().is_none(), "{text:?} ended a stranger");
    }
    fs::write(hunt.join("driver"), &told).unwrap();
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    fs::write(hunt.join("driver"), stranger.id().to_string()).unwrap();
    env.run(&["stop"]).expect(0).says(&["is not running"]);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

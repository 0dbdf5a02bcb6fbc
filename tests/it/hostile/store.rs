//! Links, FIFOs and folders in the place of the store's files and folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::bad_input::plain;
use crate::kit::{Output, TestEnvironment};

/// Every file and folder of a store.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.clone());
        if path.is_dir() {
            found.extend(paths(&path));
        }
    }
    found
}

/// Runs the product, which may take ten seconds.
fn within_time(env: &TestEnvironment, args: &[&str]) -> Output {
    let mut words = vec!["--signal=KILL", "10", TestEnvironment::product()];
    words.extend(args);
    let output = env.tool(&env.repo(), "timeout", &words);
    assert!(output.code().is_some_and(|code| code <= 5), "{args:?}: {output:?}");
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    output
}

fn hunted() -> (TestEnvironment, PathBuf) {
    let env = plain("g b");
    env.hunt().expect(0, "culprit");
    let store = env.repo().join(".git/bisect-ppl");
    (env, store)
}

#[test]
fn nothing_waits_for_a_fifo_and_no_record_blocks_what_reads_the_others() {
    let (env, store) = hunted();
    for path in paths(&store) {
        let aside = env.path("aside");
        fs::rename(&path, &aside).unwrap();
        mkfifoat(CWD, &path, Mode::RWXU).unwrap();
        let listed = within_time(&env, &["store", "ls"]);
        let inner = path.strip_prefix(&store).unwrap();
        if inner != Path::new("format") {
            assert_eq!(listed.code(), Some(0), "{}: {}", path.display(), listed.stderr);
        }
        within_time(&env, &["status"]);
        fs::remove_file(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
    }
    env.run(&["status"]).expect(0).says(&["First bad commit"]);
}

#[test]
fn a_hunt_measures_again_what_is_no_regular_file() {
    let (env, store) = hunted();
    let is_record = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let kinds = ["runs", "builds", "confirmations"].map(|kind| store.join(kind));
    let records = kinds.iter().flat_map(|kind| paths(kind)).filter(is_record);
    for (number, record) in records.enumerate() {
        fs::remove_file(&record).unwrap();
        match number % 3 {
            0 => mkfifoat(CWD, &record, Mode::RWXU).unwrap(),
            1 => symlink("/dev/zero", &record).unwrap(),
            _ => fs::create_dir(&record).unwrap(),
        }
    }
    let output = within_time(&env, &["start", "--good", "v1", "--no-localize"]);
    output.expect(0).says(&["First bad commit"]);
}

#[test]
fn gc_removes_nothing_outside_of_the_store() {
    let (env, store) = hunted();
    let outside = env.path("outside");
    fs::create_dir_all(outside.join("ab/cd")).unwrap();
    for file in ["ab/cd/1.json", "ab/cd/1.log", "x.diff", ".tmp-mine"] {
        fs::write(outside.join(file), "mine").unwrap();
    }
    let kept = paths(&outside).len();
    let gc = ["store", "gc", "--older-than", "0s"];
    for name in ["runs", "builds", "controls", "dumps", "setups", "pending", "trash", "hunts"] {
        let folder = store.join(name);
        let aside = env.path("aside");
        let is_there = fs::rename(&folder, &aside).is_ok();
        symlink(&outside, &folder).unwrap();
        within_time(&env, &gc).expect(2).says(&[name, "symbolic link", "remove the link"]);
        assert_eq!(paths(&outside).len(), kept, "{name}");
        fs::remove_file(&folder).unwrap();
        if is_there {
            fs::rename(&aside, &folder).unwrap();
        }
    }
    // Deeper links are removed or left, never followed.
    symlink(&outside, store.join("runs/ab")).unwrap();
    symlink(&outside, store.join("hunts/20200101-000000")).unwrap();
    within_time(&env, &gc).expect(0);
    assert_eq!(paths(&outside).len(), kept);
}

#[test]
fn a_file_behind_a_link_is_neither_emptied_nor_written() {
    let (env, store) = hunted();
    let outside = env.path("outside");
    fs::write(&outside, "mine").unwrap();
    let hunt = fs::read_dir(store.join("hunts")).unwrap().next().unwrap().unwrap().path();
    for name in ["driver", "lock", "now.json.new", "journal.jsonl"] {
        let file = hunt.join(name);
        fs::remove_file(&file).ok();
        symlink(&outside, &file).unwrap();
        within_time(&env, &["resume"]);
        assert_eq!(fs::read(&outside).unwrap(), b"mine", "{name}");
        fs::remove_file(&file).ok();
    }
}

#[test]
fn a_store_on_another_disk_may_be_a_link_itself() {
    let (env, store) = hunted();
    let elsewhere = env.path("elsewhere");
    fs::rename(&store, &elsewhere).unwrap();
    symlink(&elsewhere, &store).unwrap();
    let before = env.starts().len();
    env.hunt().expect(0, "culprit");
    assert_eq!(env.starts().len(), before, "all was stored");
}

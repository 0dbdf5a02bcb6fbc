//! How much disk a hunt takes, and what it does when there is too little.

use std::fs;

use crate::bad_input::places::shell_that_mounts;
use crate::kit::{Hunt, Oracle, TestEnvironment, line};

/// A build whose files take 300 KiB.
fn large_build() -> String {
    let fake = TestEnvironment::fake();
    let fills = "mkdir -p {build} && head -c 300k /dev/zero > {build}/large || exit 1";
    format!("sh -c \"{fills}; exec {fake} build {{src}} {{build}}\"")
}

/// The slots have their own disk, which grows a little each time it is full. The hunt stops and is
/// resumed many times, names no innocent commit, and finds the right answer.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_disk_of_the_slots_that_fills_up_is_no_commits_fault() {
    let env = TestEnvironment::new();
    let history = line("g g g g g b b b").build(&env);
    let slots = env.path("slots");
    fs::create_dir_all(&slots).unwrap();
    // A build that fails counts as bad, so a full disk must not look like one.
    let sections =
        format!("[worktree]\ndir = '{}'\n\n[failures]\nbuild = 'bad'\n", slots.display());
    Oracle::new(&env).build_command(&large_build()).section(&sections).write(&env);
    let script = format!(
        "mount -t tmpfs -o size=16k none '{slots}'\n\
         words='start --good v1'\n\
         for kilobytes in $(seq 100 100 4000); do\n\
           rc=0; bisect-ppl $words >'{out}.out' 2>'{out}.err' || rc=$?\n\
           echo \"$rc $kilobytes\"\n\
           [ $rc = 0 ] && break\n\
           cat '{out}.err' >&2\n\
           words=resume\n\
           mount -o remount,size=${{kilobytes}}k '{slots}'\n\
         done\n\
         cat '{out}.out'\n",
        slots = slots.display(),
        out = env.path("tmp/full").display()
    );
    let Some(command) = shell_that_mounts(&env, &script) else { return };
    let output = env.spawn(command).wait().expect(0);
    let (codes, answer) = output.stdout.split_once("First bad commit: ").expect(&output.stderr);
    assert!(answer.starts_with(history.commit(5)), "{}", output.stdout);
    let codes: Vec<&str> = codes.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(codes.len() > 3, "the disk was never full: {codes:?}");
    let (last, full) = codes.split_last().unwrap();
    assert!(*last == "0" && full.iter().all(|code| *code == "5"), "{codes:?}\n{}", output.stderr);
    assert_eq!(output.stderr.matches("hint: ").count(), full.len(), "{}", output.stderr);
    assert!(output.stderr.contains(" free, but the last build took "), "{}", output.stderr);
    assert!(output.stderr.contains("more there, or name another place"), "{}", output.stderr);
    env.assert_no_survivors();
}

#[test]
fn more_logs_than_the_limit_stop_the_hunt_and_gc_makes_room() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    // Each log takes a block of the disk.
    Oracle::new(&env).section("[limits]\nlogs = '0.02 MB'\n").write(&env);
    let stopped = env.hunt().expect(5, "interrupted");
    stopped.output.says(&[
        "error: the logs in the store take ",
        ", but [limits] logs allows 19.5 KiB",
        "store gc --older-than",
    ]);
    assert!(!env.runs().is_empty());
    // A new hunt without the limit takes the runs from the store.
    let runs = env.runs().len();
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 2);
    assert!(env.runs_of(0) + env.runs_of(3) >= runs);
}

/// The paths of all logs that a hunt's report names, below the hunt's folder.
fn logs(hunt: &Hunt) -> Vec<String> {
    let commits = hunt.report["commits"].as_array().unwrap();
    let samples = commits.iter().flat_map(|commit| commit["samples"].as_array().unwrap());
    samples.map(|sample| sample["log"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "long: scripts/test --long"]
fn long_logs_are_compressed_and_read_everywhere() {
    let env = TestEnvironment::new();
    // Each run prints 1 MiB.
    let history = line("g g b b").with_all("flood_mib = 1").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 2);
    let logs = logs(&hunt);
    assert!(!logs.is_empty());
    for log in &logs {
        assert!(log.ends_with(".log.zst"), "{log}");
        let bytes = fs::read(hunt.folder.join(log)).unwrap();
        assert!(bytes.len() < 64 << 10, "{} bytes", bytes.len());
        let text = zstd::decode_all(&bytes[..]).unwrap();
        assert!(text.len() > 1 << 20 && text.starts_with(b"# command: "), "{}", text.len());
    }
    // Values are read from the logs again: another tolerance needs no run.
    let runs = env.runs().len();
    Oracle::new(&env).only_guard("metric = \"ppl\"\nmax_increase = 0.3").write(&env);
    env.hunt().names(&history, 2);
    assert_eq!(env.runs().len(), runs);
    // The page has the beginning and the end of each log, and a bundle has the logs.
    assert!(hunt.file("report.html").contains("backend: cpu"));
    for page in ["report.html", "report.md"] {
        assert!(hunt.file(page).contains("zstdcat FILE"), "{page} says how to read a log");
    }
    let bundle = env.path("tmp/hunt.tar.zst");
    let bundle = bundle.to_str().unwrap();
    env.run(&["report", &hunt.id(), "--bundle", bundle]).expect(0);
    let from = env.run(&["report", "--from", bundle, "--format", "md"]).expect(0);
    assert!(from.stdout.contains(history.commit(2)), "{}", from.stdout);
    // A log that was changed is noticed, and its run is made again.
    let damaged = hunt.folder.join(&logs[0]);
    let bytes = fs::read(&damaged).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    env.hunt().names(&history, 2);
    assert!(env.runs().len() > runs);
}

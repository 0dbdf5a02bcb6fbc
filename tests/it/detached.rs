//! Hunts without a terminal: `--detach`, what it survives, how it is watched and ended, and how a
//! hunt goes on after its driver died or the machine was started again.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;

use crate::kit::{
    History, Hunt, Oracle, Output, PATIENCE, TestEnvironment, kill, line, wait_until,
};

const CULPRIT: &str = "5";
const DETACH: [&str; 4] = ["start", "--detach", "--good", "v1"];

/// A history whose runs wait for the file `go` after this many runs.
fn waiting_after(runs: usize) -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let history = line("g g g g g b b b").build(&env);
    let [log, go, waits] = ["world/starts.log", "go", "waits"].map(|name| env.path(name));
    let script = env.path("wait.sh");
    let wait = format!(
        "if test $(grep -c ^run {log}) -ge {runs}; then\n\
         echo >> {waits}; until test -e {go}; do sleep 0.05; done; fi\n\
         exec \"$@\"\n",
        log = log.display(),
        go = go.display(),
        waits = waits.display()
    );
    fs::write(&script, wait).unwrap();
    let run = "{build}/engine run ppl src={src} cache={cache} out={out}";
    Oracle::new(&env).ppl_command(&format!("sh {} {run}", script.display())).write(&env);
    (env, history)
}

fn go(env: &TestEnvironment) {
    fs::write(env.path("go"), "").unwrap();
}

/// Starts a detached hunt; returns its driver's process id, its folder, and what was printed.
fn detached(env: &TestEnvironment, words: &[&str]) -> (i32, PathBuf, Output) {
    let output = env.run(words).expect(0);
    let (_, rest) = output.stderr.split_once("in process ").expect("the driver's process");
    let pid = rest.lines().next().unwrap().parse().unwrap();
    let id = output.stderr.lines().next().unwrap().strip_prefix("hunt: ").unwrap();
    let folder = env.git_folder().join("bisect-ppl/hunts").join(id);
    (pid, folder, output)
}

/// Fields of `/proc/PID/stat`, from the third one on.
fn stat(pid: i32) -> Vec<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.split_whitespace().map(str::to_owned).collect()
}

/// Waits until this many runs have begun to wait.
#[track_caller]
fn wait_for_waits(env: &TestEnvironment, number: usize) {
    let waits = || fs::read_to_string(env.path("waits")).unwrap_or_default().lines().count();
    assert!(wait_until(PATIENCE, || waits() >= number), "{:?}", env.runs());
}

/// `status --wait`, as the end of a hunt.
fn awaited(env: &TestEnvironment) -> Hunt {
    let hunt = Hunt::of(env, env.run(&["status", "--wait"]));
    assert_eq!(hunt.output.stderr, "");
    hunt
}

#[test]
fn a_detached_hunt_has_a_session_of_its_own_and_its_answer_is_awaited() {
    let (env, history) = waiting_after(4);
    let (pid, folder, output) = detached(&env, &DETACH);
    assert_eq!(output.stdout, "");
    let id = folder.file_name().unwrap().to_str().unwrap();
    output.says(&[
        &format!("`bisect-ppl status --watch {id}` shows it"),
        &format!("`bisect-ppl status --wait {id}` waits"),
        &format!("`bisect-ppl stop {id}` ends it"),
    ]);
    let fields = stat(pid);
    let (session, terminal) = (&fields[3], &fields[4]);
    assert_eq!((session, terminal.as_str()), (&pid.to_string(), "0"));
    assert_eq!(fs::read_link(format!("/proc/{pid}/fd/0")).unwrap(), PathBuf::from("/dev/null"));

    let watch = env.spawn_product(&["status", "--watch"]);
    let wait = env.spawn_product(&["status", "--wait", id]);
    wait_for_waits(&env, 1);
    go(&env);
    let waited = wait.wait().expect(0);
    let watched = watch.wait().expect(0);
    assert_eq!(waited.stderr, "");
    assert_eq!(watched.stdout, waited.stdout);
    assert!(watched.stderr.contains("\nbad      "), "{}", watched.stderr);
    let log = fs::read_to_string(folder.join("driver.log")).unwrap();
    assert!(log.starts_with("# 20") && log.contains(&format!("\nhunt: {id}\n")), "{log}");
    assert!(log.ends_with(&waited.stdout), "{log}\n---\n{}", waited.stdout);
    // It began once, and was not resumed.
    assert!(!log.contains("resumed"), "{log}");
    awaited(&env).names(&history, CULPRIT);
    env.assert_no_survivors();
}

#[test]
fn mistakes_are_told_before_the_command_returns() {
    let (env, _) = waiting_after(1);
    env.run(&["start", "--detach", "--good", "v9"]).expect(2).says(&["unknown revision"]);
    env.run(&["start", "--detach", "--good", "v1", "--max-hours", "0"]).expect(2);
    env.run(&["start", "--detach", "--good", "v1", "--dry-run"]).expect(2);
    env.run(&["resume", "--detach"]).expect(2).says(&["there is no hunt"]);
    fs::write(env.repo().join("oracle.toml"), "version = 1\n[typo]\n").unwrap();
    env.run(&DETACH).expect(2).says(&["typo"]);
    assert!(!env.git_folder().join("bisect-ppl/hunts").exists());
    env.assert_no_survivors();
}

#[test]
fn what_a_driver_says_that_dies_at_once_is_shown_with_its_exit_code() {
    let (env, history) = waiting_after(4);
    let (pid, folder, _) = detached(&env, &DETACH);
    kill(pid, Signal::KILL);
    env.assert_no_survivors();
    let file = folder.join("driver");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let failed = env.run(&["resume", "--detach"]).expect(5);
    assert!(failed.stderr.contains(&format!("error: {}", file.display())), "{}", failed.stderr);
    assert_eq!(failed.stderr.matches("hunt: ").count(), 1, "{}", failed.stderr);
    fs::remove_dir(&file).unwrap();
    go(&env);
    detached(&env, &["resume", "--detach"]);
    awaited(&env).names(&history, CULPRIT);
}

#[test]
fn a_killed_driver_is_told_from_a_stopped_one() {
    let (env, history) = waiting_after(6);
    let (pid, ..) = detached(&env, &DETACH);
    wait_for_waits(&env, 1);
    let wait = env.spawn_product(&["status", "--wait"]);
    let watch = env.spawn_product(&["status", "--watch"]);
    kill(pid, Signal::KILL);
    for ended in [wait, watch] {
        let said = ended.wait().expect(5);
        said.says(&[
            "its process ended unexpectedly",
            "hint: `bisect-ppl resume ",
            "goes on where it was",
        ]);
    }
    env.assert_no_survivors();

    detached(&env, &["resume", "--detach"]);
    wait_for_waits(&env, 2);
    let wait = env.spawn_product(&["status", "--wait"]);
    env.run(&["stop"]).expect(0);
    let left = env.processes();
    // A program that `status --wait` just forked has its command line for an instant.
    let left: Vec<_> =
        left.iter().filter(|process| !process.command.contains("status --wait")).collect();
    assert!(left.is_empty(), "{left:?}");
    wait.wait().expect(130).says(&["error: stopped", "hint: `bisect-ppl resume "]);

    // Killed after an earlier stop: the last event counts.
    let (pid, ..) = detached(&env, &["resume", "--detach"]);
    wait_for_waits(&env, 3);
    kill(pid, Signal::KILL);
    env.assert_no_survivors();
    env.run(&["status", "--wait"]).expect(5);
    go(&env);
    env.resume().names(&history, CULPRIT);
    assert!(env.runs().len() <= 15, "{:?}", env.runs());
}

#[test]
fn a_second_driver_is_told_who_holds_the_hunt() {
    let (env, history) = waiting_after(4);
    let (pid, ..) = detached(&env, &DETACH);
    wait_for_waits(&env, 1);
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    let holder = format!("is running already: process {pid} on {host}, since ");
    for words in [&["resume"][..], &["resume", "--detach"]] {
        let refused = env.run(words).expect(2);
        refused.says(&[&holder, "hint: `bisect-ppl status --watch 20", "`bisect-ppl stop 20"]);
    }
    go(&env);
    awaited(&env).names(&history, CULPRIT);
}

#[test]
fn a_detached_hunt_survives_hangups_and_ctrl_c() {
    let (env, history) = waiting_after(4);
    let (pid, ..) = detached(&env, &DETACH);
    wait_for_waits(&env, 1);
    kill(pid, Signal::HUP);
    let watch = env.spawn_product(&["status", "--watch"]);
    std::thread::sleep(Duration::from_millis(300));
    kill(watch.pid(), Signal::INT);
    watch.wait().expect(130);
    env.run(&["status"]).expect(0).says(&["running: run ppl"]);
    go(&env);
    awaited(&env).names(&history, CULPRIT);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_detached_hunt_survives_its_terminal() {
    let (env, history) = waiting_after(4);
    let command = format!("{} start --detach --no-localize --good v1", TestEnvironment::product());
    // The terminal closes as soon as the command has returned.
    let shown = env.tool(&env.repo(), "script", &["-qec", &command, "/dev/null"]).expect(0);
    assert!(shown.stdout.contains("runs without this terminal"), "{}", shown.stdout);
    wait_for_waits(&env, 1);
    go(&env);
    awaited(&env).names(&history, CULPRIT);
}

#[test]
fn limits_and_the_command_of_on_finish_reach_the_detached_driver() {
    let (env, history) = waiting_after(100);
    let told = env.path("told");
    let tell = format!("sh -c \"cat > {}\"", told.display());
    let words = [&DETACH[..], &["--max-runs", "5", "--on-finish", &tell]].concat();
    let (pid, ..) = detached(&env, &words);
    awaited(&env).expect(3, "candidates");
    let gone = || !PathBuf::from(format!("/proc/{pid}/cmdline")).exists() || stat(pid)[0] == "Z";
    assert!(wait_until(PATIENCE, gone));
    assert!(fs::read_to_string(&told).unwrap().contains("\"inconclusive\""));
    detached(&env, &["resume", "--detach", "--max-runs", "3"]);
    awaited(&env).expect(3, "candidates");
    assert_eq!(env.runs().len(), 8);
    detached(&env, &["resume", "--detach"]);
    awaited(&env).names(&history, CULPRIT);
}

#[test]
fn status_says_that_an_answer_is_the_last_one_of_a_hunt_that_goes_on() {
    let (env, _) = waiting_after(100);
    let words = ["start", "--good", "v1", "--max-runs", "5"];
    let hunt = Hunt::of(&env, env.run(&words)).expect(3, "candidates");
    let said =
        "running: a process works on this hunt; its last answer:\nThe first bad commit may be";
    // As a driver that was just started.
    let lock = fs::File::open(hunt.folder.join("lock")).unwrap();
    lock.lock().unwrap();
    env.run(&["status"]).expect(0).says(&[said]);
    drop(lock);
    let after = env.run(&["status"]).expect(0);
    assert!(!after.stdout.contains("running"), "{}", after.stdout);
}

#[test]
fn the_exit_code_of_a_wait_is_that_of_the_hunt() {
    let env = TestEnvironment::new();
    line("g g g g").build(&env);
    Oracle::new(&env).write(&env);
    detached(&env, &DETACH);
    let awaited = awaited(&env).expect(4, "no-regression").output.stdout;
    let again = env.run(&["resume"]).expect(4);
    assert_eq!(awaited, again.stdout);

    let env = TestEnvironment::new();
    let broken = (1..4).fold(line("g g g b b"), |plan, at| plan.with(at, "break_world = broken"));
    broken.build(&env);
    Oracle::new(&env).write(&env);
    let direct = env.run(&["start", "--good", "v1"]).expect(5);
    let (_, error) = direct.stderr.split_once("error: ").unwrap();
    let waited = env.run(&["status", "--wait"]).expect(5);
    // It names the hunt, since a newer one may begin meanwhile.
    let (head, tail) = waited.stderr.split_once("`bisect-ppl resume ").unwrap();
    let (_hunt, tail) = tail.split_once('`').unwrap();
    assert_eq!(format!("{head}`bisect-ppl resume`{tail}"), format!("error: {error}"));
}

/// After a reboot all processes are gone, temporary folders may be empty, and other processes have
/// the old numbers.
#[test]
fn after_a_reboot_a_hunt_goes_on_from_the_store_alone() {
    let (env, history) = waiting_after(6);
    let (pid, folder, _) = detached(&env, &DETACH);
    wait_for_waits(&env, 1);
    env.processes().iter().for_each(|process| kill(process.pid, Signal::KILL));
    env.assert_no_survivors();
    assert!(folder.join("now.json").exists(), "the state of a killed driver");
    fs::remove_dir_all(env.path("cache")).unwrap();
    fs::create_dir(env.path("cache")).unwrap();
    // After the reboot, another process has the PID and the start time that the file names.
    let own = i32::try_from(std::process::id()).unwrap();
    let file = folder.join("driver");
    let line = fs::read_to_string(&file).unwrap();
    let (first, rest) = line.split_once(' ').unwrap();
    assert_eq!(first, pid.to_string());
    let (_, rest) = rest.split_once(' ').unwrap();
    fs::write(&file, format!("{own} {} {rest}", stat(own)[19])).unwrap();

    env.run(&["stop"]).expect(0).says(&["is not running"]);
    env.run(&["status"]).expect(0).says(&["not running: its process ended unexpectedly"]);
    env.run(&["status", "--wait"]).expect(5);
    go(&env);
    detached(&env, &["resume", "--detach"]);
    awaited(&env).names(&history, CULPRIT);
    assert!(env.runs().len() <= 15, "{:?}", env.runs());
    assert_eq!(env.git(&["worktree", "list"]).lines().count(), 1);
    env.assert_no_survivors();
}

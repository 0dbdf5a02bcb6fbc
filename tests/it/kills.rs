//! Interrupted hunts: the same answer after `resume`, and no process lives on. `faults` kills
//! processes at random moments.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;

use crate::kit::{
    History, Hunt, Oracle, PATIENCE, Process, Running, Snapshot, TestEnvironment, kill, line,
    wait_until,
};

/// A history with runs and builds long enough for a kill to hit.
fn slow() -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let plan = line("g g g g g b b b").with_all("chunk_ms = 15").with_all("build_ms = 40");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    (env, history)
}

const CULPRIT: &str = "5";
/// Runs of the hunt: two at each endpoint, three in the search, eight to confirm.
const RUNS: usize = 15;

/// Interrupts a hunt during a run of a searched commit.
fn interrupted(signal: Signal, whole_group: bool) {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 150").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    let pid = running.pid();
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    kill(if whole_group { -pid } else { pid }, signal);
    let output = running.wait().expect(130).says(&["resume"]);
    env.assert_no_survivors();
    before.assert_unchanged(&env);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    let killed = env.runs().len();
    assert_eq!(killed, 5, "nothing was begun after the signal");
    env.resume().names(&history, 3);
    before.assert_unchanged(&env);
}

#[test]
fn ctrl_c_ends_the_whole_hunt_and_it_can_be_resumed() {
    interrupted(Signal::INT, true);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_signal_to_the_driver_alone_ends_the_whole_hunt() {
    interrupted(Signal::TERM, false);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn ctrl_c_for_the_driver_alone_ends_the_whole_hunt() {
    interrupted(Signal::INT, false);
}

#[test]
fn an_engine_deaf_to_term_does_not_outlive_ctrl_c() {
    let env = TestEnvironment::new();
    line("g g g b b").with(2, "fate = hang-hard").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs_of(2) == 1));
    kill(-running.pid(), Signal::INT);
    running.wait().expect(130);
    env.assert_no_survivors();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn ctrl_c_within_an_endpoint_or_a_build_is_resumable_too() {
    for starts in [2, 3] {
        let (env, history) = slow();
        let running = env.spawn_product(&["start", "--good", "v1"]);
        assert!(wait_until(PATIENCE, || env.starts().len() >= starts));
        kill(-running.pid(), Signal::INT);
        running.wait().expect(130);
        env.assert_no_survivors();
        env.resume().names(&history, CULPRIT);
        assert!(env.runs().len() <= RUNS + 1, "{:?}", env.runs());
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_drivers_do_not_share_a_hunt() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 80").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    let second = env.run(&["resume"]);
    assert_eq!(second.code(), Some(2), "{}", second.stderr);
    env.run(&["status"]).expect(0);
    running.wait().expect(0);
    env.resume().names(&history, 3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn stop_ends_a_hunt_from_outside() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 80").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    env.assert_no_survivors();
    env.resume().names(&history, 3);
}

/// A hunt whose engines leave processes in sessions of their own, while one of them runs.
fn with_orphans() -> (TestEnvironment, History, Running) {
    let env = TestEnvironment::new();
    let plan = line("g g g b b").with_all("orphan = yes").with_all("chunk_ms = 100");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    let is_measuring = || env.runs().len() >= 5 && env.processes().iter().any(is_orphan);
    assert!(wait_until(PATIENCE, is_measuring));
    (env, history, running)
}

fn is_orphan(process: &Process) -> bool {
    process.command.trim_end().ends_with(" orphan")
}

/// Kills the processes around the engine that have these words. `git bisect run` has such processes
/// too, which are older.
fn kill_around_engine(env: &TestEnvironment, words: &[&str]) {
    let processes = env.processes();
    for word in words {
        let around = processes.iter().filter(|process| process.command.contains(word));
        let engines =
            around.max_by_key(|process| process.pid).expect("a process around the engine");
        kill(engines.pid, Signal::KILL);
    }
}

#[test]
fn a_killed_supervisor_leaves_no_process_that_detached_itself() {
    let (env, history, running) = with_orphans();
    kill_around_engine(&env, &[" __supervise"]);
    running.wait().expect(5).says(&["resume"]);
    env.assert_no_survivors();
    env.resume().names(&history, 3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_hunt_goes_on_without_a_guard() {
    let (env, history, running) = with_orphans();
    kill_around_engine(&env, &[" __guard"]);
    running.wait().expect(0);
    env.assert_no_survivors();
    env.resume().names(&history, 3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn if_guard_and_supervisor_are_killed_the_driver_ends_what_is_left() {
    let (env, history, running) = with_orphans();
    kill_around_engine(&env, &[" __guard", " __supervise"]);
    running.wait().expect(5).says(&["resume"]);
    env.assert_no_survivors();
    env.resume().names(&history, 3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn if_all_but_a_detached_process_are_killed_the_next_driver_ends_it() {
    let (env, history, running) = with_orphans();
    // Children before parents: when a parent ends, the kernel sends CONT to its stopped children,
    // and they would end the detached process.
    let send = |signal| {
        let mut processes = env.processes();
        processes.sort_by_key(|process| std::cmp::Reverse(process.pid));
        for process in processes.iter().filter(|process| !is_orphan(process)) {
            kill(process.pid, signal);
        }
    };
    // Stopped first, so that none of them sees another one end. A process that was killed before
    // that may be listed for a moment longer, so the list must stay as it is.
    let has_one_orphan = || {
        send(Signal::STOP);
        let stopped = env.processes();
        std::thread::sleep(Duration::from_millis(200));
        let (orphans, others): (Vec<_>, Vec<_>) = env.processes().into_iter().partition(is_orphan);
        let is_one = orphans.len() == 1
            && orphans.len() + others.len() == stopped.len()
            && others.iter().all(Process::is_stopped);
        if !is_one {
            send(Signal::CONT);
        }
        is_one
    };
    assert!(wait_until(PATIENCE, has_one_orphan));
    send(Signal::KILL);
    assert_eq!(running.wait().code(), None);
    assert!(wait_until(PATIENCE, || env.processes().iter().all(is_orphan)));
    assert_eq!(env.processes().len(), 1, "{:?}", env.processes());
    env.resume().names(&history, 3);
    env.assert_no_survivors();
}

/// The locks of git in the user's repository.
fn locks(env: &TestEnvironment) -> Vec<PathBuf> {
    let mut folders = vec![env.git_folder()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if entry.file_name() != "bisect-ppl" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|end| end == "lock") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_hunt_needs_no_lock_of_the_users_repository() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").build(&env);
    env.git(&["pack-refs", "--all"]);
    Oracle::new(&env).write(&env);
    for lock in ["packed-refs.lock", "index.lock", "HEAD.lock", "refs/heads/main.lock"] {
        fs::write(env.git_folder().join(lock), "").unwrap();
    }
    let before = locks(&env);
    env.hunt().names(&history, 3);
    assert_eq!(locks(&env), before);
}

#[test]
fn a_git_that_is_killed_in_a_checkout_leaves_no_lock_in_the_users_repository() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").build(&env);
    env.git(&["pack-refs", "--all"]);
    Oracle::new(&env).write(&env);
    let found = env.tool(&env.repo(), "sh", &["-c", "command -v git"]).expect(0).stdout;
    let (git, bin, kills) = (found.trim(), env.path("world/bin"), env.path("world/kills"));
    fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\n\
         case \"$*\" in *read-tree*|*update-ref*|*worktree*)\n\
           number=$(cat {kills} 2>/dev/null || echo 0)\n\
           echo $((number + 1)) > {kills}\n\
           if [ $((number % 3)) = 1 ] && [ $number -lt 22 ]; then\n\
             {git} \"$@\" &\n\
             sleep 0.00$((number % 7))\n\
             kill -9 $! $$\n\
           fi;;\n\
         esac\n\
         exec {git} \"$@\"\n",
        kills = kills.display()
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let run = |words: &[&str]| env.run_with(&env.repo(), words, &[("PATH", path.clone())]);
    let mut output = run(&["start", "--good", "v1"]);
    let mut stops = 0;
    while output.code() == Some(5) && stops < 20 {
        output.says(&["resume"]);
        assert_eq!(locks(&env), Vec::<PathBuf>::new());
        output = run(&["resume"]);
        stops += 1;
    }
    assert!(stops >= 3, "{stops} stops: {:?} {}", output.code(), output.stderr);
    Hunt::of(&env, output).names(&history, 3);
    assert_eq!(locks(&env), Vec::<PathBuf>::new());
}

/// The folder of the slots of the only repository.
fn slots(env: &TestEnvironment) -> PathBuf {
    let folders = fs::read_dir(env.path("cache/bisect-ppl")).unwrap().flatten();
    let mut slots = folders.map(|entry| entry.path().join("slots"));
    slots.find(|slots| slots.exists()).unwrap()
}

#[test]
fn a_resumed_hunt_builds_and_runs_at_the_same_path() {
    let (env, history) = slow();
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    kill(running.pid(), Signal::TERM);
    running.wait().expect(130);
    env.resume().names(&history, CULPRIT);
    let slots = slots(&env);
    assert!(slots.join("0.lock").exists() && !slots.join("1.lock").exists());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_build_that_lost_its_program_is_made_again() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 150").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    // The build of the good end is parked while the bad end runs.
    assert!(wait_until(PATIENCE, || env.runs_of(4) == 1));
    let entries = fs::read_dir(slots(&env)).unwrap().flatten();
    let programs = entries.map(|entry| entry.path().join("build/engine"));
    let is_parked = |path: &PathBuf| path.exists() && !path.to_string_lossy().contains("/slots/0/");
    let parked: Vec<PathBuf> = programs.filter(is_parked).collect();
    assert_eq!(parked.len(), 1, "{parked:?}");
    fs::remove_file(&parked[0]).unwrap();
    let hunt = Hunt::of(&env, running.wait()).names(&history, 3);
    assert!(!hunt.output.stderr.contains("engine"), "{}", hunt.output.stderr);
    assert_eq!(env.builds_of(0), 2);
}

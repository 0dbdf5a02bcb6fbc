//! Drivers, supervisors and guards that are killed: which processes are left.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::time::Duration;

use bisect_ppl::evaluation::Ended;
use bisect_ppl::process::{Finished, ProcessError, SlotMark, Stop};

use super::{TestFolder, helper_command, token_of, wait_for};
use crate::kit::heed_interrupts;

#[test]
fn a_killed_driver_leaves_nothing_behind() {
    let room = TestFolder::new();
    let words = helper_command();
    let mut driver = Command::new(&words[0])
        .args(&words[1..])
        .env("HELPER_TOKEN", token_of(&room))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the engine's start", || room.alive().len() >= 4);
    driver.kill().unwrap();
    driver.wait().unwrap();
    wait_for("the engine's end", || room.alive().is_empty());
}

/// Runs an engine that leaves processes in sessions of their own and then ends with 3 when `go`
/// exists. Meanwhile kills those processes above the engine whose names are `victims`.
fn with_killed(
    room: &TestFolder,
    mark: Option<SlotMark>,
    victims: &[&str],
) -> Result<Finished, ProcessError> {
    let script = "
        setsid sleep 1000 &
        (setsid setsid sleep 1000 </dev/null >/dev/null 2>&1 &)
        sleep 0.1; echo $PPID >parent; mv parent supervisor
        until [ -e go ]; do sleep 0.02; done; exit 3";
    let (supervisor, go) = (room.path("supervisor"), room.path("go"));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            wait_for("the engine's start", || supervisor.exists());
            let pid = std::fs::read_to_string(&supervisor).unwrap().trim().to_owned();
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            let guard = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().to_owned();
            for pid in [guard, pid] {
                let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
                if victims.contains(&name.trim_end()) {
                    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
                }
            }
            std::fs::write(go, "").unwrap();
        });
        room.run_until(&room.sh(script).mark(mark), &Stop::never())
    })
}

const SUPERVISOR: &str = "ppl-supervisor";

const GUARD: &str = "ppl-guard";

#[test]
fn a_killed_supervisor_takes_all_processes_of_the_run_along() {
    let room = TestFolder::new();
    let result = with_killed(&room, None, &[SUPERVISOR]);
    assert!(matches!(result, Err(ProcessError::SupervisorDied)), "{result:?}");
    room.assert_empty();
}

#[test]
fn a_run_goes_on_without_its_guard() {
    let room = TestFolder::new();
    assert_eq!(with_killed(&room, None, &[GUARD]).unwrap().ended, Ended::Exited(3));
    room.assert_empty();
}

/// The mark of a slot whose lock file is in the folder.
fn mark(room: &TestFolder, lock: &str) -> SlotMark {
    SlotMark::of_lock(&room.file(lock, 0o644, "")).unwrap()
}

#[test]
fn the_mark_tells_what_is_left_when_guard_and_supervisor_are_killed() {
    let room = TestFolder::new();
    let result = with_killed(&room, Some(mark(&room, "lock")), &[GUARD, SUPERVISOR]);
    assert!(matches!(result, Err(ProcessError::SupervisorDied)), "{result:?}");
    room.assert_empty();
}

#[test]
fn only_processes_of_the_slot_and_of_this_user_are_ended_by_their_mark() {
    let room = TestFolder::new();
    let [own, other] = ["own", "other"].map(|lock| mark(&room, lock));
    let values = [&own, &other].map(|mark| {
        room.run(&room.sh("echo $BISECT_PPL_SLOT").mark(Some(mark.clone())));
        room.stdout().trim().to_owned()
    });
    assert_eq!(values[0].len(), 33);
    let start = |value: &str, user: Option<u32>| {
        let mut command = Command::new("sleep");
        if let Some(user) = user {
            command.uid(user);
        }
        command.arg("1000").env("BISECT_PPL_SLOT", value).spawn()
    };
    let mut marked = start(&values[0], None).unwrap();
    // The mark is only a part of the value.
    let mut similar = start(&format!("{}0", values[0]), None).unwrap();
    let mut elsewhere = start(&values[1], None).unwrap();
    // Only root can start it.
    let mut foreign = start(&values[0], Some(65534)).ok();
    assert_eq!(own.end_processes(), 0);
    assert_eq!(marked.wait().unwrap().signal(), Some(9));
    for child in [Some(&mut similar), Some(&mut elsewhere), foreign.as_mut()] {
        let Some(child) = child else { continue };
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn an_oracle_below_a_run_ends_its_own_engine_first() {
    let (outer, inner) = (TestFolder::new(), TestFolder::new());
    let words = helper_command();
    let oracle = outer.program(&words[0]).args(&words[1..]).env("HELPER_TOKEN", token_of(&inner));
    let oracle = oracle.env_remove("ROOM_TOKEN").grace(Duration::from_secs(30));
    let stop = Stop::never();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for("the engine's start", || inner.alive().len() >= 4);
            stop.request();
        });
        let finished = outer.run_until(&oracle, &stop).unwrap();
        assert_eq!(finished.ended, Ended::Stopped);
    });
    assert!(outer.stdout().contains("helper: stopped by Some(15)"), "{}", outer.stdout());
    inner.assert_empty();
}

#[test]
fn nohup_holds_and_other_signals_stop() {
    heed_interrupts();
    let room = TestFolder::new();
    let words = helper_command();
    let said = room.path("said");
    let mut driver = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .args(words)
        .env("HELPER_TOKEN", token_of(&room))
        .stdout(std::fs::File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let kill = |signal: &str| {
        let pid = driver.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    };
    wait_for("the engine's start", || room.alive().len() >= 4);
    kill("-HUP");
    std::thread::sleep(Duration::from_millis(100));
    assert!(room.alive().len() >= 4);
    kill("-INT");
    assert!(driver.wait().unwrap().success());
    let said = std::fs::read_to_string(said).unwrap();
    assert!(said.contains("helper: stopped by Some(2)"), "{said}");
    room.assert_empty();
}

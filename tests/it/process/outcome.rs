//! How a run ends: exit codes, signals, time-outs, requests, and what cannot be started.

use std::path::Path;
use std::time::{Duration, Instant};

use bisect_ppl::evaluation::Ended;
use bisect_ppl::process::{Keep, LogFile, ProcessError, Stop, run};

use super::{LONG, TestFolder, wait_for};

#[test]
fn exit_codes_come_through_undisturbed() {
    let room = TestFolder::new();
    for code in [0, 1, 2, 101, 125, 126, 127, 255] {
        assert_eq!(room.ended(&format!("exit {code}")), Ended::Exited(code));
    }
}

#[test]
fn signals_come_through_undisturbed() {
    let room = TestFolder::new();
    for signal in [1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 15, 31] {
        let ended = room.ended(&format!("ulimit -c 0; kill -{signal} $$; sleep 60"));
        assert_eq!(ended, Ended::Signaled(signal));
    }
}

#[test]
fn a_time_out_ends_those_who_ignore_it_and_those_who_left_the_group() {
    let room = TestFolder::new();
    let script = "
        (trap '' TERM; echo stubborn; while :; do sleep 1; done) &
        setsid sh -c 'trap \"\" TERM HUP; echo escaped; while :; do sleep 1; done' &
        (setsid setsid sh -c 'echo twice; exec sleep 1000' >daemon </dev/null 2>&1 &) &
        trap 'echo told; exit 0' TERM
        while :; do sleep 0.05; done";
    let invocation = room.sh(script).timeout(Some(Duration::from_secs(1)));
    let finished = room.run(&invocation.grace(Duration::from_millis(200)));
    assert_eq!(finished.ended, Ended::TimedOut);
    assert_eq!(finished.survivors, 0);
    room.assert_empty();
    let said = room.stdout();
    for word in ["stubborn", "escaped", "told"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(std::fs::read_to_string(room.path("daemon")).unwrap(), "twice\n");
    assert!(finished.wall >= Duration::from_secs(1));
}

#[test]
fn one_that_ignores_term_is_killed_after_the_grace() {
    let room = TestFolder::new();
    let invocation = room.sh("trap '' TERM; while :; do sleep 0.1; done");
    let invocation = invocation.timeout(Some(Duration::from_millis(300)));
    let finished = room.run(&invocation.grace(Duration::from_millis(300)));
    assert_eq!(finished.ended, Ended::TimedOut);
    assert!(finished.wall >= Duration::from_millis(600), "{finished:?}");
    room.assert_empty();
}

#[test]
fn a_stopped_engine_times_out_all_the_same() {
    let room = TestFolder::new();
    let invocation = room.sh("kill -STOP $$; sleep 1000");
    let finished = room.run(&invocation.timeout(Some(Duration::from_millis(300))));
    assert_eq!(finished.ended, Ended::TimedOut);
    room.assert_empty();
}

#[test]
fn the_run_ends_with_its_main_process_whoever_holds_the_pipe() {
    let room = TestFolder::new();
    let begin = Instant::now();
    let script = "sleep 1000 & (trap '' HUP TERM; sleep 1001) & setsid sleep 1002 & echo done";
    assert_eq!(room.ended(script), Ended::Exited(0));
    assert!(begin.elapsed() < LONG);
    assert_eq!(room.stdout(), "done\n");
    room.assert_empty();
}

#[test]
fn daemons_that_closed_everything_do_not_outlive_the_run() {
    let room = TestFolder::new();
    let script = "
        for i in 1 2 3 4 5; do
            setsid sh -c 'sleep 1000 & sleep 1000 & exit' </dev/null >/dev/null 2>&1 &
        done
        wait; exit 4";
    assert_eq!(room.ended(script), Ended::Exited(4));
    room.assert_empty();
}

#[test]
fn what_cannot_be_started_is_told_apart_from_what_fails() {
    let room = TestFolder::new();
    let ended = |program: &str| room.run(&room.program(program)).ended;
    let gone = room.path("gone").display().to_string();
    assert_eq!(ended(&gone), Ended::NotFound(gone.clone()));
    assert_eq!(ended("no-such-program-here"), Ended::NotFound("no-such-program-here".to_owned()));

    room.file("plain", 0o644, "#!/bin/sh\n");
    assert!(matches!(ended("./plain"), Ended::NotStarted(why) if why.contains("permission")));
    room.file("garbage", 0o755, "\u{1}\u{2}");
    assert!(matches!(ended("./garbage"), Ended::NotStarted(why) if why.contains("format")));
    room.file("empty", 0o755, "");
    assert!(matches!(ended("./empty"), Ended::NotStarted(_)));
    room.file("script", 0o755, "#!/opt/gone/python3 -u\n");
    assert_eq!(ended("./script"), Ended::NotFound("/opt/gone/python3".to_owned()));
    assert!(matches!(ended("/"), Ended::NotStarted(_)));
    assert_eq!(room.log().header().count(), 1);

    room.file("fine", 0o755, "#!/bin/sh\nexit 3\n");
    assert_eq!(ended("./fine"), Ended::Exited(3));
    let found = room.program("fine").env("PATH", room.folder.path());
    assert_eq!(room.run(&found).ended, Ended::Exited(3));
    let nowhere = room.program("true").cwd("/nowhere");
    let error = room.run_until(&nowhere, &Stop::never());
    assert!(matches!(error, Err(ProcessError::Folder(_))));
    let dark = run(
        &room.program("true"),
        &Stop::never(),
        &LogFile { path: Path::new("/nowhere/log"), header: &[], sync: false },
        &mut |_, _| Keep::No,
    );
    assert!(matches!(dark, Err(ProcessError::Log { .. })));
}

#[test]
fn a_request_stops_a_run_and_a_second_one_at_once() {
    let room = TestFolder::new();
    let script = "trap 'echo told' TERM; touch ready; while :; do sleep 0.05; done";
    let stop = Stop::never();
    let asking = stop.clone();
    let ready = room.path("ready");
    let finished = std::thread::scope(|scope| {
        scope.spawn(move || {
            wait_for("the engine's start", || ready.exists());
            asking.request();
            std::thread::sleep(Duration::from_millis(300));
            asking.request();
        });
        room.run_until(&room.sh(script).grace(LONG * 10), &stop).unwrap()
    });
    assert_eq!(finished.ended, Ended::Stopped);
    assert_eq!(room.stdout(), "told\n");
    assert!(finished.wall < LONG);
    room.assert_empty();
    let again = room.run_until(&room.sh("touch again"), &stop).unwrap();
    assert_eq!(again.ended, Ended::Stopped);
    assert!(!room.path("again").exists());
}

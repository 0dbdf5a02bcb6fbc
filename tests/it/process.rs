//! Real processes that misbehave as engines do.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start what the module must cope with")]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test, in helpers too")]

use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bisect_ppl::evaluation::Ended;
use bisect_ppl::process::{
    Finished, Invocation, Keep, Log, LogFile, ProcessError, SlotMark, Stop, Stream, ToolOutput,
    read_log, run, shim, tool,
};
use bisect_ppl::ui::printable;

use crate::kit::heed_interrupts;

/// Far longer than any test here takes; only a hang takes as long.
const LONG: Duration = Duration::from_mins(1);

/// A folder, and a token in the environment of each process that runs there.
struct TestFolder {
    folder: tempfile::TempDir,
    token: String,
}

impl TestFolder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        static SUPERVISOR: Once = Once::new();
        SUPERVISOR.call_once(|| shim::use_program(env!("CARGO_BIN_EXE_bisect-ppl")));
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let token = format!("ROOM_TOKEN=room-{}-{number}.", std::process::id());
        Self { folder: tempfile::tempdir().unwrap(), token }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, mode: u32, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path
    }

    fn marked(&self, invocation: Invocation) -> Invocation {
        let (name, value) = self.token.split_once('=').unwrap();
        invocation.cwd(self.folder.path()).env(name, value)
    }

    fn program(&self, program: &str) -> Invocation {
        self.marked(Invocation::new(program))
    }

    fn sh(&self, script: &str) -> Invocation {
        self.program("sh").args(["-c", script])
    }

    fn run(&self, invocation: &Invocation) -> Finished {
        self.run_until(invocation, &Stop::never()).unwrap()
    }

    fn run_until(&self, invocation: &Invocation, stop: &Stop) -> Result<Finished, ProcessError> {
        let path = self.path("log");
        let log = LogFile { path: &path, header: &[("command", "x".to_owned())], sync: false };
        run(invocation, stop, &log, &mut |_, _| Keep::No)
    }

    fn ended(&self, script: &str) -> Ended {
        self.run(&self.sh(script)).ended
    }

    fn log(&self) -> Log {
        read_log(&self.path("log")).unwrap()
    }

    fn stdout(&self) -> String {
        String::from_utf8(self.log().stream(Stream::Out)).unwrap()
    }

    /// Living processes that carry this folder's token.
    fn alive(&self) -> Vec<String> {
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|entry| {
                let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
                environ.split(|byte| *byte == 0).any(|var| var == self.token.as_bytes())
            })
            .map(|entry| {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                format!("{} {}", entry.file_name().display(), String::from_utf8_lossy(&words))
            })
            .collect()
    }

    #[track_caller]
    fn assert_empty(&self) {
        assert_eq!(self.alive(), Vec::<String>::new());
    }
}

#[track_caller]
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LONG, "{what} never happened");
        std::thread::sleep(Duration::from_millis(10));
    }
}

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
fn both_streams_come_line_by_line_and_as_bytes() {
    let room = TestFolder::new();
    let script = "printf 'a\\377\\r\\n'; printf '\\nb' >&2; printf 'no newline'";
    let seen = RefCell::new(Vec::new());
    let path = room.path("log");
    let header = [("command", "one\ntwo".to_owned()), ("cwd", "/x".to_owned())];
    let log = LogFile { path: &path, header: &header, sync: true };
    let finished = run(&room.sh(script), &Stop::never(), &log, &mut |stream, line| {
        seen.borrow_mut().push((stream, line.to_vec()));
        Keep::Yes
    })
    .unwrap();
    assert_eq!(finished.ended, Ended::Exited(0));
    let log = room.log();
    let logged: Vec<_> = log.lines().map(|(stream, line)| (stream, line.to_vec())).collect();
    assert_eq!(logged, *seen.borrow());
    assert_eq!(log.stream(Stream::Out), b"a\xff\r\nno newline");
    assert_eq!(log.stream(Stream::Err), b"\nb");
    assert_eq!(log.header().next().unwrap().1, "one\ntwo");
    assert_eq!(finished.log_bytes, std::fs::metadata(&path).unwrap().len());
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
fn two_hundred_megabytes_fit_a_small_log() {
    // Resets the peak, which another test may have set (proc(5)).
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS:");
    let room = TestFolder::new();
    let script = "
        yes 'some words of an engine that talks too much, and then some more of them again' |
            head -c 100000000
        echo; echo 'figure: 7.21'
        yes 'some words of an engine that talks too much, and then some more of them again' |
            head -c 100000000; echo; echo last";
    let mut bytes = 0;
    let path = room.path("log");
    let log = LogFile { path: &path, header: &[], sync: false };
    let finished = run(&room.sh(script), &Stop::never(), &log, &mut |_, line| {
        bytes += line.len() as u64 + 1;
        if line.starts_with(b"figure") { Keep::Yes } else { Keep::No }
    })
    .unwrap();
    assert_eq!(finished.ended, Ended::Exited(0));
    assert_eq!(bytes, 200_000_000 + 2 + 13 + 5);
    assert!(finished.log_bytes < 3 << 20, "{finished:?}");
    let log = room.log();
    assert_eq!(log.cut(), finished.cut);
    let kept = (log.stream(Stream::Out).len() + log.stream(Stream::Err).len()) as u64;
    assert_eq!(kept + finished.cut, bytes);
    let lines: Vec<_> = log.lines().map(|(_, line)| line).collect();
    assert!(lines.contains(&&b"figure: 7.21"[..]));
    assert_eq!(lines.last(), Some(&&b"last"[..]));
    let peak = memory("VmHWM:");
    // Other tests in this process use memory meanwhile, but far less than 200 MB.
    assert!(peak < before + 120_000, "{peak} kB, {before} kB before");
}

/// One memory value of this process, in kB. All tests share the process.
fn memory(of: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(of)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
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
fn an_engine_finds_a_clean_world() {
    let room = TestFolder::new();
    let script = "
        env | grep ^GIT_; env | grep -c ^SUPERVISOR; echo $SET; echo ${HOME-unset}
        readlink /proc/self/fd/0; ls -l /proc/self/fd | grep -c socket
        grep -E 'Sig(Blk|Ign)' /proc/self/status; (exec 3</dev/tty) 2>/dev/null && echo tty
        cut -d' ' -f5,6 /proc/self/stat; echo $$";
    let invocation = room.sh(script).env("GIT_DIR", "/x").env("SET", "a b").env_remove("HOME");
    assert_eq!(room.run(&invocation).ended, Ended::Exited(0));
    // 32 and 33 belong to glibc, whose posix_spawn leaves them ignored.
    let said = room.stdout().replace("SigIgn:\t0000000180000000", "SigIgn:\t0000000000000000");
    let lines: Vec<_> = said.lines().collect();
    let pid = lines.last().unwrap();
    let expected = [
        "0",
        "a b",
        "unset",
        "/dev/null",
        "0",
        "SigBlk:\t0000000000000000",
        "SigIgn:\t0000000000000000",
        &format!("{pid} {pid}"),
        pid,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn the_supervisor_is_not_touched_by_the_engines_environment() {
    let room = TestFolder::new();
    let invocation = room.sh("exit 5").env("LD_LIBRARY_PATH", "/nowhere").env("LD_DEBUG", "all");
    let finished = room.run(&invocation.env("LD_DEBUG_OUTPUT", room.path("loader")));
    assert_eq!(finished.ended, Ended::Exited(5));
    let traces = std::fs::read_dir(room.folder.path()).unwrap().flatten();
    let traces = traces.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"loader"));
    assert_eq!(traces.count(), 1);
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

#[test]
fn wall_and_memory_are_the_engines() {
    let room = TestFolder::new();
    let finished = room.run(&room.sh("x=$(head -c 30000000 /dev/zero | tr '\\0' x); sleep 0.2"));
    assert!(finished.wall >= Duration::from_millis(200));
    assert!(finished.peak_rss_mib.unwrap() > 28.0, "{finished:?}");
    let small = room.run(&room.program("true")).peak_rss_mib.unwrap();
    assert!(small < 20.0, "{small}");
}

/// Not a test: acts as a driver or an oracle, in a process of its own for other tests to kill.
#[test]
#[ignore = "started by other tests"]
fn helper() {
    let Ok(token) = std::env::var("HELPER_TOKEN") else { return };
    let mut room = TestFolder::new();
    room.token = format!("ROOM_TOKEN={token}");
    let stop = Stop::on_signals().unwrap();
    let script = "
        (trap '' TERM HUP; exec sleep 1000) & setsid sleep 1000 &
        (setsid setsid sleep 1000 </dev/null >/dev/null 2>&1 &)
        sleep 1000";
    let finished = room.run_until(&room.sh(script), &stop).unwrap();
    println!("helper: {} by {:?}", finished.ended, stop.signal());
}

fn helper_command() -> Vec<String> {
    let exe = std::env::current_exe().unwrap().display().to_string();
    ["process::helper", "--exact", "--ignored", "--nocapture"]
        .into_iter()
        .fold(vec![exe], |words, word| [words, vec![word.to_owned()]].concat())
}

fn token_of(room: &TestFolder) -> &str {
    room.token.split_once('=').unwrap().1
}

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
fn a_panic_while_reading_ends_the_run() {
    let room = TestFolder::new();
    let path = room.path("log");
    let result = std::panic::catch_unwind(|| {
        let log = LogFile { path: &path, header: &[], sync: false };
        run(&room.sh("echo x; sleep 1000"), &Stop::never(), &log, &mut |_, _| panic!("parser"))
    });
    assert!(result.is_err());
    room.assert_empty();
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

#[test]
fn a_tool_is_heard_bounded_and_ended() {
    let room = TestFolder::new();
    let said = |invocation: &Invocation| tool(invocation).unwrap();
    let both = said(&room.sh("echo out; echo err >&2; exit 2"));
    let expected = ToolOutput {
        ended: Ended::Exited(2),
        stdout: b"out\n".to_vec(),
        stderr: b"err\n".to_vec(),
        truncated: false,
    };
    assert_eq!(both, expected);

    let long = said(&room.sh("yes | head -c 3000000").capture(1000));
    assert_eq!((long.ended, long.stdout.len(), long.truncated), (Ended::Exited(0), 1000, true));

    let endless = room.sh("trap '' TERM; echo x; while :; do sleep 0.1; done");
    let endless = endless.timeout(Some(Duration::from_millis(300)));
    let endless = said(&endless.grace(Duration::from_millis(100)));
    assert_eq!((endless.ended, &*endless.stdout), (Ended::TimedOut, &b"x\n"[..]));

    let held = said(&room.sh("sleep 1000 & echo done"));
    assert_eq!((held.ended, &*held.stdout), (Ended::Exited(0), &b"done\n"[..]));
    let mute = said(&room.sh("exec >/dev/null 2>&1; sleep 0.1; kill -9 $$"));
    assert_eq!(mute.ended, Ended::Signaled(9));
    wait_for("the background process's end", || room.alive().is_empty());

    assert!(matches!(said(&room.program("no-such-program-here")).ended, Ended::NotFound(_)));
    room.file("garbage", 0o755, "\u{1}");
    assert!(matches!(said(&room.program("./garbage")).ended, Ended::NotStarted(_)));
    room.file("script", 0o755, "#!/opt/gone/python3\n");
    let script = said(&room.program("./script"));
    assert_eq!(script.ended, Ended::NotFound("/opt/gone/python3".to_owned()));
}

#[test]
fn git_answers_in_english_from_where_it_stands() {
    let room = TestFolder::new();
    let git = |args: &[&str]| tool(&room.marked(Invocation::git(args.to_vec()))).unwrap();
    assert!(git(&["init", "-q"]).ended.is_success());
    let top = git(&["rev-parse", "--show-toplevel"]);
    let folder = room.folder.path().canonicalize().unwrap();
    assert_eq!(printable(&top.stdout).trim(), folder.display().to_string());
    let elsewhere = Invocation::git(["rev-parse", "--git-dir"]).env("GIT_DIR", "/nowhere");
    assert!(!tool(&room.marked(elsewhere)).unwrap().ended.is_success());
}

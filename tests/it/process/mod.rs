//! Real processes that misbehave as engines do.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start what the module must cope with")]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test, in helpers too")]

mod environment;
mod killed;
mod outcome;
mod output;
mod tools;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bisect_ppl::evaluation::Ended;
use bisect_ppl::process::{
    Finished, Invocation, Keep, Log, LogFile, ProcessError, Stop, Stream, read_log, run, shim,
};

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

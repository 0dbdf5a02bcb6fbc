//! `[run] sandbox`: builds and runs in bubblewrap. Where the system allows no user namespaces, the
//! tests see the refusal instead.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bisect_ppl::evaluation::Ended;
use bisect_ppl::process::{
    Finished, Invocation, Keep, LogFile, Sandbox, Stop, Stream, check_sandbox, read_log, run, shim,
};

use crate::kit::{Oracle, TestEnvironment, line, wait_until};

/// Whether bubblewrap works here. Where it is not installed, the test fails.
fn works() -> bool {
    match check_sandbox() {
        Ok(()) => true,
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("cannot make a sandbox"), "{said}: install bubblewrap");
            false
        }
    }
}

/// A folder `own` to which programs in the sandbox may write, and a folder `home`.
struct Folders(tempfile::TempDir);

impl Folders {
    fn new() -> Self {
        shim::use_program(TestEnvironment::product());
        let folders = Self(tempfile::tempdir().unwrap());
        for name in ["own", "home/.cache/ccache", "tmp"] {
            fs::create_dir_all(folders.path(name)).unwrap();
        }
        folders
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn invocation(&self, program: &str) -> Invocation {
        let sandbox =
            Sandbox { writable: vec![self.path("own")], protected: vec![self.path("own/lock")] };
        Invocation::new(program)
            .cwd(self.path("own"))
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env_remove("XDG_CACHE_HOME")
            .sandbox(Some(sandbox))
    }

    fn sh(&self, script: &str) -> Invocation {
        self.invocation("sh").args(["-c", script])
    }

    fn run(&self, invocation: &Invocation) -> Finished {
        let path = self.path("log");
        let log = LogFile { path: &path, header: &[], sync: false };
        run(invocation, &Stop::never(), &log, &mut |_, _| Keep::No).unwrap()
    }

    fn out(&self) -> String {
        let log = read_log(&self.path("log")).unwrap();
        String::from_utf8(log.stream(Stream::Out)).unwrap()
    }
}

#[test]
fn a_program_writes_only_where_it_may_and_has_no_network() {
    if !works() {
        return;
    }
    let folders = Folders::new();
    fs::write(folders.path("own/lock"), "").unwrap();
    let script =
        "for f in \"$HOME/x\" lock /x /etc/x; do (echo x > \"$f\") 2>/dev/null && echo \"$f\"; done
                  for f in own \"$TMPDIR/y\" \"$HOME/.cache/ccache/y\" /dev/null; do \
                      (echo y > \"$f\") 2>/dev/null || echo no \"$f\"; done
                  grep -c : /proc/net/dev; grep CapEff /proc/self/status; pwd";
    assert!(folders.run(&folders.sh(script)).ended.is_success());
    let own = folders.path("own");
    assert_eq!(folders.out(), format!("1\nCapEff:\t0000000000000000\n{}\n", own.display()));
    assert_eq!(fs::read_to_string(folders.path("own/own")).unwrap(), "y\n");
}

#[test]
fn ends_are_told_apart_as_without_a_sandbox() {
    if !works() {
        return;
    }
    let folders = Folders::new();
    let ended = |script: &str| folders.run(&folders.sh(script)).ended;
    assert_eq!(ended("exit 0"), Ended::Exited(0));
    assert_eq!(ended("exit 1"), Ended::Exited(1));
    assert_eq!(ended("echo no >&2; exit 7"), Ended::Exited(7));
    assert_eq!(ended("kill -SEGV $$"), Ended::Signaled(11));
    assert_eq!(ended("kill -KILL $$"), Ended::Signaled(9));
    let missing = folders.run(&folders.invocation("no-such-program")).ended;
    assert_eq!(missing, Ended::NotFound("no-such-program".to_owned()));
    let script = folders.path("own/script");
    fs::write(&script, "#!/nowhere/python3\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ended = folders.run(&folders.invocation(script.to_str().unwrap())).ended;
    assert_eq!(ended, Ended::NotFound("/nowhere/python3".to_owned()));
}

#[test]
fn a_time_limit_sends_term_to_the_program_and_leaves_no_process() {
    if !works() {
        return;
    }
    let folders = Folders::new();
    let limit = Some(Duration::from_millis(700));
    let script = "trap 'echo got TERM; exit 3' TERM; setsid sleep 61 & sleep 61 & wait";
    let begun = Instant::now();
    let done = folders.run(&folders.sh(script).timeout(limit));
    assert_eq!((done.ended, folders.out()), (Ended::TimedOut, "got TERM\n".to_owned()));
    assert!(begun.elapsed() < Duration::from_secs(20));
    let deaf = "trap '' TERM; echo $$; while :; do sleep 1; done";
    let done = folders.run(&folders.sh(deaf).timeout(limit).grace(Duration::from_millis(200)));
    assert_eq!((done.ended, done.survivors), (Ended::TimedOut, 0));
    let pid = folders.out().trim().to_owned();
    assert!(!PathBuf::from(format!("/proc/{pid}")).exists());
}

#[test]
fn memory_and_loaded_files_are_those_of_the_program() {
    if !works() {
        return;
    }
    let folders = Folders::new();
    let script = "x = bytearray(200 << 20); import time; time.sleep(0.3)";
    let done = folders.run(&folders.invocation("python3").args(["-c", script]));
    assert!(done.ended.is_success());
    assert!(done.peak_rss_mib.is_some_and(|mib| mib > 200.0), "{:?}", done.peak_rss_mib);
    let has = |name: &str| done.mapped.iter().any(|file| file.to_string_lossy().contains(name));
    assert!(has("python") && !has("bwrap") && !has("bisect-ppl"), "{:?}", done.mapped);
}

/// The configuration with the sandbox. The scripted engine writes its own log, so its world lies
/// where the sandbox lets it write: in the folder of a compiler cache.
fn sandboxed(env: &TestEnvironment) -> String {
    let (world, within) = (env.path("world"), env.path("home/.cache/ccache"));
    if !within.exists() {
        fs::create_dir_all(within.parent().unwrap()).unwrap();
        fs::rename(&world, &within).unwrap();
        symlink(&within, &world).unwrap();
    }
    Oracle::new(env).section("[run]\nsandbox = true").text()
}

#[test]
fn a_hunt_in_the_sandbox_finds_the_same_and_shares_no_figures() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").build(&env);
    let text = sandboxed(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 3);
    let before = env.starts().len();
    fs::write(env.repo().join("oracle.toml"), text).unwrap();
    if !works() {
        let words = ["bubblewrap cannot make a sandbox here", "sandbox = false"];
        env.run(&["start", "--good", "v1"]).expect(5).says(&words);
        env.run(&["check", "--good", "v1"]).expect(1).says(&words);
        return;
    }
    env.run(&["check", "--good", "v1"]).expect(0);
    env.hunt().names(&history, 3);
    assert!(env.starts().len() > before + 4, "{:?}", env.starts());
    env.assert_no_survivors();
}

#[test]
fn a_build_that_needs_the_network_is_told_that_it_had_none() {
    if !works() {
        return;
    }
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let text = sandboxed(&env);
    let engine = format!("'{} build {{src}} {{build}}'", TestEnvironment::fake());
    let script =
        "\"sh -c 'test -e /proc/net/no-such || { echo cannot resolve host >&2; exit 6; }'\"";
    assert!(text.contains(&engine), "{text}");
    fs::write(env.repo().join("oracle.toml"), text.replace(&engine, script)).unwrap();
    let output = env.run(&["start", "--good", "v1"]);
    output.expect(4).says(&["cannot resolve host", "[run] sandbox is on"]);
}

#[test]
fn without_bubblewrap_the_cure_is_told_before_a_build() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    fs::write(env.repo().join("oracle.toml"), sandboxed(&env)).unwrap();
    let bin = env.path("bin");
    fs::create_dir_all(&bin).unwrap();
    for program in ["git", "sh", "cc"] {
        let found = env.tool(&env.repo(), "sh", &["-c", &format!("command -v {program}")]);
        symlink(found.expect(0).stdout.trim(), bin.join(program)).unwrap();
    }
    let path = [("PATH", bin.as_os_str())];
    let words = ["there is no program bwrap in PATH", "apt-get install bubblewrap"];
    env.run_with(&env.repo(), &["start", "--good", "v1"], &path).expect(5).says(&words);
    env.run_with(&env.repo(), &["check", "--good", "v1"], &path).expect(1).says(&words);
    assert!(env.starts().is_empty());
    assert!(wait_until(Duration::from_secs(5), || env.processes().is_empty()));
}

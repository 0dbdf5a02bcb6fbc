//! A sealed place for one test: its own home, cache, git settings, world, and repository.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::{Hunt, Process, heed_interrupts, kill, processes};

const PRODUCT: &str = env!("CARGO_BIN_EXE_bisect-ppl");
const FAKE: &str = env!("CARGO_BIN_EXE_fake-engine");

/// Longer than anything takes on a busy machine; only a hang gets there.
pub const PATIENCE: Duration = Duration::from_secs(150);

/// Everything a test touches lies under one temporary folder, whose name is the token by which
/// its processes are known.
pub struct TestEnvironment {
    root: tempfile::TempDir,
    outputs: AtomicU32,
}

/// What a program printed and how it ended.
#[derive(Debug)]
pub struct Output {
    pub command: String,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// A program that runs on its own until waited for.
pub struct Running {
    pub child: Child,
    command: String,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// One line of the engine's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// `run` or `build`.
    pub kind: String,
    /// The commit's label.
    pub label: String,
    /// The measure; `-` for a build.
    pub measure: String,
}

impl TestEnvironment {
    pub fn new() -> Self {
        heed_interrupts();
        let root = tempfile::Builder::new().prefix("bisect-ppl-it-").tempdir().unwrap();
        let env = Self { root, outputs: AtomicU32::new(0) };
        for folder in ["home", "cache", "world", "tmp", "inputs", "repo"] {
            fs::create_dir(env.path(folder)).unwrap();
        }
        fs::write(env.path("inputs/model.bin"), b"weights\n").unwrap();
        env.git(&["init", "--quiet", "--initial-branch=main"]);
        env
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    pub fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    /// The product's own program.
    pub fn product() -> &'static str {
        PRODUCT
    }

    /// The scripted engine's own program.
    pub fn fake() -> &'static str {
        FAKE
    }

    /// Switches a state of the world on, or off.
    pub fn world(&self, name: &str, on: bool) {
        let switch = self.path("world").join(name);
        if on {
            fs::write(switch, "").unwrap();
        } else {
            fs::remove_file(switch).unwrap();
        }
    }

    // ---- programs ----

    /// A program in this sealed place; [`TestEnvironment::spawn`] runs it.
    pub fn command(&self, program: impl AsRef<OsStr>, folder: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["GIT_", "BISECT_PPL", "XDG_"].iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command
            .current_dir(folder)
            .env("HOME", self.path("home"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("TMPDIR", self.path("tmp"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Ada Lovelace")
            .env("GIT_AUTHOR_EMAIL", "ada@example.org")
            .env("GIT_COMMITTER_NAME", "Ada Lovelace")
            .env("GIT_COMMITTER_EMAIL", "ada@example.org")
            .env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
            .env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z");
        command
    }

    /// Starts a program in a process group of its own, as a shell with job control does.
    /// Output goes to files, so that nothing that lives on can keep us waiting.
    pub fn spawn(&self, mut command: Command) -> Running {
        let number = self.outputs.fetch_add(1, Ordering::Relaxed);
        let [stdout, stderr] = ["out", "err"].map(|n| self.path(&format!("tmp/{number}.{n}")));
        let words: Vec<_> = command.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(std::process::Stdio::null())
            .stdout(File::create(&stdout).unwrap())
            .stderr(File::create(&stderr).unwrap())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        Running { child, command: format!("{name} {}", words.join(" ")), stdout, stderr }
    }

    /// The product, in the background.
    pub fn spawn_product(&self, args: &[&str]) -> Running {
        let mut command = self.command(PRODUCT, &self.repo());
        command.args(args);
        self.spawn(command)
    }

    /// The product, waited for.
    pub fn run(&self, args: &[&str]) -> Output {
        self.run_in(&self.repo(), args)
    }

    pub fn run_in(&self, folder: &Path, args: &[&str]) -> Output {
        self.run_with(folder, args, &[])
    }

    pub fn run_with(&self, folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Output {
        let mut command = self.command(PRODUCT, folder);
        command.args(args).envs(env.iter().copied());
        self.spawn(command).wait()
    }

    /// `start` with these arguments.
    pub fn start(&self, args: &[&str]) -> Hunt {
        let mut words = vec!["start"];
        words.extend(args);
        Hunt::of(self, self.run(&words))
    }

    /// The ordinary hunt: from v1 to HEAD.
    pub fn hunt(&self) -> Hunt {
        self.start(&["--good", "v1", "--bad", "HEAD"])
    }

    pub fn resume(&self) -> Hunt {
        Hunt::of(self, self.run(&["resume"]))
    }

    /// Any other program, with the product in PATH.
    pub fn tool(&self, folder: &Path, program: &str, args: &[&str]) -> Output {
        let mut command = self.command(program, folder);
        let own = Path::new(PRODUCT).parent().unwrap().to_str().unwrap();
        let path = std::env::var("PATH").unwrap();
        command.args(args).env("PATH", format!("{own}:{path}"));
        self.spawn(command).wait()
    }

    /// Git in the repository; must succeed.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.repo(), args)
    }

    pub fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.spawn_git(folder, args).wait();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    fn spawn_git(&self, folder: &Path, args: &[&str]) -> Running {
        let mut command = self.command("git", folder);
        command.args(args);
        self.spawn(command)
    }

    /// Git with something on its standard input.
    pub fn git_with_input(&self, args: &[&str], input: &[u8]) {
        let file = self.path("tmp/input");
        fs::write(&file, input).unwrap();
        let mut command = self.command("git", &self.repo());
        let status = command.args(args).stdin(File::open(file).unwrap()).status().unwrap();
        assert!(status.success(), "git {args:?}");
    }

    // ---- what the engine says of itself ----

    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("world/starts.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Lines of the engine's log that begin with this word, without it.
    pub fn said(&self, word: &str) -> Vec<String> {
        let lines = self.log();
        lines.iter().filter_map(|l| l.strip_prefix(word)).map(|l| l.trim().to_owned()).collect()
    }

    /// Everything the engine started, in order.
    pub fn starts(&self) -> Vec<Start> {
        let lines = self.log();
        let words = lines.iter().map(|line| line.split(' ').collect::<Vec<_>>());
        words
            .filter_map(|words| match words.as_slice() {
                [kind @ ("run" | "build"), label, measure, _] => Some(Start {
                    kind: (*kind).to_owned(),
                    label: (*label).to_owned(),
                    measure: (*measure).to_owned(),
                }),
                _ => None,
            })
            .collect()
    }

    /// Labels of the commits whose engine ran, in order.
    pub fn runs(&self) -> Vec<String> {
        self.starts().into_iter().filter(|s| s.kind == "run").map(|s| s.label).collect()
    }

    /// How often one commit's engine ran.
    pub fn runs_of(&self, label: impl std::fmt::Display) -> usize {
        let label = label.to_string();
        self.runs().iter().filter(|l| **l == label).count()
    }

    pub fn builds_of(&self, label: impl std::fmt::Display) -> usize {
        let label = label.to_string();
        self.starts().iter().filter(|s| s.kind == "build" && s.label == label).count()
    }

    // ---- processes ----

    /// What is alive and belongs to this test.
    pub fn processes(&self) -> Vec<Process> {
        processes::carrying(&self.root.path().to_string_lossy())
    }

    /// Nothing outlives a hunt, though the end of what was killed may take a moment.
    pub fn assert_no_survivors(&self) {
        let quiet = wait_until(Duration::from_secs(20), || self.processes().is_empty());
        assert!(quiet, "survivors: {:#?}", self.processes());
    }
}

impl Drop for TestEnvironment {
    fn drop(&mut self) {
        for process in self.processes() {
            kill(process.pid, rustix::process::Signal::KILL);
        }
        if !std::thread::panicking() {
            let faults = self.said("fault");
            assert!(faults.is_empty(), "the engine complains: {faults:#?}");
        }
    }
}

/// Asks again and again; whether it came true in time.
pub fn wait_until(patience: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + patience;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Running {
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Waits for its end; more than patience is a failure.
    pub fn wait(self) -> Output {
        self.wait_within(PATIENCE)
    }

    /// For what takes longer than anything with the scripted engine does.
    pub fn wait_within(mut self, patience: Duration) -> Output {
        let mut status = None;
        let ended = wait_until(patience, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        if !ended {
            let _ = self.child.kill();
        }
        let read =
            |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let (stdout, stderr) = (read(&self.stdout), read(&self.stderr));
        let Some(status) = status else {
            panic!("{} does not end\n{stdout}\n{stderr}", self.command);
        };
        Output { command: self.command, status, stdout, stderr }
    }
}

impl Output {
    /// The exit code; a death by signal has none.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Fails with everything that was printed unless it ended so.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code(),
            Some(code),
            "{} (signal {:?})\n--- stdout\n{}\n--- stderr\n{}",
            self.command,
            self.status.signal(),
            self.stdout,
            self.stderr
        );
        self
    }

    /// Fails unless these words are somewhere in what it said, in whatever case.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        let text = format!("{}\n{}", self.stderr, self.stdout);
        for word in words {
            assert!(text.to_lowercase().contains(&word.to_lowercase()), "no `{word}` in:\n{text}");
        }
        self
    }
}

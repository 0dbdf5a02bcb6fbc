//! An isolated environment for one test: its own home, cache, git settings and repository, and the
//! folder with the state of the scripted engine's machine (`world`).

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{Hunt, Output, Process, Running, heed_interrupts, kill, processes, wait_until};

const PRODUCT: &str = env!("CARGO_BIN_EXE_bisect-ppl");
const FAKE: &str = env!("CARGO_BIN_EXE_fake-engine");

/// A test's files, all under one temporary folder. The test's processes are found by the
/// folder's name.
pub(crate) struct TestEnvironment {
    root: tempfile::TempDir,
    /// The repository under test.
    repo: PathBuf,
    /// The value of PATH.
    programs: OsString,
    /// Whether `start` looks for the cause inside the commit. Most tests are about the search for
    /// the commit, and count its builds and runs.
    localizes: bool,
    /// Variables for all programs.
    variables: Vec<(String, String)>,
    outputs: AtomicU32,
}

/// One line of the engine's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// `run` or `build`.
    pub kind: String,
    /// The commit's label.
    pub label: String,
    /// The measure; `-` for a build.
    pub measure: String,
}

impl TestEnvironment {
    pub(crate) fn new() -> Self {
        heed_interrupts();
        let mut root = tempfile::Builder::new().prefix("bisect-ppl-it-").tempdir().unwrap();
        // `KEEP=1` leaves the folder for a look at it.
        root.disable_cleanup(std::env::var_os("KEEP").is_some());
        let repo = root.path().join("repo");
        let folder = root.path().join("first-in-path");
        fs::create_dir(&folder).unwrap();
        if let Some(git) = other_git() {
            symlink(git, folder.join("git")).unwrap();
        }
        if let Some(rustc) = in_path("rustc") {
            // Each hunt asks for its version, and rustup's takes a tenth of a second to say that
            // the home folder of a test has no toolchain.
            let rustc = rustc.display();
            let text = format!("#!/bin/sh\n[ -n \"$RUSTUP_HOME\" ] && exec '{rustc}' \"$@\"\n");
            let file = folder.join("rustc");
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        }
        if let Some(python) = python() {
            symlink(python, folder.join("python3")).unwrap();
        }
        let programs = before(&folder, &std::env::var_os("PATH").unwrap());
        let env = Self {
            root,
            repo,
            programs,
            localizes: false,
            variables: Vec::new(),
            outputs: AtomicU32::new(0),
        };
        for folder in ["home", "cache", "world", "tmp", "inputs", "repo"] {
            fs::create_dir(env.path(folder)).unwrap();
        }
        fs::write(env.path("inputs/model.bin"), b"weights\n").unwrap();
        env.git(&["init", "--quiet", "--initial-branch=main"]);
        // Each commit would start a git that looks for work, and finds none.
        let config = env.git_folder().join("config");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(config, text + "[maintenance]\n\tauto = false\n").unwrap();
        env
    }

    /// An environment where `start` also looks for the cause inside the commit.
    pub(crate) fn localizing() -> Self {
        Self::new().let_localize()
    }

    /// Leaves the arguments of `start` as they are.
    pub(crate) fn let_localize(mut self) -> Self {
        self.localizes = true;
        self
    }

    /// Sets a variable for all programs of this environment.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Puts the programs of `folder` before all others.
    pub(crate) fn with_programs_of(mut self, folder: &Path) -> Self {
        self.programs = before(folder, &self.programs);
        self
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.repo.clone()
    }

    /// Makes this folder's repository (or worktree) the one under test.
    pub(crate) fn stand_in(&mut self, folder: &Path) {
        folder.clone_into(&mut self.repo);
    }

    /// The folder that all worktrees share: `.git`, a bare repository itself, or the folder that
    /// a linked worktree points to.
    pub(crate) fn git_folder(&self) -> PathBuf {
        let dot_git = self.repo.join(".git");
        if dot_git.is_dir() {
            return dot_git;
        }
        let Ok(link) = fs::read(&dot_git) else { return self.repo() };
        let target = link.strip_prefix(b"gitdir: ").unwrap().trim_ascii_end();
        let own = self.repo.join(OsStr::from_bytes(target));
        let common = fs::read(own.join("commondir")).unwrap_or_else(|_| b".".to_vec());
        own.join(OsStr::from_bytes(common.trim_ascii_end())).canonicalize().unwrap()
    }

    /// The product's own program.
    pub(crate) fn product() -> &'static str {
        PRODUCT
    }

    /// The scripted engine's own program.
    pub(crate) fn fake() -> &'static str {
        FAKE
    }

    /// Turns a switch of the scripted engine's world on or off (`broken`, for example).
    pub(crate) fn world(&self, name: &str, on: bool) {
        let switch = self.path("world").join(name);
        if on {
            fs::write(switch, "").unwrap();
        } else {
            fs::remove_file(switch).unwrap();
        }
    }

    // ---- programs ----

    /// A command in this environment; [`TestEnvironment::spawn`] runs it.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>, folder: &Path) -> Command {
        // A program that is given by its path is started without a copy of this process, which is
        // large.
        let program = program.as_ref();
        let path = program.to_str().and_then(|name| found_in(name, &self.programs));
        let mut command = Command::new(path.as_deref().map_or(program, Path::as_os_str));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["GIT_", "BISECT_PPL", "XDG_"].iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command
            .current_dir(folder)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("PATH", &self.programs)
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
    /// Output goes to files: with a pipe, the test would wait for a child that keeps the pipe open.
    pub(crate) fn spawn(&self, command: Command) -> Running {
        let number = self.outputs.fetch_add(1, Ordering::Relaxed);
        let file = |end: &str| self.path(&format!("tmp/{number}.{end}"));
        Running::start(command, file("out"), file("err"))
    }

    /// Starts the product in the background.
    pub(crate) fn spawn_product(&self, args: &[&str]) -> Running {
        let mut command = self.command(PRODUCT, &self.repo());
        self.add_words(&mut command, args);
        self.spawn(command)
    }

    /// Runs the product to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.run_in(&self.repo(), args)
    }

    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> Output {
        self.run_with(folder, args, &[("", ""); 0])
    }

    pub(crate) fn run_with<A, N, V>(&self, folder: &Path, args: &[A], env: &[(N, V)]) -> Output
    where
        A: AsRef<OsStr>,
        N: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        let mut command = self.command(PRODUCT, folder);
        self.add_words(&mut command, args);
        command.envs(env.iter().map(|(name, value)| (name, value)));
        self.spawn(command).wait()
    }

    /// Adds the arguments, and `--no-localize` to the `start` of a hunt.
    fn add_words<A: AsRef<OsStr>>(&self, command: &mut Command, args: &[A]) {
        let (first, others) = args.split_at(args.len().min(1));
        command.args(first);
        let begins = first.iter().any(|word| word.as_ref() == "start")
            && others.iter().any(|word| word.as_ref() == "--good" || word.as_ref() == "--bad");
        if begins && !self.localizes {
            command.arg("--no-localize");
        }
        command.args(others);
    }

    /// `start` with these arguments.
    pub(crate) fn start(&self, args: &[&str]) -> Hunt {
        let mut words = vec!["start"];
        words.extend(args);
        Hunt::of(self, self.run(&words))
    }

    /// The ordinary hunt: from v1 to HEAD.
    pub(crate) fn hunt(&self) -> Hunt {
        self.start(&["--good", "v1", "--bad", "HEAD"])
    }

    pub(crate) fn resume(&self) -> Hunt {
        Hunt::of(self, self.run(&["resume"]))
    }

    /// Any other program, with the product in PATH.
    pub(crate) fn tool(&self, folder: &Path, program: &str, args: &[&str]) -> Output {
        let mut command = self.command(program, folder);
        let own = Path::new(PRODUCT).parent().unwrap();
        command.args(args).env("PATH", before(own, &self.programs));
        self.spawn(command).wait()
    }

    /// Git in the repository; must succeed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.repo(), args)
    }

    pub(crate) fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.spawn_git(folder, args).wait();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    fn spawn_git(&self, folder: &Path, args: &[&str]) -> Running {
        let mut command = self.command("git", folder);
        command.args(args);
        self.spawn(command)
    }

    /// Git with this standard input; must succeed.
    pub(crate) fn git_with_input(&self, args: &[&str], input: &[u8]) {
        let file = self.path("tmp/input");
        fs::write(&file, input).unwrap();
        let mut command = self.command("git", &self.repo());
        let status = command.args(args).stdin(File::open(file).unwrap()).status().unwrap();
        assert!(status.success(), "git {args:?}");
    }

    // ---- the engine's log ----

    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("world/starts.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The rest of each log line that begins with this word.
    pub(crate) fn said(&self, word: &str) -> Vec<String> {
        let lines = self.log();
        lines.iter().filter_map(|l| l.strip_prefix(word)).map(|l| l.trim().to_owned()).collect()
    }

    /// Everything the engine started, in order.
    pub(crate) fn starts(&self) -> Vec<Start> {
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
    pub(crate) fn runs(&self) -> Vec<String> {
        self.starts().into_iter().filter(|s| s.kind == "run").map(|s| s.label).collect()
    }

    /// How often one commit's engine ran.
    pub(crate) fn runs_of(&self, label: impl std::fmt::Display) -> usize {
        let label = label.to_string();
        self.runs().iter().filter(|l| **l == label).count()
    }

    pub(crate) fn builds_of(&self, label: impl std::fmt::Display) -> usize {
        let label = label.to_string();
        self.starts().iter().filter(|s| s.kind == "build" && s.label == label).count()
    }

    // ---- processes ----

    /// Live processes of this test.
    pub(crate) fn processes(&self) -> Vec<Process> {
        processes::carrying(&self.root.path().to_string_lossy())
    }

    /// Whether no process of the test lives on. A killed process may take a moment to end.
    pub(crate) fn is_left_alone(&self) -> bool {
        wait_until(Duration::from_secs(20), || self.processes().is_empty())
    }

    #[track_caller]
    pub(crate) fn assert_no_survivors(&self) {
        assert!(self.is_left_alone(), "survivors: {:#?}", self.processes());
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

/// PATH with this folder in front.
fn before(folder: &Path, path: &OsStr) -> OsString {
    let others = std::env::split_paths(path);
    std::env::join_paths(std::iter::once(folder.to_owned()).chain(others)).unwrap()
}

/// The first program of this name in the PATH of the tests.
pub(crate) fn in_path(program: &str) -> Option<PathBuf> {
    found_in(program, &std::env::var_os("PATH")?)
}

/// The first program of this name in these folders; for a path, the path.
fn found_in(program: &str, folders: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Python itself: the one in PATH may be a shell script that looks for it at each start.
fn python() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let asked = ["-c", "import sys; print(sys.executable)"];
        let said = Command::new(in_path("python3")?).args(asked).output().ok()?;
        let path = PathBuf::from(OsStr::from_bytes(said.stdout.trim_ascii_end()));
        path.is_file().then_some(path)
    });
    found.as_deref()
}

/// The git that tests and product use instead of the first in PATH:
/// `BISECT_PPL_TEST_GIT=/usr/bin/git`.
pub(crate) fn other_git() -> Option<OsString> {
    std::env::var_os("BISECT_PPL_TEST_GIT").filter(|path| !path.is_empty())
}

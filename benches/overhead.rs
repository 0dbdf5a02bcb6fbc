//! Measures the driver's cost per evaluated commit, beyond the checkout and the programs that run:
//! hunts whose build does nothing and whose measure is `cat`, against a plain `git bisect run` of
//! an equivalent script over the same histories. The two alternate. Files are on tmpfs if there is
//! one.
//!
//! `cargo bench --bench overhead`; `-- PROGRAM…` (absolute paths) measures other builds too.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "it measures programs, so it starts them")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Commits of the short and of the long history: 3 and 9 steps of a search.
const LENGTHS: [usize; 2] = [8, 512];
const ROUNDS: usize = 7;
/// Target for a further evaluated commit, in milliseconds beyond plain `git bisect run`.
const TARGET: f64 = 60.0;

fn main() {
    // `cargo test --all-targets` starts benchmarks too, but without `--bench`.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let mut programs = vec![PathBuf::from(env!("CARGO_BIN_EXE_bisect-ppl"))];
    let others = std::env::args_os().skip(1).map(PathBuf::from);
    programs.extend(others.filter(|path| path.is_absolute()));
    let folder = folder();
    let histories = LENGTHS.map(|length| History::new(folder.path(), length));
    let mut plain = [Vec::new(), Vec::new()];
    let mut driven = vec![[Vec::new(), Vec::new()]; programs.len()];
    let mut evaluated = [0; 2];
    // The first round only warms the caches.
    for round in 0..=ROUNDS {
        for (at, history) in histories.iter().enumerate() {
            let wall = history.bisect();
            if round > 0 {
                plain[at].push(wall);
            }
            for (which, program) in programs.iter().enumerate() {
                let (wall, commits) = history.hunt(program);
                evaluated[at] = commits;
                if round > 0 {
                    driven[which][at].push(wall);
                }
            }
        }
    }
    println!("in {} ({ROUNDS} rounds, medians)", folder.path().display());
    let plain = plain.map(median);
    for (at, length) in LENGTHS.iter().enumerate() {
        println!("{length:>4} commits: plain git bisect run {:7.1} ms", plain[at]);
    }
    for (program, driven) in programs.iter().zip(driven) {
        println!("{}", program.display());
        let driven = driven.map(median);
        for (at, length) in LENGTHS.iter().enumerate() {
            let each = (driven[at] - plain[at]) / evaluated[at] as f64;
            println!(
                "{length:>4} commits: {:7.1} ms, {} evaluated, {each:5.1} ms each beyond plain",
                driven[at], evaluated[at]
            );
        }
        let steps = (evaluated[1] - evaluated[0]) as f64;
        let step = ((driven[1] - plain[1]) - (driven[0] - plain[0])) / steps;
        let word = if step < TARGET { "within" } else { "OVER" };
        println!("     a further commit: {step:5.1} ms beyond plain ({word} {TARGET} ms)");
    }
}

/// A temporary folder, in memory if possible, so that disk syncs are not measured.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    folder.expect("a temporary folder can be made")
}

fn median(mut walls: Vec<Duration>) -> f64 {
    walls.sort();
    walls[walls.len() / 2].as_secs_f64() * 1000.0
}

/// A repository with one line of commits. The value rises after two thirds of them.
struct History {
    folder: PathBuf,
}

impl History {
    fn new(under: &Path, length: usize) -> Self {
        let history = Self { folder: under.join(length.to_string()) };
        let repository = history.repository();
        std::fs::create_dir_all(&repository).expect("a folder can be made");
        history.git(&["init", "--quiet", "--initial-branch=main", "."]);
        let mut stream = String::new();
        for number in 0..length {
            let value = if number < length * 2 / 3 { "ppl 6.0\n" } else { "ppl 7.5\n" };
            let source = format!("int f{number};\n");
            let _ = write!(
                stream,
                "commit refs/heads/main\ncommitter A <a@example.org> {} +0000\ndata 2\nc\n\
                 M 100644 inline value\ndata {}\n{value}\n\
                 M 100644 inline src/f{}.c\ndata {}\n{source}\n",
                1_700_000_000 + number,
                value.len(),
                number % 40,
                source.len(),
            );
        }
        let mut import = history.command("git");
        import.args(["fast-import", "--quiet"]).stdin(Stdio::piped());
        let mut child = import.spawn().expect("git can be started");
        let pipe = child.stdin.take().expect("it was asked for");
        { pipe }.write_all(stream.as_bytes()).expect("git reads what it is given");
        assert!(child.wait().expect("git ends").success());
        history.git(&["reset", "--quiet", "--hard", "main"]);
        let config = format!(
            "version = 1\n[worktree]\ndir = \"{}\"\n[build]\ncommands = [\"true\"]\n\
             [[measure]]\nname = \"ppl\"\ncommand = \"cat value\"\nparser = \"regex\"\n\
             pattern = \"ppl ([0-9.]+)\"\n[[guard]]\nmetric = \"ppl\"\nmax_increase = 0.5\n",
            history.folder.join("slots").display()
        );
        let script = "true && [ \"$(cat value)\" = 'ppl 6.0' ]\n";
        for (name, text) in [("oracle.toml", config.as_str()), ("run.sh", script)] {
            std::fs::write(history.folder.join(name), text).expect("a file can be written");
        }
        history
    }

    fn repository(&self) -> PathBuf {
        self.folder.join("repo")
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.repository()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command
    }

    fn git(&self, args: &[&str]) {
        let status = self.command("git").args(args).status().expect("git can be started");
        assert!(status.success(), "git {args:?}");
    }

    fn good(&self) -> String {
        let output = self
            .command("git")
            .args(["rev-list", "--max-parents=0", "HEAD"])
            .stdout(Stdio::piped())
            .output()
            .expect("git can be started");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A plain `git bisect run` from start to reset.
    fn bisect(&self) -> Duration {
        let good = self.good();
        let begin = Instant::now();
        self.git(&["bisect", "start", "main", &good]);
        self.git(&["bisect", "run", "sh", "../run.sh"]);
        let wall = begin.elapsed();
        self.git(&["bisect", "reset"]);
        self.git(&["checkout", "--quiet", "--force", "main"]);
        wall
    }

    /// A hunt with an empty store, and how many commits it built.
    fn hunt(&self, program: &Path) -> (Duration, usize) {
        let good = self.good();
        let store = self.repository().join(".git/bisect-ppl");
        let _ = std::fs::remove_dir_all(&store);
        let _ = std::fs::remove_dir_all(self.folder.join("slots"));
        let begin = Instant::now();
        let mut command = self.command(program);
        let status = command
            .args(["start", "--good", &good, "--config", "../oracle.toml"])
            .status()
            .expect("the program can be started");
        let wall = begin.elapsed();
        assert!(status.success(), "the hunt ended with {status}");
        (wall, journal(&store).matches("\"event\":\"build\"").count())
    }
}

/// The journal of the only hunt in a store.
fn journal(store: &Path) -> String {
    let hunts = std::fs::read_dir(store.join("hunts")).expect("a hunt was made");
    let hunt = hunts.flatten().next().expect("one hunt").path();
    std::fs::read_to_string(hunt.join("journal.jsonl")).expect("a hunt has a journal")
}

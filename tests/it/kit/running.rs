//! A program that a test started, and its output.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A time limit. Only a program that hangs exceeds it, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

/// What a program printed and how it ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub command: String,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// A program that runs in the background.
pub(crate) struct Running {
    pub child: Child,
    command: String,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// Polls a condition; returns whether it came true in time.
pub(crate) fn wait_until(patience: Duration, mut holds: impl FnMut() -> bool) -> bool {
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
    /// Starts a program in a process group of its own, its output into files.
    pub(crate) fn start(mut command: Command, stdout: PathBuf, stderr: PathBuf) -> Self {
        let words: Vec<_> = command.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&stdout).unwrap())
            .stderr(File::create(&stderr).unwrap())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        Self { child, command: format!("{name} {}", words.join(" ")), stdout, stderr }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Waits for the program's end; fails after [`PATIENCE`].
    pub(crate) fn wait(self) -> Output {
        self.wait_within(PATIENCE)
    }

    /// Waits with another limit, for programs slower than the scripted engine.
    pub(crate) fn wait_within(mut self, patience: Duration) -> Output {
        let end = Instant::now() + patience;
        // Most programs of a test are short, such as git.
        let mut pause = Duration::from_millis(1);
        let status = loop {
            let status = self.child.try_wait().unwrap();
            if status.is_some() {
                break status;
            }
            if Instant::now() > end {
                let _ = self.child.kill();
                break None;
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(10));
        };
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
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Fails with the whole output unless the exit code is this.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
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

    /// Fails unless the output contains all these words; ignores case.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        let text = format!("{}\n{}", self.stderr, self.stdout);
        for word in words {
            assert!(text.to_lowercase().contains(&word.to_lowercase()), "no `{word}` in:\n{text}");
        }
        self
    }
}

//! Runs short helper programs, such as probes and git.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::ready::{read_some, ready, sooner, until};
use super::{Invocation, ProcessError, program};
use crate::evaluation::Ended;

/// How often to check whether a silent tool has ended. The pipe does not show it if a child of the
/// tool keeps the pipe open.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The result of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// How it ended.
    pub ended: Ended,
    /// Stdout, up to the invocation's limit.
    pub stdout: Vec<u8>,
    /// Stderr, up to the same limit.
    pub stderr: Vec<u8>,
    /// Whether there was more output; the rest was read and dropped.
    pub truncated: bool,
}

/// Runs a helper until it ends or times out, then kills its process group. Descendants that left
/// the group are not tracked.
pub fn tool(invocation: &Invocation) -> Result<ToolOutput, ProcessError> {
    run(invocation, None)
}

/// As [`tool()`], for a helper that reads these bytes from its stdin. It need not read them all.
pub(crate) fn tool_with_input(
    invocation: &Invocation,
    input: &[u8],
) -> Result<ToolOutput, ProcessError> {
    run(invocation, Some(input))
}

fn run(invocation: &Invocation, input: Option<&[u8]>) -> Result<ToolOutput, ProcessError> {
    let cwd = invocation.folder();
    if !cwd.is_dir() {
        return Err(ProcessError::Folder(cwd.to_owned()));
    }
    let cwd = cwd.canonicalize().map_err(ProcessError::Start)?;
    let env = invocation.environment();
    let path = env.get(std::ffi::OsStr::new("PATH")).map(AsRef::as_ref);
    let file = match program::find(invocation.program(), &cwd, path) {
        Ok(file) => file,
        Err(ended) => return Ok(silent(ended)),
    };
    let (out, out_end) = io::pipe().map_err(ProcessError::Start)?;
    let (err, err_end) = io::pipe().map_err(ProcessError::Start)?;
    let name = invocation.program().to_owned();
    #[expect(clippy::disallowed_methods, reason = "only this module starts programs")]
    let command = duct::cmd(&file, invocation.arguments());
    let command = match input {
        Some(input) => command.stdin_bytes(input),
        None => command.stdin_null(),
    };
    let handle = command
        .dir(&cwd)
        .full_env(env)
        .stdout_file(out_end)
        .stderr_file(err_end)
        .unchecked()
        .before_spawn(move |command| {
            command.process_group(0).arg0(&name);
            Ok(())
        })
        .start();
    match handle {
        Ok(handle) => {
            Helper::new(handle, [out, err], invocation).follow().map_err(ProcessError::Follow)
        }
        Err(error) => not_started(&file, error),
    }
}

fn silent(ended: Ended) -> ToolOutput {
    ToolOutput { ended, stdout: Vec::new(), stderr: Vec::new(), truncated: false }
}

/// The result of a failed start. A lack of processes, memory, or descriptors is an error of the
/// machine; any other refusal is the program's result.
fn not_started(file: &Path, error: io::Error) -> Result<ToolOutput, ProcessError> {
    use rustix::io::Errno;

    match error.raw_os_error() {
        Some(errno)
            if ![Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE]
                .contains(&Errno::from_raw_os_error(errno)) =>
        {
            Ok(silent(program::refusal(file, errno)))
        }
        _ => Err(ProcessError::Start(error)),
    }
}

struct Helper {
    handle: duct::Handle,
    group: Option<Pid>,
    pipes: [Option<PipeReader>; 2],
    said: [Vec<u8>; 2],
    bound: usize,
    truncated: bool,
    deadline: Option<Instant>,
    kill_at: Option<Instant>,
    grace: Duration,
}

impl Helper {
    fn new(handle: duct::Handle, pipes: [PipeReader; 2], invocation: &Invocation) -> Self {
        let pid = handle.pids().first().and_then(|pid| i32::try_from(*pid).ok());
        Self {
            handle,
            group: pid.and_then(Pid::from_raw),
            pipes: pipes.map(Some),
            said: Default::default(),
            bound: invocation.capture_limit(),
            truncated: false,
            deadline: invocation.limit().and_then(|limit| Instant::now().checked_add(limit)),
            kill_at: None,
            grace: invocation.patience(),
        }
    }

    fn follow(mut self) -> io::Result<ToolOutput> {
        let mut timed_out = false;
        loop {
            if self.handle.try_wait()?.is_some() {
                break;
            }
            self.read(
                until(sooner(self.deadline, self.kill_at))
                    .unwrap_or(POLL_INTERVAL)
                    .min(POLL_INTERVAL),
            )?;
            let now = Instant::now();
            if self.deadline.is_some_and(|at| at <= now) {
                timed_out = true;
                self.deadline = None;
                self.kill_at = Some(now + self.grace);
                self.signal(Signal::TERM);
            }
            if self.kill_at.is_some_and(|at| at <= now) {
                // Once: a process that hangs in the kernel ends when the kernel lets it.
                self.kill_at = None;
                self.signal(Signal::KILL);
            }
        }
        // Kills the remaining group, so that the pipes end.
        self.signal(Signal::KILL);
        // The group's number may be reused from here on.
        self.group = None;
        let last_words = Instant::now() + Duration::from_secs(1);
        while self.pipes.iter().any(Option::is_some) && Instant::now() < last_words {
            self.read(POLL_INTERVAL)?;
        }
        let status = self.handle.wait()?.status;
        let ended = match (timed_out, status.code(), status.signal()) {
            (true, ..) => Ended::TimedOut,
            (_, Some(code), _) => Ended::Exited(code),
            (_, _, signal) => Ended::Signaled(signal.unwrap_or_default()),
        };
        let [stdout, stderr] = std::mem::take(&mut self.said);
        Ok(ToolOutput { ended, stdout, stderr, truncated: self.truncated })
    }

    /// Reads the available output, or waits for some until `timeout`.
    fn read(&mut self, timeout: Duration) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        let [out, err] = &self.pipes;
        if out.is_none() && err.is_none() {
            self.handle.wait_timeout(timeout)?;
            return Ok(());
        }
        let descriptors = [out.as_ref().map(AsFd::as_fd), err.as_ref().map(AsFd::as_fd)];
        let ready = ready(descriptors, Some(timeout))?;
        for ((slot, said), _) in
            self.pipes.iter_mut().zip(&mut self.said).zip(ready).filter(|(_, ready)| *ready)
        {
            let Some(pipe) = slot else { continue };
            let n = read_some(pipe, &mut buffer)?;
            let room = n.min(self.bound.saturating_sub(said.len()));
            said.extend_from_slice(&buffer[..room]);
            self.truncated |= room < n;
            if n == 0 {
                *slot = None;
            }
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It does not matter if the group is gone.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.handle.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_reads_its_input_or_leaves_it() {
        // More than a pipe holds.
        let input = b"0123456789\n".repeat(100_000);
        let read = tool_with_input(&Invocation::new("cat"), &input).unwrap();
        assert_eq!((read.ended, read.stdout == input), (Ended::Exited(0), true));
        let left = tool_with_input(&Invocation::new("true"), &input).unwrap();
        assert_eq!((left.ended, left.stdout.len()), (Ended::Exited(0), 0));
        let none = tool(&Invocation::new("cat")).unwrap();
        assert_eq!((none.ended, none.stdout.len()), (Ended::Exited(0), 0));
    }
}

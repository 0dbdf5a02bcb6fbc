//! Live processes, found by a token in the command line or in the environment.

use std::fs;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A live process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub pid: i32,
    /// The command line, separated by blanks.
    pub command: String,
}

impl Process {
    /// Whether a signal stopped it (proc(5), `stat`).
    pub(crate) fn is_stopped(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
    }
}

/// Every process that carries the token, without zombies. Children inherit their parent's
/// environment, so all descendants of a test are found.
pub(crate) fn carrying(token: &str) -> Vec<Process> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("a system with /proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let (command, environment) = (read("cmdline"), read("environ"));
        if pid != i32::try_from(std::process::id()).unwrap()
            && [&command, &environment].iter().any(|bytes| contains(bytes, token.as_bytes()))
        {
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            found.push(Process { pid, command });
        }
    }
    found
}

fn contains(bytes: &[u8], token: &[u8]) -> bool {
    bytes.windows(token.len()).any(|window| window == token)
}

/// Sends a signal to a process that the test started and that may be gone already. A negative
/// number is a process group.
pub(crate) fn kill(pid: i32, signal: Signal) {
    let target = Pid::from_raw(pid.abs()).expect("a process number");
    let _ = if pid < 0 { kill_process_group(target, signal) } else { kill_process(target, signal) };
}

//! The stage between supervisor and engine. It prepares the process that becomes the engine, so
//! that no unsafe code runs between fork and exec.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::cpus::pin;
use super::job::Job;
use super::reexec::{socket_on_stdin, take_signals};

/// How often to try to execute a program that is still open for writing. After a build, a forked
/// process may hold the builder's descriptor for a moment.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Reads a job from stdin and becomes its program, in its own session and group; the kernel kills
/// the engine when the supervisor dies. Returns only after a failure. If the exec failed, sends the
/// error number over the socket first. If the socket closes without data, this process is the
/// engine now, or it failed before the exec.
pub(super) fn become_engine(supervisor: Option<i32>) -> io::Result<()> {
    let mut socket = socket_on_stdin()?;
    let job = Job::read(&socket)?;
    take_signals();
    tie_to(supervisor)?;
    // In a new session there is no terminal, so no password prompt can wait all night.
    rustix::process::setsid()?;
    if !job.cpus.is_empty() {
        pin(&job.cpus)?;
    }

    let error = replace(&job);
    let errno = error.raw_os_error().unwrap_or(rustix::io::Errno::INVAL.raw_os_error());
    socket.write_all(&errno.to_le_bytes())?;
    Err(error)
}

fn replace(job: &Job) -> io::Error {
    if let Err(error) = std::env::set_current_dir(&job.cwd) {
        return error;
    }
    let mut tries = 0;
    loop {
        let stdin = match &job.stdin {
            None => Stdio::null(),
            Some(path) => match File::open(path) {
                Ok(file) => file.into(),
                Err(error) => return error,
            },
        };
        #[expect(clippy::disallowed_methods, reason = "only this module starts programs")]
        let error = Command::new(&job.program)
            .arg0(&job.name)
            .args(&job.args)
            .env_clear()
            .envs(&job.env)
            .stdin(stdin)
            .exec();
        tries += 1;
        if error.kind() != io::ErrorKind::ExecutableFileBusy || tries == BUSY_TRIES {
            return error;
        }
        std::thread::sleep(BUSY_PAUSE);
    }
}

/// Asks the kernel to kill this process when the supervisor dies, even by KILL. This survives the
/// exec, but not a fork: the supervisor ends the descendants.
#[cfg(target_os = "linux")]
fn tie_to(supervisor: Option<i32>) -> io::Result<()> {
    use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The supervisor may have died before the line above.
    if getppid().map(Pid::as_raw_pid) == supervisor {
        Ok(())
    } else {
        Err(io::Error::other("the supervisor is gone"))
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
fn tie_to(_supervisor: Option<i32>) -> io::Result<()> {
    Ok(())
}

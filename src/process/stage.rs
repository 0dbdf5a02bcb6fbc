//! The stage between supervisor and engine: what must happen in the process that becomes
//! the engine, without unsafe code between fork and exec.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use super::job::Job;
use super::shim;

/// Tries while another process still has the program open for writing: a fork elsewhere may
/// hold a builder's descriptor for a moment.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Reads a job from stdin and becomes its program, in a session and group of its own, to be
/// killed when the supervisor dies. Returns only where that failed, after writing the error
/// number to the socket; the socket's silent end means success.
pub(super) fn become_engine(supervisor: Option<i32>) -> io::Result<()> {
    let mut socket = shim::socket_on_stdin()?;
    let job = Job::read(&socket)?;
    shim::take_signals();
    tie_to(supervisor)?;
    // A session: there is no terminal that a password prompt could wait at all night.
    rustix::process::setsid()?;

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
        #[expect(clippy::disallowed_methods, reason = "this room is the one that starts programs")]
        let error = Command::new(&job.program)
            .arg0(&job.name)
            .args(&job.args)
            .env_clear()
            .envs(&job.env)
            .stdin(std::process::Stdio::null())
            .exec();
        tries += 1;
        if error.kind() != io::ErrorKind::ExecutableFileBusy || tries == BUSY_TRIES {
            return error;
        }
        std::thread::sleep(BUSY_PAUSE);
    }
}

/// Dies with the supervisor, even where that is killed with no chance to end us. Survives
/// the exec, but not a fork: descendants are the supervisor's work.
#[cfg(target_os = "linux")]
fn tie_to(supervisor: Option<i32>) -> io::Result<()> {
    use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have died before the line above.
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

//! Starts this program again as a process that outlives the terminal and the command that started
//! it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// A detached process while the command that started it still lives.
#[derive(Debug)]
pub(crate) struct Detached(Child);

impl Detached {
    /// Starts this program with these arguments. It has no input, and its output goes to a file.
    /// It must call [`leave_terminal`] itself.
    pub(crate) fn start(arguments: &[impl AsRef<OsStr>], output: &File) -> io::Result<Self> {
        // Not `/proc/self/exe`: `pgrep` and `killall` find a driver by its name.
        let program = std::env::current_exe()?;
        #[expect(clippy::disallowed_methods, reason = "only this module starts programs")]
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .spawn()?;
        Ok(Self(child))
    }

    /// The process id.
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap_or_default()
    }

    /// The exit code if the process has ended; 128 and the signal if a signal ended it.
    pub(crate) fn ended(&mut self) -> io::Result<Option<u8>> {
        let Some(status) = self.0.try_wait()? else { return Ok(None) };
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        Ok(Some(u8::try_from(code).unwrap_or(u8::MAX)))
    }

    /// Asks the process to end.
    pub(crate) fn end(&self) {
        if let Some(pid) = Pid::from_raw(self.pid()) {
            // It does not matter if the process is gone.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

/// Moves this process into a session of its own, which has no terminal. Ctrl-C and the end of the
/// terminal reach only the terminal's own session.
pub(crate) fn leave_terminal() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

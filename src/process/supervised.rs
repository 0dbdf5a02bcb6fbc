//! The driver's side of a supervised run: two pipes and a socket.

use std::io::{self, PipeReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;

use super::descendants::PATIENCE;
use super::job::{Job, Report};
use super::ready::read_some;
use super::reexec::GUARD;

/// A running supervisor with its guard and its engine. Drop ends all of them.
pub(super) struct Supervised {
    pub(super) out: Option<PipeReader>,
    pub(super) err: Option<PipeReader>,
    pub(super) control: UnixStream,
    handle: duct::Handle,
    heard: Vec<u8>,
}

impl Supervised {
    /// Starts `program`, our own executable, as a guard, and sends its supervisor the job.
    pub(super) fn start(program: &Path, job: &Job) -> io::Result<Self> {
        let (out, out_end) = io::pipe()?;
        let (err, err_end) = io::pipe()?;
        let (control, control_end) = UnixStream::pair()?;
        // The child's ends are closed on our side when this expression ends.
        #[expect(clippy::disallowed_methods, reason = "only this module starts programs")]
        let handle = duct::cmd(program, [GUARD])
            .stdin_file(control_end)
            .stdout_file(out_end)
            .stderr_file(err_end)
            .unchecked()
            // Ctrl-C in a terminal reaches only us; we tell the supervisor.
            .before_spawn(|command| {
                command.process_group(0);
                Ok(())
            })
            .start()?;
        let supervised =
            Self { out: Some(out), err: Some(err), control, handle, heard: Vec::new() };
        // If the supervisor died early, the end of the socket shows it.
        let _ = (&supervised.control).write_all(&job.to_frame());
        Ok(supervised)
    }

    /// Sends an order to the supervisor. If the supervisor is gone, the socket's end shows it.
    pub(super) fn send_order(&self, order: u8) {
        let _ = (&self.control).write_all(&[order]);
    }

    /// The reports that have arrived, and whether the socket is still open.
    pub(super) fn read_reports(&mut self) -> io::Result<(Vec<Report>, bool)> {
        let mut buffer = [0; 1024];
        let n = read_some(&self.control, &mut buffer)?;
        self.heard.extend_from_slice(&buffer[..n]);
        let mut reports = Vec::new();
        while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.heard.drain(..=end).collect();
            reports.push(serde_json::from_slice(&line)?);
        }
        Ok((reports, n > 0))
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // The end of the socket orders the supervisor to end everything. The supervisor's end
        // closes when both supervisor and guard are gone, even if the guard was killed first.
        let _ = self.control.shutdown(std::net::Shutdown::Write);
        let _ = self.control.set_read_timeout(Some(2 * PATIENCE));
        while matches!(read_some(&self.control, &mut [0; 1024]), Ok(n) if n > 0) {}
        let _ = self.handle.wait();
    }
}

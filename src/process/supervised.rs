//! Our side of a supervised run: two pipes and a socket.

use std::io::{self, PipeReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;

use super::job::{Job, Report};
use super::ready::read_some;
use super::shim;

/// A supervisor with its engine. When it is dropped, both are ended.
pub(super) struct Supervised {
    pub(super) out: Option<PipeReader>,
    pub(super) err: Option<PipeReader>,
    pub(super) control: UnixStream,
    handle: duct::Handle,
    heard: Vec<u8>,
}

impl Supervised {
    /// Starts `program`, our own executable, as a supervisor, and gives it the job.
    pub(super) fn start(program: &Path, job: &Job) -> io::Result<Self> {
        let (out, out_end) = io::pipe()?;
        let (err, err_end) = io::pipe()?;
        let (control, control_end) = UnixStream::pair()?;
        // The other ends are closed on our side when the expression goes.
        #[expect(clippy::disallowed_methods, reason = "this room is the one that starts programs")]
        let handle = duct::cmd(program, [shim::SUPERVISE])
            .stdin_file(control_end)
            .stdout_file(out_end)
            .stderr_file(err_end)
            .unchecked()
            // A terminal's Ctrl-C is for us alone; we tell the supervisor.
            .before_spawn(|command| {
                command.process_group(0);
                Ok(())
            })
            .start()?;
        let supervised =
            Self { out: Some(out), err: Some(err), control, handle, heard: Vec::new() };
        // If it died early, the end of the socket tells.
        let _ = (&supervised.control).write_all(&job.to_frame());
        Ok(supervised)
    }

    /// Sends an order; one that nobody hears is noticed at the socket's end.
    pub(super) fn tell(&self, order: u8) {
        let _ = (&self.control).write_all(&[order]);
    }

    /// What can be heard now, and whether the socket is still open.
    pub(super) fn hear(&mut self) -> io::Result<(Vec<Report>, bool)> {
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
        // The order to end everything at once, if it has not ended; then it is collected.
        let _ = self.control.shutdown(std::net::Shutdown::Both);
        let _ = self.handle.wait();
    }
}

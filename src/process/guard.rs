//! The guard: the process between bisect-ppl and the supervisor. If the supervisor is killed, the
//! guard ends the processes that the supervisor leaves.
//!
//! The guard does nothing else, so that nothing but a signal can end it. Orphans of a dead
//! supervisor become children of the guard, which is the nearest process that adopts. The guard
//! also holds the supervisor's ends of the socket and of the pipes, so bisect-ppl sees these close
//! only when guard and supervisor are gone.

use std::io;
use std::process::Command;

use super::descendants;
use super::reexec::{SUPERVISE, own_executable, take_signals};

/// Starts a supervisor that takes over stdin, stdout and stderr, waits for its end, and ends every
/// process that is left of it.
pub(super) fn guard() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // Another name, as for the supervisor: `killall bisect-ppl` must not end it.
        let _ = rustix::thread::set_name(c"ppl-guard");
    }
    take_signals();
    descendants::adopt_orphans();
    #[expect(clippy::disallowed_methods, reason = "only this module starts programs")]
    let mut supervisor = Command::new(own_executable()?).arg(SUPERVISE).spawn()?;
    let ended = supervisor.wait();
    descendants::end_all(None);
    ended.map(drop)
}

//! Starts our own executable again as a helper process. Shared by guard, supervisor, and stage.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The first argument of a guard.
pub(super) const GUARD: &str = "__guard";
/// The first argument of a supervisor.
pub(super) const SUPERVISE: &str = "__supervise";
/// The first argument of a stage.
pub(super) const EXEC: &str = "__exec";

/// The running executable. On Linux the path stays valid even if the file is replaced: hunts take
/// a night, and people upgrade.
pub(super) fn own_executable() -> io::Result<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() || link.is_symlink() { Ok(link) } else { std::env::current_exe() }
}

/// A copy of our stdin as a socket; an exec closes the copy.
pub(super) fn socket_on_stdin() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Sets a handler without effect for every signal that may be ignored or that could end us. An exec
/// resets handled signals to their default, so HUP still ends an engine below `nohup`.
pub(super) fn take_signals() {
    use signal_hook::consts::{
        SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
        SIGUSR1, SIGUSR2, SIGVTALRM, SIGWINCH, SIGXCPU, SIGXFSZ,
    };
    let seen = std::sync::Arc::new(AtomicBool::new(false));
    for signal in [
        SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
        SIGUSR1, SIGUSR2, SIGVTALRM, SIGWINCH, SIGXCPU, SIGXFSZ,
    ] {
        // A signal that the system does not let us handle stays as it was.
        let _ = signal_hook::flag::register(signal, seen.clone());
    }
}

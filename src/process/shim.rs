//! The hidden face of our own executable: started with a first argument that no user types,
//! it is a supervisor, or the stage that becomes the engine.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{stage, supervisor};

pub(super) const SUPERVISE: &str = "__supervise";
pub(super) const EXEC: &str = "__exec";

static ENTERED: AtomicBool = AtomicBool::new(false);
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// To be called first in `main`, before threads and argument parsing: does not return where
/// this process was started as a supervisor.
pub fn enter_if_asked() {
    let mut args = std::env::args_os().skip(1);
    let result = match args.next() {
        Some(word) if word == SUPERVISE => supervisor::supervise(),
        Some(word) if word == EXEC => {
            let parent = args.next().and_then(|pid| pid.to_str()?.parse().ok());
            stage::become_engine(parent)
        }
        _ => {
            ENTERED.store(true, Ordering::SeqCst);
            return;
        }
    };
    // Nobody reads what we could say: our stderr is the engine's. The other end of the
    // socket sees that we left without a report.
    #[expect(clippy::exit, reason = "a process of its own, which must not go on into main")]
    std::process::exit(i32::from(result.is_err()));
}

/// Names the executable to start as supervisor; only the first call counts. For programs
/// that are not `bisect-ppl` themselves, such as tests.
pub fn use_program(path: impl Into<PathBuf>) {
    // A second call has nothing to add.
    let _ = PROGRAM.set(path.into());
}

/// The executable to start as supervisor, if this process knows one.
pub(super) fn program() -> Option<PathBuf> {
    if let Some(path) = PROGRAM.get() {
        return Some(path.clone());
    }
    if ENTERED.load(Ordering::SeqCst) {
        return own_executable().ok();
    }
    // Another executable, which would not know the hidden argument and, worse, might start
    // a run of its own when it gets it.
    if cfg!(test) { built_beside_tests() } else { None }
}

/// What is running now. On Linux by a name that holds when the file is replaced under us:
/// hunts take a night, and people upgrade.
pub(super) fn own_executable() -> io::Result<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() || link.is_symlink() { Ok(link) } else { std::env::current_exe() }
}

/// The unit tests of this crate run from `target/*/deps`, beside the real program.
fn built_beside_tests() -> Option<PathBuf> {
    let harness = std::env::current_exe().ok()?;
    Some(harness.parent()?.parent()?.join("bisect-ppl")).filter(|path| path.is_file())
}

/// Our stdin, which is a socket. The copy is closed when we execute something.
pub(super) fn socket_on_stdin() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Takes every signal that could be ignored or could end us, and does nothing on it. What is
/// handled here is at its default again in what we execute: an engine started below `nohup`
/// dies of HUP as everywhere else.
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
        // One the system does not let us take keeps what it was.
        let _ = signal_hook::flag::register(signal, seen.clone());
    }
}

//! Hidden modes of our own executable. With a first argument that no user types, it is a guard, a
//! supervisor, or the stage that becomes the engine.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::reexec::{EXEC, GUARD, SUPERVISE, own_executable};
use super::{guard, stage, supervisor};

static ENTERED: AtomicBool = AtomicBool::new(false);
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Call this first in `main`, before threads and argument parsing. It does not return in a
/// guard, a supervisor, or a stage.
pub fn enter_if_asked() {
    let mut args = std::env::args_os().skip(1);
    let result = match args.next() {
        Some(word) if word == GUARD => guard::guard(),
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
    // No message is printed, because our stderr is the engine's. The other end of the socket sees
    // that we exit without a report.
    #[expect(clippy::exit, reason = "a process of its own, which must not go on into main")]
    std::process::exit(i32::from(result.is_err()));
}

/// Sets the executable to start as guard; only the first call counts. For programs other than
/// `bisect-ppl`, such as tests.
pub fn use_program(path: impl Into<PathBuf>) {
    // A second call changes nothing.
    let _ = PROGRAM.set(path.into());
}

/// The executable to start as guard, if known.
pub(super) fn program() -> Option<PathBuf> {
    if let Some(path) = PROGRAM.get() {
        return Some(path.clone());
    }
    if ENTERED.load(Ordering::SeqCst) {
        return own_executable().ok();
    }
    // Another executable does not know the hidden argument and might even start a run of its own.
    if cfg!(test) { built_beside_tests() } else { None }
}

/// The real program, for this crate's unit tests, which run from `target/*/deps` beside it.
fn built_beside_tests() -> Option<PathBuf> {
    let harness = std::env::current_exe().ok()?;
    Some(harness.parent()?.parent()?.join("bisect-ppl")).filter(|path| path.is_file())
}

//! The names of signals.

use rustix::process::Signal;

/// The signals that end programs. The numbers come from the platform, since BUS and SYS differ
/// between Linux and the BSDs.
const NAMES: [(Signal, &str); 15] = [
    (Signal::SEGV, "SIGSEGV"),
    (Signal::ABORT, "SIGABRT"),
    (Signal::BUS, "SIGBUS"),
    (Signal::ILL, "SIGILL"),
    (Signal::FPE, "SIGFPE"),
    (Signal::SYS, "SIGSYS"),
    (Signal::KILL, "SIGKILL"),
    (Signal::TERM, "SIGTERM"),
    (Signal::HUP, "SIGHUP"),
    (Signal::INT, "SIGINT"),
    (Signal::TRAP, "SIGTRAP"),
    (Signal::PIPE, "SIGPIPE"),
    (Signal::QUIT, "SIGQUIT"),
    (Signal::XCPU, "SIGXCPU"),
    (Signal::XFSZ, "SIGXFSZ"),
];

/// The name of a signal; `None` for one that is not in the table.
pub(crate) fn name(signal: i32) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| known.as_raw() == signal).map(|(_, name)| *name)
}

/// A signal for people: `signal 11 (SIGSEGV)`.
pub(super) fn named(signal: i32) -> String {
    match name(signal) {
        Some(name) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}

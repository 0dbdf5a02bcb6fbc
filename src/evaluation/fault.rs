//! What the end of a process says: its signature, the failure it is, and whose fault that is.

use rustix::process::Signal;

use super::{Ended, Evidence, Failure, FailureKind, Fault};

/// Signals by name and by whose doing they are.
///
/// The first group is what a program does to itself; the second is what the machine or its
/// keeper (memory killer, batch system, a closed terminal) does to a program. The numbers are
/// the platform's, since BUS and SYS differ between Linux and the BSDs.
const SIGNALS: [(Signal, &str, Fault); 15] = [
    (Signal::SEGV, "SIGSEGV", Fault::Commit),
    (Signal::ABORT, "SIGABRT", Fault::Commit),
    (Signal::BUS, "SIGBUS", Fault::Commit),
    (Signal::ILL, "SIGILL", Fault::Commit),
    (Signal::FPE, "SIGFPE", Fault::Commit),
    (Signal::SYS, "SIGSYS", Fault::Commit),
    (Signal::KILL, "SIGKILL", Fault::Resource),
    (Signal::TERM, "SIGTERM", Fault::Resource),
    (Signal::HUP, "SIGHUP", Fault::Resource),
    (Signal::INT, "SIGINT", Fault::Resource),
    (Signal::TRAP, "SIGTRAP", Fault::Unclear),
    (Signal::PIPE, "SIGPIPE", Fault::Unclear),
    (Signal::QUIT, "SIGQUIT", Fault::Unclear),
    (Signal::XCPU, "SIGXCPU", Fault::Unclear),
    (Signal::XFSZ, "SIGXFSZ", Fault::Unclear),
];

fn known(signal: i32) -> Option<(&'static str, Fault)> {
    SIGNALS.iter().find(|(s, ..)| s.as_raw() == signal).map(|(_, name, fault)| (*name, *fault))
}

/// What tells one bad end from another: `exit code 3`, `signal 11 (SIGSEGV)`, `not found`,
/// `not started`; empty for a time-out, of which there is one kind only.
pub fn signature(ended: &Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("exit code {code}"),
        Ended::Signaled(signal) => match known(*signal) {
            Some((name, _)) => format!("signal {signal} ({name})"),
            None => format!("signal {signal}"),
        },
        Ended::TimedOut => String::new(),
        Ended::NotFound(_) => "not found".to_owned(),
        Ended::NotStarted(_) => "not started".to_owned(),
        Ended::Stopped => "stopped".to_owned(),
    }
}

/// The failure that an end is by itself; `None` for exit code 0.
///
/// [`Ended::Stopped`] says nothing of the commit and is not stored; whoever asks all the same
/// gets a failure that [`fault_of`] lays on the world.
pub fn failure_of(ended: &Ended) -> Option<Failure> {
    let kind = match ended {
        Ended::Exited(0) => return None,
        Ended::TimedOut => FailureKind::Timeout,
        _ => FailureKind::Crash,
    };
    let detail = match ended {
        Ended::NotFound(_) | Ended::NotStarted(_) | Ended::TimedOut | Ended::Stopped => {
            ended.to_string()
        }
        Ended::Exited(_) | Ended::Signaled(_) => format!("ended with {}", signature(ended)),
    };
    let evidence = Some(Evidence::of(ended).into());
    Some(Failure { evidence, ..Failure::new(kind, signature(ended), detail) })
}

/// Whether the program itself brought about this end: an exit code, or a signal of the kind a
/// program earns by what it does.
pub fn is_own_doing(ended: &Ended) -> bool {
    match ended {
        Ended::Exited(_) => true,
        Ended::Signaled(signal) => matches!(known(*signal), Some((_, Fault::Commit))),
        _ => false,
    }
}

/// Whose fault a failed run or build is, as far as it can be told without a control.
///
/// `transient`: the output showed one of `failures.transient`. `program_in_tree`: the program
/// that was to run belongs under `{src}` or `{build}`, so that the commit should have made it.
///
/// A transient pattern outranks everything, since an engine that loses its GPU aborts, or
/// prints NaN, as if it were broken itself. What is left without a plain answer is
/// [`Fault::Unclear`] (a control decides) or [`Fault::Resource`] (the world's, unless the
/// control works).
pub fn fault_of(ended: &Ended, failure: &Failure, transient: bool, program_in_tree: bool) -> Fault {
    if transient {
        return Fault::Resource;
    }
    if matches!(
        failure.kind,
        FailureKind::Nan | FailureKind::Incomplete | FailureKind::Unreadable | FailureKind::Require
    ) {
        return Fault::Commit;
    }
    match ended {
        // A build that exits with 0 and still fails has not made what it should.
        Ended::Exited(0) => Fault::Commit,
        Ended::Signaled(signal) => known(*signal).map_or(Fault::Unclear, |(_, fault)| fault),
        Ended::NotFound(_) | Ended::NotStarted(_) if program_in_tree => Fault::Commit,
        Ended::NotFound(_) | Ended::NotStarted(_) | Ended::Stopped => Fault::World,
        Ended::Exited(_) | Ended::TimedOut => Fault::Unclear,
    }
}

#[cfg(test)]
mod tests;

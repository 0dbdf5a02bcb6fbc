//! From how a process ended: its signature, its failure, and whether the commit is at fault.

use rustix::process::Signal;

use super::{Ended, Evidence, Failure, FailureKind, Fault};

/// Signals, with their names and the fault they indicate.
///
/// A program causes the first group itself. The machine or its administration (memory killer,
/// batch system, a closed terminal) sends the second. The numbers come from the platform, since
/// BUS and SYS differ between Linux and the BSDs.
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

/// A short text to compare how two processes ended: `exit code 3`, `signal 11 (SIGSEGV)`,
/// `not found`, `not started`; empty for a time-out, since all time-outs are alike.
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

/// The failure that follows from how a process ended; `None` for exit code 0.
///
/// [`Ended::Stopped`] says nothing about the commit and is not stored. For it this returns a
/// failure that [`fault_of`] calls [`Fault::World`].
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

/// Whether the program itself caused how it ended: an exit code, or a signal such as SIGSEGV.
pub fn is_own_doing(ended: &Ended) -> bool {
    match ended {
        Ended::Exited(_) => true,
        Ended::Signaled(signal) => matches!(known(*signal), Some((_, Fault::Commit))),
        _ => false,
    }
}

/// Who is at fault for a failed run or build, as far as is clear without a control run.
///
/// `transient`: the output matches one of `failures.transient`. `program_in_tree`: the program's
/// path is under `{src}` or `{build}`, so the commit should have built it.
///
/// A transient pattern decides first, since an engine that loses its GPU aborts or prints NaN
/// as if its code were broken. Unclear cases are [`Fault::Unclear`] (a control run decides) or
/// [`Fault::Resource`] (the machine, unless the control run works).
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
        // A build that exits with 0 and still fails did not produce its outputs.
        Ended::Exited(0) => Fault::Commit,
        Ended::Signaled(signal) => known(*signal).map_or(Fault::Unclear, |(_, fault)| fault),
        Ended::NotFound(_) | Ended::NotStarted(_) if program_in_tree => Fault::Commit,
        Ended::NotFound(_) | Ended::NotStarted(_) | Ended::Stopped => Fault::World,
        Ended::Exited(_) | Ended::TimedOut => Fault::Unclear,
    }
}

#[cfg(test)]
mod tests;

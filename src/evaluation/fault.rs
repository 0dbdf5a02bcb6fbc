//! Decides from the end of a process how it failed, and whether the commit or the machine is at
//! fault.

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::signal::named;
use super::{Ended, Evidence, Failure, FailureKind};

/// Whether the commit or the machine causes a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fault {
    /// The commit: SEGV, ABRT, BUS, ILL, FPE, SYS, NaN, an output that cannot be read or lacks
    /// what is required, or a missing program of its own build.
    Commit,
    /// The machine: a tool outside the tree is missing, or the disk is full.
    #[serde(rename = "world")]
    Machine,
    /// Unclear: a control run of the good endpoint's kept build decides. If it fails, the machine
    /// is at fault. If it works, the commit needs more of a resource than the machine has, and is
    /// skipped.
    Resource,
    /// Unclear: a control run decides. If the control run works, the commit is at fault.
    Unclear,
}

/// Signals and the fault they indicate.
///
/// A program causes the first group itself. The machine or its administration (out-of-memory
/// killer, batch system, a closed terminal) sends the second. Both may cause the third.
const SIGNALS: [(Signal, Fault); 15] = [
    (Signal::SEGV, Fault::Commit),
    (Signal::ABORT, Fault::Commit),
    (Signal::BUS, Fault::Commit),
    (Signal::ILL, Fault::Commit),
    (Signal::FPE, Fault::Commit),
    (Signal::SYS, Fault::Commit),
    (Signal::KILL, Fault::Resource),
    (Signal::TERM, Fault::Resource),
    (Signal::HUP, Fault::Resource),
    (Signal::INT, Fault::Resource),
    (Signal::TRAP, Fault::Unclear),
    (Signal::PIPE, Fault::Unclear),
    (Signal::QUIT, Fault::Unclear),
    (Signal::XCPU, Fault::Unclear),
    (Signal::XFSZ, Fault::Unclear),
];

fn known(signal: i32) -> Option<Fault> {
    SIGNALS.iter().find(|(s, _)| s.as_raw() == signal).map(|(_, fault)| *fault)
}

/// The failure that follows from the end of a process; `None` for exit code 0.
///
/// [`Ended::Stopped`] says nothing about the commit and is not stored. It gives a failure for which
/// [`fault_of`] returns [`Fault::Machine`].
pub(crate) fn failure_of(ended: &Ended) -> Option<Failure> {
    let kind = match ended {
        Ended::Exited(0) => return None,
        Ended::TimedOut => FailureKind::Timeout,
        _ => FailureKind::Crash,
    };
    let detail = match ended {
        Ended::NotFound(_) | Ended::NotStarted(_) | Ended::TimedOut | Ended::Stopped => {
            ended.to_string()
        }
        Ended::Exited(_) => format!("ended with {ended}"),
        Ended::Signaled(signal) => format!("ended with {}", named(*signal)),
    };
    Some(Failure::new(kind, Evidence::of(ended), detail))
}

/// Whether the program itself caused its end: an exit code, or a signal such as SIGSEGV.
pub(crate) fn was_caused_by_program(ended: &Ended) -> bool {
    match ended {
        Ended::Exited(_) => true,
        Ended::Signaled(signal) => known(*signal) == Some(Fault::Commit),
        _ => false,
    }
}

/// Who is at fault for a failed run or build, as far as that is clear without a control run.
///
/// `transient`: the output matches one of `failures.transient`, or the kernel killed a process for
/// lack of memory meanwhile. `program_in_tree`: the program's path is under `{src}` or `{build}`,
/// so the commit should have built it.
///
/// `transient` decides first. An engine that loses its GPU aborts or prints NaN as if its code were
/// broken, and a program whose child was killed ends with an exit code. Other unclear cases are
/// [`Fault::Unclear`] (a control run decides) or [`Fault::Resource`] (the machine, unless the
/// control run works).
pub(crate) fn fault_of(
    ended: &Ended,
    failure: &Failure,
    transient: bool,
    program_in_tree: bool,
) -> Fault {
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
        Ended::Signaled(signal) => known(*signal).unwrap_or(Fault::Unclear),
        Ended::NotFound(_) | Ended::NotStarted(_) if program_in_tree => Fault::Commit,
        Ended::NotFound(_) | Ended::NotStarted(_) | Ended::Stopped => Fault::Machine,
        Ended::Exited(_) | Ended::TimedOut => Fault::Unclear,
    }
}

#[cfg(test)]
mod tests;

//! The text that distinguished failures of a kind before records had typed evidence.
//!
//! It is a format, not words for people: records contain it, older versions compare it, and records
//! without typed evidence are compared by it. These texts must never change.

use crate::evaluation::{Ended, FailureKind, signal};

use super::evidence::Evidence;

/// The text for a failure of this kind; empty if nothing distinguishes failures of the kind.
pub(super) fn signature(kind: FailureKind, evidence: &Evidence) -> String {
    let Evidence { ended, step, missing, patch, unreadable, required, .. } = evidence;
    let ended = ended.as_ref();
    let text = match kind {
        FailureKind::Checkout | FailureKind::Incomplete | FailureKind::Nan => None,
        FailureKind::Build => ended.map(of_build),
        FailureKind::Crash | FailureKind::Timeout => ended.map(of_run),
        FailureKind::Prepare => step.as_ref().map(|step| {
            let how = missing.as_ref().map(|missing| format!("it made no {missing}"));
            format!("{step}: {}", how.or(ended.map(plain)).unwrap_or_default())
        }),
        FailureKind::Patch => patch.clone(),
        FailureKind::Unreadable => unreadable.as_ref().map(ToString::to_string),
        FailureKind::Require => required.clone().or(ended.map(of_run)),
    };
    text.unwrap_or_default()
}

fn of_build(ended: &Ended) -> String {
    match ended {
        Ended::Signaled(signal) => named(*signal),
        _ => plain(ended),
    }
}

fn of_run(ended: &Ended) -> String {
    match ended {
        Ended::Signaled(signal) => named(*signal),
        Ended::TimedOut => String::new(),
        Ended::NotFound(_) => "not found".to_owned(),
        Ended::NotStarted(_) => "not started".to_owned(),
        Ended::Exited(_) | Ended::Stopped => plain(ended),
    }
}

fn named(signal: i32) -> String {
    match signal::name(signal) {
        Some(name) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}

fn plain(ended: &Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("exit code {code}"),
        Ended::Signaled(signal) => format!("signal {signal}"),
        Ended::TimedOut => "timed out".to_owned(),
        Ended::NotFound(program) => format!("program not found: {program}"),
        Ended::NotStarted(reason) => format!("could not be started: {reason}"),
        Ended::Stopped => "stopped".to_owned(),
    }
}

/// How a build command ended, from the text in a record without evidence: `exit code 2`, or
/// `exit code 2: ` and a line of the output. `None` if the text does not say how.
pub(super) fn ended_in(text: &str) -> Option<Ended> {
    let how = text.split(": ").next().unwrap_or_default();
    let number = |text: &str| text.parse().ok();
    if how == "timed out" {
        return Some(Ended::TimedOut);
    }
    let code = how.strip_prefix("exit code ").and_then(number).map(Ended::Exited);
    code.or_else(|| how.strip_prefix("signal ").and_then(number).map(Ended::Signaled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_builds_of_old_records_ended() {
        for (text, ended) in [
            ("exit code 2: src/foo.c:#: error", Some(Ended::Exited(2))),
            ("exit code 2", Some(Ended::Exited(2))),
            ("signal 11", Some(Ended::Signaled(11))),
            ("timed out", Some(Ended::TimedOut)),
            ("timed out: error: late", Some(Ended::TimedOut)),
            ("program not found: nvcc", None),
        ] {
            assert_eq!(ended_in(text), ended, "{text}");
        }
    }

    #[test]
    fn the_texts_of_records_stay_as_they_are() {
        for (ended, of_a_build, of_a_run) in [
            (Ended::Exited(3), "exit code 3", "exit code 3"),
            (Ended::Signaled(11), "signal 11 (SIGSEGV)", "signal 11 (SIGSEGV)"),
            (Ended::Signaled(64), "signal 64", "signal 64"),
            (Ended::TimedOut, "timed out", ""),
            (Ended::NotFound("x".into()), "program not found: x", "not found"),
            (Ended::NotStarted("x".into()), "could not be started: x", "not started"),
        ] {
            let evidence = Evidence::of(&ended);
            assert_eq!(signature(FailureKind::Build, &evidence), of_a_build);
            assert_eq!(signature(FailureKind::Crash, &evidence), of_a_run);
        }
        let step = Evidence { step: Some("model".to_owned()), ..Evidence::of(&Ended::Exited(0)) };
        let unmade = Evidence { missing: Some("model.bin".to_owned()), ..step.clone() };
        assert_eq!(signature(FailureKind::Prepare, &step), "model: exit code 0");
        assert_eq!(signature(FailureKind::Prepare, &unmade), "model: it made no model.bin");
    }
}

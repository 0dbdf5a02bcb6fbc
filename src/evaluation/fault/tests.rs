use super::*;

fn failure(kind: FailureKind) -> Failure {
    Failure::plain(kind, "")
}

/// The fault for a process that ended with a failure.
fn fault(ended: &Ended, transient: bool, in_tree: bool) -> Fault {
    let failure = failure_of(ended).expect("a failure");
    fault_of(ended, &failure, transient, in_tree)
}

#[test]
fn whose_fault_each_signal_is() {
    let rows = [
        (Fault::Commit, vec!["SEGV", "ABRT", "BUS", "ILL", "FPE", "SYS"]),
        (Fault::Resource, vec!["KILL", "TERM", "HUP", "INT"]),
        (Fault::Unclear, vec!["TRAP", "PIPE", "QUIT", "XCPU", "XFSZ"]),
    ];
    let mut seen = 0;
    for (wanted, names) in rows {
        for name in names {
            let full = format!("SIG{name}");
            let is_it = |signal: &Signal| {
                super::super::signal::name(signal.as_raw()) == Some(full.as_str())
            };
            let (signal, _) = SIGNALS.iter().find(|(signal, _)| is_it(signal)).expect(name);
            let ended = Ended::Signaled(signal.as_raw());
            assert_eq!(fault(&ended, false, true), wanted, "{name}");
            assert_eq!(fault(&ended, false, false), wanted, "{name}");
            assert_eq!(was_caused_by_program(&ended), wanted == Fault::Commit, "{name}");
            seen += 1;
        }
    }
    assert_eq!(seen, SIGNALS.len());
    assert_eq!(fault(&Ended::Signaled(64), false, true), Fault::Unclear);
}

#[test]
fn whose_fault_each_end_without_a_signal_is() {
    let absent = Ended::NotFound("ppl".into());
    let refused = Ended::NotStarted("exec format error".into());
    let rows = [
        (Ended::Exited(1), false, Fault::Unclear),
        (Ended::Exited(1), true, Fault::Unclear),
        (Ended::Exited(126), false, Fault::Unclear),
        (Ended::Exited(127), true, Fault::Unclear),
        (Ended::TimedOut, false, Fault::Unclear),
        (Ended::TimedOut, true, Fault::Unclear),
        (absent.clone(), true, Fault::Commit),
        (absent, false, Fault::Machine),
        (refused.clone(), true, Fault::Commit),
        (refused, false, Fault::Machine),
        (Ended::Stopped, true, Fault::Machine),
        (Ended::Stopped, false, Fault::Machine),
    ];
    for (ended, in_tree, wanted) in rows {
        assert_eq!(fault(&ended, false, in_tree), wanted, "{ended:?}, in tree: {in_tree}");
    }
}

#[test]
fn what_the_output_says_is_the_commits() {
    for kind in
        [FailureKind::Nan, FailureKind::Incomplete, FailureKind::Unreadable, FailureKind::Require]
    {
        for in_tree in [false, true] {
            assert_eq!(
                fault_of(&Ended::Exited(0), &failure(kind), false, in_tree),
                Fault::Commit,
                "{kind:?}"
            );
        }
    }
    // NaN printed before an assertion fires or an error code is returned.
    assert_eq!(fault_of(&Ended::Exited(1), &failure(FailureKind::Nan), false, true), Fault::Commit);
}

#[test]
fn a_build_is_judged_by_how_it_ended() {
    let build = failure(FailureKind::Build);
    assert_eq!(fault_of(&Ended::Exited(2), &build, false, false), Fault::Unclear);
    assert_eq!(
        fault_of(&Ended::Signaled(Signal::KILL.as_raw()), &build, false, false),
        Fault::Resource
    );
    assert_eq!(fault_of(&Ended::NotFound("cmake".into()), &build, false, false), Fault::Machine);
    assert_eq!(fault_of(&Ended::Exited(0), &build, false, false), Fault::Commit);
}

#[test]
fn a_transient_pattern_outranks_everything() {
    let abort = Ended::Signaled(Signal::ABORT.as_raw());
    assert_eq!(fault(&abort, true, true), Fault::Resource);
    assert_eq!(fault(&Ended::Exited(1), true, false), Fault::Resource);
    assert_eq!(
        fault_of(&Ended::Exited(0), &failure(FailureKind::Nan), true, true),
        Fault::Resource
    );
}

#[test]
fn each_end_but_exit_code_0_is_a_failure() {
    let segv = Ended::Signaled(Signal::SEGV.as_raw());
    assert_eq!(failure_of(&segv).unwrap().detail, "ended with signal 11 (SIGSEGV)");
    assert_eq!(failure_of(&Ended::Signaled(64)).unwrap().detail, "ended with signal 64");
    assert_eq!(failure_of(&Ended::Exited(3)).unwrap().detail, "ended with exit code 3");
    assert!(failure_of(&Ended::Exited(0)).is_none());
    assert_eq!(failure_of(&Ended::TimedOut).unwrap().kind, FailureKind::Timeout);
    assert_eq!(failure_of(&segv).unwrap().kind, FailureKind::Crash);
    assert_eq!(
        failure_of(&Ended::NotFound("ppl".into())).unwrap().detail,
        "program not found: ppl"
    );
}

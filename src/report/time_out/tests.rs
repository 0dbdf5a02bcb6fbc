use std::collections::BTreeMap;

use super::*;
use crate::evaluation::{Aim, Failure};
use crate::report::tests::fixture::{Hunt, culprit, found, id};
use crate::store::journal::{Event, RunDone};

fn failure(kind: FailureKind) -> Failure {
    Failure::of_old(kind, "timed out", "timed out")
}

/// What is said of `d`, whose parent is `c`. One of them takes so many seconds, and the other one
/// fails after 2. The runs of the good end take 1.5 seconds.
fn said(kind: FailureKind, aim: Aim, in_time: f64) -> Option<String> {
    let mut hunt = Hunt::at_search();
    let run = hunt.run('b', Phase::Endpoint, Some(7.21));
    let (works, fails) = if aim.is_regression() { ('c', 'd') } else { ('d', 'c') };
    let of = |commit: char, name: &str, wall_s: f64| RunDone {
        commit: id(commit),
        attempt: name.to_owned(),
        phase: Phase::Confirm,
        wall_s,
        ..run.clone()
    };
    let late = |name: &str, wall_s: f64| RunDone {
        failure: Some(failure(kind)),
        values: BTreeMap::new(),
        ..of(fails, name, wall_s)
    };
    let patched = RunDone { phase: Phase::Localize, ..of(works, "p", 0.1) };
    let all = [of(works, "w", in_time), late("f", 2.01), late("g", 2.04), patched];
    for run in all {
        hunt.append(Event::Run(run));
    }
    let mut first = culprit("kv: pad the cache", "src/kv.c");
    first.failure = Some(failure(kind));
    hunt.end(found(first));
    let mut report = hunt.report();
    report.options.aim = aim;
    in_words(&report, report.culprit.as_ref()?)
}

#[test]
fn a_parent_that_is_near_the_time_out_is_seen() {
    let told = said(FailureKind::Timeout, Aim::Regression, 1.85).unwrap();
    let expected = "its parent took 1.85 s of the 2 s until the time-out; the good end took 1.5 s, \
                    so earlier commits made it slower too: a guard on `ppl.wall_s` searches for \
                    them";
    assert_eq!(told, expected);
    let told = said(FailureKind::Timeout, Aim::Regression, 1.6).unwrap();
    let expected = "its parent took 1.6 s of the 2 s until the time-out; the good end took 1.5 s";
    assert_eq!(told, expected);
}

#[test]
fn a_fix_says_its_own_time() {
    let told = said(FailureKind::Timeout, Aim::Fix, 1.85).unwrap();
    let expected = "it took 1.85 s of the 2 s until the time-out; the good end took 1.5 s";
    assert_eq!(told, expected);
}

#[test]
fn another_failure_has_no_time() {
    assert_eq!(said(FailureKind::Crash, Aim::Regression, 1.85), None);
}

#[test]
fn long_times_have_no_hundredths() {
    assert_eq!([1.854, 2.0, 71.26].map(precise), ["1.85 s", "2 s", "1 min 11 s"]);
}

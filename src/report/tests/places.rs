//! Tests of what a report says about builds, and about the slots of builds and runs.

use crate::evaluation::Phase;
use crate::report::tests::markdown;
use crate::report::{Logs, html, json};
use crate::store::journal::{AheadDone, BuildDone, Event};
use crate::store::{CacheProgram, CompilerCache};

use super::fixture::{Hunt, id};
use super::with_culprit;

/// A worker built and ran the parent.
fn ahead_of_parent() -> Event {
    Event::Ahead(AheadDone {
        commit: id('c'),
        phase: Phase::Confirm,
        slot: 2,
        seconds: 5.0,
        builds: vec![("a8".to_owned(), 3.0)],
        runs: vec![("a9".to_owned(), 1.5)],
        cancelled: false,
    })
}

#[test]
fn with_several_slots_each_sample_and_build_has_its_slot() {
    let mut hunt = with_culprit();
    hunt.append(ahead_of_parent());
    let report = hunt.report();
    let page = markdown(&report);
    for said in [
        "| good | confirm [7.21 in slot 2](logs/ppl-a9.log) |",
        "| bad | confirm [7.52 in slot 1](logs/ppl-a11.log) |",
        "| cccccccccc | confirm [3 s in slot 2](logs/build-a8.log) |",
    ] {
        assert!(page.contains(said), "no {said} in {page}");
    }
    assert!(html(&report, &Logs::beside(&report)).contains("build in slot 2"));
    let document: serde_json::Value = serde_json::from_str(&json(&report)).unwrap();
    let commits = document["commits"].as_array().unwrap();
    let parent = commits.iter().find(|one| one["commit"] == id('c').to_string()).unwrap();
    for list in ["samples", "builds"] {
        assert_eq!(parent[list][0]["slot"], 2, "{parent}");
    }
}

#[test]
fn in_a_cluster_no_slot_is_said() {
    let mut hunt = with_culprit();
    hunt.append(ahead_of_parent());
    let mut report = hunt.report();
    report.totals.node_s = Some(7.0);
    assert!(!markdown(&report).contains("in slot"));
}

#[test]
fn a_kept_build_is_no_stored_result() {
    let mut report = with_culprit().report();
    let is_said = |report: &crate::report::Report| {
        markdown(report).contains("(build of 2026-11-22 00:57 UTC)")
    };
    assert!(!is_said(&report));
    let build = report.commits.iter_mut().find_map(|commit| commit.builds.first_mut()).unwrap();
    build.reused = true;
    build.stored_at = Some("2026-11-22T00:57:10Z".to_owned());
    assert!(is_said(&report), "{}", markdown(&report));
}

#[test]
fn with_one_slot_no_place_is_said() {
    let report = with_culprit().report();
    assert!(!markdown(&report).contains("in slot"));
    assert!(!json(&report).contains("\"slot\""));
}

#[test]
fn a_build_says_what_a_compiler_cache_answered_and_which_node_built() {
    let mut hunt = with_culprit();
    hunt.append(Event::Build(BuildDone {
        commit: id('d'),
        attempt: "x1".to_owned(),
        build_key: "k".to_owned(),
        phase: Phase::Confirm,
        wall_s: 12.0,
        log: "logs/build-x1.log".to_owned(),
        failure: None,
        reused: false,
        stored_at: None,
        commands: Vec::new(),
        prepare: None,
        compiler_cache: Some(CompilerCache { program: CacheProgram::Ccache, hits: 12, misses: 2 }),
        failed_attempts: None,
        node: Some("n7".to_owned()),
    }));
    let page = markdown(&hunt.report());
    let said = "confirm [3 s](logs/build-a10.log) [12 s on n7, 12 of 14 from \
                ccache](logs/build-x1.log) |";
    assert!(page.contains(said), "{page}");
}

#[test]
fn an_end_that_is_measured_before_the_other_one_is_not_called_unjudged() {
    let mut hunt = Hunt::begun("v1.0", "engine: release");
    hunt.build('b', Phase::Endpoint);
    let reason = |hunt: &Hunt| hunt.report().commits[0].reason.clone();
    assert_eq!(reason(&hunt), "not judged", "it has no run");
    hunt.run('b', Phase::Endpoint, Some(7.21));
    let told = "measured; an end gets its verdict when both ends are measured";
    assert_eq!(reason(&hunt), told);
}

//! Searches whose runs read only the beginning of the text.

use super::{Row, hunt};
use crate::kit::{Oracle, Plan, line};

const GOOD: &str = "nll = 24x2.0";
/// Each chunk is 0.1 nats per token worse: perplexity 7.3891 becomes 8.1662.
const BAD: &str = "nll = 24x2.1";

/// A recipe that passes the number of chunks to the engine, by default all 24.
fn told_how_much(oracle: Oracle) -> Oracle {
    let command = "{build}/engine run ppl src={src} cache={cache} out={out} chunks={chunks}";
    oracle.ppl_command(command).section("[run]\nchunks = 24")
}

pub(super) fn short(plan: Plan) -> Row {
    hunt(plan).oracle(told_how_much)
}

/// A line in which each word is the commit's `nll` setting.
pub(super) fn reading(words: &[&str]) -> Plan {
    let mut plan = line(&vec!["g"; words.len()].join(" "));
    for (label, nll) in words.iter().enumerate() {
        plan = plan.with(label, nll);
    }
    plan
}

fn plain() -> Plan {
    reading(&[GOOD, GOOD, GOOD, GOOD, BAD, BAD, BAD, BAD])
}

/// How many chunks the runs of each phase read.
fn read(told: &super::PassedHunt, phase: &str) -> Vec<usize> {
    let journal = told.hunt.file("journal.jsonl");
    let events = journal.lines().map(|line| serde_json::from_str(line).unwrap());
    events
        .filter(|event: &serde_json::Value| event["event"] == "run" && event["phase"] == phase)
        .filter_map(|event| usize::try_from(event["text"]["chunks"].as_u64()?).ok())
        .collect()
}

#[test]
fn a_search_reads_the_chunks_that_are_enough_and_the_rest_reads_all() {
    let told = short(plain()).finds("4").costs(15, 7);
    assert_eq!(read(&told, "endpoint"), [24; 4]);
    assert_eq!(read(&told, "search"), [8; 3]);
    assert!(read(&told, "confirm").iter().all(|chunks| *chunks == 24));
    let report = &told.hunt.report;
    assert_eq!(report["searches"][0]["chunks"], 8);
    assert_eq!(report["culprit"]["basis"], "bit-exact");
    assert!(report["totals"]["saved_s"].is_number());
    // The report distinguishes levels of the short text from levels of the full text.
    let commit = told.commit("5");
    assert!(commit["reason"].as_str().unwrap().ends_with(", over the first 8 chunks"), "{commit}");
    assert!(commit["samples"].as_array().unwrap().iter().all(|sample| sample["chunks"] == 8));
    assert!(told.commit("0")["samples"][0]["chunks"].is_null());
    for name in ["report.md", "report.html"] {
        assert!(told.hunt.file(name).contains("read the first 8 chunks of the text"), "{name}");
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn shorter_runs_take_less_time() {
    let told = short(plain().with_all("chunk_ms = 20")).finds("4").costs(15, 7);
    // Three runs of 8 chunks instead of 24 save 3 · 16 · 20 ms. Other programs load the machine.
    let saved = told.hunt.report["totals"]["saved_s"].as_f64().unwrap();
    assert!(saved > 0.6 && saved < 1.4, "{saved}");
    assert!(told.hunt.file("report.md").contains("which saved about"), "{saved}");
}

#[test]
fn it_can_be_switched_off() {
    let row = short(plain()).oracle(|o| o.section("[statistics]\nshort_text = false"));
    let told = row.finds("4").costs(15, 7);
    assert_eq!(read(&told, "search"), [24; 3]);
    assert!(told.hunt.report["totals"].get("saved_s").is_none());
}

#[test]
fn a_defect_that_shows_late_takes_the_whole_text() {
    let late = "nll = 14x2.0 10x2.4";
    let told = short(reading(&[GOOD, GOOD, GOOD, late, late, late])).finds("3").costs(15, 7);
    assert_eq!(read(&told, "search"), [24; 3]);
}

#[test]
fn what_looks_bad_at_the_beginning_only_is_not_blamed() {
    // Commit 3 is worse early and better late by the same amount. Commit 5 adds 0.1 nats per
    // token to each chunk.
    let turned = "nll = 12x2.2 12x1.8";
    let both = "nll = 12x2.3 12x1.9";
    let plan = reading(&[GOOD, GOOD, GOOD, turned, turned, both, both, both]);
    let told =
        short(plan).saying(&["the search goes on with the full text"]).finds("5").costs(21, 10);
    assert_eq!(read(&told, "search"), [8, 8, 8, 24, 24]);
    // The full text corrected the verdict from the beginning of the text.
    assert_eq!(told.verdict("3"), "good");
    assert!(told.hunt.file("report.md").contains("that did not hold, so the full text decided"));
    assert!(told.hunt.report["totals"]["saved_s"].as_f64().unwrap() < 0.0);
}

#[test]
fn what_shows_late_is_not_blamed_on_who_comes_after() {
    // Commit 2 is worse only in the late chunks. The first chunks show only the change of commit 5.
    let late = "nll = 12x2.0 12x2.4";
    let both = "nll = 12x2.04 12x2.4";
    let plan = reading(&[GOOD, GOOD, late, late, late, both, both, both]);
    let told = short(plan).finds("2").costs(22, 12);
    let search = read(&told, "search");
    // The check that commit 2 lasts reads the full text too.
    assert_eq!(search, [[8; 3].as_slice(), &[24; 13]].concat());
    assert_eq!(told.verdict("4"), "bad");
}

#[test]
fn untestable_commits_are_bounded_by_the_full_text() {
    let plan = plain().with(3, "build_exit = 1");
    // Both ends of the untestable range run once more, with the full text.
    let told = short(plan).leaves("3 4").costs(8, 8);
    assert_eq!(read(&told, "search").iter().filter(|chunks| **chunks == 24).count(), 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn bounds_that_do_not_hold_are_searched_again() {
    let turned = "nll = 12x2.2 12x1.8";
    let both = "nll = 12x2.3 12x1.9";
    let plan = reading(&[GOOD, GOOD, GOOD, turned, turned, both, both, both]);
    let told = short(plan.with(2, "build_exit = 1")).finds("5").costs(18, 11);
    assert_eq!(told.verdict("3"), "good");
}

#[test]
fn a_recipe_that_takes_no_chunks_takes_them_from_nobody() {
    let era = "[[override]]\nwhen = { exists = \"old\" }\nmeasure.ppl.command = \
               '{build}/engine run ppl src={src} cache={cache} out={out}'";
    let row = short(plain().file(2, "old", "\n")).oracle(|o| o.section(era));
    let told = row.finds("4").costs(15, 7);
    assert_eq!(read(&told, "search"), [24; 3]);
}

#[test]
fn a_beginning_that_does_not_repeat_takes_five_fresh_rounds() {
    // The search's first run of the parent differs in its last chunk, so the search runs the parent
    // twice. Four fresh rounds are all alike.
    let plan = plain().with(3, "wobble = 1");
    let told = short(plan).finds("4").costs(16, 7);
    assert_eq!(told.hunt.report["culprit"]["basis"], "sequential");
}

#[test]
fn what_was_read_of_a_short_text_is_used_again() {
    let told = short(plain()).finds("4").costs(15, 7).again().finds("4").costs(0, 0);
    assert!(told.hunt.report["totals"].get("saved_s").is_none());
    // Each length of the text has its own runs, so the full search reuses none of these.
    let row = told.again().oracle(|o| o.section("[statistics]\nshort_text = false"));
    row.finds("4").costs(3, 3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_search_that_was_misled_is_so_again() {
    let turned = "nll = 12x2.2 12x1.8";
    let both = "nll = 12x2.3 12x1.9";
    let plan = reading(&[GOOD, GOOD, GOOD, turned, turned, both, both, both]);
    // Only successful confirmations are stored, so the failed one runs again.
    let told = short(plan).finds("5").costs(21, 10).again().finds("5").costs(6, 2);
    assert_eq!(told.verdict("3"), "good");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_search_that_stopped_goes_on_with_the_same_text() {
    let mut plan = plain();
    // The first commit of the search breaks the machine, whichever it is.
    for label in 1..7 {
        plan = plan.with(label, "break_world = broken");
    }
    let told = short(plan).saying(&["resume"]).gets_stopped().costs(7, 3);
    told.env().world("broken", false);
    let told = told.resumed().finds("4").counting(18, 8).costs(11, 5);
    let [search, confirm] = ["search", "confirm"].map(|phase| read(&told, phase));
    assert!(search.iter().all(|chunks| *chunks == 8), "{search:?}");
    assert!(confirm.iter().all(|chunks| *chunks == 24), "{confirm:?}");
}

//! Tests of the sentences about a search on a shorter text.

use crate::evaluation::{Phase, TextLength, Verdict};
use crate::report::json;
use crate::report::tests::markdown;
use crate::store::journal::Event;

use super::fixture::{Hunt, Search, culprit, found, id};

/// Adds a run of the given duration and number of chunks.
fn run(hunt: &mut Hunt, commit: char, phase: Phase, wall_s: f64, chunks: usize) {
    let mut run = hunt.run(commit, phase, Some(7.5));
    run.attempt += "+";
    run.wall_s = wall_s;
    run.text = Some(TextLength { chunks, context: Some(512) });
    hunt.append(Event::Run(run));
}

fn search(hunt: &mut Hunt, number: usize, chunks: Option<u32>) {
    hunt.search(Search { number, chunks, ..Search::default() });
}

/// Endpoints with 24 chunks in 10 s on average, and a search with 8 chunks in 3 s and 5 s.
fn searched() -> Hunt {
    let mut hunt = Hunt::begun("v1.0", "engine: release");
    for commit in ['b', 'e'] {
        // The fixture's own run prints no chunks and takes 1.5 s.
        run(&mut hunt, commit, Phase::Endpoint, 18.5, 24);
    }
    search(&mut hunt, 0, Some(8));
    for (commit, wall_s) in [('c', 3.0), ('d', 5.0)] {
        run(&mut hunt, commit, Phase::Search, wall_s, 8);
        hunt.judge(commit, Verdict::Bad, Phase::Search);
    }
    hunt
}

#[test]
fn what_a_short_text_saved_is_counted_from_the_runs_that_were_made() {
    let mut hunt = searched();
    hunt.end(found(culprit("kv: pad the cache", "src/kv_cache.c")));
    let report = hunt.report();
    // Full runs of 18.5, 1.5, 18.5 and 1.5 s are 10 s long: 10 − 3 and 10 − 5 are saved.
    assert!((report.totals.saved_s.unwrap() - 12.0).abs() < 1e-9, "{:?}", report.totals);
    let said = "The search read the first 8 chunks of the text at each commit, which saved about";
    assert!(markdown(&report).contains(said), "{}", markdown(&report));
    // Values of the short text are marked as such.
    assert!(markdown(&report).contains("7.5 (8 chunks)"), "{}", markdown(&report));
    assert!(json(&report).contains("\"chunks\": 8"));
}

#[test]
fn a_short_text_that_misled_cost_what_it_took() {
    let mut hunt = searched();
    search(&mut hunt, 1, None);
    run(&mut hunt, 'c', Phase::Search, 9.0, 24);
    hunt.judge_as('c', Verdict::Good, Phase::Search, 1, "ppl keeps its limit", None);
    hunt.end(found(culprit("kv: pad the cache", "src/kv_cache.c")));
    let report = hunt.report();
    assert!((report.totals.saved_s.unwrap() + 8.0).abs() < 1e-9, "{:?}", report.totals);
    assert!(markdown(&report).contains("that did not hold, so the full text decided."));
    let verdict = |letter| report.commits.iter().find(|c| c.commit == id(letter)).unwrap().verdict;
    assert_eq!((verdict('c'), verdict('d')), (Verdict::Good, Verdict::Bad));
}

#[test]
fn a_later_search_with_the_full_text_does_not_refute_the_short_one() {
    let mut hunt = searched();
    hunt.search(Search { number: 1, good: 'd', commits: 2, ..Search::default() });
    hunt.judge_as('d', Verdict::Good, Phase::Search, 1, "as good as itself", None);
    hunt.end(found(culprit("kv: pad the cache", "src/kv_cache.c")));
    let report = hunt.report();
    assert!(report.totals.saved_s.unwrap() > 0.0);
    let found = report.commits.iter().find(|commit| commit.commit == id('d')).unwrap();
    assert_eq!(found.verdict, Verdict::Bad);
}

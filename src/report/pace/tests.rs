//! Tests of the time left, on journals whose durations are known.

use super::*;
use crate::evaluation::Verdict;
use crate::report::tests::fixture::{Hunt, Search, culprit, id};
use crate::store::journal::BuildDone;

const PLAN: Plan = Plan {
    commits: 12,
    steps: 4,
    builds: 6,
    runs: 6,
    seconds: 27.0,
    stored: false,
    parts: Vec::new(),
    gpus: None,
    ahead: None,
};

/// A hunt after its plan. Builds take 3 s and runs 1.5 s.
fn planned() -> Hunt {
    let mut hunt = Hunt::at_search();
    hunt.append(Event::Plan(PLAN));
    hunt
}

fn search(hunt: &mut Hunt) {
    search_by(hunt, None);
}

fn search_by(hunt: &mut Hunt, method: Option<SearchMethod>) {
    hunt.search(Search { commits: 12, method, ..Search::default() });
}

fn pace(hunt: &Hunt) -> Pace {
    Pace::of(&hunt.dir.entries().unwrap())
}

fn assert_left(hunt: &Hunt, current: f64, seconds: f64) {
    let left = pace(hunt).seconds_left(current).unwrap();
    assert!((left - seconds).abs() < 1e-9, "{left} instead of {seconds}");
}

#[test]
fn nothing_is_promised_before_the_plan() {
    let hunt = Hunt::at_search();
    assert_eq!(pace(&hunt).seconds_left(0.0), None);
    assert_eq!(pace(&hunt).stage(), Stage::Endpoints);
}

#[test]
fn a_search_begins_at_the_pace_of_the_endpoints() {
    let mut hunt = planned();
    search(&mut hunt);
    // 4 steps of one build and one run; 2 builds and 2 runs to confirm.
    assert_left(&hunt, 0.0, 4.0 * 4.5 + 2.0 * 3.0 + 2.0 * 1.5);
    assert_left(&hunt, 1.0, 26.0);
    // A step that is slower than expected counts as done.
    assert_left(&hunt, 100.0, 27.0 - 4.5);
    assert_eq!(pace(&hunt).step(), Some((1, 4, 12)));
}

#[test]
fn steps_that_were_made_tell_the_cost_of_the_next() {
    let mut hunt = planned();
    search(&mut hunt);
    hunt.unbuildable('c', "1 s"); // a build of 1 s, and no run
    hunt.judge('c', Verdict::Skip, Phase::Search); // 3 steps left
    let build = (3.0 + 3.0 + 1.0) / 3.0;
    assert_left(&hunt, 0.0, 3.0 * 1.0 + 2.0 * build + 2.0 * 1.5);
    assert_eq!(pace(&hunt).step(), Some((2, 4, 6)));
    // The build of the current step ended. 0.5 s later, half a second of the step is left.
    hunt.build('d', Phase::Search);
    let build = (3.0 + 3.0 + 1.0 + 3.0) / 4.0;
    assert_left(&hunt, 0.5, 2.0 * 1.0 + 2.0 * build + 2.0 * 1.5);
}

#[test]
fn a_resumed_search_goes_on_at_its_step() {
    let mut hunt = planned();
    search(&mut hunt);
    hunt.judge('c', Verdict::Good, Phase::Search);
    assert_eq!(pace(&hunt).steps_made(), Some((1, (6, 3))));
    hunt.append(Event::Resumed { limits: None, driver_since: None });
    search(&mut hunt);
    assert_eq!(pace(&hunt).step(), Some((2, 4, 6)));
    // The same range, searched anew by the same driver.
    search(&mut hunt);
    assert_eq!((pace(&hunt).step(), pace(&hunt).steps_made()), (Some((1, 4, 12)), None));
    let over = Pace { left: Some((0, 0)), steps_done: 5, ..Pace::default() };
    assert_eq!(over.step(), None);
}

#[test]
fn results_from_the_store_promise_nothing() {
    let mut hunt = planned();
    search(&mut hunt);
    hunt.append(Event::Build(BuildDone {
        node: None,
        prepare: None,
        compiler_cache: None,
        failed_attempts: None,
        commit: id('c'),
        log: String::new(),
        attempt: "old".to_owned(),
        build_key: "k".to_owned(),
        phase: Phase::Search,
        wall_s: 3.0,
        failure: None,
        reused: true,
        stored_at: None,
        commands: Vec::new(),
    }));
    hunt.judge('c', Verdict::Good, Phase::Search);
    assert_eq!(pace(&hunt).seconds_left(0.0), None);
}

#[test]
fn a_confirmation_counts_down_and_then_promises_nothing() {
    let mut hunt = planned();
    search(&mut hunt);
    hunt.append(Event::SearchEnd { search_number: 0, end: SearchEnd::FirstBad(id('d')) });
    assert_eq!((pace(&hunt).stage(), pace(&hunt).step()), (Stage::Confirmation, None));
    assert_left(&hunt, 0.0, 2.0 * 3.0 + 2.0 * 1.5);
    for commit in ['d', 'c'] {
        hunt.build(commit, Phase::Confirm);
        hunt.run(commit, Phase::Confirm, Some(7.2));
    }
    assert_eq!(pace(&hunt).seconds_left(0.0), None);
}

#[test]
fn after_the_confirmation_other_commits_are_checked() {
    let mut hunt = planned();
    search(&mut hunt);
    hunt.append(Event::SearchEnd { search_number: 0, end: SearchEnd::FirstBad(id('d')) });
    hunt.append(Event::Confirmed(Box::new(culprit("kv: pad the cache", "a.c"))));
    assert_eq!(pace(&hunt).stage(), Stage::LaterCommits);
    hunt.append(Event::Neighbours { of: id('c'), side: Neighbours::Earlier, most: 4 });
    assert_eq!(pace(&hunt).stage().to_string(), "checking earlier commits");
    // In noise, nothing is looked for inside the commit then.
    hunt.append(Event::EndWithout { commits: vec![id('d')] });
    let said = "testing the bad end without the named commits";
    assert_eq!(pace(&hunt).stage().to_string(), said);
}

#[test]
fn a_posterior_search_makes_no_steps() {
    let mut hunt = planned();
    search_by(&mut hunt, Some(SearchMethod::Posterior));
    assert_eq!((pace(&hunt).stage(), pace(&hunt).step()), (Stage::Search, None));
}

#[test]
fn a_hunt_is_timed_while_a_process_drives_it() {
    let mut entries = planned().dir.entries().unwrap().to_vec();
    let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let after = |seconds: i64| start + jiff::SignedDuration::from_secs(seconds);
    for (second, entry) in (0..).zip(&mut entries) {
        entry.at = after(second).to_string();
    }
    // A job notes the beginning again, 100 s later.
    let begun = entries[0].event.clone();
    let jobs = [&entries[..], &[Entry { at: after(100).to_string(), event: begun }]].concat();
    assert!((Pace::of(&jobs).seconds(Some(after(101))) - 101.0).abs() < 1e-9);
    let last = i64::try_from(entries.len()).unwrap() - 1;
    // Resumed an hour later, for 20 s.
    for (at, event) in [
        (3600, Event::Resumed { limits: None, driver_since: None }),
        (3620, Event::Note { text: String::new() }),
    ] {
        entries.push(Entry { at: after(at).to_string(), event });
    }
    let pace = Pace::of(&entries);
    assert!((pace.seconds(None) - (last + 20) as f64).abs() < 1e-9);
    assert!((pace.seconds(Some(after(3650))) - (last + 50) as f64).abs() < 1e-9);
}

#[test]
fn a_driver_that_pauses_or_submits_another_job_goes_on_in_time() {
    let mut entries = planned().dir.entries().unwrap().to_vec();
    let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let after = |seconds: i64| start + jiff::SignedDuration::from_secs(seconds);
    for entry in &mut entries {
        entry.at = after(0).to_string();
    }
    let note = |text: &str| Event::Note { text: text.to_owned() };
    let resumed = |since: i64| {
        let driver_since = Some(after(since).to_string());
        Event::Resumed { limits: None, driver_since }
    };
    let seconds = |entries: &[Entry], now| Pace::of(entries).seconds(Some(after(now)));
    // The same driver goes on 28 s after a job was lost.
    let pauses = [(30, note("job 7 was preempted")), (58, resumed(0))];
    let before = seconds(&entries, 57);
    entries.extend(pauses.map(|(at, event)| Entry { at: after(at).to_string(), event }));
    assert!((before - 57.0).abs() < 1e-9);
    assert!((seconds(&entries, 60) - 60.0).abs() < 1e-9, "{}", seconds(&entries, 60));
    // Another driver goes on an hour later.
    entries.push(Entry { at: after(3660).to_string(), event: resumed(3659) });
    assert!((seconds(&entries, 3670) - 68.0).abs() < 1e-9, "{}", seconds(&entries, 3670));
}

#[test]
fn the_latest_builds_and_runs_tell_how_long_the_next_one_takes() {
    let mut hunt = planned();
    assert_eq!(pace(&hunt).usual(None), Some(3.0));
    assert_eq!(pace(&hunt).usual(Some("ppl")), Some(1.5));
    assert_eq!(pace(&hunt).usual(Some("speed")), None);
    for _ in 0..3 {
        hunt.unbuildable('c', "1 s"); // a build of 1 s
    }
    assert_eq!(pace(&hunt).usual(None), Some(1.0));
}

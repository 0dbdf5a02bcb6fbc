//! Real hunts with faults at random points: killed processes, full and read-only disks, damaged
//! files of the store, a clock that jumps, too little memory, changed inputs, a broken machine.
//! After each fault the hunt is resumed as its message says. It must give the answer of a hunt
//! without faults, lose no sample, and leave nothing behind.
//!
//! ```text
//! cargo test --all-features --test it faults::                     one of each of nine kinds
//! cargo test --all-features --test it faults:: -- --include-ignored          one of each kind
//! FAULTS=1000 SEED=7 cargo test --all-features --test it faults:: -- --nocapture
//! FAULT=1234 cargo test --all-features --test it faults:: -- --nocapture     one case, in full
//! ```
//! Without `FAULTS`, a case that fails is run up to twice more, and counts if it fails again: no two
//! runs of a case meet the same moment. With `FAULTS`, each failure counts.
//!
//! `KIND=kill` draws only kinds with this in their name (`kinds.rs`). `THREADS=8` makes eight hunts
//! at once. After `MINUTES=20` no case is begun.

mod answer;
mod case;
mod checks;
mod damage;
mod disk;
mod kinds;
mod site;
mod strike;
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::worlds::dice::Dice;
use crate::worlds::{count, number};

use case::{Case, Course};
use kinds::{KINDS, Kind};
use table::Table;

/// Cases of the wanted kinds, as many of each; one of each if no number is given.
fn cases(seed: u64, many: Option<usize>) -> Vec<Case> {
    let wanted = std::env::var("KIND").unwrap_or_default();
    let kinds: Vec<Kind> =
        KINDS.iter().filter(|kind| kind.name().contains(&wanted)).copied().collect();
    assert!(!kinds.is_empty(), "no kind has `{wanted}`");
    let mut dice = Dice::new(seed);
    let turns = kinds.iter().cycle().take(many.unwrap_or(kinds.len()));
    let draw = |kind: &Kind| {
        let mut all = std::iter::repeat_with(|| Case::of(dice.next() >> 1));
        all.find(|case| case.kind == *kind).expect("every kind is drawn")
    };
    turns.map(draw).collect()
}

/// Runs a case; a panic is a failure.
fn run(case: &Case) -> Course {
    let ended = catch_unwind(AssertUnwindSafe(|| case.run()));
    ended.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Course::failed(format!("the test stopped: {}", text.unwrap_or_default()))
    })
}

/// Runs a case. If it fails, runs it up to so many times again, until it fails again.
fn run_again(case: &Case, again: usize) -> Course {
    let mut course = run_and_tell(case);
    if course.problems.is_empty() {
        return course;
    }
    for _ in 0..again {
        course = run_and_tell(case);
        if !course.problems.is_empty() {
            break;
        }
    }
    course
}

fn run_and_tell(case: &Case) -> Course {
    let course = run(case);
    if !course.problems.is_empty() {
        println!("{case}: {}\n{}", course.problems.join("; "), course.told);
    }
    course
}

/// Runs all cases, several at once.
fn survey(cases: &[Case], again: usize) -> Table {
    let table = Mutex::new(Table::default());
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    let limit = number("MINUTES").map_or(Duration::MAX, |count| Duration::from_secs(60 * count));
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..count("THREADS", 2 * cores) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed))
                    && began.elapsed() < limit
                {
                    let course = run_again(case, again);
                    table.lock().unwrap().add(case, &course);
                }
            });
        }
    });
    table.into_inner().unwrap()
}

#[test]
fn no_fault_costs_the_answer_or_leaves_a_mess() {
    if let Some(seed) = number("FAULT") {
        let case = Case::of(seed);
        let course = run(&case);
        println!("{case}\n{}\n{course:?}", course.told);
        assert!(course.problems.is_empty(), "{:?}", course.problems);
        return;
    }
    let seed = number("SEED").unwrap_or(20_261_123);
    println!("SEED={seed}");
    if number("FAULTS").is_some() {
        return all_pass(&cases(seed, Some(count("FAULTS", 0))), 0);
    }
    let mut cases = cases(seed, None);
    if std::env::var_os("KIND").is_none() {
        cases.retain(|case| case.kind.is_always_tested());
    }
    all_pass(&cases, 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn no_fault_of_another_kind_costs_the_answer_or_leaves_a_mess() {
    // With one of these, the test above has these kinds too.
    if ["FAULT", "FAULTS", "KIND"].iter().any(|name| std::env::var_os(name).is_some()) {
        return;
    }
    let mut cases = cases(number("SEED").unwrap_or(20_261_123), None);
    cases.retain(|case| !case.kind.is_always_tested());
    all_pass(&cases, 2);
}

/// Runs all cases, and one that fails up to so many times again.
fn all_pass(cases: &[Case], again: usize) {
    println!("{} cases", cases.len());
    let table = survey(cases, again);
    table.print();
    assert_eq!(table.failed(), 0, "failed cases, named above");
    assert!(table.struck() > 0, "no fault was injected");
}

#[test]
fn the_same_seed_makes_the_same_case() {
    for case in cases(3, Some(2 * KINDS.len())) {
        assert_eq!(case, Case::of(case.seed));
    }
}

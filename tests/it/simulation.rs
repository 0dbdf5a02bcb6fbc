//! Hunts in simulated noise with the program's own decisions: a quick form of the table that
//! `cargo run --release --example noise` prints, with other seeds.

#[path = "../../examples/noise/bound.rs"]
mod bound;
#[path = "../../examples/noise/cells.rs"]
mod cells;
#[path = "../../examples/noise/others.rs"]
#[expect(dead_code, reason = "the example compares with more than is held here")]
mod others;
#[path = "../../examples/noise/ours.rs"]
mod ours;
#[path = "../../examples/noise/world.rs"]
pub(crate) mod world;

use bound::fewest_runs;
use cells::{Cell, History, Hunter, Tally};
use others::Method;
use world::{Change, Family, Hint};

/// Limits for a cell: shares of hunts in percent, and mean runs, rounded as in
/// docs/statistics.md.
struct Figures {
    right: f64,
    wrong: f64,
    runs: f64,
}

/// Most runs of a search in normal noise, as a multiple of the fewest possible. The goal is 1.3
/// (docs/statistics.md).
const MOST_OF_BOUND: f64 = 1.45;

const CLOSE: Figures = Figures { right: 99.0, wrong: 0.5, runs: f64::INFINITY };

fn cell(commits: usize, history: History, family: Family, step: f64) -> Cell {
    Cell { commits, history, family, change: Change::Step(step), hint: Hint::None }
}

/// Three standard errors of a share in percent over this many hunts.
fn allowed(percent: f64, hunts: usize) -> f64 {
    300.0 * (percent / 100.0 * (1.0 - percent / 100.0) / hunts as f64).sqrt()
}

/// Fails if the cell misses its limits by more than three standard errors and rounding.
#[track_caller]
fn assert_reaches(cell: Cell, hunts: usize, figures: &Figures) -> Tally {
    let tally = cell.tally(Hunter::Ours, hunts, 20_261_121);
    let (right, wrong) = (tally.percent(tally.right), tally.percent(tally.wrong));
    let runs = tally.mean_runs();
    let told = format!("{right:.1} / {wrong:.1} %, {runs:.1} ± {:.1} runs", tally.error_of_runs());
    assert!(right >= figures.right - allowed(figures.right, hunts), "{cell:?}: {told}");
    assert!(wrong <= figures.wrong + allowed(figures.wrong, hunts), "{cell:?}: {told}");
    assert!(runs <= figures.runs + 0.5 + 3.0 * tally.error_of_runs(), "{cell:?}: {told}");
    tally
}

#[test]
fn normal_noise_along_a_line() {
    for (step, hunts, runs) in [(2.0, 150, 56.0), (3.0, 200, 31.0), (5.0, 200, 20.0)] {
        let cell = cell(128, History::Line, Family::NORMAL, step);
        let tally = assert_reaches(cell, hunts, &Figures { runs, ..CLOSE });
        // The runs of the search alone. Their error is at most that of all runs.
        let (search, fewest) = (tally.mean(tally.runs.search), fewest_runs(128, step, 0.05));
        let most = MOST_OF_BOUND * fewest + 3.0 * tally.error_of_runs();
        assert!(search <= most, "d = {step}: {search:.1} runs, the bound is {fewest:.1}");
    }
}

/// Worked out by hand: a capacity of 0.486 bits at a signal-to-noise ratio of 1, and C₁ = 2.
#[test]
fn the_bound_of_a_known_channel() {
    let expected = 10.0 / 0.486 + 20.0_f64.ln() / 2.0;
    assert!((fewest_runs(1024, 2.0, 0.05) - expected).abs() < 0.05);
}

#[test]
fn normal_noise_over_merges() {
    for (step, hunts, runs) in [(2.0, 150, 56.0), (3.0, 200, 31.0), (5.0, 200, 20.0)] {
        let cell = cell(128, History::Merged, Family::NORMAL, step);
        // More runs than on a line: a merge is confirmed against each of its parents. Over 600
        // hunts each, the means were 57.8, 32.1 and 21.3.
        let runs = runs + 1.5;
        assert_reaches(cell, hunts, &Figures { runs, ..CLOSE });
    }
}

/// A wrong prior costs runs, not the answer: the step is always in one of the commits that the
/// prior disfavours.
#[test]
fn a_prior_changes_the_cost_and_not_the_answer() {
    let search = |hint| {
        let cell = Cell { hint, ..cell(128, History::Line, Family::NORMAL, 3.0) };
        let tally = assert_reaches(cell, 150, &CLOSE);
        tally.mean(tally.runs.search)
    };
    let [right, none, useless, wrong] =
        [Hint::Right, Hint::None, Hint::Useless, Hint::Wrong].map(search);
    assert!(right < none && none < wrong, "{right:.1}, {none:.1}, {wrong:.1} runs");
    assert!(right < useless && useless < wrong, "{right:.1}, {useless:.1}, {wrong:.1} runs");
    // ln 8 nats at 4.5 nats a run, and the first runs at other commits.
    assert!(wrong < none + 4.0, "{wrong:.1} runs, {none:.1} without a prior");
}

#[test]
fn disturbed_runs() {
    let cell = cell(1024, History::Line, Family::OUTLIERS, 3.0);
    assert_reaches(cell, 60, &Figures { runs: 41.0, ..CLOSE });
}

#[test]
fn throughput_on_a_drifting_machine() {
    for (step, hunts, runs) in [(3.0, 60, 64.0), (5.0, 60, 30.0)] {
        let cell = cell(1024, History::Line, Family::SPEED, step);
        assert_reaches(cell, hunts, &Figures { right: 97.0, wrong: 0.5, runs });
    }
}

#[test]
fn values_that_repeat() {
    for family in [Family::EXACT, Family::EXACT_OUTLIERS] {
        for history in [History::Line, History::Merged] {
            let figures = Figures { right: 99.5, wrong: 0.2, runs: 19.0 };
            assert_reaches(cell(1024, history, family, 1.0), 100, &figures);
        }
    }
}

/// With a step of one standard deviation a hunt may give up, but not be wrong.
#[test]
fn a_small_step_is_hardly_ever_put_on_another_commit() {
    let figures = Figures { right: 80.0, wrong: 1.0, runs: f64::INFINITY };
    assert_reaches(cell(128, History::Line, Family::NORMAL, 1.0), 60, &figures);
}

#[test]
fn where_no_commit_is_to_blame_none_is_named() {
    for (change, family, hunts) in [
        (Change::None, Family::NORMAL, 100),
        (Change::None, Family::SPEED, 100),
        (Change::Ramp(20, 5.0), Family::NORMAL, 25),
    ] {
        let cell = Cell { commits: 128, history: History::Line, family, change, hint: Hint::None };
        let tally = cell.tally(Hunter::Ours, hunts, 20_261_121);
        let named = tally.percent(tally.named);
        assert!(named <= 1.0 + allowed(1.0, hunts), "{cell:?}: {named:.1} % named a commit");
    }
}

/// Hunts in kinds of noise for which no constant of the program was tuned.
fn untuned(hunter: Hunter) -> Tally {
    let mut all = Tally::default();
    for (place, (_, family)) in (0..).zip(Family::UNTUNED) {
        let tally = cell(128, History::Line, family, 3.0).tally(hunter, 100, 7_000 + place);
        all.right += tally.right;
        all.wrong += tally.wrong;
    }
    all.hunts = all.right + all.wrong;
    all
}

/// Answers with a confidence of 99 % must be right in 99 of 100 cases. If each of 500 answers is
/// wrong with a probability of 1 %, more than 12 are wrong in only 0.2 % of cases.
#[test]
fn a_claim_of_99_percent_holds_99_times_in_100() {
    const MOST_WRONG: usize = 12;
    let ours = untuned(Hunter::Ours);
    assert!(ours.hunts >= 450, "{ours:?}: it must not be careful by giving up");
    assert!(ours.wrong <= MOST_WRONG, "{ours:?}");
    // The usual other methods fail this test.
    for other in [Method::Majority(1), Method::Majority(3), Method::Welch] {
        let theirs = untuned(Hunter::Other(other));
        assert!(theirs.wrong > 2 * MOST_WRONG, "{other:?}: {theirs:?}");
    }
}

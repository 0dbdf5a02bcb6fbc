//! Measures how often a hunt in noise is right and how many runs it needs, beside other methods.
//!
//! `cargo run --release --example noise -- [HUNTS [SEED]]`: the runs are simulated, every decision
//! is the program's own.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example prints its table")]

mod bound;
mod cells;
mod others;
mod ours;
mod world;

use std::time::Instant;

use cells::{Cell, History, Hunter, Tally};
use others::Method;
use world::{Change, Family, Hint, Runs, Shape};

const OTHERS: [(&str, Hunter); 4] = [
    ("one run", Hunter::Other(Method::Majority(1))),
    ("majority of 3", Hunter::Other(Method::Majority(3))),
    ("Welch, n = 5", Hunter::Other(Method::Welch)),
    ("Beta-Bernoulli .99", Hunter::Other(Method::Beliefs)),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| match arguments.next().map(|text| text.parse()) {
        None => default,
        Some(Ok(number)) => number,
        Some(Err(_)) => {
            eprintln!("usage: noise [HUNTS [SEED]], both whole numbers");
            std::process::exit(2);
        }
    };
    let (hunts, seed) = (usize::try_from(number(600)).unwrap_or(600).max(1), number(1));
    println!("{hunts} hunts a cell, seed {seed}: right / wrong %, mean runs (builds)");
    let begun = Instant::now();
    for (name, cell) in rows() {
        let ours = cell.tally(Hunter::Ours, hunts, seed);
        println!(
            "{name:<44} ours {:>5.1} / {:>4.2}, {:>5.1} ± {:.1} ({:.1}), named {:.1}",
            ours.percent(ours.right),
            ours.percent(ours.wrong),
            ours.mean_runs(),
            ours.error_of_runs(),
            ours.mean(ours.builds),
            ours.percent(ours.named),
        );
        println!("{:<44} {}", "", apart(&ours, &cell));
        let has_step = matches!(cell.change, Change::Step(_)) && cell.hint == Hint::None;
        if cell.history == History::Line && has_step {
            for (name, other) in OTHERS {
                let tally = cell.tally(other, hunts, seed);
                println!(
                    "{:<44} {name}: {:.1} / {:.1}, {:.1}",
                    "",
                    tally.percent(tally.right),
                    tally.percent(tally.wrong),
                    tally.mean_runs()
                );
            }
        }
    }
    eprintln!("{:.0} s", begun.elapsed().as_secs_f64());
}

/// The probability of a wrong answer for which the bound is printed: what the search allows before
/// the confirmation.
const DELTA: f64 = 0.05;

/// The runs by purpose, how often the first claim was wrong, and, where the noise is normal, the
/// fewest runs that a search can need.
fn apart(tally: &Tally, cell: &Cell) -> String {
    let Runs { endpoints, search, confirmation } = tally.runs;
    let [endpoints, search, confirmation] =
        [endpoints, search, confirmation].map(|runs| tally.mean(runs));
    let bound = match cell.change {
        Change::Step(d) if is_plain(&cell.family) => {
            let fewest = bound::fewest_runs(cell.commits, d, DELTA);
            format!(" (bound {fewest:.1}, {:.2} x)", search / fewest)
        }
        _ => String::new(),
    };
    format!(
        "endpoints {endpoints:.1} + search {search:.1}{bound} + confirmation {confirmation:.1}; \
         first claim wrong {:.1} %",
        tally.percent(tally.misled)
    )
}

/// Whether runs are independent and normal, and every commit builds.
fn is_plain(family: &Family) -> bool {
    let Family { shape, outliers, drift, trend, broken, benign, .. } = family;
    let others = [outliers, drift, trend, broken, benign];
    *shape == Shape::Normal && others.into_iter().all(|share| *share == 0.0)
}

fn rows() -> Vec<(String, Cell)> {
    let mut rows = Vec::new();
    let mut add = |name: &str, commits: usize, history, family, change| {
        let what = match change {
            Change::Step(d) => format!("d = {d}"),
            Change::None => "no regression".to_owned(),
            Change::Ramp(steps, d) => format!("ramp of {steps} steps, d = {d}"),
        };
        let kind = if history == History::Line { "line" } else { "merges" };
        let name = format!("N={commits} {kind}, {name}, {what}");
        rows.push((name, Cell { commits, history, family, change, hint: Hint::None }));
    };
    for history in [History::Line, History::Merged] {
        for commits in [128, 1024] {
            for d in [1.0, 2.0, 3.0, 5.0] {
                add("normal", commits, history, Family::NORMAL, Change::Step(d));
            }
        }
        for d in [3.0, 5.0] {
            add("2 % outliers", 1024, history, Family::OUTLIERS, Change::Step(d));
        }
        for d in [2.0, 3.0, 5.0] {
            add("throughput", 1024, history, Family::SPEED, Change::Step(d));
        }
        add("exact", 1024, history, Family::EXACT, Change::Step(1.0));
        add("exact, 2 % outliers", 1024, history, Family::EXACT_OUTLIERS, Change::Step(1.0));
    }
    for d in [3.0, 5.0] {
        add("normal", 1024, History::Line, Family::NORMAL, Change::Ramp(20, d));
    }
    for (name, family) in Family::UNTUNED {
        add(name, 1024, History::Line, family, Change::Step(3.0));
    }
    add("normal", 1024, History::Line, Family::NORMAL, Change::None);
    add("throughput", 1024, History::Line, Family::SPEED, Change::None);
    for (name, hint) in [
        ("prior right", Hint::Right),
        ("prior of no use", Hint::Useless),
        ("prior wrong", Hint::Wrong),
    ] {
        for d in [2.0, 3.0] {
            let (history, family, change) = (History::Line, Family::NORMAL, Change::Step(d));
            let name = format!("N=1024 line, normal, d = {d}, {name}");
            rows.push((name, Cell { commits: 1024, history, family, change, hint }));
        }
    }
    rows
}

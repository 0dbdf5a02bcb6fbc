//! The cells of the table: many hunts each, in worlds that a seed makes.

use bisect_ppl::search::Graph;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::others::Method;
use super::ours::Ending;
use super::world::{Change, Family, World, merged};
use super::{others, ours};

/// Who hunts.
#[derive(Clone, Copy, Debug)]
pub enum Hunter {
    Ours,
    Other(Method),
}

/// The kind of history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum History {
    Line,
    Merged,
}

/// One cell.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub commits: usize,
    pub history: History,
    pub family: Family,
    pub change: Change,
}

/// What many hunts came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub hunts: usize,
    /// The planted commit, or candidates that nothing tells apart with it among them.
    pub right: usize,
    /// Another commit, or candidates without it.
    pub wrong: usize,
    /// A commit was named at all.
    pub named: usize,
    pub runs: usize,
    /// The sum of each hunt's runs, squared.
    pub squares: usize,
    pub builds: usize,
}

impl Tally {
    pub fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.hunts as f64
    }

    pub fn mean_runs(&self) -> f64 {
        self.runs as f64 / self.hunts as f64
    }

    /// Standard error of the mean runs.
    pub fn error_of_runs(&self) -> f64 {
        let hunts = self.hunts as f64;
        let mean = self.mean_runs();
        ((self.squares as f64 / hunts - mean * mean) / (hunts - 1.0).max(1.0)).sqrt()
    }

    pub fn mean_builds(&self) -> f64 {
        self.builds as f64 / self.hunts as f64
    }
}

impl Cell {
    /// So many hunts, each in a world of its own.
    pub fn tally(&self, hunter: Hunter, hunts: usize, seed: u64) -> Tally {
        let mut tally = Tally { hunts, ..Tally::default() };
        let mut seeds = Pcg64Mcg::seed_from_u64(seed);
        for _ in 0..hunts {
            let mut random = Pcg64Mcg::seed_from_u64(seeds.random());
            let graph = match self.history {
                History::Line => Graph::line(self.commits),
                History::Merged => merged(self.commits, &mut random),
            };
            let mut world = World::new(graph, self.change, self.family, random);
            let step = match self.change {
                Change::Step(size) | Change::Ramp(_, size) => size,
                Change::None => 1.0,
            };
            let ending = match hunter {
                // The tolerance is half of what is hunted.
                Hunter::Ours => ours::hunt(&mut world, step / 2.0, self.family.is_speed),
                Hunter::Other(method) => others::hunt(&mut world, method, step),
            };
            let is_culprit = |commit: &usize| Some(*commit) == world.culprit;
            match &ending {
                Ending::Named(commit) if is_culprit(commit) => tally.right += 1,
                Ending::OneOf(span) if span.iter().any(is_culprit) => tally.right += 1,
                Ending::Named(_) | Ending::OneOf(_) => tally.wrong += 1,
                Ending::Undecided | Ending::Nothing => {}
            }
            tally.named += usize::from(matches!(ending, Ending::Named(_)));
            tally.runs += world.runs;
            tally.squares += world.runs.pow(2);
            tally.builds += world.builds;
        }
        tally
    }
}

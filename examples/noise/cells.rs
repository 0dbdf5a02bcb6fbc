//! The cells of the result table: many simulated hunts each, made from a seed.

use bisect_ppl::search::Graph;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::others::Method;
use super::ours::Ending;
use super::world::{Change, Family, Hint, Runs, World, merged};
use super::{others, ours};

/// The method of a hunt.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hunter {
    Ours,
    Other(Method),
}

/// The kind of history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum History {
    Line,
    Merged,
}

/// One cell of the table: the conditions of its hunts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub commits: usize,
    pub history: History,
    pub family: Family,
    pub change: Change,
    pub hint: Hint,
}

/// The results of many hunts, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub hunts: usize,
    /// Hunts that named the planted commit, or candidates with it among them.
    pub right: usize,
    /// Hunts that named another commit, or candidates without the planted one.
    pub wrong: usize,
    /// Hunts that named a single commit.
    pub named: usize,
    /// Hunts whose first claim did not hold the planted commit.
    pub misled: usize,
    pub runs: Runs,
    /// The sum over all hunts of the squared number of runs.
    pub squares: usize,
    pub builds: usize,
}

impl Tally {
    pub(crate) fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.hunts as f64
    }

    pub(crate) fn mean_runs(&self) -> f64 {
        self.mean(self.runs.total())
    }

    /// Standard error of the mean runs.
    pub(crate) fn error_of_runs(&self) -> f64 {
        let hunts = self.hunts as f64;
        let mean = self.mean_runs();
        ((self.squares as f64 / hunts - mean * mean) / (hunts - 1.0).max(1.0)).sqrt()
    }

    /// A count per hunt.
    pub(crate) fn mean(&self, count: usize) -> f64 {
        count as f64 / self.hunts as f64
    }
}

impl Cell {
    /// Makes this many hunts, each in a simulated world of its own.
    pub(crate) fn tally(&self, hunter: Hunter, hunts: usize, seed: u64) -> Tally {
        let mut tally = Tally { hunts, ..Tally::default() };
        let mut seeds = Pcg64Mcg::seed_from_u64(seed);
        for _ in 0..hunts {
            let mut random = Pcg64Mcg::seed_from_u64(seeds.random());
            let graph = match self.history {
                History::Line => Graph::line(self.commits),
                History::Merged => merged(self.commits, &mut random),
            };
            let mut world = World::new(graph, self.change, self.family, random);
            world.hint(self.hint);
            let step = match self.change {
                Change::Step(size) | Change::Ramp(_, size) => size,
                Change::None => 1.0,
            };
            let ending = match hunter {
                // The tolerance is half of the step.
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
            let is_wrong = |claim: &Vec<usize>| !claim.iter().any(is_culprit);
            tally.misled += usize::from(world.first_claim.as_ref().is_some_and(is_wrong));
            tally.runs.add(world.runs);
            tally.squares += world.runs.total().pow(2);
            tally.builds += world.builds;
        }
        tally
    }
}

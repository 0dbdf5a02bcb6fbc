//! Counts of answers over many worlds.

use std::collections::BTreeMap;

use super::ask::{Answer, Judgement};
use super::world::World;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    worlds: usize,
    decidable: usize,
    right: usize,
    wrong: usize,
    undecided: usize,
    open: usize,
    astray: usize,
    broken: usize,
    stated: usize,
    stated_wrong: usize,
    runs: usize,
    builds: usize,
    /// Steps of a plain binary search: the sum of log2 of the ranges.
    halves: f64,
    seconds: f64,
}

/// Counts by class, by shape, and over all worlds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies {
    classes: BTreeMap<&'static str, Tally>,
    /// By shape of the history, by layout of the files, and by whether the hunt looked inside the
    /// commit.
    kinds: BTreeMap<&'static str, Tally>,
    steady: BTreeMap<&'static str, Tally>,
    pub all: Tally,
}

impl Tallies {
    pub(crate) fn add(&mut self, world: &World, answer: &Answer) {
        self.classes.entry(world.class.name).or_default().add(world, answer);
        let depth = if world.localizes { "with localisation" } else { "without localisation" };
        for kind in [world.shape.kind.name(), world.layout.name(), depth] {
            self.kinds.entry(kind).or_default().add(world, answer);
        }
        if world.class.is_steady() {
            self.steady.entry(world.class.name).or_default().add(world, answer);
        }
        self.all.add(world, answer);
    }

    pub(crate) fn print(&self) {
        let head = [
            "worlds", "decid.", "right", "wrong", "undec.", "open", "astray", "broken", "stated",
            "wrong", "≤ 95 %", "runs", "builds", "s",
        ];
        println!("{:34}{}", "", head.map(|word| format!("{word:>8}")).concat());
        for (name, tally) in self.classes.iter().chain(&self.kinds) {
            println!("{name:34}{}", tally.row());
        }
        println!("{:34}{}", "all", self.all.row());
    }

    /// Prints what a hunt costs in worlds in which everything repeats.
    pub(crate) fn print_costs(&self) {
        let head = ["worlds", "log2 N", "runs", "builds"];
        println!("{:34}{}", "", head.map(|word| format!("{word:>8}")).concat());
        let mut all = Tally::default();
        for (name, tally) in &self.steady {
            println!("{name:34}{}", tally.costs());
            all.join(tally);
        }
        println!("{:34}{}", "all that repeats", all.costs());
    }
}

impl Tally {
    fn add(&mut self, world: &World, answer: &Answer) {
        self.worlds += 1;
        self.decidable += usize::from(world.truth.is_decidable);
        let is_wrong = answer.judgement == Judgement::Wrong;
        *match answer.judgement {
            Judgement::Right => &mut self.right,
            Judgement::Wrong => &mut self.wrong,
            Judgement::Undecided => &mut self.undecided,
            Judgement::Open => &mut self.open,
            Judgement::Broken => &mut self.broken,
        } += 1;
        self.astray += usize::from(answer.is_astray);
        self.stated += usize::from(answer.is_stated);
        self.stated_wrong += usize::from(answer.is_stated && is_wrong);
        self.runs += answer.runs;
        self.builds += answer.builds;
        self.halves += (world.shape.range() as f64).log2();
        self.seconds += answer.seconds;
    }

    fn join(&mut self, other: &Self) {
        self.worlds += other.worlds;
        self.runs += other.runs;
        self.builds += other.builds;
        self.halves += other.halves;
    }

    /// Share of wrong answers among those that state a confidence of 0.99 or more.
    pub(crate) fn wrong(&self) -> f64 {
        self.stated_wrong as f64 / self.stated.max(1) as f64
    }

    pub(crate) fn broken(&self) -> usize {
        self.broken
    }

    /// Share of the decidable worlds that stayed undecided.
    pub(crate) fn undecided(&self) -> f64 {
        self.undecided as f64 / self.decidable.max(1) as f64
    }

    fn row(&self) -> String {
        let counts = [
            self.worlds,
            self.decidable,
            self.right,
            self.wrong,
            self.undecided,
            self.open,
            self.astray,
            self.broken,
            self.stated,
            self.stated_wrong,
        ];
        let bound = format!("{:.1}%", 100.0 * wilson(self.stated_wrong, self.stated));
        let means =
            [self.mean(self.runs as f64), self.mean(self.builds as f64), self.mean(self.seconds)];
        counts.map(|count| format!("{count:>8}")).concat()
            + &format!("{bound:>8}")
            + &means.map(|mean| format!("{mean:>8.1}")).concat()
    }

    fn costs(&self) -> String {
        let means = [self.halves, self.runs as f64, self.builds as f64].map(|sum| self.mean(sum));
        format!("{:>8}", self.worlds) + &means.map(|mean| format!("{mean:>8.1}")).concat()
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.worlds.max(1) as f64
    }
}

/// The upper end of the 95 % interval of a share (Wilson, *Probable inference, the law of
/// succession, and statistical inference*, Journal of the American Statistical Association 22,
/// 1927).
fn wilson(hits: usize, of: usize) -> f64 {
    let (n, z) = (of.max(1) as f64, 1.96);
    let share = hits as f64 / n;
    let middle = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    (middle + half) / (1.0 + z * z / n)
}

#[test]
fn a_share_is_bounded_by_what_is_known_of_it() {
    // With 0 hits the bound is 3.84 / (n + 3.84).
    assert!((wilson(0, 96) - 0.0385).abs() < 1e-4);
    assert!((wilson(5, 100) - 0.1118).abs() < 1e-4);
}

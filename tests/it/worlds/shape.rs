//! Shapes of histories: commits by number, each parent smaller than its child.

use super::dice::Dice;

/// What a history looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Line,
    /// A main line with side branches, some of which fork off before the good end.
    Merges,
    /// Side branches that also take the main line in, so that there are several merge bases.
    CrissCross,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub kind: Kind,
    pub parents: Vec<Vec<usize>>,
    pub good: usize,
    pub bad: usize,
    /// For each commit, whether it descends from each commit. Each descends from itself.
    above: Vec<Vec<bool>>,
}

impl Shape {
    pub(crate) fn new(kind: Kind, parents: Vec<Vec<usize>>, good: usize, bad: usize) -> Self {
        let mut above: Vec<Vec<bool>> = Vec::new();
        for (one, its) in parents.iter().enumerate() {
            let mut of = vec![false; parents.len()];
            of[one] = true;
            for parent in its {
                of.iter_mut().zip(&above[*parent]).for_each(|(mine, theirs)| *mine |= theirs);
            }
            above.push(of);
        }
        Self { kind, parents, good, bad, above }
    }

    pub(crate) fn at_random(kind: Kind, dice: &mut Dice) -> Self {
        if kind == Kind::Line {
            // Mostly short histories: long ones cost most and find least.
            let range = dice.below(113) + 1;
            let length = 16 + dice.below(range);
            let good = if dice.percent(70) { 0 } else { dice.below(length / 4) };
            let parents = (0..length).map(|one| one.checked_sub(1).into_iter().collect());
            return Self::new(kind, parents.collect(), good, length - 1);
        }
        let mut growth = Growth::new();
        let length = dice.within(20..=80);
        while growth.parents.len() < length {
            growth.step(kind, dice);
        }
        let (main, parents) = growth.end();
        let good = main[dice.below(main.len() / 3)];
        let bad = main[main.len() - 1];
        Self::new(kind, parents, good, bad)
    }

    pub(crate) fn is_ancestor(&self, old: usize, new: usize) -> bool {
        self.above[new][old]
    }

    /// Whether the bad end descends from the commit and the good end does not.
    pub(crate) fn is_between(&self, one: usize) -> bool {
        self.is_ancestor(one, self.bad) && !self.is_ancestor(one, self.good)
    }

    pub(crate) fn range(&self) -> usize {
        (0..self.parents.len()).filter(|one| self.is_between(*one)).count()
    }

    /// Best common ancestors of two commits.
    pub(crate) fn merge_bases(&self, one: usize, other: usize) -> Vec<usize> {
        let common: Vec<usize> = (0..self.parents.len())
            .filter(|base| self.is_ancestor(*base, one) && self.is_ancestor(*base, other))
            .collect();
        let is_best = |base: &usize| {
            !common.iter().any(|later| later != base && self.is_ancestor(*base, *later))
        };
        common.iter().copied().filter(|base| is_best(base)).collect()
    }

    /// A random path to the bad end through commits that the good end lacks, oldest first.
    pub(crate) fn way(&self, dice: &mut Dice) -> Vec<usize> {
        let mut way = vec![self.bad];
        let mut here = self.bad;
        loop {
            here = dice.pick(&self.parents[here]);
            if !self.is_between(here) {
                way.reverse();
                return way;
            }
            way.push(here);
        }
    }
}

/// A history that grows: a main line, and side branches that are not merged yet.
struct Growth {
    parents: Vec<Vec<usize>>,
    main: Vec<usize>,
    sides: Vec<Vec<usize>>,
}

impl Growth {
    fn new() -> Self {
        Self { parents: vec![vec![]], main: vec![0], sides: Vec::new() }
    }

    fn commit(&mut self, parents: Vec<usize>) -> usize {
        self.parents.push(parents);
        self.parents.len() - 1
    }

    fn tip(&self) -> usize {
        self.main[self.main.len() - 1]
    }

    fn step(&mut self, kind: Kind, dice: &mut Dice) {
        let roll = dice.below(100);
        let open = self.sides.len();
        if open < 4 && (roll < 14 || open == 0 && roll < 30) {
            let back = 1 + dice.below(self.main.len().min(12));
            let from = self.main[self.main.len() - back];
            let first = self.commit(vec![from]);
            self.sides.push(vec![first]);
        } else if open > 0 && roll < 45 {
            let side = dice.below(open);
            let tip = self.sides[side][self.sides[side].len() - 1];
            let next = self.commit(vec![tip]);
            self.sides[side].push(next);
        } else if open > 0 && roll < 57 {
            let side = dice.below(open);
            self.merge(side);
        } else if kind == Kind::CrissCross && open > 0 && roll < 68 {
            let side = dice.below(open);
            let (main, tip) = (self.tip(), self.sides[side][self.sides[side].len() - 1]);
            let ours = self.commit(vec![main, tip]);
            let theirs = self.commit(vec![tip, main]);
            self.main.push(ours);
            self.sides[side].push(theirs);
        } else {
            let next = self.commit(vec![self.tip()]);
            self.main.push(next);
        }
    }

    fn merge(&mut self, side: usize) {
        let side = self.sides.remove(side);
        let merge = self.commit(vec![self.tip(), side[side.len() - 1]]);
        self.main.push(merge);
    }

    /// Merges all side branches and adds a last commit. Returns the main line and all parents.
    fn end(mut self) -> (Vec<usize>, Vec<Vec<usize>>) {
        while !self.sides.is_empty() {
            self.merge(0);
        }
        let last = self.commit(vec![self.tip()]);
        self.main.push(last);
        (self.main, self.parents)
    }
}

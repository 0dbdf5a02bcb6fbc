//! The right answer for a world, known before the program runs.

use std::collections::{BTreeMap, BTreeSet};

use super::effect::{Effect, Milli, What};
use super::faults::{Failure, FailureKind, Flake, FlakeKind, Leak, Side};
use super::shape::Shape;

/// The guard's limit.
pub(crate) const TOLERANCE: Milli = 100;
pub(crate) const BASE: Milli = 7000;

/// The kind of the right answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Named,
    NoRegression,
    Gradual,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Truth {
    /// Commits that switched on an effect that is active at the bad end.
    pub explaining: BTreeSet<usize>,
    /// Commits that landed such an effect before it was undone; for each, those that landed the
    /// effect again.
    pub earlier: BTreeMap<usize, BTreeSet<usize>>,
    pub expected: Expected,
    pub is_decidable: bool,
    /// Whether the bad end fails or is above the limit, by construction and without flakes.
    pub ends_differ: bool,
}

/// The parts of a world on which the right answer depends.
#[derive(Clone, Copy)]
pub(crate) struct Made<'w> {
    pub shape: &'w Shape,
    pub effects: &'w [Effect],
    pub flake: Option<Flake>,
    pub leak: Option<Leak>,
}

impl Made<'_> {
    pub(crate) fn level(&self, one: usize) -> Milli {
        let levels = self.effects.iter().filter(|effect| effect.what == What::Level);
        BASE + levels.map(|effect| effect.net(one)).sum::<Milli>()
    }

    /// Whether the commit's level is above the limit, which a single run can show.
    pub(crate) fn is_bad(&self, one: usize) -> bool {
        self.level(one) - self.level(self.shape.good) > TOLERANCE
    }

    /// The failure that a run of the commit shows instead of its level. A build failure comes
    /// first, else the last failure.
    pub(crate) fn failure(&self, one: usize) -> Option<&Failure> {
        let active = self.effects.iter().filter_map(|effect| match &effect.what {
            What::Failure(failure) if effect.net(one) != 0 => Some(failure),
            _ => None,
        });
        let active: Vec<&Failure> = active.collect();
        let build = active.iter().rev().find(|failure| failure.kind == FailureKind::Build);
        build.or(active.last()).copied()
    }

    /// Whether the hunt looks for this effect: a level, or the bad end's kind of failure.
    fn is_hunted(&self, effect: &Effect) -> bool {
        match (&effect.what, self.failure(self.shape.bad)) {
            (What::Level, None) => true,
            (What::Failure(failure), Some(target)) => failure.kind.is_like(target.kind),
            _ => false,
        }
    }

    pub(crate) fn truth(&self) -> Truth {
        let Self { shape, .. } = self;
        let mut worth: BTreeMap<usize, Milli> = BTreeMap::new();
        let mut earlier: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for effect in self.effects.iter().filter(|effect| self.is_hunted(effect)) {
            for part in parts(shape, effect) {
                part.holders.iter().for_each(|one| *worth.entry(*one).or_default() += part.height);
                for one in part.landings.difference(&part.holders) {
                    earlier.entry(*one).or_default().extend(&part.holders);
                }
            }
        }
        let fails = self.failure(shape.bad).is_some();
        let least = if fails { 0 } else { TOLERANCE / 2 };
        let explaining: BTreeSet<usize> =
            worth.iter().filter(|(_, worth)| **worth > least).map(|(one, _)| *one).collect();
        earlier.retain(|_, again| !again.is_disjoint(&explaining));
        let ends_differ = fails || self.is_bad(shape.bad);
        let expected = match (ends_differ, explaining.is_empty()) {
            (false, _) => Expected::NoRegression,
            (true, true) => Expected::Gradual,
            (true, false) => Expected::Named,
        };
        let is_decidable = expected == Expected::Named
            && self.is_clear()
            && explaining.iter().all(|one| self.is_seen(*one));
        Truth { explaining, earlier, expected, is_decidable, ends_differ }
    }

    /// Whether flakes and leaks leave the runs clear enough to decide.
    fn is_clear(&self) -> bool {
        let flakes = self.flake.is_none_or(|flake| {
            let is_noise = flake.kind == FlakeKind::Noise;
            flake.rate <= 30 && (is_noise || matches!(flake.side, Side::Good | Side::Bad))
        });
        flakes && matches!(self.leak, None | Some(Leak::Hidden))
    }

    /// Whether the commit and its parents can be measured, and differ by more than the limit.
    fn is_seen(&self, one: usize) -> bool {
        let parents = &self.shape.parents[one];
        if parents.is_empty() || parents.iter().any(|parent| self.failure(*parent).is_some()) {
            return false;
        }
        if let Some(target) = self.failure(self.shape.bad) {
            let is_alike = |failure: &Failure| failure.kind.is_like(target.kind);
            return target.kind.is_hunted() && self.failure(one).is_some_and(is_alike);
        }
        let worst = parents.iter().map(|parent| self.level(*parent)).max().expect("a parent");
        let crosses = |flake: Flake| {
            let side = |one: usize| self.is_bad(one);
            flake.kind == FlakeKind::Any || side(one) && !parents.iter().any(|one| side(*one))
        };
        let step = self.level(one) - worst;
        let noise = self.flake.map_or(0, Flake::noise);
        self.failure(one).is_none()
            && step > TOLERANCE + 2 * noise
            && !self.is_twin(one, step)
            && self.flake.is_none_or(crosses)
    }

    /// Whether a step of about this size was active at the commit and was mended later, or a later
    /// commit mended several steps whose sum is about this size. Levels alone do not tell which
    /// step was mended.
    fn is_twin(&self, one: usize, step: Milli) -> bool {
        let Shape { good, bad, parents, .. } = self.shape;
        let is_mended =
            |effect: &&Effect| effect.what == What::Level && effect.net(*bad) == effect.net(*good);
        let mended: Vec<&Effect> = self.effects.iter().filter(is_mended).collect();
        let is_like = |size: Milli| size != 0 && (size - step).abs() <= TOLERANCE;
        let mends_several = |later: usize| {
            parents[later].iter().any(|parent| {
                let falls = mended.iter().map(|effect| effect.net(*parent) - effect.net(later));
                let falls: Vec<Milli> = falls.filter(|fall| *fall != 0).collect();
                falls.len() > 1 && is_like(falls.iter().sum())
            })
        };
        let later = |other: &usize| *other != one && self.shape.is_ancestor(one, *other);
        mended.iter().any(|effect| is_like(effect.net(one) - effect.net(*good)))
            || (0..parents.len()).filter(later).any(mends_several)
    }
}

/// A part of an effect, from one of its levels to the next, that the bad end has and the good end
/// lacks.
struct Part {
    height: Milli,
    /// Commits that switched the part on, as it is at the bad end.
    holders: BTreeSet<usize>,
    /// Commits of the range that ever switched the part on.
    landings: BTreeSet<usize>,
}

fn parts(shape: &Shape, effect: &Effect) -> Vec<Part> {
    let all = (0..shape.parents.len()).map(|one| effect.net(one));
    let levels: Vec<Milli> = all.collect::<BTreeSet<_>>().into_iter().collect();
    let is_part = |top: Milli| effect.net(shape.bad) >= top && effect.net(shape.good) < top;
    let steps = levels.windows(2).filter(|pair| is_part(pair[1]));
    steps.map(|pair| part(shape, effect, pair[0], pair[1])).collect()
}

fn part(shape: &Shape, effect: &Effect, bottom: Milli, top: Milli) -> Part {
    let has = |one: usize| effect.net(one) >= top;
    let mut holders: Vec<BTreeSet<usize>> = Vec::new();
    // Merges that brought the part into a descendant of the good end that lacked it.
    let mut bringers: Vec<BTreeSet<usize>> = Vec::new();
    let mut landings = BTreeSet::new();
    for one in 0..shape.parents.len() {
        let (with, without): (Vec<usize>, Vec<usize>) =
            shape.parents[one].iter().partition(|parent| has(**parent));
        let mut holds = BTreeSet::new();
        let mut brings = BTreeSet::new();
        if has(one) && with.is_empty() {
            holds.insert(one);
            if shape.is_between(one) {
                landings.insert(one);
            }
        } else if has(one) {
            for parent in &with {
                holds.extend(&holders[*parent]);
                brings.extend(&bringers[*parent]);
            }
            // A merge lands the part again if another parent's side had undone it.
            let had = |parent: &&usize| holds.iter().any(|one| shape.is_ancestor(*one, **parent));
            if without.iter().any(|parent| had(&parent)) && shape.is_between(one) {
                holds.insert(one);
                landings.insert(one);
            }
            if without.iter().any(|parent| shape.is_ancestor(shape.good, *parent)) {
                brings.insert(one);
            }
        }
        holders.push(holds);
        bringers.push(brings);
    }
    // A commit also counts if another file countered its change for a while and no longer does.
    let mut own = holders[shape.bad].clone();
    own.extend(&amount_holders(shape, effect, top)[shape.bad]);
    own.retain(|one| shape.is_between(*one));
    if own.is_empty() {
        own.clone_from(&bringers[shape.bad]);
    }
    Part { height: top - bottom, holders: own, landings }
}

/// For each commit, the commits whose change is in its files, even if another file counters the
/// change.
fn amount_holders(shape: &Shape, effect: &Effect, top: Milli) -> Vec<BTreeSet<usize>> {
    let has = |one: usize| effect.at(one).amount >= top;
    let mut holders: Vec<BTreeSet<usize>> = Vec::new();
    for one in 0..shape.parents.len() {
        let with = shape.parents[one].iter().filter(|parent| has(**parent));
        let mut holds: BTreeSet<usize> =
            with.flat_map(|parent| holders[*parent].iter().copied()).collect();
        if !has(one) {
            holds.clear();
        } else if holds.is_empty() {
            holds.insert(one);
        }
        holders.push(holds);
    }
    holders
}

#[cfg(test)]
mod tests {
    use super::super::effect::Content;
    use super::super::shape::Kind;
    use super::*;

    fn line(length: usize) -> Shape {
        let parents = (0..length).map(|one: usize| one.checked_sub(1).into_iter().collect());
        Shape::new(Kind::Line, parents.collect(), 0, length - 1)
    }

    fn truth(shape: &Shape, effects: &[Effect]) -> Truth {
        Made { shape, effects, flake: None, leak: None }.truth()
    }

    #[test]
    fn what_was_undone_explains_nothing() {
        let shape = line(10);
        let mended = Effect::level(&shape, &[(2, 500), (4, 0)]);
        let stays = Effect::level(&shape, &[(6, 500)]);
        let truth = truth(&shape, &[mended, stays]);
        assert_eq!(truth.explaining, [6].into());
        assert!(truth.is_decidable && truth.earlier.is_empty());
    }

    #[test]
    fn of_two_alike_levels_do_not_tell_which_was_mended() {
        let shape = line(10);
        let mended = |to: usize| Effect::level(&shape, &[(2, 500), (to, 0)]);
        let stays = Effect::level(&shape, &[(4, 500)]);
        assert!(truth(&shape, &[mended(3), stays.clone()]).is_decidable);
        let both = truth(&shape, &[mended(6), stays]);
        assert_eq!((both.is_decidable, both.explaining), (false, [4].into()));
    }

    #[test]
    fn levels_do_not_tell_which_steps_a_mend_of_several_undid() {
        let shape = line(10);
        let mended = |from: usize, to: usize| {
            let off = Content { amount: 300, countered: 300 };
            Effect::new(&shape, What::Level, &[(from, Content::of(300)), (to, off)])
        };
        let stays = Effect::level(&shape, &[(4, 650)]);
        let truth = |first: usize, second: usize| {
            let effects = [mended(1, first), mended(2, second), stays.clone()];
            self::truth(&shape, &effects).is_decidable
        };
        assert_eq!([truth(6, 8), truth(6, 6)], [true, false]);
    }

    #[test]
    fn what_was_mended_in_another_file_explains_nothing_either() {
        let shape = line(10);
        let off = Content { amount: 500, countered: 500 };
        let mended = [(2, Content::of(500)), (4, off)];
        let effect = Effect::new(&shape, What::Level, &mended);
        assert_eq!(truth(&shape, &[effect]).expected, Expected::NoRegression);
    }

    #[test]
    fn who_landed_it_again_explains() {
        let shape = line(10);
        let effect = Effect::level(&shape, &[(2, 500), (4, 0), (7, 500)]);
        let truth = truth(&shape, &[effect]);
        assert_eq!(truth.explaining, [7].into());
        assert_eq!(truth.earlier, [(2, [7].into())].into());
    }

    #[test]
    fn of_a_step_that_was_mended_in_part_the_rest_counts() {
        let shape = line(10);
        let effect = Effect::level(&shape, &[(2, 500), (4, 200), (7, 600)]);
        assert_eq!(truth(&shape, &[effect]).explaining, [2, 7].into());
        let nearly = Effect::level(&shape, &[(2, 500), (4, 40), (7, 600)]);
        assert_eq!(truth(&shape, &[nearly]).explaining, [7].into());
    }

    #[test]
    fn a_ramp_has_nobody_to_name() {
        let shape = line(10);
        let ramp: Vec<Effect> = (1..9).map(|at| Effect::level(&shape, &[(at, 40)])).collect();
        let truth = truth(&shape, &ramp);
        assert_eq!((truth.expected, truth.explaining.len()), (Expected::Gradual, 0));
    }

    #[test]
    fn a_merge_that_takes_back_what_good_had_mended_explains() {
        // 1 breaks, 2 (good) mends. 3 forks off before the mend, and 4 merges 3.
        let parents = vec![vec![], vec![0], vec![1], vec![1], vec![2, 3], vec![4]];
        let shape = Shape::new(Kind::Merges, parents, 2, 5);
        let plain = Effect::level(&shape, &[(1, 500), (2, 0)]);
        assert_eq!(plain.net(4), 0, "git takes the side that changed it");
        assert_eq!(truth(&shape, &[plain]).expected, Expected::NoRegression);
        let lost = Effect::level(&shape, &[(1, 500), (2, 0), (4, 500)]);
        let truth = truth(&shape, &[lost]);
        assert_eq!(truth.explaining, [4].into());
        assert!(!truth.is_decidable, "it is no worse than its worst parent");
    }

    #[test]
    fn both_that_were_picked_explain() {
        let parents = vec![vec![], vec![0], vec![0], vec![1, 2]];
        let shape = Shape::new(Kind::Merges, parents, 0, 3);
        let effect = Effect::level(&shape, &[(1, 500), (2, 500)]);
        assert_eq!(truth(&shape, &[effect]).explaining, [1, 2].into());
    }
}

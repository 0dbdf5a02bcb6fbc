use std::collections::BTreeSet;
use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

/// Answers tests, and records the tested sets.
struct World<F> {
    shows: F,
    tested: Vec<Parts>,
    hints: Hints,
    /// The missing parts that a test reports.
    tells: Vec<(usize, usize)>,
}

impl<F: Fn(&Parts) -> Shows> World<F> {
    fn new(shows: F) -> Self {
        Self { shows, tested: Vec::new(), hints: Hints::default(), tells: Vec::new() }
    }

    /// With the likely parts first.
    fn likely(self, likely: &[usize]) -> Self {
        let weights = likely.iter().map(|part| (*part, 200)).collect();
        Self { hints: Hints { weights, ..self.hints }, ..self }
    }

    fn needs(mut self, needs: &[(usize, usize)]) -> Self {
        self.hints.learn(needs);
        self
    }

    fn isolate(&mut self, parts: usize, few: usize, most: usize) -> Isolated {
        let whole: Vec<usize> = (0..parts).collect();
        let answer = isolate::<Infallible>(&Parts::new(), &whole, self.hints.clone(), few, |set| {
            if self.tested.len() == most {
                return Ok(None);
            }
            self.tested.push(set.clone());
            let shows = (self.shows)(set);
            let lacks = |(part, other): &(usize, usize)| set.contains(part) && !set.contains(other);
            let needs = self.tells.iter().copied().filter(lacks);
            let needs = needs.filter(|_| shows == Shows::Unresolved).collect();
            Ok(Some(Tested { shows, needs }))
        });
        answer.unwrap()
    }

    fn unresolved(&self) -> usize {
        self.tested.iter().filter(|set| (self.shows)(set) == Shows::Unresolved).count()
    }
}

fn set(parts: &[usize]) -> Parts {
    parts.iter().copied().collect()
}

/// The difference shows if all causes are present.
fn all_of(causes: &[usize]) -> impl Fn(&Parts) -> Shows + use<> {
    let causes = set(causes);
    move |parts| if causes.is_subset(parts) { Shows::Difference } else { Shows::Nothing }
}

#[test]
fn a_likely_cause_is_found_with_one_test() {
    let mut world = World::new(all_of(&[0])).likely(&[0]);
    let found = world.isolate(100, 1, 99);
    let end = IsolationEnd::Minimal;
    assert_eq!(found, Isolated { parts: set(&[0]), context: set(&[]), end });
    assert_eq!(world.tested, [set(&[0])]);
}

#[test]
fn one_cause_among_many_takes_a_test_for_each_halving() {
    for cause in [0, 41, 99] {
        let mut world = World::new(all_of(&[cause]));
        assert_eq!(world.isolate(100, 1, 99).parts, set(&[cause]));
        assert!(world.tested.len() <= 7, "{cause}: {} tests", world.tested.len());
    }
}

#[test]
fn of_two_causes_that_need_each_other_one_is_isolated_beside_the_other() {
    let mut world = World::new(all_of(&[3, 12]));
    let found = world.isolate(16, 1, 99);
    assert!(found.end == IsolationEnd::Minimal && found.parts.len() == 1, "{found:?}");
    assert!(
        found.parts.union(&found.context).copied().collect::<Parts>().is_superset(&set(&[3, 12]))
    );
}

/// A feature. Part 0 defines it and does not build without 1; 2 to 5 do not build without 0. Part 4
/// enables it.
fn feature(parts: &Parts) -> Shows {
    let needs = |part: usize, other| !parts.contains(&part) || parts.contains(&other);
    if !needs(0, 1) || !(2..6).all(|user| needs(user, 0)) {
        Shows::Unresolved
    } else if parts.contains(&4) {
        Shows::Difference
    } else {
        Shows::Nothing
    }
}

#[test]
fn parts_that_do_not_build_alone_are_reached_from_both_sides() {
    let mut world = World::new(feature);
    let found = world.isolate(12, 1, 99);
    assert_eq!((found.parts, found.end), (set(&[4]), IsolationEnd::Minimal));
    assert!(world.tested.len() <= 16, "{}", world.tested.len());
}

#[test]
fn sets_that_the_hints_allow_build() {
    let needs = [(0, 1), (2, 0), (3, 0), (4, 0), (5, 0)];
    let mut world = World::new(feature).needs(&needs);
    assert_eq!(world.isolate(12, 1, 99).parts, set(&[4]));
    assert_eq!((world.unresolved(), world.tested.len()), (0, 4));
}

#[test]
fn what_a_failed_test_tells_completes_the_next_set() {
    let mut world = World::new(feature);
    world.tells = vec![(0, 1), (2, 0), (3, 0), (4, 0), (5, 0)];
    assert_eq!(world.isolate(12, 1, 99).parts, set(&[4]));
    assert!(world.unresolved() <= 2, "{:?}", world.tested);
}

#[test]
fn parts_that_only_build_together_stay_together() {
    let both = |parts: &Parts| match (parts.contains(&5), parts.contains(&2)) {
        (true, true) => Shows::Difference,
        (false, false) => Shows::Nothing,
        _ => Shows::Unresolved,
    };
    let mut world = World::new(both);
    assert_eq!(world.isolate(8, 1, 99).parts, set(&[2, 5]));
    // If the hints know this and the caller divides the parts further, no test fails.
    let mut world = World::new(both).needs(&[(2, 5), (5, 2)]);
    let found = world.isolate(8, 2, 99);
    assert_eq!((found.parts, found.end), (set(&[2, 5]), IsolationEnd::FewEnough));
    assert_eq!(world.unresolved(), 0);
}

#[test]
fn an_early_end_gives_what_is_known_so_far() {
    let mut world = World::new(all_of(&[1]));
    let found = world.isolate(8, 1, 1);
    assert_eq!((found.parts, found.end), (set(&[0, 1, 2, 3]), IsolationEnd::Spent));
    let mut world = World::new(all_of(&[1]));
    assert_eq!(world.isolate(8, 1, 0).parts, (0..8).collect());
}

#[test]
fn a_set_that_lacks_what_a_test_lacked_is_not_tested() {
    // 0 to 3 need each other, and each failed test tells one reason. The cause is among them.
    let pairs = [(0, 1), (1, 2), (2, 3), (3, 0)];
    let all_or_none = |parts: &Parts| {
        let is_torn = pairs.iter().any(|(a, b)| parts.contains(a) != parts.contains(b));
        if is_torn { Shows::Unresolved } else { all_of(&[2])(parts) }
    };
    let mut world = World::new(all_or_none);
    world.tells = pairs.to_vec();
    let found = world.isolate(8, 1, usize::MAX);
    assert_eq!((found.parts, found.end), (set(&[0, 1, 2, 3]), IsolationEnd::Bound));
    let torn = world.tested.iter().filter(|parts| all_or_none(parts) == Shows::Unresolved);
    assert!(torn.count() <= pairs.len());
}

#[test]
fn nothing_to_divide_needs_no_test() {
    for parts in [0, 1] {
        let mut world = World::new(all_of(&[]));
        let found = world.isolate(parts, 1, 99);
        assert_eq!((found.parts.len(), found.end), (parts, IsolationEnd::Minimal));
        assert!(world.tested.is_empty());
    }
}

#[test]
fn the_context_that_is_given_stays() {
    let mut tested = Vec::new();
    let context = set(&[7, 8]);
    let found = isolate::<Infallible>(&context, &[0, 1, 2], Hints::default(), 1, |parts| {
        tested.push(parts.clone());
        Ok(Some(Tested { shows: all_of(&[1])(parts), needs: Vec::new() }))
    });
    assert_eq!(found.unwrap().parts, set(&[1]));
    assert!(tested.iter().all(|parts| parts.is_superset(&context)));
}

/// Any answer for each set, always the same: parts may undo each other, or not build.
fn any_answer(parts: &Parts, seed: u64) -> Shows {
    let mixed = parts.iter().fold(seed, |hash, part| {
        (hash ^ (*part as u64 + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
    });
    match mixed % 5 {
        0 => Shows::Difference,
        1 => Shows::Nothing,
        _ => Shows::Unresolved,
    }
}

proptest! {
    #[test]
    fn whatever_tests_and_hints_say_both_sets_hold_and_no_set_is_tested_twice(
        parts in 1_usize..14,
        seed: u64,
        weights in proptest::collection::btree_map(0_usize..14, 1_u32..200, 0..14),
        needs in proptest::collection::vec((0_usize..14, 0_usize..14), 0..20),
        tells in proptest::collection::vec((0_usize..14, 0_usize..14), 0..20),
    ) {
        let shows = |asked: &Parts| match asked.len() {
            0 => Shows::Nothing,
            all if all == parts => Shows::Difference,
            _ => any_answer(asked, seed),
        };
        let world = || {
            let mut world = World::new(shows).needs(&needs);
            world.hints.weights.clone_from(&weights);
            world.tells.clone_from(&tells);
            world
        };
        let mut first = world();
        let found = first.isolate(parts, 1, usize::MAX);
        let is_bound = found.end == IsolationEnd::Bound;
        prop_assert!(is_bound || found.end == IsolationEnd::Minimal);
        prop_assert!(!is_bound || found.parts.len() > 1 && !tells.is_empty());
        prop_assert!(found.parts.is_disjoint(&found.context));
        let both: Parts = found.parts.union(&found.context).copied().collect();
        prop_assert_eq!(shows(&found.context), Shows::Nothing);
        prop_assert_eq!(shows(&both), Shows::Difference);
        // Minimal: no part alone can move to either side, unless a set lacks what a test lacked.
        let said = |set: &Parts| {
            let lacks = |needs: &&(usize, usize)| set.contains(&needs.0) && !set.contains(&needs.1);
            tells.iter().any(|needs| lacks(&needs) && both.contains(&needs.1))
        };
        for part in found.parts.iter().filter(|_| found.parts.len() > 1) {
            let mut more = found.context.clone();
            more.insert(*part);
            let mut less = both.clone();
            less.remove(part);
            for set in [more, less] {
                let is_left_out = is_bound && said(&set) && !first.tested.contains(&set);
                prop_assert!(is_left_out || shows(&set) == Shows::Unresolved);
            }
        }
        let distinct: BTreeSet<&Parts> = first.tested.iter().collect();
        prop_assert_eq!(distinct.len(), first.tested.len());
        prop_assert!(!first.tested.contains(&Parts::new()));
        // Deterministic: a second search tests the same sets in the same order.
        let mut again = world();
        prop_assert_eq!(again.isolate(parts, 1, usize::MAX), found);
        prop_assert_eq!(again.tested, first.tested);
    }

    #[test]
    fn one_cause_is_found_wherever_it_is(
        parts in 1_usize..60,
        cause in 0_usize..60,
        needs in proptest::collection::vec((0_usize..60, 0_usize..60), 0..60),
    ) {
        prop_assume!(cause < parts);
        let mut world = World::new(all_of(&[cause])).needs(&needs);
        prop_assert_eq!(world.isolate(parts, 1, usize::MAX).parts, set(&[cause]));
    }
}

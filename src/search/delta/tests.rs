use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

/// Answers tests, and keeps which sets were tested.
struct World<F> {
    shows: F,
    tested: Vec<Parts>,
}

impl<F: Fn(&Parts) -> Shows> World<F> {
    fn new(shows: F) -> Self {
        Self { shows, tested: Vec::new() }
    }

    fn isolate(&mut self, parts: usize, likely: usize, most: usize) -> Isolated {
        let whole: Vec<usize> = (0..parts).collect();
        let answer = isolate::<Infallible>(&Parts::new(), &whole, likely, |parts| {
            if self.tested.len() == most {
                return Ok(None);
            }
            self.tested.push(parts.clone());
            Ok(Some((self.shows)(parts)))
        });
        answer.unwrap()
    }
}

fn set(parts: &[usize]) -> Parts {
    parts.iter().copied().collect()
}

/// The difference shows where all causes are.
fn all_of(causes: &[usize]) -> impl Fn(&Parts) -> Shows + use<> {
    let causes = set(causes);
    move |parts| if causes.is_subset(parts) { Shows::Difference } else { Shows::Nothing }
}

#[test]
fn a_likely_cause_is_found_with_one_test() {
    let mut world = World::new(all_of(&[0]));
    let found = world.isolate(100, 2, 99);
    assert_eq!(found, Isolated { parts: set(&[0]), context: set(&[]), is_minimal: true });
    assert_eq!(world.tested, [set(&[0])]);
}

#[test]
fn one_cause_among_many_takes_a_test_for_each_halving() {
    for cause in [0, 41, 99] {
        let mut world = World::new(all_of(&[cause]));
        assert_eq!(world.isolate(100, 0, 99).parts, set(&[cause]));
        assert!(world.tested.len() <= 7, "{cause}: {} tests", world.tested.len());
    }
}

#[test]
fn of_two_causes_that_need_each_other_one_is_isolated_beside_the_other() {
    let mut world = World::new(all_of(&[3, 12]));
    let found = world.isolate(16, 2, 99);
    assert!(found.is_minimal && found.parts.len() == 1, "{found:?}");
    assert!(
        found.parts.union(&found.context).copied().collect::<Parts>().is_superset(&set(&[3, 12]))
    );
}

/// A feature: part 0 defines it and does not build without 1; 2 to 5 do not build without 0.
/// Part 4 switches it on.
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
    let found = world.isolate(12, 2, 99);
    assert_eq!((found.parts, found.is_minimal), (set(&[4]), true));
    assert!(world.tested.len() <= 16, "{}", world.tested.len());
}

#[test]
fn parts_that_only_build_together_stay_together() {
    let mut world = World::new(|parts: &Parts| match (parts.contains(&5), parts.contains(&2)) {
        (true, true) => Shows::Difference,
        (false, false) => Shows::Nothing,
        _ => Shows::Unresolved,
    });
    assert_eq!(world.isolate(8, 1, 99).parts, set(&[2, 5]));
}

#[test]
fn an_early_end_gives_what_is_known_so_far() {
    let mut world = World::new(all_of(&[1]));
    let found = world.isolate(8, 0, 1);
    assert_eq!((found.parts, found.is_minimal), (set(&[0, 1, 2, 3]), false));
    let mut world = World::new(all_of(&[1]));
    assert_eq!(world.isolate(8, 1, 0).parts, (0..8).collect());
}

#[test]
fn nothing_to_divide_needs_no_test() {
    for parts in [0, 1] {
        let mut world = World::new(all_of(&[]));
        let found = world.isolate(parts, 2, 99);
        assert_eq!((found.parts.len(), found.is_minimal), (parts, true));
        assert!(world.tested.is_empty());
    }
}

#[test]
fn the_context_that_is_given_stays() {
    let mut tested = Vec::new();
    let context = set(&[7, 8]);
    let found = isolate::<Infallible>(&context, &[0, 1, 2], 0, |parts| {
        tested.push(parts.clone());
        Ok(Some(all_of(&[1])(parts)))
    });
    assert_eq!(found.unwrap().parts, set(&[1]));
    assert!(tested.iter().all(|parts| parts.is_superset(&context)));
}

/// Any answer for each set, the same each time: parts may undo each other, or not build.
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
    fn whatever_the_world_answers_both_sides_hold_and_no_set_is_tested_twice(
        parts in 1_usize..14, likely in 0_usize..4, seed: u64,
    ) {
        let shows = |asked: &Parts| match asked.len() {
            0 => Shows::Nothing,
            all if all == parts => Shows::Difference,
            _ => any_answer(asked, seed),
        };
        let mut world = World::new(shows);
        let found = world.isolate(parts, likely, usize::MAX);
        prop_assert!(found.is_minimal);
        prop_assert!(found.parts.is_disjoint(&found.context));
        let both: Parts = found.parts.union(&found.context).copied().collect();
        prop_assert_eq!(shows(&found.context), Shows::Nothing);
        prop_assert_eq!(shows(&both), Shows::Difference);
        // Minimal: no part alone can move to either side.
        for part in found.parts.iter().filter(|_| found.parts.len() > 1) {
            let mut more = found.context.clone();
            more.insert(*part);
            let mut less = both.clone();
            less.remove(part);
            prop_assert_eq!([shows(&more), shows(&less)], [Shows::Unresolved; 2]);
        }
        let distinct: BTreeSet<&Parts> = world.tested.iter().collect();
        prop_assert_eq!(distinct.len(), world.tested.len());
        prop_assert!(!world.tested.contains(&Parts::new()));
        // Deterministic: asked again, the same sets in the same order.
        let mut again = World::new(shows);
        prop_assert_eq!(again.isolate(parts, likely, usize::MAX), found);
        prop_assert_eq!(again.tested, world.tested);
    }

    #[test]
    fn one_cause_is_found_wherever_it_is(parts in 1_usize..60, cause in 0_usize..60) {
        prop_assume!(cause < parts);
        let mut world = World::new(all_of(&[cause]));
        prop_assert_eq!(world.isolate(parts, 2, usize::MAX).parts, set(&[cause]));
    }
}

//! The commits that may have changed a failure rate, however many commits changed it: all but those
//! that their own runs and those of their parents exclude. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, Lineage};
use crate::hunt::confirm::uneven::Count;
use crate::search::log_odds_of_unevenness;

/// Log Bayes factor above which two commits surely fail at two rates (200 : 1).
const SURE: f64 = 5.3;

/// The end of the hunt that fails as often as a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateSide {
    Older,
    Newer,
}

impl RateSide {
    /// The side on which a commit surely is: it fails at another rate than one end, and the rate
    /// of the other end is likelier than one of its own. `None` if the runs do not tell, for
    /// example at a rate between those of the ends. `ends`: the counts of the older and the newer
    /// end.
    fn of(count: Count, ends: [Count; 2]) -> Option<Self> {
        let pair = |end: Count| [(count.failed, count.runs), (end.failed, end.runs)];
        let [older, newer] = ends.map(|end| log_odds_of_unevenness(&pair(end)));
        if older < 0.0 && newer > SURE {
            Some(Self::Older)
        } else if newer < 0.0 && older > SURE {
            Some(Self::Newer)
        } else {
            None
        }
    }
}

/// The counted commits that surely are on one side. `ends`: the older and the newer end of the
/// hunt.
pub(super) fn sides_by_rates(
    counts: &BTreeMap<CommitId, Count>,
    ends: [&CommitId; 2],
) -> BTreeMap<CommitId, RateSide> {
    let [Some(older), Some(newer)] = ends.map(|end| counts.get(end).copied()) else {
        return BTreeMap::new();
    };
    let sides = counts.iter().filter_map(|(commit, count)| {
        Some((commit.clone(), RateSide::of(*count, [older, newer])?))
    });
    sides.collect()
}

/// Whether a commit on the older side descends from one on the newer side: the change was taken
/// back there. `lineage`: parents before their children.
pub(super) fn is_taken_back(lineage: &[Lineage], sides: &BTreeMap<CommitId, RateSide>) -> bool {
    let mut after_newer: BTreeSet<&CommitId> = BTreeSet::new();
    for one in lineage {
        let mut parents = one.parents.iter();
        let is_newer = |commit: &CommitId| sides.get(commit) == Some(&RateSide::Newer);
        if !parents.any(|parent| is_newer(parent) || after_newer.contains(parent)) {
            continue;
        }
        if sides.get(&one.commit) == Some(&RateSide::Older) {
            return true;
        }
        after_newer.insert(&one.commit);
    }
    false
}

/// The commits that may have made the change, oldest first: all but those that are surely on the
/// same side as each of their parents. Such a commit made no step.
pub(super) fn not_excluded(
    lineage: &[Lineage],
    sides: &BTreeMap<CommitId, RateSide>,
) -> Vec<CommitId> {
    let makes_no_step = |one: &Lineage| {
        let side = sides.get(&one.commit);
        side.is_some()
            && !one.parents.is_empty()
            && one.parents.iter().all(|parent| sides.get(parent) == side)
    };
    let open = lineage.iter().filter(|one| !makes_no_step(one));
    open.map(|one| one.commit.clone()).collect()
}

/// The commits that may have made the change if a single commit made it, oldest first: no commit
/// that is surely on the older side contains them, and each one surely on the newer side does.
pub(super) fn left_by_one_change(
    lineage: &[Lineage],
    sides: &BTreeMap<CommitId, RateSide>,
) -> Vec<CommitId> {
    let is_older = |commit: &CommitId| sides.get(commit) == Some(&RateSide::Older);
    let excluded = contained(lineage, is_older);
    let commits = lineage.iter().map(|one| &one.commit);
    let mut open: Vec<&CommitId> = commits.filter(|commit| !excluded.contains(commit)).collect();
    for newer in lineage.iter().map(|one| &one.commit) {
        if sides.get(newer) == Some(&RateSide::Newer) {
            let within = contained(lineage, |commit| commit == newer);
            open.retain(|commit| within.contains(commit));
        }
    }
    open.into_iter().cloned().collect()
}

/// These commits, and all that they contain. `lineage`: parents before their children.
fn contained(lineage: &[Lineage], is_one: impl Fn(&CommitId) -> bool) -> BTreeSet<&CommitId> {
    let mut all: BTreeSet<&CommitId> = BTreeSet::new();
    for one in lineage.iter().rev() {
        if is_one(&one.commit) || all.contains(&one.commit) {
            all.insert(&one.commit);
            all.extend(one.parents.iter());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oracle::fixture::commit;

    fn count(failed: usize, runs: usize) -> Count {
        Count { failed, runs }
    }

    fn named(number: usize) -> CommitId {
        commit(char::from_digit(u32::try_from(number).unwrap(), 16).unwrap())
    }

    /// The commits after the older end 0 up to `last`, without merges.
    fn line(last: usize) -> Vec<Lineage> {
        let one = |number| Lineage { commit: named(number), parents: vec![named(number - 1)] };
        (1..=last).map(one).collect()
    }

    /// The sides of the commits 0, 1, … by these counts; the last one is the newer end.
    fn sides_of(counts: &[Option<Count>]) -> BTreeMap<CommitId, RateSide> {
        let known = |(at, count): (usize, &Option<Count>)| Some((named(at), (*count)?));
        let known: BTreeMap<_, _> = counts.iter().enumerate().filter_map(known).collect();
        sides_by_rates(&known, [&named(0), &named(counts.len() - 1)])
    }

    fn open(counts: &[Option<Count>]) -> Vec<CommitId> {
        not_excluded(&line(counts.len() - 1), &sides_of(counts))
    }

    const OLDER: Option<Count> = Some(Count { failed: 0, runs: 12 });
    const NEWER: Option<Count> = Some(Count { failed: 8, runs: 12 });

    #[test]
    fn a_commit_is_on_the_side_whose_rate_it_shows() {
        let ends = [count(0, 20), count(14, 20)];
        let side = |failed, runs| RateSide::of(count(failed, runs), ends);
        assert_eq!(side(0, 12), Some(RateSide::Older));
        assert_eq!(side(8, 12), Some(RateSide::Newer));
        // A few runs tell nothing, and neither does a rate between those of the ends.
        assert_eq!(side(0, 2), None);
        assert_eq!(side(1, 1), None);
        assert_eq!(side(4, 12), None);
        assert_eq!(side(0, 0), None);
        // Ends that do not differ have no sides.
        assert_eq!(RateSide::of(count(0, 12), [count(1, 20), count(1, 20)]), None);
    }

    #[test]
    fn without_runs_of_both_ends_no_commit_is_on_a_side() {
        let counts = BTreeMap::from([(named(0), count(0, 12)), (named(1), count(9, 12))]);
        assert_eq!(sides_by_rates(&counts, [&named(0), &named(1)]).len(), 2);
        assert!(sides_by_rates(&counts, [&named(0), &named(2)]).is_empty());
    }

    #[test]
    fn only_commits_on_the_side_of_their_parent_are_excluded() {
        // Made by 2, taken back by 4, made again by 5.
        let all = [OLDER, OLDER, NEWER, NEWER, OLDER, NEWER, NEWER];
        assert_eq!(open(&all), [named(2), named(4), named(5)]);
        // Without runs of 5, its child may have made the step too.
        let mut some = all;
        some[5] = None;
        assert_eq!(open(&some), [named(2), named(4), named(5), named(6)]);
    }

    /// The commits that a single change leaves on a line with these counts.
    fn left(counts: &[Option<Count>]) -> Vec<CommitId> {
        left_by_one_change(&line(counts.len() - 1), &sides_of(counts))
    }

    #[test]
    fn a_few_runs_leave_out_no_candidate() {
        let stray = Some(count(1, 1));
        let few = Some(count(0, 2));
        assert_eq!(
            left(&[OLDER, None, few, stray, None, NEWER, NEWER]),
            [1, 2, 3, 4, 5].map(named)
        );
        assert_eq!(left(&[OLDER, stray, OLDER, None, NEWER, few, NEWER]), [3, 4].map(named));
        // Without sides, all commits are left.
        assert_eq!(left(&[few, stray, None, few]), [1, 2, 3].map(named));
    }

    #[test]
    fn a_branch_that_not_all_newer_commits_contain_is_left_out() {
        // 2 and 3 are on two branches, and 4 merges them.
        let of = |number, parents: &[usize]| Lineage {
            commit: named(number),
            parents: parents.iter().copied().map(named).collect(),
        };
        let lineage = [of(1, &[0]), of(2, &[1]), of(3, &[1]), of(4, &[2, 3])];
        let sides = BTreeMap::from([(named(3), RateSide::Newer), (named(4), RateSide::Newer)]);
        assert_eq!(left_by_one_change(&lineage, &sides), [1, 3].map(named));
        let sides = BTreeMap::from([(named(3), RateSide::Older), (named(4), RateSide::Newer)]);
        assert_eq!(left_by_one_change(&lineage, &sides), [2, 4].map(named));
    }

    #[test]
    fn a_merge_is_excluded_only_if_all_parents_are_on_its_side() {
        let merge = |of: [usize; 2]| Lineage { commit: named(3), parents: of.map(named).to_vec() };
        let mut lineage = line(2);
        lineage.push(merge([2, 1]));
        let sides = sides_of(&[OLDER, OLDER, NEWER, NEWER]);
        assert_eq!(not_excluded(&lineage, &sides), [named(2), named(3)]);
        lineage[2] = merge([2, 2]);
        assert_eq!(not_excluded(&lineage, &sides), [named(2)]);
    }

    #[test]
    fn a_change_is_taken_back_if_a_later_commit_is_on_the_older_side() {
        let is_back =
            |counts: &[Option<Count>]| is_taken_back(&line(counts.len() - 1), &sides_of(counts));
        assert!(is_back(&[OLDER, NEWER, OLDER, NEWER]));
        // Commits without runs do not hide it.
        assert!(is_back(&[OLDER, NEWER, None, None, OLDER, None, NEWER]));
        assert!(!is_back(&[OLDER, OLDER, None, NEWER, NEWER]));
        // Two runs may agree by chance.
        assert!(!is_back(&[OLDER, NEWER, Some(count(0, 2)), NEWER]));
    }

    /// A count of runs that fail as the older side does (hardly ever), or as the newer one.
    fn counted(is_newer: bool) -> impl Strategy<Value = Count> {
        (12_usize..40, 0_usize..=30).prop_map(move |(runs, more)| {
            let failed = if is_newer { runs * (60 + more) / 100 } else { more / 25 };
            Count { failed, runs }
        })
    }

    /// A history that begins on the older side and ends on the newer one, with the change made,
    /// mended and made again anywhere between: the side of each commit, its count, and whether it
    /// was measured.
    fn histories() -> impl Strategy<Value = Vec<(bool, Count, bool)>> {
        prop::collection::vec(any::<bool>(), 1..14).prop_flat_map(|middle| {
            let sides = [vec![false], middle, vec![true]].concat();
            sides
                .into_iter()
                .map(|is_newer| (Just(is_newer), counted(is_newer), any::<bool>()))
                .collect::<Vec<_>>()
        })
    }

    proptest! {
        #[test]
        fn each_commit_that_made_or_took_back_the_change_is_open(mut history in histories()) {
            let last = history.len() - 1;
            (history[0].2, history[last].2) = (true, true);
            let known = history.iter().map(|(_, count, is_measured)| is_measured.then_some(*count));
            let counts: Vec<Option<Count>> = known.collect();
            let open = open(&counts);
            for at in (1..=last).filter(|at| history[*at].0 != history[at - 1].0) {
                prop_assert!(open.contains(&named(at)), "{at}: {counts:?}");
            }
            // The one that the newer end shows is the last of them.
            let right = (1..=last).rev().find(|at| !history[at - 1].0).unwrap();
            prop_assert!(open.contains(&named(right)));
        }

        #[test]
        fn the_commit_of_a_single_change_is_left(
            commits in prop::collection::vec((counted(false), counted(true), any::<bool>()), 2..14),
            at in 0_usize..14,
        ) {
            let last = commits.len() - 1;
            let at = 1 + at % last;
            let count = |(place, (older, newer, is_measured)): (usize, &(Count, Count, bool))| {
                let own = if place < at { *older } else { *newer };
                (*is_measured || place == 0 || place == last).then_some(own)
            };
            let counts: Vec<Option<Count>> = commits.iter().enumerate().map(count).collect();
            prop_assert!(left(&counts).contains(&named(at)), "{at}: {counts:?}");
        }

        #[test]
        fn with_runs_of_all_commits_only_those_that_changed_the_rate_are_open(
            sides in prop::collection::vec(any::<bool>(), 1..14),
        ) {
            let sides = [vec![false], sides, vec![true]].concat();
            let counts: Vec<Option<Count>> =
                sides.iter().map(|is_newer| if *is_newer { NEWER } else { OLDER }).collect();
            let changing = (1..sides.len()).filter(|at| sides[*at] != sides[at - 1]);
            prop_assert_eq!(open(&counts), changing.map(named).collect::<Vec<_>>());
        }
    }
}

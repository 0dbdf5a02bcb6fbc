//! The probability that chance alone explains a claim, because runs or builds sometimes show the
//! other side's value. Two equal runs prove little: a test that fails one time in five gives two
//! equal runs 68 times in 100.

use statrs::function::beta::beta_reg;

use super::evenness::log_odds_of_unevenness;

/// How much likelier one rate for all commits is beforehand than rates of their own.
const COMMON: f64 = 10.0;
/// A commit that shows one side in more than this share of its runs is on that side, however it
/// came there: nobody calls a commit good of which three in four runs are bad.
const MAJORITY: f64 = 0.75;

/// Counts of observations (runs or builds) around one commit of a claim.
///
/// If the commit really belongs to the other side, each of its own observations is a chance event
/// of that side, and `others` counts that side's observations without such an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservationCounts {
    /// Observations of the commit itself, all on the claimed side.
    pub own: usize,
    /// Observations at other commits of the opposite side, all on that side.
    pub others: usize,
    /// Observations at other commits of the claimed side, all on that side.
    pub same: usize,
    /// Observations on the wrong side, at any commit of this hunt.
    pub strays: usize,
    /// How many other commits would be the answer if the commit were on the other side.
    pub rivals: usize,
}

impl ObservationCounts {
    /// The odds of chance: that the commit's own observations are all chance events, against the
    /// claim. Each rival has the same prior probability as the claim.
    ///
    /// q is the probability that an observation of one side shows the other's value, with a
    /// Beta(1 + strays, `weight`) prior (a larger weight expects a smaller q):
    /// rivals · ∫qᵏ(1−q)ⁿ / ∫(1−q)ⁿ · ∫(1−p)ᵐ / ∫(1−p)ᵐ⁺ᵏ, with k = own,
    /// n = others, m = same, and p as q for the claimed side. The ratios of Beta functions are
    /// written as products.
    pub(crate) fn odds_of_chance(&self, weight: f64) -> f64 {
        if self.own == 0 {
            return self.rivals as f64;
        }
        let begin = 1.0 + self.strays as f64;
        let (others, same) = (self.others as f64 + weight, self.same as f64 + weight);
        let each = |i: usize| {
            let i = i as f64;
            // ∫qᵏ(1−q)ⁿ / ∫(1−q)ⁿ, one observation after the other …
            let chance = (begin + i) / (begin + others + i);
            // … and ∫(1−p)ᵐ / ∫(1−p)ᵐ⁺ᵏ.
            let truth = (same + i) / (begin + same + i);
            chance / truth
        };
        self.rivals as f64 * (0..self.own).map(each).product::<f64>()
    }
}

/// The probability that a commit shows a side in less than [`MAJORITY`] of its runs, if `own` of
/// its observations show that side and `strays` the other one. Its true share has a
/// Beta(1 + own, 1 + strays) distribution.
pub(crate) fn chance_of_no_majority(own: usize, strays: usize) -> f64 {
    beta_reg(own as f64 + 1.0, strays as f64 + 1.0, MAJORITY)
}

/// Counts of the runs of single commits, to see whether only some commits flake.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlakyCounts {
    /// Of each commit with several runs: the runs that differ from most others, and all runs.
    commits: Vec<(usize, usize)>,
}

impl FlakyCounts {
    /// Adds a commit. `alike`: how many of its runs gave the most frequent value.
    pub(crate) fn add(&mut self, alike: usize, runs: usize) {
        if runs > 1 {
            self.commits.push((runs - alike, runs));
        }
    }

    /// Whether commits with rates of their own explain the counts better than one common rate.
    pub(crate) fn are_uneven(&self) -> bool {
        self.commits.iter().any(|(strays, _)| *strays > 0)
            && log_odds_of_unevenness(&self.commits) > 0.0
    }

    /// The weight of the case that commits have rates of their own: 1 if such rates explain the
    /// counts better than one common rate, else the probability of such rates. Beforehand one
    /// common rate is [`COMMON`] times as likely. 0 if no runs of a commit differ.
    fn weight_of_unevenness(&self) -> f64 {
        if self.commits.iter().all(|(strays, _)| *strays == 0) {
            return 0.0;
        }
        let log_odds = log_odds_of_unevenness(&self.commits);
        if log_odds > 0.0 { 1.0 } else { 1.0 / (1.0 + COMMON * (-log_odds).exp()) }
    }

    /// The odds that a commit flakes and all its `own` runs show the other side by chance. `rivals`:
    /// as in [`ObservationCounts`].
    ///
    /// A few runs seldom tell whether commits have rates of their own, so this case counts to some
    /// degree as soon as runs of one commit differ. The share of commits that flake is estimated by
    /// Laplace's rule, (flaky + 1)/(commits + 2). A commit that flakes shows the less frequent
    /// value with probability q, which has a Beta(1 + strays, 1 + alike) distribution over all such
    /// commits. It is not known which of the two values is right, so k equal runs have the
    /// probability (∫qᵏ + ∫(1−q)ᵏ)/2.
    pub(crate) fn odds_of_chance(&self, own: usize, rivals: usize) -> f64 {
        let flaky = || self.commits.iter().filter(|(strays, _)| *strays > 0);
        let strays: usize = flaky().map(|(strays, _)| strays).sum();
        let runs: usize = flaky().map(|(_, runs)| runs).sum();
        let share = (flaky().count() + 1) as f64 / (self.commits.len() + 2) as f64;
        let all = runs as f64 + 2.0;
        let in_a_row = |first: usize| -> f64 {
            let begin = first as f64 + 1.0;
            (0..own).map(|i| (begin + i as f64) / (all + i as f64)).product()
        };
        let by_chance = f64::midpoint(in_a_row(strays), in_a_row(runs - strays));
        rivals as f64 * self.weight_of_unevenness() * share * by_chance
    }

    /// The fewest runs of a commit, from `least` to `most`, that all show the other side by chance
    /// with at most the probability `chance`, if the commit is of this side. `None` if `most` runs
    /// are not enough.
    pub(crate) fn runs_to_exclude_chance(
        &self,
        chance: f64,
        [least, most]: [usize; 2],
    ) -> Option<usize> {
        (least..=most).find(|runs| self.chance_of_strays(*runs) <= chance)
    }

    /// The probability that so many runs of a commit of this side all show the other side. The
    /// share of strays has a Beta(1 + strays, 1 + alike) distribution over the runs of all commits.
    /// If commits have rates of their own, at least as in [`Self::odds_of_chance`].
    fn chance_of_strays(&self, own: usize) -> f64 {
        let strays: usize = self.commits.iter().map(|(strays, _)| strays).sum();
        let runs: usize = self.commits.iter().map(|(_, runs)| runs).sum();
        let each = |i: usize| (strays + i + 1) as f64 / (runs + i + 2) as f64;
        let common: f64 = (0..own).map(each).product();
        if self.are_uneven() { common.max(self.odds_of_chance(own, 1)) } else { common }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: ObservationCounts =
        ObservationCounts { own: 2, others: 3, same: 2, strays: 0, rivals: 1 };

    #[test]
    fn two_equal_runs_prove_little() {
        // Under a flat prior with three others: ∫q²(1−q)³/∫(1−q)³ = 1/15, and 5/3 for the
        // other side.
        let odds = PLAIN.odds_of_chance(1.0);
        assert!((odds - 1.0 / 15.0 * (5.0 / 3.0)).abs() < 1e-12, "{odds}");
    }

    #[test]
    fn each_rival_is_as_likely_beforehand() {
        let many = ObservationCounts { rivals: 40, ..PLAIN };
        let ratio = many.odds_of_chance(1.0) / PLAIN.odds_of_chance(1.0);
        assert!((ratio - 40.0).abs() < 1e-9);
    }

    #[test]
    fn a_few_commits_that_flake_by_half_say_more_than_the_rate_of_all() {
        let mut counts = FlakyCounts::default();
        for _ in 0..6 {
            counts.add(9, 9);
        }
        assert!(counts.odds_of_chance(1, 1) < 1e-12);
        counts.add(6, 11);
        // 2 of 9, and Beta(6, 7): 6/13 · 7/14 and 7/13 · 8/14.
        let by_chance = f64::midpoint(6.0 / 13.0 * 7.0 / 14.0, 7.0 / 13.0 * 8.0 / 14.0);
        let expected = 2.0 / 9.0 * by_chance;
        assert!(counts.are_uneven());
        assert!((counts.odds_of_chance(2, 1) - expected).abs() < 1e-12);
        assert!(counts.odds_of_chance(9, 3) < 3.0 * expected);
        // Commits that all flake have one rate, and the more runs say so, the less the other case
        // counts.
        let alike = |runs: usize| {
            let mut even = FlakyCounts::default();
            for _ in 0..6 {
                even.add(4 * runs, 5 * runs);
            }
            even
        };
        assert!(!alike(1).are_uneven());
        assert!(alike(3).weight_of_unevenness() < alike(1).weight_of_unevenness());
        assert!(alike(3).odds_of_chance(2, 1) < alike(1).odds_of_chance(2, 1));
    }

    #[test]
    fn many_runs_of_a_commit_tell_its_side_even_if_a_few_stray() {
        // ∫ of 1 from 0 to 3/4; and (3/4)⁵ if four runs agree.
        assert!((chance_of_no_majority(0, 0) - 0.75).abs() < 1e-9);
        assert!((chance_of_no_majority(4, 0) - 0.75_f64.powi(5)).abs() < 1e-9);
        // Three of 61 runs stray. However often other commits flake, this commit's own runs tell.
        let mut alone = FlakyCounts::default();
        alone.add(58, 61);
        alone.add(2, 2);
        assert!(alone.odds_of_chance(58, 1) > 5e-4);
        assert!(chance_of_no_majority(58, 3) < 5e-5);
        // A commit that flakes by a quarter or more stays open, however often it is run.
        assert!(chance_of_no_majority(45, 15) > 0.4);
        assert!(chance_of_no_majority(36, 24) > 0.99);
    }

    #[test]
    fn the_more_often_a_side_flakes_the_more_runs_must_agree() {
        let side = |strays: usize| {
            let mut counts = FlakyCounts::default();
            for _ in 0..5 {
                counts.add(8 - strays, 8);
            }
            counts
        };
        let needed = |side: &FlakyCounts| side.runs_to_exclude_chance(1e-3, [4, 24]);
        assert_eq!(needed(&side(0)), Some(4));
        // Of 40 runs 5 stray: 6/42 · 7/43 · 8/44 · 9/45 = 0.00085.
        assert_eq!(needed(&side(1)), Some(4));
        assert_eq!(needed(&side(2)), Some(6));
        assert_eq!(needed(&side(3)), Some(9));
        assert_eq!(side(3).runs_to_exclude_chance(1e-3, [4, 8]), None);
        // One commit that flakes by half: 6/13 · 7/14 · … says more than the rate of all.
        let mut uneven = side(0);
        uneven.add(6, 11);
        uneven.add(9, 9);
        assert!(uneven.are_uneven() && needed(&uneven) > Some(9), "{:?}", needed(&uneven));
    }

    proptest! {
        #[test]
        fn more_of_the_same_makes_chance_less_likely_and_strays_more(
            own in 1_usize..8, others in 0_usize..20, same in 0_usize..20, strays in 0_usize..4,
        ) {
            let seen = ObservationCounts { own, others, same, strays, rivals: 1 };
            let before = seen.odds_of_chance(2.0);
            let once_more = ObservationCounts { own: own + 1, ..seen }.odds_of_chance(2.0);
            let one_beside = ObservationCounts { others: others + 1, ..seen }.odds_of_chance(2.0);
            let one_stray = ObservationCounts { strays: strays + 1, ..seen }.odds_of_chance(2.0);
            prop_assert!(one_beside < before);
            prop_assert!(one_stray > before || others < same);
            prop_assert!(once_more < before || strays > 0);
        }
    }
}

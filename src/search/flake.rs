//! How likely a claim rests on chance alone: on runs, or builds, that now and then show the value
//! of the other side. Two equal runs prove little: a test that fails one time in five gives two
//! equal runs 68 times in 100.

/// What was observed around one commit of a claim, in runs or in builds.
///
/// If the commit really belongs to the other side, every one of its own observations was a
/// chance event of that side, and the `others` are that side's observations without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// Observations of the commit itself, all of the side it is said to be on.
    pub own: usize,
    /// Observations of the side it may really be on, at other commits, all of that side.
    pub others: usize,
    /// Observations at other commits of the side it is said to be on, all of that side.
    pub same: usize,
    /// Observations in this hunt, at any commit, that were of the wrong side.
    pub strays: usize,
    /// How many other commits would be the answer if the commit were on the other side.
    pub rivals: usize,
}

impl Repeats {
    /// The odds that chance gave all of the commit's own observations, against that they are
    /// true: each of the rivals is as likely beforehand as the claim.
    ///
    /// With q the chance that an observation of the one side shows the other's value, under a
    /// Beta(1 + strays, `weight`) prior (a larger weight expects a smaller q):
    /// rivals · ∫qᵏ(1−q)ⁿ / ∫(1−q)ⁿ · ∫(1−p)ᵐ / ∫(1−p)ᵐ⁺ᵏ, k own, n others, m the same
    /// (ratios of Beta functions, written as products).
    pub fn odds_of_chance(&self, weight: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: Repeats = Repeats { own: 2, others: 3, same: 2, strays: 0, rivals: 1 };

    #[test]
    fn two_equal_runs_prove_little() {
        // Under a flat prior with three others: ∫q²(1−q)³/∫(1−q)³ = 1/15, and 5/3 for the
        // other side.
        let odds = PLAIN.odds_of_chance(1.0);
        assert!((odds - 1.0 / 15.0 * (5.0 / 3.0)).abs() < 1e-12, "{odds}");
    }

    #[test]
    fn each_rival_is_as_likely_beforehand() {
        let many = Repeats { rivals: 40, ..PLAIN };
        let ratio = many.odds_of_chance(1.0) / PLAIN.odds_of_chance(1.0);
        assert!((ratio - 40.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn more_of_the_same_makes_chance_less_likely_and_strays_more(
            own in 1_usize..8, others in 0_usize..20, same in 0_usize..20, strays in 0_usize..4,
        ) {
            let seen = Repeats { own, others, same, strays, rivals: 1 };
            let before = seen.odds_of_chance(2.0);
            let once_more = Repeats { own: own + 1, ..seen }.odds_of_chance(2.0);
            let one_beside = Repeats { others: others + 1, ..seen }.odds_of_chance(2.0);
            let one_stray = Repeats { strays: strays + 1, ..seen }.odds_of_chance(2.0);
            prop_assert!(one_beside < before);
            prop_assert!(one_stray > before || others < same);
            prop_assert!(once_more < before || strays > 0);
        }
    }
}

//! The probability that chance alone explains a claim, because runs or builds sometimes show the
//! other side's value. Two equal runs prove little: a test that fails one time in five gives two
//! equal runs 68 times in 100.

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

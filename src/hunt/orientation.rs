//! The scale of a search in noise. The search looks for the first commit with larger samples. A fix
//! makes samples smaller, so its samples and levels are reversed. Pure.

use crate::evaluation::{Aim, GuardTarget};
use crate::search::{Levels, Rates};

/// Whether samples are reversed for the search. Reversing twice gives the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchOrientation {
    is_turned: bool,
    is_rate: bool,
}

impl SearchOrientation {
    /// The orientation for this target's samples.
    pub(crate) fn of(aim: Aim, target: &GuardTarget) -> Self {
        let is_rate = target.is_rate();
        Self { is_turned: aim == Aim::Fix, is_rate }
    }

    /// Converts a sample.
    pub(crate) fn sample(self, x: f64) -> f64 {
        match (self.is_turned, self.is_rate) {
            (false, _) => x,
            (true, false) => -x,
            (true, true) => 1.0 - x,
        }
    }

    /// Converts the levels. Paired levels stay as they are: the older end's level is 0 for a
    /// regression and for a fix.
    pub(crate) fn levels(self, levels: Levels, is_paired: bool) -> Levels {
        if self.is_turned && !is_paired {
            Levels { good: self.sample(levels.bad), bad: self.sample(levels.good), ..levels }
        } else {
            levels
        }
    }

    /// Converts the failure rates.
    pub(crate) fn rates(self, rates: Rates) -> Rates {
        if self.is_turned {
            Rates { good: self.sample(rates.bad), bad: self.sample(rates.good) }
        } else {
            rates
        }
    }

    /// The probability that a commit is bad. `newer`: the probability that the commit is on the
    /// newer side of the step.
    pub(crate) fn p_bad(self, newer: f64) -> f64 {
        if self.is_turned { 1.0 - newer } else { newer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Noise, NoiseKind};
    use crate::oracle::fixture::target;

    fn orientation(aim: Aim, kind: NoiseKind) -> SearchOrientation {
        let noise =
            Noise { kind, good: 1.0, bad: 3.0, sd: 0.5, runs: 4, paired: false, error: 0.001 };
        let target = target(GuardForm::MaxIncrease(0.5), 1.0, 3.0);
        SearchOrientation::of(aim, &GuardTarget { noise: Some(noise), ..target })
    }

    #[test]
    fn a_fix_is_a_regression_seen_the_other_way_round() {
        let levels = Levels { good: 1.0, bad: 3.0, sd: 0.5 };
        let fix = orientation(Aim::Fix, NoiseKind::Plain);
        let turned = fix.levels(levels, false);
        assert_eq!((turned.good, turned.bad, turned.sd), (-3.0, -1.0, 0.5));
        // The bad end's level becomes the older level, the good end's the newer one.
        assert_eq!((fix.sample(3.0), fix.sample(1.0)), (turned.good, turned.bad));
        assert_eq!(fix.levels(turned, false), levels);
        let pairs = Levels { good: 0.0, ..levels };
        assert_eq!(fix.levels(pairs, true), pairs);
        assert!((fix.p_bad(0.9) - 0.1).abs() < 1e-12);
        assert_eq!(orientation(Aim::Regression, NoiseKind::Plain).levels(levels, false), levels);
    }

    #[test]
    fn rates_stay_rates() {
        let rates = Rates { good: 0.0625, bad: 0.75 };
        let turned = orientation(Aim::Fix, NoiseKind::Breaks).rates(rates);
        assert_eq!((turned.good, turned.bad), (0.25, 0.9375));
        assert!(orientation(Aim::Fix, NoiseKind::Breaks).sample(1.0) < 1e-12);
        assert_eq!(orientation(Aim::Regression, NoiseKind::Breaks).rates(rates), rates);
    }
}

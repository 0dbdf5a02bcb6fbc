//! Chooses the targets and the method of a search. Pure.

use crate::evaluation::{GuardTarget, Target};
use crate::search::{Calibration, DriftPrior};
use crate::store::journal::{SearchBy, SearchMethod};

/// The targets that decide a search, and the search method.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchStrategy {
    /// All targets that repeat bit for bit; if none does, the one with the largest effect size d.
    pub(crate) targets: Vec<Target>,
    pub(crate) method: SearchMethod,
}

impl SearchStrategy {
    /// The strategy for a search range's targets. The confirmation also measures the other targets.
    /// If the found commits do not explain such a target's change, that change gets its own search.
    pub(crate) fn of(targets: &[Target], by: SearchBy) -> Self {
        let noise = |target: &Target| target.guard().and_then(|guard| guard.noise);
        let steady: Vec<Target> =
            targets.iter().filter(|target| noise(target).is_none()).cloned().collect();
        if !steady.is_empty() {
            return Self { targets: steady, method: SearchMethod::BitIdentical };
        }
        // Failure rates need more runs than levels, whatever the effect size.
        let distance = |target: &Target| match noise(target) {
            Some(noise) if noise.kind.is_rate() => -1.0,
            Some(noise) => noise.distance(),
            None => f64::INFINITY,
        };
        let best = targets.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)));
        let method = best.map_or(SearchMethod::BitIdentical, |best| method(best, by));
        Self { targets: best.into_iter().cloned().collect(), method }
    }

    /// The one target of a search in noise.
    pub(crate) fn noisy(&self) -> Option<&GuardTarget> {
        match self.targets.as_slice() {
            [Target::Guard(target)] if target.noise.is_some() => Some(target),
            _ => None,
        }
    }
}

/// How likely it is that drift of the machine moves the target's level. A failure rate has no
/// level.
pub(crate) fn drift_prior(target: &GuardTarget) -> DriftPrior {
    match target {
        _ if target.is_rate() => DriftPrior::Never,
        _ if target.may_drift() => DriftPrior::Likely,
        _ => DriftPrior::Unlikely,
    }
}

/// The search method for a target. Git chooses the commits if one or two runs decide a commit and
/// the machine's drift cannot move the levels.
fn method(target: &Target, by: SearchBy) -> SearchMethod {
    let Target::Guard(guard) = target else { return SearchMethod::BitIdentical };
    let Some(noise) = guard.noise else { return SearchMethod::BitIdentical };
    let is_apart = guard.levels().is_some_and(|levels| {
        Calibration { levels, paired: noise.paired, runs: noise.runs }.is_clearly_separated()
    });
    match by {
        SearchBy::GitBisect => SearchMethod::Sequential,
        SearchBy::Auto if is_apart && !noise.paired && !guard.may_drift() => {
            SearchMethod::Sequential
        }
        SearchBy::Auto | SearchBy::Posterior => SearchMethod::Posterior,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Metric, Noise, NoiseKind};
    use crate::oracle::fixture::target;

    fn noisy(measure: &str, form: GuardForm, distance: f64) -> Target {
        let kind = if form.is_relative() { NoiseKind::Log } else { NoiseKind::Plain };
        let (good, bad, sd) = (0.0, distance, 1.0);
        let noise = Noise { kind, good, bad, sd, runs: 4, paired: false, error: 0.001 };
        let mut target = target(form, 1.0, 3.0);
        target.guard.metric = Metric::of(measure);
        Target::Guard(GuardTarget { noise: Some(noise), ..target })
    }

    const PLAIN: GuardForm = GuardForm::MaxIncrease(0.5);
    const SPEED: GuardForm = GuardForm::MaxDecreasePercent(5.0);

    #[test]
    fn targets_that_repeat_decide_even_if_others_are_broken() {
        let steady = Target::Guard(target(PLAIN, 1.0, 3.0));
        let strategy =
            SearchStrategy::of(&[noisy("a", PLAIN, 50.0), steady.clone()], SearchBy::Auto);
        assert_eq!((strategy.targets, strategy.method), (vec![steady], SearchMethod::BitIdentical));
    }

    #[test]
    fn in_noise_the_largest_effect_size_sets_target_and_method() {
        let of = |targets: &[Target], by| SearchStrategy::of(targets, by);
        let strategy = of(&[noisy("a", PLAIN, 2.0), noisy("b", PLAIN, 7.6)], SearchBy::Auto);
        assert_eq!(strategy.noisy().unwrap().guard.metric, Metric::of("b"));
        assert_eq!(strategy.method, SearchMethod::Sequential);
        assert_eq!(of(&[noisy("a", PLAIN, 4.9)], SearchBy::Auto).method, SearchMethod::Posterior);
        // Fixed levels do not follow a drifting machine.
        assert_eq!(of(&[noisy("a", SPEED, 9.0)], SearchBy::Auto).method, SearchMethod::Posterior);
        let by = |by| of(&[noisy("a", PLAIN, 4.0)], by).method;
        assert_eq!(by(SearchBy::GitBisect), SearchMethod::Sequential);
        assert_eq!(by(SearchBy::Posterior), SearchMethod::Posterior);
    }
}

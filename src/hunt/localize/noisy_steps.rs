//! Which steps of a named commit fresh runs can test where values vary.

use crate::evaluation::{Culprit, Effect, GuardTarget, Target};
use crate::search::{Rates, Step};

/// Each target that the commit changes, with the step to test: the size of a change of level, or the
/// failure rates before and after it. Leaves out targets whose values repeat, and levels that are
/// not numbers.
pub(super) fn noisy_steps<'t>(
    culprit: &Culprit,
    targets: &'t [Target],
) -> Vec<(&'t GuardTarget, Step)> {
    culprit.effects.iter().filter_map(|effect| noisy_step(effect, targets)).collect()
}

fn noisy_step<'t>(effect: &Effect, targets: &'t [Target]) -> Option<(&'t GuardTarget, Step)> {
    let Effect { metric, parent, commit, .. } = effect;
    let target = Target::on(targets, metric)?.guard()?;
    let noise = target.noise.filter(|noise| target.is_rate() || noise.sd > 0.0)?;
    if target.is_rate() {
        return Some((target, Step::Rates(Rates { good: noise.good, bad: noise.bad })));
    }
    let scale = target.orientation();
    let step = scale.oriented(commit.number()?) - scale.oriented(parent.number()?);
    let sd = noise.sd_of_difference();
    (step.is_finite() && step > 0.0).then_some((target, Step::Size { step, sd }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Guard, GuardForm, Metric, Noise, NoiseKind};
    use crate::oracle::fixture::{self, effect, target};

    #[test]
    fn only_a_level_or_a_rate_in_noise_has_a_step_to_test() {
        let culprit =
            Culprit { effects: vec![effect(10.0, 14.0, 1.0)], ..fixture::culprit('5', '4') };
        let plain = target(GuardForm::MaxIncrease(1.0), 10.0, 14.0);
        let noise = |kind, paired| {
            let noise =
                Noise { kind, good: 10.0, bad: 14.0, sd: 0.5, runs: 4, paired, error: 0.001 };
            [Target::Guard(GuardTarget { noise: Some(noise), ..plain.clone() })]
        };
        let steps = |targets: &[Target]| -> Vec<Step> {
            noisy_steps(&culprit, targets).into_iter().map(|(_, step)| step).collect()
        };
        assert_eq!(steps(&noise(NoiseKind::Plain, true)), [Step::Size { step: 4.0, sd: 0.5 }]);
        let sd = 0.5 * std::f64::consts::SQRT_2;
        assert_eq!(steps(&noise(NoiseKind::Plain, false)), [Step::Size { step: 4.0, sd }]);
        let rates = Rates { good: 10.0, bad: 14.0 };
        assert_eq!(steps(&noise(NoiseKind::Breaks, false)), [Step::Rates(rates)]);
        assert!(steps(&[Target::Guard(plain.clone())]).is_empty());
    }

    #[test]
    fn each_effect_of_a_commit_has_a_step_to_test() {
        let other = Metric::of("loss");
        let second = Effect { metric: other.clone(), ..effect(2.0, 5.0, 1.0) };
        let culprit = Culprit {
            effects: vec![effect(10.0, 14.0, 1.0), second],
            ..fixture::culprit('5', '4')
        };
        let of_ppl = fixture::noisy(GuardForm::MaxIncrease(1.0), 10.0, 14.0);
        let of_other = GuardTarget {
            guard: Guard { metric: other, ..of_ppl.guard.clone() },
            ..of_ppl.clone()
        };
        let targets = [of_ppl, of_other].map(Target::Guard);
        assert_eq!(noisy_steps(&culprit, &targets).len(), 2);
    }
}

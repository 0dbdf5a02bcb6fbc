use super::*;
use crate::evaluation::{Guard, GuardForm, Metric, Noise, NoiseKind};
use crate::hunt::localize::unknown;
use crate::oracle::fixture::{self, effect, target};

#[test]
fn only_a_level_or_a_rate_in_noise_has_a_step_to_test() {
    let culprit = Culprit { effects: vec![effect(10.0, 14.0, 1.0)], ..fixture::culprit('5', '4') };
    let plain = target(GuardForm::MaxIncrease(1.0), 10.0, 14.0);
    let noise = |kind, paired| {
        let noise = Noise { kind, good: 10.0, bad: 14.0, sd: 0.5, runs: 4, paired, error: 0.001 };
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
fn an_end_that_stays_bad_without_a_part_of_the_change_tells_nothing() {
    let cause = |revert, in_part| {
        let culprit = fixture::culprit('5', '4');
        Cause { revert, in_part, ..unknown(&culprit, String::new()) }
    };
    assert!(!has_told(&cause(Some(Revert::StillBad), true)));
    assert!(has_told(&cause(Some(Revert::StillBad), false)));
    assert!(has_told(&cause(Some(Revert::Heals), true)));
    let conflict = Revert::Conflict("patch does not apply".to_owned());
    assert!(!has_told(&cause(Some(conflict), false)) && !has_told(&cause(None, false)));
}

#[test]
fn each_effect_of_a_commit_has_a_step_to_test() {
    let other = Metric::of("loss");
    let second = Effect { metric: other.clone(), ..effect(2.0, 5.0, 1.0) };
    let culprit =
        Culprit { effects: vec![effect(10.0, 14.0, 1.0), second], ..fixture::culprit('5', '4') };
    let of_ppl = fixture::noisy(GuardForm::MaxIncrease(1.0), 10.0, 14.0);
    let of_other =
        GuardTarget { guard: Guard { metric: other, ..of_ppl.guard.clone() }, ..of_ppl.clone() };
    let targets = [of_ppl, of_other].map(Target::Guard);
    assert_eq!(noisy_steps(&culprit, &targets).len(), 2);
}

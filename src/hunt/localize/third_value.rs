//! A third value: what a fact, or a number that must not change, shows at an end without a change,
//! if neither the ends nor the named commits show it. Another part of the program may run there, for
//! example a fallback. So it does not tell whether that end needs the change. Pure.

use crate::evaluation::{Culprit, Direction, GuardTarget, Value};

/// Whether the level is a third value. `named`: the commits whose changes are taken out. A value that
/// they or their parents show is what a part of the changes leaves, and so is a number between those
/// of the ends. Only where values repeat and any change is worse.
pub(super) fn is_third_value(target: &GuardTarget, level: &Value, named: &[Culprit]) -> bool {
    if target.noise.is_some() || target.guard.direction() != Direction::Any {
        return false;
    }
    let effects = named.iter().filter_map(|one| one.effect_on(&target.guard.metric));
    let of_named = effects.flat_map(|effect| [&effect.parent, &effect.commit]);
    let mut known = of_named.chain([&target.baseline, &target.bad]);
    if known.any(|value| value == level) {
        return false;
    }
    let numbers = target.baseline.number().zip(target.bad.number()).zip(level.number());
    numbers.is_none_or(|((good, bad), level)| !(good.min(bad)..=good.max(bad)).contains(&level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Effect, GuardForm, Metric};
    use crate::oracle::fixture::{culprit, effect, noisy, target, unchanged};

    #[test]
    fn a_fact_is_a_third_one_if_neither_end_and_no_named_commit_shows_it() {
        let fact = |text: &str| Value::Fact(text.to_owned());
        let step = |parent: &str, commit: &str| Culprit {
            effects: vec![Effect {
                metric: Metric::of("launch"),
                parent: fact(parent),
                commit: fact(commit),
                ..effect(0.0, 0.0, 0.0)
            }],
            ..culprit('3', '2')
        };
        let ends = unchanged("avx2", "scalar");
        let one = [step("avx2", "scalar")];
        assert!(is_third_value(&ends, &fact("none"), &one));
        assert!(!is_third_value(&ends, &fact("scalar"), &one));
        assert!(!is_third_value(&ends, &fact("avx2"), &one));
        // The first of two named commits made this value.
        let two = [step("avx2", "sse"), step("sse", "scalar")];
        assert!(!is_third_value(&ends, &fact("sse"), &two));
        assert!(is_third_value(&ends, &fact("sse"), &one));
    }

    #[test]
    fn a_number_between_the_ends_is_no_third_value() {
        let ends = target(GuardForm::Unchanged, 40.0, 44.0);
        let is_third = |level: f64| is_third_value(&ends, &Value::Number(level), &[]);
        for third in [3.0, 39.0, 45.0, f64::NAN] {
            assert!(is_third(third), "{third}");
        }
        for known in [40.0, 41.0, 44.0] {
            assert!(!is_third(known), "{known}");
        }
        // A level has a size for another guard, and in noise.
        let third = Value::Number(3.0);
        assert!(!is_third_value(&target(GuardForm::MaxIncrease(1.0), 40.0, 44.0), &third, &[]));
        assert!(!is_third_value(&noisy(GuardForm::Unchanged, 40.0, 44.0), &third, &[]));
    }
}

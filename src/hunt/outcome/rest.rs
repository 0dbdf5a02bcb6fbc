//! What a found step leaves of a change, as a target between two levels: whether it is worth a search.

use crate::evaluation::GuardTarget;

/// Whether the bad level still breaks the guard against the baseline.
pub(super) fn exceeds(target: &GuardTarget) -> bool {
    match (target.baseline.number(), target.bad.number()) {
        (Some(a), Some(b)) => target.guard.is_worse_by(a, b, target.limit.max(0.0)),
        _ => target.baseline != target.bad,
    }
}

/// Whether the rest exceeds the tolerance by more than two standard errors, with `good` and `bad`
/// runs at its ends. A smaller rest is not worth a search.
pub(super) fn is_beyond_noise(rest: &GuardTarget, good: usize, bad: usize) -> bool {
    let (Some(noise), Some(from), Some(to)) =
        (rest.noise, rest.baseline.number(), rest.bad.number())
    else {
        return true;
    };
    if noise.kind.is_rate() {
        return rest.baseline != rest.bad;
    }
    let scale = rest.orientation();
    let error = noise.sd * (1.0 / good.max(1) as f64 + 1.0 / bad.max(1) as f64).sqrt();
    scale.oriented(to) - scale.oriented(from) > rest.oriented_limit() + 2.0 * error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Value};
    use crate::oracle::fixture::{noisy, target, unchanged};

    const UP: GuardForm = GuardForm::MaxIncrease(0.5);

    #[test]
    fn a_rest_exceeds_the_tolerance_or_is_another_fact() {
        assert!(exceeds(&target(UP, 7.0, 8.0)) && !exceeds(&target(UP, 7.0, 7.5)));
        assert!(exceeds(&unchanged("a", "b")) && !exceeds(&unchanged("a", "a")));
    }

    #[test]
    fn a_rest_in_noise_is_searched_only_if_it_is_clear() {
        // One run has a standard deviation of 0.1, and the rest is 0.5 beyond the tolerance.
        let rest = noisy(UP, 7.0, 8.0);
        assert!(is_beyond_noise(&rest, 1, 1));
        // 0.1 beyond the tolerance.
        let small = GuardTarget { bad: Value::Number(7.6), ..rest };
        assert!(!is_beyond_noise(&small, 4, 4) && is_beyond_noise(&small, 40, 40));
        assert!(is_beyond_noise(&target(UP, 7.0, 7.6), 1, 1), "no noise");
    }
}

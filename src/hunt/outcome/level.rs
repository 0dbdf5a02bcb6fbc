//! The level of a metric at a commit, and how two levels compare. Pure.

use crate::evaluation::{CommitId, GuardTarget, Noise, Target, Value, exceeds_limit};
use crate::hunt::range::SearchRange;
use crate::oracle::Observation;

use super::found_step::FoundStep;

/// How far machine drift may move a level, as a share of the level.
const DRIFT: f64 = 0.25;

/// A commit and its level, which is infinitely bad without a number.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) commit: CommitId,
    pub(super) value: f64,
}

/// Whether the target's levels can be compared from commit to commit. On a drifting machine they
/// cannot: levels are measured hours apart.
pub(super) fn has_levels(target: &GuardTarget, step: &FoundStep<'_>) -> bool {
    target.noise.is_none_or(|noise| noise.has_levels())
        && (target.noise.is_some() || step.seen.has_level(&target.guard.metric, target.limit))
        && target.bad.number().is_some_and(f64::is_finite)
}

pub(super) fn level_of(seen: &Observation, commit: &CommitId, target: &GuardTarget) -> Level {
    let value = seen.level(&target.guard.metric).and_then(|level| level.number());
    let worst = match target.guard.worsening(0.0, 1.0) {
        worse if worse > 0.0 => f64::INFINITY,
        _ => f64::NEG_INFINITY,
    };
    let value = value.filter(|value| !value.is_nan()).unwrap_or(worst);
    Level { commit: commit.clone(), value }
}

/// Whether the later level is worse by more than the tolerance, beyond noise.
pub(super) fn is_worse(target: &GuardTarget, from: &Level, to: &Level) -> bool {
    let worse = target.guard.worsening(from.value, to.value);
    let drift = match target.noise {
        Some(_) if target.may_drift() => DRIFT * from.value.abs().min(to.value.abs()),
        _ => 0.0,
    };
    let most = target.limit.max(0.0) + doubt(target).max(drift);
    exceeds_limit(worse, most, [from.value, to.value])
}

/// Two standard errors of the difference between two levels, in the metric's unit.
fn doubt(target: &GuardTarget) -> f64 {
    let Some(noise) = target.noise else { return 0.0 };
    in_its_unit(target, 2.0 * noise.sd * (0.5 + 1.0 / noise.runs.max(1) as f64).sqrt())
}

/// Converts an error on the oriented scale to the metric's unit, at the bad end's level.
pub(super) fn in_its_unit(target: &GuardTarget, error: f64) -> f64 {
    let Some(bad) = target.bad.number() else { return 0.0 };
    let scale = target.orientation();
    (scale.metric(scale.oriented(bad) + error) - bad).abs()
}

/// The search range between the levels of its older and its newer end.
pub(super) fn part(
    search_range: &SearchRange,
    target: &GuardTarget,
    from: &Level,
    to: &Level,
) -> SearchRange {
    let [good, bad] = search_range.terms.good_and_bad([from, to]);
    let [baseline, bad] = [good, bad].map(|level| Value::Number(level.value));
    SearchRange {
        older: from.commit.clone(),
        newer: to.commit.clone(),
        targets: vec![Target::Guard(GuardTarget { baseline, bad, ..target.clone() })],
        ..search_range.clone()
    }
}

/// Adds a search range. If one with the same ends exists, adds the targets to it.
pub(super) fn join(search_ranges: &mut Vec<SearchRange>, new: SearchRange) {
    let same = search_ranges.iter_mut().find(|one| one.ends() == new.ends());
    match same {
        Some(one) => one.targets.extend(new.targets),
        None => search_ranges.push(new),
    }
}

/// The target judged against the better of two levels.
pub(super) fn against(target: &GuardTarget, better: &Level, worse: &Level) -> GuardTarget {
    let scale = target.orientation();
    let noise = target.noise.map(|noise| {
        let good = scale.oriented(better.value);
        let far = scale.oriented(worse.value);
        let bad = if far.is_finite() { far } else { good + 10.0 * noise.sd };
        Noise { good, bad, paired: false, ..noise }
    });
    let (baseline, bad) = (Value::Number(better.value), Value::Number(worse.value));
    GuardTarget { baseline, bad, noise, threshold: None, ..target.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, GuardForm};
    use crate::hunt::path_filter::PathFilter;
    use crate::hunt::terms::SearchTerms;
    use crate::oracle::fixture::{commit, target};

    #[test]
    fn a_part_has_its_good_level_at_the_newer_end_in_a_hunt_for_a_fix() {
        let levels = |aim: Aim| {
            let sought = target(GuardForm::MaxIncrease(0.1), 7.0, 8.0);
            let whole = SearchRange {
                older: commit('1'),
                newer: commit('9'),
                terms: SearchTerms::of(aim),
                targets: vec![Target::Guard(sought.clone())],
                paths: PathFilter::default(),
                aside: Vec::new(),
            };
            let at = |digit: char, value: f64| Level { commit: commit(digit), value };
            let part = part(&whole, &sought, &at('3', 7.6), &at('5', 7.2));
            assert_eq!(part.ends(), [&commit('3'), &commit('5')]);
            let target = part.targets[0].guard().unwrap();
            [target.baseline.number(), target.bad.number()]
        };
        assert_eq!(levels(Aim::Regression), [Some(7.6), Some(7.2)]);
        assert_eq!(levels(Aim::Fix), [Some(7.2), Some(7.6)]);
    }
}

//! A step of one unit in the last printed digit: the parent's value may be rounded down and the
//! commit's value up, so that earlier commits made most of the step.

use crate::evaluation::{Culprit, Effect, Metric};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;
use crate::oracle::Observation;
use crate::store::journal::Event;

/// Maximum size of a step that rounding may have made, in units of the last printed digit.
const MOST_UNITS: f64 = 1.5;

impl Driver<'_> {
    /// Lowers the confidence in a confirmed commit whose steps are no larger than the resolution of
    /// the output. `sides`: the fresh runs of its parent and of the commit.
    pub(super) fn doubt_resolution(
        &mut self,
        culprit: &mut Culprit,
        sides: [&Observation; 2],
    ) -> Result<(), HuntError> {
        let Some(metric) = coarse_metric(culprit, sides) else { return Ok(()) };
        lower_confidence(culprit);
        culprit.doubts.last_digit = Some(metric.clone());
        let text = format!(
            "{} changes {metric} only by one unit of its last printed digit, so earlier commits \
             may have made most of this step: let the program print more digits",
            culprit.info.commit.short()
        );
        Ok(self.oracle.recorder.event(Event::Note { text })?)
    }
}

/// The first metric of a commit all of whose steps may come from rounding. Whole numbers are not
/// rounded: they count something.
fn coarse_metric(culprit: &Culprit, sides: [&Observation; 2]) -> Option<Metric> {
    let is_coarse = |metric: &Metric, step: f64| {
        let counted = sides.map(|side| {
            let readings = side.readings(&metric.measure);
            readings.filter_map(|reading| reading.decimals.get(metric)).max().copied()
        });
        let [Some(parent), Some(commit)] = counted else { return false };
        let decimals = parent.max(commit);
        let unit = 10_f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX));
        decimals > 0 && step.abs() <= MOST_UNITS * unit
    };
    let is_rounding =
        |effect: &Effect| effect.own_step.is_some_and(|step| is_coarse(&effect.metric, step));
    let are_coarse = culprit.failure.is_none() && culprit.effects.iter().all(is_rounding);
    culprit.effects.first().filter(|_| are_coarse).map(|effect| effect.metric.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::{at, culprit, effect};

    /// Runs with this value and so many digits behind the point.
    fn printed(digit: char, value: f64, decimals: usize) -> Observation {
        let mut seen = at(digit, &[value, value]);
        for sample in seen.samples.get_mut("ppl").unwrap() {
            let reading = sample.result.as_mut().unwrap();
            reading.decimals.insert(Metric::of("ppl"), decimals);
        }
        seen
    }

    #[test]
    fn a_step_of_one_unit_of_the_last_digit_may_come_from_rounding() {
        let is_doubted = |parent: (f64, usize), commit: (f64, usize)| {
            let mut named = culprit('2', '1');
            named.effects = vec![effect(parent.0, commit.0, 0.05)];
            let sides = [printed('1', parent.0, parent.1), printed('2', commit.0, commit.1)];
            coarse_metric(&named, [&sides[0], &sides[1]]).is_some()
        };
        assert!(is_doubted((7.0, 1), (7.1, 1)));
        assert!(!is_doubted((7.0, 1), (7.2, 1)));
        assert!(!is_doubted((7.0, 2), (7.1, 2)));
        // A program that leaves out zeros at the end.
        assert!(!is_doubted((7.0, 1), (7.05, 2)));
        // Failed checks, for example.
        assert!(!is_doubted((3.0, 0), (4.0, 0)));
    }

    #[test]
    fn a_commit_with_another_larger_step_or_without_digits_is_not_doubted() {
        let sides = [printed('1', 7.0, 1), printed('2', 7.1, 1)];
        let mut named = culprit('2', '1');
        named.effects = vec![effect(7.0, 7.1, 0.05), effect(7.0, 9.0, 0.05)];
        assert_eq!(coarse_metric(&named, [&sides[0], &sides[1]]), None);
        named.effects.pop();
        assert!(coarse_metric(&named, [&sides[0], &sides[1]]).is_some());
        assert_eq!(coarse_metric(&named, [&at('1', &[7.0]), &at('2', &[7.1])]), None);
    }
}

//! Notices that the first run of a build is slower or faster than the later ones, by the runs of
//! both endpoints: caches are cold, or the clock is boosted. From then on each build is warmed up.
//!
//! In normal noise without such an effect, this happens by chance in one hunt of 1,000 with four
//! runs of each end, and in one of 2,000 with five (simulated): both first runs must be far from
//! the later ones, in the same direction. Then the hunt only makes one more run for each build.

use crate::evaluation::{Guard, Metric, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Sample};
use crate::stats::{mean, student_quantile, variance};
use crate::store::journal::Event;

/// Minimum number of runs of each endpoint.
const LEAST: usize = 4;
/// The quantile of Student's distribution beyond which a first run is not like the later ones.
const SURE: f64 = 0.995;
/// A smaller share of the tolerance does not matter.
const SLIGHT: f64 = 0.25;

/// First runs that are not like the later ones.
#[derive(Debug, PartialEq)]
struct OddFirstRuns {
    metric: Metric,
    /// The first runs of the good and of the bad end.
    attempts: [String; 2],
    /// How far they are from the means of the later runs, as shares of these.
    shifts: [f64; 2],
}

impl Driver<'_> {
    /// If the first run of a build is not like the later ones, by the runs of both endpoints: from
    /// now on each build is warmed up, and these first runs and the runs of other hunts do not
    /// count. Whether this is so. Then the endpoints must be judged again. Once for each measure
    /// without warm-ups whose values may depend on the machine's speed.
    pub(super) fn warm_up_after_odd_first_runs(
        &mut self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<bool, HuntError> {
        // In a hunt for a change of reproducibility, values that differ are what is sought.
        if self.begun.options.spread_of.is_some() {
            return Ok(false);
        }
        let config = &self.oracle.recipes.config;
        let may_be_cold = |measure: &str| {
            config.is_timed(measure)
                && config.measure(measure).is_some_and(|measure| measure.warmup == 0)
                && !self.oracle.stored.is_warmed_up(measure)
        };
        let guards = self.guards();
        let mut timed = guards.iter().filter(|guard| may_be_cold(&guard.metric.measure));
        let Some(odd) = timed.find_map(|guard| odd_first_runs(good, bad, guard)) else {
            return Ok(false);
        };
        let (measure, attempts) = (odd.metric.measure.clone(), odd.attempts.to_vec());
        self.oracle.recorder.event(Event::Note { text: in_words(&odd) })?;
        self.oracle.stored.warm_up(&measure, &attempts);
        self.oracle.recorder.event(Event::WarmsUp { measure, attempts })?;
        Ok(true)
    }
}

/// The first runs of both ends, if both are further from the later ones than noise explains, in the
/// same direction, and by more than a small share of the guard's tolerance.
fn odd_first_runs(good: &Observation, bad: &Observation, guard: &Guard) -> Option<OddFirstRuns> {
    let metric = &guard.metric;
    let [at_good, at_bad] = [good.of(&metric.measure), bad.of(&metric.measure)];
    let [a, b] = [of_one_build(at_good, metric)?, of_one_build(at_bad, metric)?];
    let [a, b] = [in_shares(&a, guard)?, in_shares(&b, guard)?];
    let freedom = [a.later.len() - 1, b.later.len() - 1].map(|own| own as f64);
    let squares = variance(&a.later) * freedom[0] + variance(&b.later) * freedom[1];
    let freedom = freedom[0] + freedom[1];
    let (sd, quantile) = ((squares / freedom).sqrt(), student_quantile(SURE, freedom));
    let is_odd = |end: &FromLater| {
        let error = sd * (1.0 + 1.0 / end.later.len() as f64).sqrt();
        end.first.abs() > f64::max(quantile * error, SLIGHT * end.tolerance)
    };
    let is_same_side = (a.first < 0.0) == (b.first < 0.0);
    (is_same_side && is_odd(&a) && is_odd(&b)).then(|| OddFirstRuns {
        metric: metric.clone(),
        attempts: [at_good, at_bad].map(|runs| runs[0].attempt.clone()),
        shifts: [a.first, b.first],
    })
}

/// The runs of one end, as distances from the mean of all but the first run, in shares of it.
struct FromLater {
    first: f64,
    later: Vec<f64>,
    tolerance: f64,
}

fn in_shares(values: &[f64], guard: &Guard) -> Option<FromLater> {
    let (first, later) = values.split_first()?;
    let level = mean(later).filter(|level| *level != 0.0)?;
    let share = |value: &f64| (value - level) / level.abs();
    let tolerance = guard.limit(level).max(0.0) / level.abs();
    Some(FromLater { first: share(first), later: later.iter().map(share).collect(), tolerance })
}

/// The values of the runs, oldest first, if there are enough, all of one build and of one hunt.
fn of_one_build(runs: &[Sample], metric: &Metric) -> Option<Vec<f64>> {
    let first = runs.first().filter(|_| runs.len() >= LEAST)?;
    let is_alike = |run: &Sample| run.built == first.built && run.hunt == first.hunt;
    if !runs.iter().all(is_alike) {
        return None;
    }
    let number = |run: &Sample| run.value(metric).as_ref().and_then(Value::number);
    runs.iter().map(|run| number(run).filter(|value| value.is_finite())).collect()
}

/// What the runs show, and what the hunt does now.
fn in_words(odd: &OddFirstRuns) -> String {
    let OddFirstRuns { metric, shifts: [good, bad], .. } = odd;
    let side = if *good < 0.0 { "lower" } else { "higher" };
    let measure = &metric.measure;
    format!(
        "at both ends the first run of the build shows a {side} {metric} than the later runs (by \
         {:.1} % at the good end, {:.1} % at the bad end), as with a cold cache or a boost of the \
         clock: these runs do not count, and from now on each build gets one run of {measure} that \
         does not count. `warmup = 1` for this measure in oracle.toml does so in each hunt",
        100.0 * good.abs(),
        100.0 * bad.abs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{at, guard};

    fn is_odd(good: &[f64], bad: &[f64]) -> bool {
        let guard = guard(GuardForm::MaxDecreasePercent(4.0));
        odd_first_runs(&at('1', good), &at('2', bad), &guard).is_some()
    }

    const COLD: [f64; 5] = [44.1, 50.2, 50.1, 49.8, 50.4];
    const COLD_TOO: [f64; 5] = [40.9, 46.1, 46.0, 46.4, 45.8];
    const WARM: [f64; 5] = [46.2, 46.1, 46.0, 46.4, 45.8];

    #[test]
    fn a_first_run_that_is_off_at_both_ends_is_told() {
        assert!(is_odd(&COLD, &COLD_TOO));
        assert!(is_odd(&COLD[..4], &COLD_TOO[..4]));
        let told = |seen: &[f64]| {
            let guard = guard(GuardForm::MaxDecreasePercent(4.0));
            in_words(&odd_first_runs(&at('1', &COLD), &at('2', seen), &guard).unwrap())
        };
        let said = told(&COLD_TOO);
        assert!(
            said.contains("a lower ppl") && said.contains("by 12.0 % at the good end"),
            "{said}"
        );
    }

    #[test]
    fn one_end_alone_another_run_or_another_direction_tells_nothing() {
        assert!(!is_odd(&COLD, &WARM) && !is_odd(&WARM, &WARM));
        assert!(!is_odd(&COLD, &[52.0, 46.1, 46.0, 46.4, 45.8]));
        assert!(!is_odd(&COLD, &[46.1, 40.9, 46.0, 46.4, 45.8]));
        assert!(!is_odd(&COLD[..3], &COLD_TOO[..3]), "too few runs");
        // Less than a quarter of the tolerance.
        assert!(!is_odd(&[49.7, 50.0, 50.0, 50.0, 50.0], &[45.7, 46.0, 46.0, 46.0, 46.0]));
    }

    #[test]
    fn runs_of_several_builds_are_not_compared() {
        let mut bad = at('2', &COLD_TOO);
        bad.samples.get_mut("ppl").unwrap()[4].built = "another".to_owned();
        let guard = guard(GuardForm::MaxDecreasePercent(4.0));
        assert_eq!(odd_first_runs(&at('1', &COLD), &bad, &guard), None);
    }

    #[test]
    fn it_seldom_happens_by_chance() {
        // A fixed series of nearly normal numbers around 50: sums of twelve.
        let mut state = 7_u64;
        let mut unit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / (1_u64 << 24) as f64
        };
        let mut run = || 50.0 + ((0..12).map(|_| unit()).sum::<f64>() - 6.0);
        let mut hunt = || is_odd(&[(); 5].map(|()| run()), &[(); 5].map(|()| run()));
        let hits = (0..4000).filter(|_| hunt()).count();
        assert!(hits <= 4, "{hits} of 4000");
    }
}

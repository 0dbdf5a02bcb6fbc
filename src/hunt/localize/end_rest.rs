//! In noise, what the bad end without all named changes has left of one metric's step: runs of that
//! end and of the good end, in turn, until their levels tell.

use crate::config::Config;
use crate::evaluation::{CommitId, GuardTarget, Metric, Phase};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::mean_level::{MeanLevel, Rest};
use crate::oracle::Request;

/// Minimum number of runs of the bad end without the changes.
const LEAST_RUNS: usize = 3;
/// Maximum number of runs of each end to decide.
const MOST_RUNS: usize = 12;
/// The same while the end without the changes seems to be worse than the good end: it is by two
/// standard errors, but not yet by [`CLAIM`].
const MOST_RUNS_NEAR: usize = 24;
/// What is left claims another commit if it is this many times the error of [`Rest::of`], so 3.5
/// standard errors. A claim turns a confirmed commit into candidates, and the runs are looked at
/// after each round. Two standard errors would often be reached by chance then.
const CLAIM: f64 = 1.75;

impl Driver<'_> {
    /// Compares the end without the changes with the good end, in one metric. `expected`: how much
    /// worse it may be, beside the tolerance, and two standard errors of that, in the metric's
    /// unit. Where the machine may drift, only new runs can show that something is left. Also
    /// returns whether the means differ by more than that. `None` if one of both ends cannot be
    /// measured.
    pub(super) fn rest_without(
        &mut self,
        target: &GuardTarget,
        end: &CommitId,
        without: &Config,
        expected: [f64; 2],
    ) -> Result<Option<(Rest, bool)>, HuntError> {
        let metric = &target.guard.metric;
        let good = self.begun.good.commit.clone();
        let left = |levels: [MeanLevel; 2]| beyond_expected(target, levels, expected);
        let known = [
            self.mean_level_after(&good, metric, 0, 0)?,
            self.level_without(end, without, metric, [0, LEAST_RUNS])?,
        ];
        let [Some(from), Some(to)] = known else { return Ok(None) };
        let mut rest = left([from, to]);
        if claimed(rest) == Rest::Within {
            return Ok(Some((Rest::Within, false)));
        }
        let stored = if target.may_drift() { [from.runs, to.runs] } else { [0, 0] };
        for round in LEAST_RUNS..=MOST_RUNS_NEAR {
            // In turn.
            let from = self.mean_level_after(&good, metric, stored[0], round)?;
            let to = self.level_without(end, without, metric, [stored[1], round])?;
            let (Some(from), Some(to)) = (from, to) else { return Ok(None) };
            rest = left([from, to]);
            if claimed(rest) != Rest::Open || round >= most_runs(rest) {
                break;
            }
        }
        Ok(Some((claimed(rest), rest[0] > 0.0)))
    }

    /// The level of the end with this recipe after at least `runs` runs that come after the first
    /// `stored` ones. `None` if too few of them give a number.
    fn level_without(
        &mut self,
        end: &CommitId,
        recipe: &Config,
        metric: &Metric,
        [stored, runs]: [usize; 2],
    ) -> Result<Option<MeanLevel>, HuntError> {
        let measures = [metric.measure.clone()];
        let look = Request::look(end, &measures, Phase::Localize);
        let request = Request { runs: stored + runs, recipe: Some(recipe), ..look };
        let seen = self.oracle.evaluate(request)?;
        let level = MeanLevel::of(seen.numbers(metric), stored);
        Ok(level.filter(|level| level.runs >= runs))
    }
}

/// How much worse the second level is than the first one, beyond the tolerance and what is
/// `expected`, and two standard errors of that, both in the metric's unit.
fn beyond_expected(target: &GuardTarget, levels: [MeanLevel; 2], expected: [f64; 2]) -> [f64; 2] {
    let [rest, error] = MeanLevel::beyond_tolerance(target, levels);
    [rest - expected[0], f64::hypot(error, expected[1])]
}

/// What is left of a step, beyond what is allowed: as [`Rest::of`], but only a large one is surely
/// there.
fn claimed(rest: [f64; 2]) -> Rest {
    match Rest::of(rest) {
        Rest::Beyond if rest[0] <= CLAIM * rest[1] => Rest::Open,
        told => told,
    }
}

/// The maximum number of runs of each end to decide, after runs that leave this much.
fn most_runs(rest: [f64; 2]) -> usize {
    if Rest::of(rest) == Rest::Beyond { MOST_RUNS_NEAR } else { MOST_RUNS }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::noisy;

    /// A good end at 100 and a bad end without the changes at `level`, with a noise of 1 and a
    /// tolerance of 3.
    fn left(level: f64, runs: usize) -> Rest {
        left_beyond(level, runs, [0.0; 2])
    }

    /// The same if the end may be worse by what is `expected`.
    fn left_beyond(level: f64, runs: usize, expected: [f64; 2]) -> Rest {
        let target = noisy(GuardForm::MaxIncrease(3.0), 100.0, 110.0);
        let levels = [100.0, level].map(|value| MeanLevel { value, runs });
        claimed(beyond_expected(&target, levels, expected))
    }

    #[test]
    fn what_the_named_commits_gained_is_no_remnant() {
        assert_eq!(left_beyond(106.0, 12, [0.0; 2]), Rest::Beyond);
        assert_eq!(left_beyond(106.0, 12, [6.0, 1.0]), Rest::Within);
        // Another step is there too.
        assert_eq!(left_beyond(112.0, 12, [6.0, 1.0]), Rest::Beyond);
        // Few runs tell how large the gain was.
        assert_eq!(left_beyond(112.0, 12, [6.0, 4.0]), Rest::Open);
        assert_eq!(left_beyond(106.0, 12, [6.0, 4.0]), Rest::Open);
    }

    #[test]
    fn only_what_is_surely_beyond_the_tolerance_is_a_remnant() {
        assert_eq!(left(100.2, 4), Rest::Within);
        assert_eq!(left(104.0, 4), Rest::Open);
        // By 2.4 and 2.8 standard errors.
        assert_eq!(left(104.0, 12), Rest::Open);
        assert_eq!(left(105.0, 4), Rest::Open);
        assert_eq!(left(105.0, 12), Rest::Beyond);
        assert_eq!(left(106.0, 4), Rest::Beyond);
        assert_eq!(left(95.0, 4), Rest::Within);
    }

    #[test]
    fn an_end_that_seems_to_stay_bad_gets_more_runs() {
        assert_eq!(most_runs([0.5, 1.0]), MOST_RUNS);
        assert_eq!(most_runs([-0.5, 1.0]), MOST_RUNS);
        assert_eq!(most_runs([1.2, 1.0]), MOST_RUNS_NEAR);
    }
}

//! In noise, a confirmation compares pairs of values. A fresh run that crashes or times out at a
//! commit whose other runs give values is no half of a pair: it is made again. Otherwise an
//! unrelated failure that comes and goes would count against a step that each pair shows.

use crate::config::Config;
use crate::evaluation::{CommitId, GuardTarget, SkipReason};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::run_verdicts::RUNS_TO_SKIP;
use crate::hunt::samples::is_spread;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::{Observation, RunSample, run_sample};

/// Maximum number of lost runs of one commit that are made again.
const MOST_LOST: usize = 5;

/// What to do after runs of which some are lost.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// The runs count as they are: none is lost, or the commit fails too often.
    Keep,
    /// The other runs are enough.
    LeaveOut,
    /// More runs.
    Again,
}

impl Next {
    /// `lost` of these `runs` are lost; `wanted` values are needed.
    fn of(runs: usize, lost: usize, wanted: usize) -> Self {
        let told = runs - lost;
        if lost == 0 || lost > MOST_LOST || (told == 0 && lost >= RUNS_TO_SKIP) {
            Self::Keep
        } else if told >= wanted {
            Self::LeaveOut
        } else {
            Self::Again
        }
    }
}

impl Driver<'_> {
    /// The fresh runs of a commit up to this round. In noise lost runs are made again and left out;
    /// not on a drifting machine, where the two runs of a pair belong to one moment.
    pub(super) fn measure_values_once_more(
        &mut self,
        commit: &CommitId,
        measures: &[String],
        strategy: &SearchStrategy,
        round: usize,
        rebuild: bool,
    ) -> Result<Observation, HuntError> {
        let mut seen = self.measure_once_more(commit, measures, round, rebuild)?;
        let is_paired = |target: &GuardTarget| target.noise.is_some_and(|noise| noise.paired);
        let Some(target) = strategy.noisy().filter(|one| !is_paired(one) && !is_spread(one)) else {
            return Ok(seen);
        };
        let config = self.oracle.recipes.at(commit)?;
        let measure = &target.guard.metric.measure;
        loop {
            let are_lost = lost_runs(&seen, target, &config);
            let (runs, lost) =
                (are_lost.len(), are_lost.iter().filter(|is_lost| **is_lost).count());
            match Next::of(runs, lost, round) {
                Next::Keep => return Ok(seen),
                Next::LeaveOut => return Ok(without(seen, measure, are_lost)),
                Next::Again => {
                    seen = self.measure_once_more(commit, measures, round + lost, rebuild)?;
                    // No further run was made, so another request would not help either.
                    if seen.of(measure).len() <= runs {
                        return Ok(seen);
                    }
                }
            }
        }
    }
}

/// The runs of a commit without those that crashed or timed out.
pub(crate) fn without_lost_runs(
    seen: Observation,
    target: &GuardTarget,
    config: &Config,
) -> Observation {
    let are_lost = lost_runs(&seen, target, config);
    without(seen, &target.guard.metric.measure, are_lost)
}

/// Drops the runs of a measure that are lost.
fn without(mut seen: Observation, measure: &str, are_lost: Vec<bool>) -> Observation {
    if let Some(samples) = seen.samples.get_mut(measure) {
        let mut are_lost = are_lost.into_iter();
        samples.retain(|_| !are_lost.next().unwrap_or_default());
    }
    seen
}

/// For each run of a commit, whether it gave no value because it crashed or timed out.
fn lost_runs(seen: &Observation, target: &GuardTarget, config: &Config) -> Vec<bool> {
    let is_lost = |place| {
        let why = match run_sample(seen, target, place, config) {
            RunSample::Untestable(why, _) => Some(why),
            RunSample::Sample(_) => None,
        };
        matches!(why, Some(SkipReason::Crash | SkipReason::Timeout))
    };
    (0..seen.of(&target.guard.metric.measure).len()).map(is_lost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FailureKind, GuardForm};
    use crate::oracle::fixture::{config, failed, noisy, ppl, seen};

    #[test]
    fn runs_that_crash_or_time_out_are_lost() {
        let target = noisy(GuardForm::MaxIncrease(0.1), 7.0, 7.5);
        let runs = [
            ppl(7.0),
            failed(FailureKind::Crash, "signal 11"),
            failed(FailureKind::Timeout, ""),
            failed(FailureKind::Nan, "nan"),
        ];
        let lost = lost_runs(&seen('5', "ppl", runs.clone()), &target, &config(""));
        assert_eq!(lost, [false, true, true, false]);
        let left = without_lost_runs(seen('5', "ppl", runs), &target, &config(""));
        assert_eq!((left.of("ppl").len(), left.numbers(&target.guard.metric)), (2, vec![7.0]));
    }

    #[test]
    fn lost_runs_are_made_again_up_to_a_limit() {
        assert_eq!(Next::of(3, 0, 3), Next::Keep);
        assert_eq!(Next::of(1, 1, 1), Next::Again);
        assert_eq!(Next::of(2, 1, 1), Next::LeaveOut);
        assert_eq!(Next::of(2, 1, 2), Next::Again);
        // No run gave a value, or too many did not.
        assert_eq!(Next::of(2, 2, 1), Next::Keep);
        assert_eq!(Next::of(MOST_LOST + 4, MOST_LOST, 5), Next::Again);
        assert_eq!(Next::of(MOST_LOST + 5, MOST_LOST + 1, 5), Next::Keep);
    }
}

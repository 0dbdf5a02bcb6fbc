//! Trades: a commit makes one metric worse and another one better, as a faster and less exact kernel
//! does. Without it, the bad end is good again on the first and loses the gain on the second. If it
//! loses just what the commit gained there at its own place, no other part of the program runs, and
//! the test tells whether the bad end needs the commit.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Phase, Value};
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::oracle::Request;

/// A level may differ from the expected one by this share of the gain: the last printed digits.
const EXACT: f64 = 0.02;

/// It must not differ by more than this share of the gain, whatever the tolerance.
const MOST: f64 = 0.25;

/// With more named commits, their levels on other guards are not measured: each may take a build,
/// and so may its parent.
const MOST_NAMED: usize = 3;

/// A guard that the hunt does not search for, and that moves at the bad end without named commits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MovedGuard {
    /// The guard with the levels of both ends.
    pub(super) target: GuardTarget,
    /// The level of the bad end without the commits.
    pub(super) now: Value,
}

impl Driver<'_> {
    /// Whether each of these guards moves at the bad end without the named commits just as the
    /// commits moved it at their own places, the other way round. Runs the measures of these guards
    /// once at each commit and its parent if they have no run yet. False if a limit of the hunt is
    /// reached.
    pub(super) fn is_traded(
        &mut self,
        moved: &[MovedGuard],
        named: &[Culprit],
    ) -> Result<bool, HuntError> {
        if moved.is_empty() || named.len() > MOST_NAMED {
            return Ok(false);
        }
        let mut steps = vec![Vec::new(); moved.len()];
        for culprit in named {
            let Some(parent) = self.levels_at(&culprit.parent, moved)? else { return Ok(false) };
            let Some(own) = self.levels_at(&culprit.info.commit, moved)? else { return Ok(false) };
            for (place, (parent, own)) in parent.into_iter().zip(own).enumerate() {
                steps[place].push([parent, own]);
            }
        }
        Ok(moved.iter().zip(&steps).all(|(one, steps)| is_given_back(one, steps)))
    }

    /// The levels of these guards at a commit. `None` if one has no number there, or if a limit of
    /// the hunt is reached.
    fn levels_at(
        &mut self,
        commit: &CommitId,
        moved: &[MovedGuard],
    ) -> Result<Option<Vec<f64>>, HuntError> {
        let metrics: Vec<_> = moved.iter().map(|one| &one.target.guard.metric).collect();
        let measures = distinct(metrics.iter().map(|metric| metric.measure.clone()));
        let look = Request::look(commit, &measures, Phase::Localize);
        let seen = self.oracle.evaluate(Request { runs: 1, ..look }).map_err(HuntError::from);
        let seen = match seen {
            Err(HuntError::Limit(limit)) => {
                self.limit = Some(limit);
                return Ok(None);
            }
            seen => seen?,
        };
        Ok(metrics.into_iter().map(|metric| seen.level(metric)?.number()).collect())
    }
}

/// Whether the bad end without the commits has lost on this guard what they gained there, or gained
/// what they lost. `steps`: for each commit, the levels of its parent and its own. Later commits may
/// move the metric too. The changes add to a level or multiply it, so there are two expected levels.
fn is_given_back(moved: &MovedGuard, steps: &[[f64; 2]]) -> bool {
    let target = &moved.target;
    let Some((bad, now)) = target.bad.number().zip(moved.now.number()) else { return false };
    let gain: f64 = steps.iter().map(|[parent, own]| own - parent).sum();
    let ratio: f64 = steps.iter().map(|[parent, own]| parent / own).product();
    let size = gain.abs();
    if !size.is_finite() || size <= 0.0 {
        return false;
    }
    let reach = target.limit.clamp(EXACT * size, MOST * size);
    [bad - gain, bad * ratio].iter().any(|expected| (now - expected).abs() <= reach)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{target, unchanged};

    /// Whether the end at this level has given back these steps. The good end is at 40, with a
    /// tolerance of 5 %, and the bad end at `bad`.
    fn gives_back(bad: f64, now: f64, steps: &[[f64; 2]]) -> bool {
        let target = target(GuardForm::MaxDecreasePercent(5.0), 40.0, bad);
        is_given_back(&MovedGuard { target, now: Value::Number(now) }, steps)
    }

    #[test]
    fn an_end_that_loses_what_the_commit_gained_runs_the_same_program() {
        // The commit gains 12, and later commits lose 12 or 8 again.
        assert!(gives_back(40.0, 28.0, &[[40.0, 52.0]]));
        assert!(gives_back(44.0, 32.0, &[[40.0, 52.0]]));
        // Runs differ by less than the tolerance of 2.
        assert!(gives_back(40.3, 27.5, &[[39.6, 52.2]]));
        // A later commit halves the speed, and the gain with it.
        assert!(gives_back(26.0, 20.0, &[[40.0, 52.0]]));
        // The other way round: the commit lost 12, and a later one gained them.
        assert!(gives_back(40.0, 52.0, &[[40.0, 28.0]]));
    }

    #[test]
    fn an_end_that_loses_something_else_may_run_another_program() {
        for now in [9.0, 20.0, 24.5, 33.5, 37.0] {
            assert!(!gives_back(40.0, now, &[[40.0, 52.0]]), "{now}");
        }
        // The commit moves nothing, or the other way.
        assert!(!gives_back(40.0, 28.0, &[[40.0, 40.0]]));
        assert!(!gives_back(40.0, 28.0, &[[52.0, 40.0]]));
        assert!(!gives_back(40.0, f64::NAN, &[[40.0, 52.0]]));
        assert!(!gives_back(40.0, 28.0, &[[0.0, f64::NAN]]));
        // The tolerance is far larger than the gain.
        let wide = target(GuardForm::MaxDecrease(6.0), 40.0, 35.0);
        assert!(!is_given_back(
            &MovedGuard { target: wide, now: Value::Number(32.0) },
            &[[40.0, 42.0]]
        ));
    }

    #[test]
    fn several_commits_give_back_what_they_gained_together() {
        let steps = [[40.0, 46.0], [43.0, 49.0]];
        assert!(gives_back(40.0, 28.0, &steps));
        assert!(!gives_back(40.0, 34.0, &steps));
    }

    #[test]
    fn a_fact_is_never_given_back() {
        let target = unchanged("avx2", "avx2");
        let moved = MovedGuard { target, now: Value::Fact("none".to_owned()) };
        assert!(!is_given_back(&moved, &[[40.0, 52.0]]));
    }
}

//! How much better named commits made a metric that other named commits make worse: for example, one
//! of them also reverts an earlier step. Without all named commits, the bad end lacks this gain too,
//! so it is worse than the good end by as much.

use crate::evaluation::{Direction, Finding, GuardTarget};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::mean_level::{MeanLevel, Rest};

impl Driver<'_> {
    /// How much better the named commits made this metric, and two standard errors of that, both in
    /// its unit. Only those that do not make it worse, by the stored runs of each and of its
    /// parent: a commit without such runs adds nothing. Makes no runs.
    pub(super) fn gain_of_named(
        &mut self,
        finding: &Finding,
        target: &GuardTarget,
    ) -> Result<[f64; 2], HuntError> {
        let metric = &target.guard.metric;
        let mut sum = [0.0; 2];
        for culprit in finding.culprits.iter().filter(|one| one.effect_on(metric).is_none()) {
            let own = self.mean_level_after(&culprit.info.commit, metric, 0, 0)?;
            let parent = self.mean_level_after(&culprit.parent, metric, 0, 0)?;
            if let (Some(own), Some(parent)) = (own, parent)
                && let Some([gain, error]) = sure_gain(target, [own, parent])
            {
                sum = [sum[0] + gain, f64::hypot(sum[1], error)];
            }
        }
        Ok(sum)
    }
}

/// How much better the first level is than the second one, and two standard errors of that, both in
/// the metric's unit. `None` unless it is surely better.
fn sure_gain(target: &GuardTarget, levels: [MeanLevel; 2]) -> Option<[f64; 2]> {
    // Any change makes such a metric worse.
    if target.guard.direction() == Direction::Any {
        return None;
    }
    let [beyond, error] = MeanLevel::beyond_tolerance(target, levels);
    let gain = [beyond + target.limit.max(0.0), error];
    (Rest::of(gain) == Rest::Beyond).then_some(gain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::noisy;

    /// What a commit at `level` gained after a parent at 106, with a noise of 1 and a tolerance of
    /// 3.
    fn gained(level: f64, runs: usize) -> Option<[f64; 2]> {
        let target = noisy(GuardForm::MaxIncrease(3.0), 100.0, 110.0);
        sure_gain(&target, [level, 106.0].map(|value| MeanLevel { value, runs }))
    }

    #[test]
    fn only_a_sure_gain_counts() {
        let [gain, error] = gained(100.0, 8).unwrap();
        assert!((gain - 6.0).abs() < 1e-9 && (error - 1.0).abs() < 1e-9, "{gain} {error}");
        // By 1.4 standard errors, not at all, and worse.
        assert_eq!(gained(104.0, 1), None);
        assert_eq!(gained(106.0, 8), None);
        assert_eq!(gained(112.0, 8), None);
    }
}

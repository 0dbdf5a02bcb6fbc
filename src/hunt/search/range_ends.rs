//! Measures the ends of a search range in noise until their levels or failure rates differ
//! clearly. Stored runs come first.

use crate::evaluation::GuardTarget;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::endpoints::noise::{rule, with_levels};
use crate::hunt::endpoints::rates::with_rates;
use crate::hunt::range::SearchRange;
use crate::hunt::searched::Searched;
use crate::oracle::RunSample;
use crate::search::{CalibrationError, calibrate, calibrate_rates, endpoint_order};

use super::sampler::Sampler;

/// The target with this range's levels or rates, and the samples of its older and newer end.
pub(crate) type Ends = (GuardTarget, [Vec<f64>; 2]);

impl Driver<'_> {
    /// Measures the two ends in turn. The inner `Err` is the search's result if the range cannot be
    /// searched.
    pub(crate) fn ends(
        &mut self,
        search_range: &SearchRange,
        target: &GuardTarget,
        sampler: &mut Sampler,
    ) -> Result<Result<Ends, Searched>, HuntError> {
        let metric = &target.guard.metric;
        let is_rate = target.is_rate();
        let rule = rule(target, self.begun.options.search);
        // The ends run in turn. Without a reference, each change would cost a build.
        sampler.reference = Some(search_range.ends()[0].clone());
        // The samples of the good and the bad end.
        let mut ends: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        loop {
            for is_good in endpoint_order(ends[0].len().max(ends[1].len())) {
                let [good, bad] = search_range.good_and_bad();
                let commit = if is_good { good } else { bad };
                match sampler.take(self, commit, target)? {
                    RunSample::Sample(x) => ends[usize::from(!is_good)].push(x),
                    RunSample::Untestable(_, reason) => {
                        let name = commit.short();
                        return Ok(Err(Searched::Nothing(format!(
                            "{metric} cannot be measured at {name}, an end of the remaining range: {reason}"
                        ))));
                    }
                }
            }
            let [good, bad] = &ends;
            let settled = if is_rate {
                calibrate_rates(good, bad)
                    .map(|rates| with_rates(target.clone(), rates, good.len()))
            } else {
                calibrate(good, bad, rule).map(|found| with_levels(target.clone(), &found))
            };
            match settled {
                Ok(target) => {
                    return Ok(Ok((target, search_range.terms.older_and_newer(ends))));
                }
                Err(CalibrationError::More) => {}
                Err(CalibrationError::NoDifference) => {
                    return Ok(Err(Searched::Unchanged(format!(
                        "after enough runs, {metric} does not change from {} to {} by more than its \
                         tolerance",
                        search_range.ends()[0].short(),
                        search_range.ends()[1].short()
                    ))));
                }
                Err(CalibrationError::TooNoisy { .. }) => {
                    return Ok(Err(Searched::Nothing(format!(
                        "any further change of {metric} after {} is lost in its noise",
                        search_range.ends()[0].short()
                    ))));
                }
            }
        }
    }
}

//! In noise, the sizes of a mend and of the steps before it. If the few runs of a confirmation
//! leave open which steps the mend undid, all runs of these commits are compared, and more are
//! made.

use crate::evaluation::{CommitId, Culprit, GuardTarget};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::search::{ChangePresence, NoisySize, left_open_by_noise};

use super::account::Ledger;
use super::culprit_status::{Mend, MendContext, SizedStep, steps_before};
use super::mean_level::{MOST_RUNS, MeanLevel, has_varying_levels};

/// The steps before a mend, and the mend as the last one, between two commits each.
struct Sizes {
    sizes: Vec<NoisySize>,
    /// The smallest number of runs of these commits.
    runs: usize,
}

impl Driver<'_> {
    /// In noise, if the sizes so far leave open which steps a mend undid: gives the mend and the
    /// steps before it their sizes by all runs. Runs these commits until the sizes tell, but not
    /// more often than [`MOST_RUNS`], and marks the steps that stay open. `around`: one entry for
    /// each found commit.
    ///
    /// The level after the mend tells what became of a single step, so there must be several.
    /// Nothing is done for a mend between commits that are not known.
    pub(super) fn size_in_noise(
        &mut self,
        ledger: &mut Ledger,
        mend: &mut Mend,
        around: &mut [MendContext],
    ) -> Result<(), HuntError> {
        let places = steps_before(&ledger.found, mend, around);
        let (Some(metric), Some(before)) = (mend.metric.clone(), mend.before.clone()) else {
            return Ok(());
        };
        let Some(target) = ledger.target_on(&metric).cloned() else { return Ok(()) };
        let can_be_compared = has_varying_levels(&target) && self.terms().explains_levels();
        if places.len() < 2 || !can_be_compared {
            return Ok(());
        }
        let found: Vec<_> = places.iter().map(|&place| &ledger.found[place]).collect();
        let steps = found.iter().filter_map(|found| found.step(Some(&metric)));
        let so_far: Vec<f64> = steps.chain([mend.amount]).collect();
        if !so_far.iter().all(|size| size.is_finite()) {
            return Ok(());
        }
        let of_step = |culprit: &Culprit| [culprit.parent.clone(), culprit.info.commit.clone()];
        let ends = found.iter().map(|found| of_step(&found.culprit));
        let ends: Vec<[CommitId; 2]> = ends.chain([[mend.by.clone(), before]]).collect();
        let carried: Vec<ChangePresence> =
            places.iter().map(|&place| around[place].carried).collect();
        let limit = mend.limit.max(0.0);
        let open_of = |sizes: &[NoisySize]| match sizes {
            [steps @ .., amount] => left_open_by_noise(steps, &carried, *amount, limit),
            [] => Vec::new(),
        };
        let Some(mut known) = self.sizes_between(&target, &ends, 0)? else { return Ok(()) };
        let errors = known.sizes.iter().map(|known| known.error);
        let so_far = so_far.into_iter().zip(errors);
        let so_far: Vec<NoisySize> =
            so_far.map(|(size, error)| NoisySize { size, error }).collect();
        if !open_of(&so_far).contains(&true) {
            return Ok(());
        }
        let mut runs = known.runs;
        while open_of(&known.sizes).contains(&true) && runs < MOST_RUNS && self.limit.is_none() {
            runs = MOST_RUNS.min(2 * runs);
            match self.sizes_between(&target, &ends, runs) {
                // A limit must not discard a confirmed commit.
                Err(HuntError::Limit(limit)) => {
                    ledger.note_limit("it was not measured which steps were undone", &limit);
                    self.limit = Some(limit);
                }
                more => match more? {
                    Some(more) => known = more,
                    None => break,
                },
            }
        }
        let open = open_of(&known.sizes);
        for ((&place, step), is_open) in places.iter().zip(&known.sizes).zip(open) {
            around[place].by_all_runs = Some(SizedStep { size: step.size, is_open });
        }
        if let Some(amount) = known.sizes.last() {
            mend.amount = amount.size;
        }
        let after = self.mean_level(&mend.by, &metric, 0)?;
        let left = after.and_then(|after| ledger.beyond_good(&metric, after.value));
        mend.left = left.unwrap_or(mend.left);
        Ok(())
    }

    /// How much worse the second commit of each pair is, after at least `runs` runs of all of them;
    /// with 0, by the stored runs. `None` if one of them has no number.
    fn sizes_between(
        &mut self,
        target: &GuardTarget,
        ends: &[[CommitId; 2]],
        runs: usize,
    ) -> Result<Option<Sizes>, HuntError> {
        let metric = &target.guard.metric;
        let mut known = Sizes { sizes: Vec::new(), runs: usize::MAX };
        for [better, worse] in ends {
            let better = self.mean_level(better, metric, runs)?;
            let worse = self.mean_level(worse, metric, runs)?;
            let Some((better, worse)) = better.zip(worse) else { return Ok(None) };
            known.sizes.push(NoisySize {
                size: target.guard.worsening(better.value, worse.value),
                error: MeanLevel::error(target, [better, worse], 1.0),
            });
            known.runs = known.runs.min(better.runs).min(worse.runs);
        }
        Ok(Some(known))
    }
}

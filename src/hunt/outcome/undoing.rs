//! In noise, checks by further runs whether a later commit undid a found commit's step. One run
//! gives a verdict, and one stray run would wrongly clear the found commit.

use crate::evaluation::{CommitId, Culprit, GuardTarget};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::strategy::SearchStrategy;

use super::lack::Lack;
use super::mean_level::MOST_RUNS;
use super::neighbours::oriented_step;

/// Minimum number of runs of each commit behind an undone step.
const LEAST_RUNS: usize = 5;

/// What a later commit with the older end's verdict shows of a found commit's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undoing {
    /// Surely more than half of the step is gone, or no noise hides the step.
    Undone,
    /// Surely less than half of it is gone.
    Lasts,
    /// The runs do not tell.
    Open,
}

/// The step by which two levels are compared, on the oriented scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) step: f64,
    /// How far the level with the step is above the first commit's: 0 if that commit has the step,
    /// the step if it does not.
    pub(crate) above: f64,
}

impl Undoing {
    /// `None` if more runs are needed. `runs`: those of the commit that has fewer of them.
    fn of(lack: Lack, runs: usize) -> Option<Self> {
        if lack.is_surely_small() {
            return Some(Self::Lasts);
        }
        if runs >= LEAST_RUNS && lack.is_surely_large() {
            return Some(Self::Undone);
        }
        (runs >= MOST_RUNS).then_some(Self::Open)
    }
}

/// How many runs both commits are to have after they have this many.
fn more_runs(runs: usize) -> usize {
    (2 * runs).clamp(LEAST_RUNS, MOST_RUNS)
}

impl Driver<'_> {
    /// Whether `place`, a later commit with the older end's verdict, undid the step of a found
    /// commit. In noise, runs both until that is clear, but not more often than [`MOST_RUNS`].
    /// Nothing is run where values repeat, for failure rates, and if the found commit has no step
    /// in the metric of the search.
    pub(super) fn undoing(
        &mut self,
        search_range: &SearchRange,
        culprit: &Culprit,
        place: &CommitId,
    ) -> Result<Undoing, HuntError> {
        let strategy = SearchStrategy::of(&search_range.targets, self.begun.options.search);
        let Some(target) = strategy.noisy().filter(|target| !target.is_rate()) else {
            return Ok(Undoing::Undone);
        };
        let Some(noise) = target.noise else { return Ok(Undoing::Undone) };
        let Some(size) = oriented_step(culprit, target) else { return Ok(Undoing::Undone) };
        let found = &culprit.info.commit;
        if noise.paired {
            return self.undoing_by_pairs([found, place], target, size);
        }
        self.undoing_by_levels([found, place], target, Sizes { step: size, above: 0.0 })
    }

    /// Whether `place` surely lacks more than half of a step of this size, beside the level of
    /// another commit (the first one). Runs both until that is clear, but not more often than
    /// [`MOST_RUNS`]. For targets in noise whose levels can be compared.
    pub(crate) fn undoing_by_levels(
        &mut self,
        [reference, place]: [&CommitId; 2],
        target: &GuardTarget,
        sizes: Sizes,
    ) -> Result<Undoing, HuntError> {
        let sd = target.noise.map_or(0.0, |noise| noise.sd);
        let mut wanted = 1;
        loop {
            let own = self.oriented_runs(reference, target, wanted)?;
            let theirs = self.oriented_runs(place, target, wanted)?;
            let Some((own, theirs)) = own.zip(theirs) else { return Ok(Undoing::Open) };
            let with_step: Vec<f64> = own.iter().map(|run| run + sizes.above).collect();
            let lack = Lack::of_levels([&with_step, &theirs], sd, sizes.step);
            let runs = own.len().min(theirs.len()).max(wanted);
            if let Some(shown) = Undoing::of(lack, runs) {
                return Ok(shown);
            }
            wanted = more_runs(runs);
        }
    }

    /// As [`Self::undoing`], by new runs of both commits beside each other: the machine drifts.
    fn undoing_by_pairs(
        &mut self,
        [found, place]: [&CommitId; 2],
        target: &GuardTarget,
        size: f64,
    ) -> Result<Undoing, HuntError> {
        let sd = target.noise.map_or(0.0, |noise| noise.sd_of_difference());
        let mut differences = Vec::new();
        loop {
            let own = self.one_more_run(found, target)?;
            let theirs = self.one_more_run(place, target)?;
            let Some((own, theirs)) = own.zip(theirs) else { return Ok(Undoing::Open) };
            differences.push(own - theirs);
            let Some(lack) = Lack::of_pairs(&differences, sd, size) else { continue };
            if let Some(shown) = Undoing::of(lack, differences.len()) {
                return Ok(shown);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What so many runs of both commits show. The found commit's level is 2.4 and its step 2.4,
    /// in noise of 0.7.
    fn shown(level: f64, runs: usize) -> Option<Undoing> {
        let (own, theirs) = (vec![2.4; runs], vec![level; runs]);
        Undoing::of(Lack::of_levels([&own, &theirs], 0.7, 2.4), runs)
    }

    #[test]
    fn one_run_is_no_mend() {
        assert_eq!(shown(0.0, 1), None);
        // Not even if the run is as good as the parent and the noise is small.
        let lack = Lack::of_levels([&[8.0; 3], &[0.0]], 0.1, 8.0);
        assert_eq!(Undoing::of(lack, 1), None);
        let lack = Lack::of_levels([&[8.0; 5], &[0.0; 5]], 0.1, 8.0);
        assert_eq!(Undoing::of(lack, 5), Some(Undoing::Undone));
    }

    #[test]
    fn the_runs_of_a_commit_without_the_step_show_a_mend() {
        assert_eq!(shown(0.0, 5), None);
        assert_eq!(shown(0.0, 10), Some(Undoing::Undone));
    }

    #[test]
    fn the_runs_of_a_commit_with_the_step_show_that_it_lasts() {
        assert_eq!(shown(2.4, 5), Some(Undoing::Lasts));
        assert_eq!(shown(2.0, 24), Some(Undoing::Lasts));
    }

    #[test]
    fn about_half_of_the_step_stays_open() {
        assert_eq!(shown(1.2, 23), None);
        assert_eq!(shown(1.2, 24), Some(Undoing::Open));
    }

    #[test]
    fn a_level_is_also_compared_with_a_commit_that_never_had_the_step() {
        let shown = |other: f64, level: f64| {
            let with_step = vec![other + 2.4; 10];
            Undoing::of(Lack::of_levels([&with_step, &[level; 10]], 0.7, 2.4), 10)
        };
        assert_eq!(shown(0.0, 2.4), Some(Undoing::Lasts));
        assert_eq!(shown(0.0, 0.0), Some(Undoing::Undone));
        // A merge took away 2.4 that another commit had made: the other branch lacks that too.
        assert_eq!(shown(-2.4, 0.0), Some(Undoing::Lasts));
    }

    #[test]
    fn the_runs_are_doubled_up_to_the_maximum() {
        assert_eq!([1, 2, 5, 10, 20, 23].map(more_runs), [5, 5, 10, 20, 24, 24]);
    }
}

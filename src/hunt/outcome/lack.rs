//! What share of a found commit's step another commit lacks, in noise. Pure.

use crate::stats;

/// A share counts as less than half if it is below half by this many standard errors. A wrong
/// decision keeps the found commit, which the fresh runs of its confirmation support.
const SURE_OF_LITTLE: f64 = 2.0;
/// A share counts as more than half if it is above half by this many standard errors. A wrong
/// decision would clear the found commit.
const SURE_OF_MUCH: f64 = 3.0;
/// Minimum number of runs, or of pairs of runs, whose own scatter counts beside the noise.
const SCATTER_FROM: usize = 6;
/// Minimum number of pairs of runs.
const LEAST_PAIRS: usize = 3;

/// What a commit near a reference (a found commit or its parent) shows of the reference's level.
/// The other side of the found commit's step has nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtNeighbour {
    /// At least half of it.
    Most,
    /// Surely not all of it; it may be half.
    Part,
    /// Less than half of it.
    Nothing,
    /// Probably less than half of it.
    Unclear,
}

impl AtNeighbour {
    /// `None` if more runs are needed. `is_last`: no more runs are allowed. Then it is enough that
    /// the share that is lacking is probably small, because the fresh runs of the confirmation
    /// support the found commit.
    pub(super) fn of(lack: Lack, is_last: bool) -> Option<Self> {
        if lack.is_surely_small() || (is_last && lack.is_probably_small()) {
            return Some(Self::Most);
        }
        if lack.is_surely_large() {
            return Some(Self::Nothing);
        }
        if lack.is_surely_some() {
            return Some(Self::Part);
        }
        is_last.then_some(Self::Unclear)
    }
}

/// The share of the step that the other commit lacks: 0 if it is as bad as the found commit, 1 if
/// it is as good as the found commit's parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lack {
    share: f64,
    /// Its standard error.
    error: f64,
}

impl Lack {
    /// From runs of the found commit and of the other one, which may lie apart in time. `sd`: the
    /// noise of one run; `size`: the step.
    pub(super) fn of_levels([own, theirs]: [&[f64]; 2], sd: f64, size: f64) -> Self {
        let mean = |runs| stats::winsorised_mean(runs).unwrap_or(f64::NAN);
        let variance = 1.0 / own.len() as f64 + 1.0 / theirs.len() as f64;
        let error = with_scatter(sd, &[own, theirs]) * variance.sqrt();
        Self { share: (mean(own) - mean(theirs)) / size, error: error / size.abs() }
    }

    /// From differences of runs beside each other. `sd`: the noise of a difference. `None` if there
    /// are too few.
    pub(super) fn of_pairs(differences: &[f64], sd: f64, size: f64) -> Option<Self> {
        if differences.len() < LEAST_PAIRS {
            return None;
        }
        let error = with_scatter(sd, &[differences]) / (differences.len() as f64).sqrt();
        let share = stats::winsorised_mean(differences)? / size;
        Some(Self { share, error: error / size.abs() })
    }

    /// Whether the other commit surely has more than half of the step.
    pub(super) fn is_surely_small(self) -> bool {
        self.share + SURE_OF_LITTLE * self.error < 0.5
    }

    /// Whether the other commit has at least half of the step, as far as is known.
    pub(super) fn is_probably_small(self) -> bool {
        self.share <= 0.5
    }

    /// Whether the other commit surely lacks a part of the step.
    fn is_surely_some(self) -> bool {
        self.share - SURE_OF_MUCH * self.error > 0.0
    }

    /// Whether the other commit surely has less than half of the step.
    pub(super) fn is_surely_large(self) -> bool {
        self.share - SURE_OF_MUCH * self.error > 0.5
    }
}

/// The noise, or the scatter within these groups if that is larger and they are large enough.
fn with_scatter(sd: f64, groups: &[&[f64]]) -> f64 {
    let count: usize = groups.iter().map(|group| group.len()).sum();
    let scatter = stats::winsorised_sd(groups).filter(|_| count >= SCATTER_FROM);
    sd.max(scatter.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_as_bad_as_the_found_one_lacks_little() {
        let lack = Lack::of_levels([&[5.1, 4.9], &[5.0]], 0.2, 5.0);
        assert!(lack.is_surely_small() && !lack.is_surely_large(), "{lack:?}");
        // For a fix, or a metric that falls, the step is negative.
        let lack = Lack::of_levels([&[-5.1, -4.9], &[-5.0]], 0.2, -5.0);
        assert!(lack.is_surely_small() && !lack.is_surely_large(), "{lack:?}");
    }

    #[test]
    fn a_commit_as_good_as_the_parent_lacks_the_step() {
        let lack = Lack::of_pairs(&[5.2, 4.9, 5.0], 0.2, 5.0).unwrap();
        assert!(lack.is_surely_large() && !lack.is_surely_small(), "{lack:?}");
        assert!(Lack::of_pairs(&[5.2, 4.9], 0.2, 5.0).is_none());
    }

    #[test]
    fn half_of_the_step_decides_nothing() {
        let lack = Lack::of_levels([&[5.0, 5.2], &[2.4, 2.7]], 0.2, 5.0);
        assert!(!lack.is_surely_large() && !lack.is_surely_small(), "{lack:?}");
        assert!(lack.is_surely_some(), "{lack:?}");
        let lack = Lack::of_levels([&[5.0, 5.2], &[5.1, 5.2]], 0.2, 5.0);
        assert!(!lack.is_surely_some(), "{lack:?}");
    }

    #[test]
    fn a_commit_with_about_half_of_the_step_needs_few_runs() {
        let sd = 0.7 * std::f64::consts::SQRT_2;
        let shown = |lost: f64, pairs: usize| {
            let differences = vec![lost; pairs];
            AtNeighbour::of(Lack::of_pairs(&differences, sd, 8.0).unwrap(), false)
        };
        // A step of 8, of which the next commit takes 4 or 4.5 back.
        assert_eq!(shown(4.0, 3), Some(AtNeighbour::Part));
        assert_eq!(shown(4.5, 3), Some(AtNeighbour::Part));
        assert_eq!(shown(0.0, 3), Some(AtNeighbour::Most));
        assert_eq!(shown(8.0, 3), Some(AtNeighbour::Nothing));
        // Noise as large as the step decides nothing.
        let lack = Lack::of_pairs(&[4.0; 3], 8.0, 8.0).unwrap();
        assert_eq!(AtNeighbour::of(lack, false), None);
    }

    #[test]
    fn runs_that_scatter_more_than_the_ends_decide_less() {
        let pairs = [9.0, 1.0, 9.0, 1.0, 9.0, 1.0];
        let lack = Lack::of_pairs(&pairs, 0.1, 5.0).unwrap();
        assert!(!lack.is_surely_large() && !lack.is_surely_small(), "{lack:?}");
    }
}

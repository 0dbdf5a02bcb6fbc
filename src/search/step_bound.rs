//! Whether the step between two commits is surely larger than a size, by all of their runs. The
//! noise is that of all runs of the hunt, of which the calibration saw only a few.

use crate::stats;

/// Minimum number of runs of the two commits whose own scatter counts beside that of all commits.
const SCATTER_FROM: usize = 6;

/// The noise of one run, pooled over the runs of each commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PooledNoise {
    /// Standard deviation of one run about the level of its commit, on the oriented scale.
    pub(crate) sd: f64,
    /// Runs without the number of commits; at least 1.
    freedom: f64,
}

impl PooledNoise {
    /// Of these commits, each with its runs; `None` if no commit has two runs.
    pub(crate) fn of(commits: &[&[f64]]) -> Option<Self> {
        let sd = stats::winsorised_sd(commits)?;
        let freedom = commits.iter().map(|runs| runs.len().saturating_sub(1)).sum::<usize>();
        Some(Self { sd, freedom: freedom as f64 })
    }
}

/// The step from a commit to the next one, on the oriented scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepBound {
    /// The difference of the winsorised means.
    pub(crate) step: f64,
    /// How far the true step may be away from that, at the confidence.
    pub(crate) error: f64,
}

impl StepBound {
    /// By all runs of both commits: δ ± t·s·√(1/n + 1/m), with the quantile t of Student's
    /// distribution at 1 − α/2 and the noise s. If the two commits scatter more than all commits
    /// together, their own scatter counts. `None` if one has no run.
    pub(crate) fn of(
        [older, newer]: [&[f64]; 2],
        noise: PooledNoise,
        confidence: f64,
    ) -> Option<Self> {
        let step = stats::winsorised_mean(newer)? - stats::winsorised_mean(older)?;
        let runs = [older.len(), newer.len()];
        let own = PooledNoise::of(&[older, newer]);
        let own = own.filter(|own| runs[0] + runs[1] >= SCATTER_FROM && own.sd > noise.sd);
        let noise = own.unwrap_or(noise);
        if noise.sd <= 0.0 {
            return Some(Self { step, error: 0.0 });
        }
        let quantile = stats::student_quantile(f64::midpoint(1.0, confidence), noise.freedom);
        let variance = runs.iter().map(|runs| 1.0 / *runs as f64).sum::<f64>();
        Some(Self { step, error: quantile * noise.sd * variance.sqrt() })
    }

    /// Whether the step is surely larger (`true`) or smaller than `size`; `None` while more runs are
    /// needed.
    pub(crate) fn is_larger_than(self, size: f64) -> Option<bool> {
        let beyond = self.step - size;
        (beyond.abs() > self.error).then_some(beyond > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::assert_close;
    use super::*;

    /// Two commits between two steps: the second one was confirmed, with a noise of 0.22, by two
    /// pairs that differ by 1.36 and 1.31.
    const PARENT: [f64; 7] = [10.815, 12.417, 11.8425, 11.7155, 12.3205, 11.2867, 11.1836];
    const CLAIMED: [f64; 7] = [11.8923, 12.1353, 11.5953, 12.3526, 12.8349, 12.6451, 12.4963];
    /// The commit after them, and the good end of the hunt.
    const AFTER: [f64; 8] = [12.1542, 13.0473, 12.0096, 11.423, 12.3399, 12.5287, 11.6422, 12.5598];
    const GOOD: [f64; 5] = [10.7841, 10.0355, 10.0115, 10.1332, 10.1898];

    #[test]
    fn a_claim_with_too_little_noise_is_not_sure_by_all_runs() {
        let noise = PooledNoise::of(&[&PARENT, &CLAIMED, &AFTER, &GOOD]).unwrap();
        assert!((0.4..0.6).contains(&noise.sd), "{noise:?}");
        let bound = StepBound::of([&PARENT, &CLAIMED], noise, 0.99).unwrap();
        // Half of a tolerance of 1.
        assert_eq!(bound.is_larger_than(0.5), None, "{bound:?}");
        // With the noise of the ends' first runs it was no doubt either that there is a step.
        let calibrated = PooledNoise { sd: 0.22, freedom: 6.0 };
        let pairs = [[11.2867, 11.1836], [12.6451, 12.4963]];
        let bound = StepBound::of([&pairs[0], &pairs[1]], calibrated, 0.99).unwrap();
        assert_eq!(bound.is_larger_than(0.5), Some(true), "{bound:?}");
    }

    #[test]
    fn a_real_step_of_the_same_hunt_is_sure() {
        let noise = PooledNoise::of(&[&PARENT, &CLAIMED, &AFTER, &GOOD]).unwrap();
        let parent = [9.6787, 9.9615, 9.7553];
        let commit = [11.8601, 12.4855, 12.7202];
        let bound = StepBound::of([&parent, &commit], noise, 0.99).unwrap();
        assert_eq!(bound.is_larger_than(0.5), Some(true), "{bound:?}");
    }

    #[test]
    fn the_bound_by_hand() {
        // The quantile at 99.5 % is 2.58, and two runs of each have a standard error of 1.
        let noise = PooledNoise { sd: 1.0, freedom: 1000.0 };
        let bound = StepBound::of([&[1.0, 1.0], &[5.0, 5.0]], noise, 0.99).unwrap();
        assert_close(bound.step, 4.0);
        assert!((bound.error - 2.58).abs() < 0.01, "{bound:?}");
        let told = [1.0, 2.0, 6.0, 7.0].map(|size| bound.is_larger_than(size));
        assert_eq!(told, [Some(true), None, None, Some(false)]);
        assert_eq!(StepBound::of([&[], &[5.0]], noise, 0.99), None);
    }

    #[test]
    fn without_noise_nothing_is_open() {
        let noise = PooledNoise::of(&[&[5.0, 5.0], &[6.0, 6.0]]).unwrap();
        assert_close(noise.sd, 0.0);
        let bound = StepBound::of([&[5.0, 5.0], &[6.0, 6.0]], noise, 0.99).unwrap();
        assert_eq!(bound.is_larger_than(0.5), Some(true));
        assert_eq!(PooledNoise::of(&[&[5.0], &[6.0]]), None);
    }

    #[test]
    fn commits_that_scatter_more_count_their_own_noise() {
        let noise = PooledNoise { sd: 0.1, freedom: 50.0 };
        let [parent, commit] = [[1.0, 5.0, 3.0], [4.0, 8.0, 6.0]];
        let bound = StepBound::of([&parent, &commit], noise, 0.99).unwrap();
        assert_eq!(bound.is_larger_than(0.5), None, "{bound:?}");
    }
}

//! Tests whether a step is larger than the differences between builds of one commit. Each link
//! moves code in memory, which changes throughput. Runs of a single build per commit cannot
//! separate this effect from a change of the source.

use crate::stats;

use super::calibration::bound;

/// Minimum builds of each side.
const LEAST: usize = 3;
/// Maximum builds of each side.
const MOST: usize = 6;

/// The result of a comparison of builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildComparison {
    /// The step is larger than the differences between builds.
    StepIsLarger,
    /// More builds are needed.
    More,
    /// The step is not larger, and the maximum of builds is reached.
    Differ,
}

/// Tests whether the newer side is larger (worse) on the oriented scale, with Student's t test on
/// the means of the builds, one-sided at 99.5 %.
pub(crate) fn step_exceeds_build_noise(older: &[f64], newer: &[f64]) -> BuildComparison {
    let fewest = older.len().min(newer.len());
    if fewest < LEAST {
        return BuildComparison::More;
    }
    let (Some(low), Some(high)) = (stats::mean(older), stats::mean(newer)) else {
        return BuildComparison::More;
    };
    let about = |x: &[f64], mean: f64| x.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let freedom = (older.len() + newer.len() - 2) as f64;
    let variance = (about(older, low) + about(newer, high)) / freedom;
    let error = (variance * (1.0 / older.len() as f64 + 1.0 / newer.len() as f64)).sqrt();
    match (high - low > bound(freedom) * error, fewest >= MOST) {
        (true, _) => BuildComparison::StepIsLarger,
        (false, false) => BuildComparison::More,
        (false, true) => BuildComparison::Differ,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_larger_than_build_noise_is_seen() {
        let (older, newer) = ([0.0, 0.015, -0.01], [0.15, 0.16, 0.13]);
        assert_eq!(step_exceeds_build_noise(&older, &newer), BuildComparison::StepIsLarger);
        assert_eq!(step_exceeds_build_noise(&newer, &older), BuildComparison::More);
    }

    #[test]
    fn a_step_of_the_size_of_build_noise_is_not_seen() {
        let (older, newer) = ([0.0, 0.02, -0.01], [0.02, 0.03, 0.0]);
        assert_eq!(step_exceeds_build_noise(&older, &newer), BuildComparison::More);
        let twice = |x: &[f64]| [x, x].concat();
        assert_eq!(
            step_exceeds_build_noise(&twice(&older), &twice(&newer)),
            BuildComparison::Differ
        );
    }

    #[test]
    fn fewer_than_three_builds_say_nothing() {
        assert_eq!(step_exceeds_build_noise(&[0.0, 0.0], &[9.0, 9.0]), BuildComparison::More);
    }
}

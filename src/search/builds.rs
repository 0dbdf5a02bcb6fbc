//! Whether a step is larger than the differences between builds of one commit. Each link moves code
//! in memory, which changes throughput. Runs of a single build per commit cannot separate this
//! effect from a change of the source.

use crate::stats;

use super::calibration::bound;

/// Minimum builds of each side.
const LEAST: usize = 3;
/// Maximum builds of each side.
const MOST: usize = 6;

/// The result of a comparison of builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builds {
    /// The step is larger than the differences between builds.
    Bear,
    /// More builds are needed.
    More,
    /// The step is not larger, and the maximum of builds is reached.
    Differ,
}

/// Tests whether the newer side is larger (worse) on the oriented scale, with Student's t test on
/// the means of the builds, one-sided at 99.5 %.
pub fn builds_bear(older: &[f64], newer: &[f64]) -> Builds {
    let fewest = older.len().min(newer.len());
    if fewest < LEAST {
        return Builds::More;
    }
    let (Some(low), Some(high)) = (stats::mean(older), stats::mean(newer)) else {
        return Builds::More;
    };
    let about = |x: &[f64], mean: f64| x.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let freedom = (older.len() + newer.len() - 2) as f64;
    let variance = (about(older, low) + about(newer, high)) / freedom;
    let error = (variance * (1.0 / older.len() as f64 + 1.0 / newer.len() as f64)).sqrt();
    match (high - low > bound(freedom) * error, fewest >= MOST) {
        (true, _) => Builds::Bear,
        (false, false) => Builds::More,
        (false, true) => Builds::Differ,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_well_beyond_what_builds_differ_by_is_borne() {
        let (older, newer) = ([0.0, 0.015, -0.01], [0.15, 0.16, 0.13]);
        assert_eq!(builds_bear(&older, &newer), Builds::Bear);
        assert_eq!(builds_bear(&newer, &older), Builds::More);
    }

    #[test]
    fn a_step_of_the_size_of_the_noise_between_builds_is_not() {
        let (older, newer) = ([0.0, 0.02, -0.01], [0.02, 0.03, 0.0]);
        assert_eq!(builds_bear(&older, &newer), Builds::More);
        let twice = |x: &[f64]| [x, x].concat();
        assert_eq!(builds_bear(&twice(&older), &twice(&newer)), Builds::Differ);
    }

    #[test]
    fn fewer_than_three_builds_say_nothing() {
        assert_eq!(builds_bear(&[0.0, 0.0], &[9.0, 9.0]), Builds::More);
    }
}

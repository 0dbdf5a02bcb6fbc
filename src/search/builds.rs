//! Whether a step is larger than what two builds of one commit differ by. Where code lies in
//! memory moves with every link, and throughput with it: runs of one build each cannot tell that
//! from a change of the source.

use crate::stats;

use super::calibration::bound;

/// Builds of each side before they are compared.
const LEAST: usize = 3;
/// Builds of each side at most.
const MOST: usize = 6;

/// What several builds of each side say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builds {
    /// The step is beyond what builds differ by.
    Bear,
    /// More builds are needed.
    More,
    /// It is not, with as many builds as are made.
    Differ,
}

/// Compares the mean of each build of the older side with those of the newer one, on the oriented
/// scale (the newer is larger): Student's t on build means, one-sided at 99.5 %.
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

//! Runs of one commit that fall into two tight groups far apart, as when some runs fall back to a
//! slower path. Then a commit has a failure rate, and not a level with noise. Pure.

use crate::stats;

/// The gap between the groups is at least so many times as wide as the wider group: about ten
/// standard deviations of a group of a few runs.
const APART: f64 = 4.0;
/// The bad end shows its worse group at least so often: a single stray run is no group.
const LEAST_WORSE: usize = 2;

/// The level of the good end's better runs, if the runs of both ends together fall into two groups
/// and the bad end is in both. Larger values are worse. `limit`: the tolerance. `None` if a group
/// is wider than the tolerance, since its runs then do not all have one verdict, or if most runs
/// of the good end are in the worse group.
pub(crate) fn level_of_better_group(good: &[f64], bad: &[f64], limit: f64) -> Option<f64> {
    if good.is_empty() {
        return None;
    }
    let [better, worse] = groups(&[good, bad].concat(), limit)?;
    let is_worse = |x: &&f64| **x >= worse[0];
    let [worse_at_good, worse_at_bad] = [good, bad].map(|end| end.iter().filter(is_worse).count());
    let is_mixed = (LEAST_WORSE..bad.len()).contains(&worse_at_bad);
    if width(&better) > limit || !is_mixed || 2 * worse_at_good > good.len() {
        return None;
    }
    let better_at_good: Vec<f64> = good.iter().copied().filter(|x| *x < worse[0]).collect();
    stats::median(&better_at_good)
}

/// The medians of two groups of at least two runs each into which the runs of one commit fall;
/// `None` if they have one level.
pub(crate) fn levels_of_groups(runs: &[f64], limit: f64) -> Option<[f64; 2]> {
    let [better, worse] = groups(runs, limit)?;
    if better.len().min(worse.len()) < LEAST_WORSE {
        return None;
    }
    Some([stats::median(&better)?, stats::median(&worse)?])
}

/// Two sorted groups of these values with a gap between them that is wider than the tolerance, and
/// far wider than each group.
fn groups(values: &[f64], limit: f64) -> Option<[Vec<f64>; 2]> {
    if !limit.is_finite() || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let gap = |at: usize| sorted[at] - sorted[at - 1];
    let at = (1..sorted.len()).max_by(|one, other| gap(*one).total_cmp(&gap(*other)))?;
    let (lower, upper) = sorted.split_at(at);
    let is_apart = gap(at) > limit && gap(at) >= APART * width(lower).max(width(upper));
    is_apart.then(|| [lower.to_vec(), upper.to_vec()])
}

/// The largest value of a sorted group minus the smallest one.
fn width(group: &[f64]) -> f64 {
    group.last().zip(group.first()).map_or(0.0, |(last, first)| last - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: [f64; 4] = [-40.1, -39.7, -40.2, -39.9];

    fn is_grouped(good: &[f64], bad: &[f64]) -> bool {
        level_of_better_group(good, bad, 1.6).is_some()
    }

    #[test]
    fn runs_that_fall_back_now_and_then_are_a_group_of_their_own() {
        let bad = [-40.3, -8.1, -8.2, -39.8];
        let level = level_of_better_group(&FAST, &bad, 1.6).unwrap();
        assert!((-40.2..=-39.7).contains(&level), "{level}");
        // The good end may fall back too, but seldom.
        assert!(is_grouped(&[-8.0, -40.1, -40.2, -39.9], &bad));
        assert!(!is_grouped(&[-8.0, -8.1, -8.2, -39.9], &bad));
    }

    #[test]
    fn the_runs_of_one_commit_may_have_two_levels() {
        assert_eq!(levels_of_groups(&[36.1, 8.0, 36.0, 8.5, 35.9], 1.6), Some([8.25, 36.0]));
        assert_eq!(levels_of_groups(&[36.1, 8.1, 36.0, 35.9], 1.6), None);
        assert_eq!(levels_of_groups(&[36.1, 35.0, 36.0, 35.9], 1.6), None);
        // Within the tolerance.
        assert_eq!(levels_of_groups(&[36.1, 36.1, 36.0, 36.0], 1.6), None);
        assert_eq!(levels_of_groups(&[], 1.6), None);
    }

    #[test]
    fn a_step_noise_or_one_stray_run_is_no_second_group() {
        // All runs are slower, and one is as fast as before.
        assert!(!is_grouped(&FAST, &[-8.1, -8.2, -8.0, -8.1]));
        assert!(is_grouped(&FAST, &[-8.1, -8.2, -8.0, -40.0]));
        assert!(!is_grouped(&FAST, &[-40.3, -8.1, -39.9, -39.8]));
        // Another commit made all runs slower by more than the tolerance.
        assert!(!is_grouped(&FAST, &[-36.1, -8.1, -8.2, -35.9]));
        // Values spread, and no gap stands out.
        assert!(!is_grouped(&[-40.0, -39.0, -39.5, -40.5], &[-38.0, -36.0, -34.5, -39.0]));
        assert!(!is_grouped(&[], &[-8.1, -8.2, -40.0]));
        assert!(!is_grouped(&FAST, &[-8.1, -8.2, f64::INFINITY, -40.0]));
    }
}

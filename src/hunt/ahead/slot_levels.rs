//! Compares the runs of one commit in two slots, for metrics that vary from run to run: whether
//! both slots show the same level. Pure.

use crate::stats::{mean, student_quantile, variance};

/// The quantile of three standard errors.
const THREE_ERRORS: f64 = 0.998_65;

/// What the runs of one commit say about two slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SlotLevels {
    /// The other slot shows the level of the first one.
    Alike,
    /// The runs do not show whether the levels differ.
    Unclear,
    /// The levels differ by more than the noise.
    Unlike,
}

/// Compares the runs `own` of a commit in the first slot with its runs `elsewhere`. A single run
/// has no scatter, so the standard deviation s is pooled over these two groups and `others`: runs
/// of another commit, with a level of its own in each group.
///
/// The levels are unlike if |x̄′ − x̄| > t·s·√(1/n + 1/n′), with Student's t for three standard
/// errors. If the runs `own` all have the same value, the runs elsewhere must have it too.
pub(super) fn compare_levels(own: &[f64], elsewhere: &[f64], others: &[Vec<f64>]) -> SlotLevels {
    let (Some(here), Some(there)) = (mean(own), mean(elsewhere)) else {
        return SlotLevels::Unclear;
    };
    let repeats = |runs: &[f64]| runs.iter().all(|x| x.to_bits() == own[0].to_bits());
    if own.len() > 1 && repeats(own) {
        return if repeats(elsewhere) { SlotLevels::Alike } else { SlotLevels::Unlike };
    }
    let groups = [own, elsewhere].into_iter().chain(others.iter().map(Vec::as_slice));
    let (mut squares, mut freedom) = (0.0, 0.0);
    for group in groups.filter(|group| group.len() > 1) {
        let free = group.len() as f64 - 1.0;
        squares += free * variance(group);
        freedom += free;
    }
    if freedom == 0.0 {
        return SlotLevels::Unclear;
    }
    let share = 1.0 / own.len() as f64 + 1.0 / elsewhere.len() as f64;
    let reach = student_quantile(THREE_ERRORS, freedom) * (squares / freedom * share).sqrt();
    if (there - here).abs() <= reach { SlotLevels::Alike } else { SlotLevels::Unlike }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [f64; 4] = [7.00, 7.02, 7.04, 7.06];

    #[test]
    fn another_level_is_one_beyond_the_noise_of_few_runs() {
        let at_bad = [vec![7.5, 7.53], vec![7.51, 7.54]];
        assert_eq!(compare_levels(&OWN, &[7.05], &at_bad), SlotLevels::Alike);
        assert_eq!(compare_levels(&OWN, &[7.5], &at_bad), SlotLevels::Unlike);
        assert_eq!(compare_levels(&OWN, &[6.5], &at_bad), SlotLevels::Unlike);
        // Four runs alone tell less: t is 9.2 with three degrees of freedom, and 5.5 with five.
        assert_eq!(compare_levels(&OWN, &[7.24], &[]), SlotLevels::Alike);
        assert_eq!(compare_levels(&OWN, &[7.24], &at_bad), SlotLevels::Unlike);
    }

    #[test]
    fn each_group_has_a_level_of_its_own() {
        // Runs of the bad end in two slots, half a unit apart: this is no scatter.
        let apart = [vec![7.0, 7.02], vec![7.5, 7.52]];
        assert_eq!(compare_levels(&OWN, &[7.5], &apart), SlotLevels::Unlike);
        assert_eq!(compare_levels(&OWN, &[7.5], &[apart.concat()]), SlotLevels::Alike);
    }

    #[test]
    fn what_repeats_must_repeat_elsewhere() {
        let noisy = [vec![6.0, 7.0, 8.0]];
        assert_eq!(compare_levels(&[7.0; 4], &[7.0], &noisy), SlotLevels::Alike);
        assert_eq!(compare_levels(&[7.0; 4], &[7.1], &noisy), SlotLevels::Unlike);
    }

    #[test]
    fn too_few_runs_tell_nothing() {
        assert_eq!(compare_levels(&[7.0], &[9.0], &[]), SlotLevels::Unclear);
        assert_eq!(compare_levels(&OWN, &[], &[]), SlotLevels::Unclear);
        assert_eq!(compare_levels(&[], &[7.0], &[]), SlotLevels::Unclear);
    }
}

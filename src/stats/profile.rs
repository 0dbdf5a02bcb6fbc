//! Finds how many chunks at the beginning of a text are enough to distinguish two readings of it.

use super::{Chunks, half_digit};

/// Minimum distance of either level from the threshold between them, in standard deviations of one
/// run. The levels are therefore at least twice this apart.
const CLEAR: f64 = 5.0;

/// Minimum number of chunks that must carry the difference.
const FEWEST_CARRYING: usize = 8;

/// Two readings of one text, chunk by chunk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrefixProfile {
    good: Vec<f64>,
    bad: Vec<f64>,
    /// Standard deviation of one run's P_k: run-to-run noise or rounding, whichever is larger.
    noise: Vec<f64>,
    /// How many of the first k chunks carry the difference.
    carrying: Vec<usize>,
}

/// The first chunks of a text, with the levels of both readings there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prefix {
    /// How many chunks.
    pub chunks: usize,
    /// The good reading's cumulative perplexity after these chunks.
    pub good: f64,
    /// The bad reading's cumulative perplexity after these chunks.
    pub bad: f64,
    /// Bad minus good, as a share of the difference over the whole text.
    pub share: f64,
}

impl PrefixProfile {
    /// From the cumulative perplexities of each side's runs. `None` unless all runs have the same
    /// number of chunks and all values are positive and finite.
    pub(crate) fn of(good: &[&[f64]], bad: &[&[f64]]) -> Option<Self> {
        let (before, after) = (Chunks::of(good)?, Chunks::of(bad)?);
        if before.len() != after.len() {
            return None;
        }
        let mut count = 0;
        let carrying = before.carrying(&after).into_iter().map(|carries| {
            count += usize::from(carries);
            count
        });
        let places = 0..before.len();
        let (good_levels, good_variances) = levels(good);
        let (bad_levels, bad_variances) = levels(bad);
        // An error uniform over ±h has the variance h²/3.
        let rounding = [good, bad].map(|runs| half_digit(runs[0]).powi(2) / 3.0);
        let rounding = rounding[0].max(rounding[1]);
        let noise =
            places.map(|k| good_variances[k].max(bad_variances[k]).max(rounding).sqrt()).collect();
        Some(Self { good: good_levels, bad: bad_levels, noise, carrying: carrying.collect() })
    }

    /// How many chunks the whole text has; at least one.
    pub(crate) fn len(&self) -> usize {
        self.good.len()
    }

    /// The first `chunks` chunks, from 1 to all; `None` if the whole text does not differ.
    pub(crate) fn prefix(&self, chunks: usize) -> Option<Prefix> {
        let last = self.len() - 1;
        let whole = self.bad[last] - self.good[last];
        let (good, bad) = (*self.good.get(chunks.checked_sub(1)?)?, *self.bad.get(chunks - 1)?);
        (whole != 0.0).then(|| Prefix { chunks, good, bad, share: (bad - good) / whole })
    }

    /// Whether the first `chunks` chunks are enough for a search. `limit`: the tolerance over the
    /// whole text, as a perplexity, not negative. The chunks are enough if they differ in the same
    /// direction as the whole text, if the tolerance scaled by their share is at least 5σ from
    /// either level, and if at least 8 chunks carry the difference.
    pub(crate) fn is_enough(&self, chunks: usize, limit: f64) -> bool {
        let Some(prefix) = self.prefix(chunks) else { return false };
        let distance = (prefix.bad - prefix.good).abs();
        let scaled = limit * prefix.share;
        let clear = CLEAR * self.noise[chunks - 1];
        prefix.share > 0.0
            && scaled >= clear
            && distance - scaled >= clear
            && self.carrying[chunks - 1] >= FEWEST_CARRYING
    }

    /// Whether `chunks` is at least a third less than all chunks.
    pub(crate) fn saves_a_third(&self, chunks: usize) -> bool {
        3 * chunks <= 2 * self.len()
    }
}

/// The smallest number of chunks that is enough for all profiles, each with its tolerance, and
/// that saves at least a third of every text.
pub(crate) fn shortest(of: &[(PrefixProfile, f64)]) -> Option<usize> {
    let (first, _) = of.first()?;
    let suits = |chunks: usize| {
        of.iter().all(|(profile, limit)| {
            profile.saves_a_third(chunks) && profile.is_enough(chunks, *limit)
        })
    };
    (1..first.len()).find(|chunks| suits(*chunks))
}

/// After each chunk: the mean over the runs, and the variance of one run.
fn levels(runs: &[&[f64]]) -> (Vec<f64>, Vec<f64>) {
    let count = runs.len() as f64;
    let at = |k: usize| {
        let first = runs[0][k];
        // The computed mean of equal numbers can differ from that number by rounding.
        if runs.iter().all(|run| run[k].to_bits() == first.to_bits()) {
            return (first, 0.0);
        }
        let mean = runs.iter().map(|run| run[k]).sum::<f64>() / count;
        let squares: f64 = runs.iter().map(|run| (run[k] - mean).powi(2)).sum();
        (mean, squares / (count - 1.0))
    };
    (0..runs[0].len()).map(at).unzip()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::fixture::printed;

    fn profile(good: &[f64], bad: &[f64]) -> PrefixProfile {
        PrefixProfile::of(&[&printed(good)], &[&printed(bad)]).unwrap()
    }

    fn enough(profile: &PrefixProfile, limit: f64) -> Option<usize> {
        shortest(&[(profile.clone(), limit)])
    }

    #[test]
    fn several_guards_need_the_longest_of_theirs() {
        let good = [2.0; 24];
        let mut late = [2.1; 24];
        late[..4].fill(2.0);
        let (early, late) = (profile(&good, &[2.1; 24]), profile(&good, &late));
        assert_eq!(shortest(&[(early.clone(), 0.2)]), Some(8));
        assert_eq!(shortest(&[(early.clone(), 0.2), (late, 0.2)]), Some(12));
        assert_eq!(shortest(&[(early.clone(), 0.2), (profile(&[2.0; 9], &[2.1; 9]), 0.2)]), None);
        assert_eq!(shortest(&[]), None);
    }

    #[test]
    fn a_worked_example() {
        // 24 chunks of 2 nats; the bad side has 0.1 more in all but the first four.
        let good = [2.0; 24];
        let mut bad = [2.1; 24];
        bad[..4].fill(2.0);
        let found = profile(&good, &bad);
        // After twelve chunks, eight carry the difference. The mean there is 2 + 0.1 · 8/12.
        assert_eq!(enough(&found, 0.2), Some(12));
        let prefix = found.prefix(12).unwrap();
        assert!((prefix.good - 7.3891).abs() < 1e-12);
        assert!((prefix.bad - 7.8985).abs() < 1e-12, "{prefix:?}");
        // e^(2 + 0.1 · 20/24) − e² = 0.6421.
        assert!((prefix.share - 0.5094 / 0.6421).abs() < 1e-3, "{prefix:?}");
    }

    #[test]
    fn what_shows_late_needs_the_whole_text() {
        let good = [2.0; 24];
        let mut bad = good;
        bad[10..].fill(2.2);
        // Eight chunks carry the difference only after 18 chunks, which saves too little.
        assert_eq!(enough(&profile(&good, &bad), 0.2), None);
    }

    #[test]
    fn a_small_turn_late_in_the_text_does_not_matter() {
        let good = [2.0; 30];
        let mut bad = [2.2; 30];
        bad[15..].fill(1.9);
        let found = profile(&good, &bad);
        assert_eq!(enough(&found, 0.1), Some(8));
        assert!(found.prefix(8).unwrap().share > 1.0);
        // The beginning gets worse but the whole text better, so the beginning is not enough.
        bad[15..].fill(1.7);
        assert_eq!(enough(&profile(&good, &bad), 0.1), None);
    }

    #[test]
    fn a_limit_in_the_last_digit_needs_the_whole_text() {
        let found = profile(&[2.0; 24], &[2.1; 24]);
        assert_eq!(enough(&found, 0.0), None);
        assert_eq!(enough(&found, 0.0001), None);
        assert_eq!(enough(&found, 0.001), Some(8));
        // A tolerance that the bad endpoint just breaks.
        let step = 2.1_f64.exp() - 2.0_f64.exp();
        assert_eq!(enough(&found, step - 1e-5), None);
    }

    #[test]
    fn noise_from_run_to_run_counts() {
        let (good, bad) = (printed(&[2.0; 24]), printed(&[2.1; 24]));
        let noisy = |nll: &[f64], by: f64| {
            let moved: Vec<f64> = nll.iter().map(|x| ((x + by) * 1e4).round() / 1e4).collect();
            moved
        };
        let [low, high] = [-0.02, 0.02].map(|by| noisy(&good, by));
        let found = PrefixProfile::of(&[&low, &high], &[&bad]).unwrap();
        // σ = 0.028: the limit must be 0.14 from either level.
        assert!(!found.is_enough(8, 0.1) && found.is_enough(8, 0.2));
    }

    #[test]
    fn different_texts_have_no_profile() {
        assert_eq!(PrefixProfile::of(&[&[7.0, 7.1]], &[&[7.0]]), None);
        assert_eq!(PrefixProfile::of(&[&[7.0]], &[]), None);
    }

    fn sides() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        let chunk = (0.5..4.0_f64, prop::sample::select(vec![0.0, 0.0, 0.1, 0.3, -0.1]));
        prop::collection::vec(chunk, 1..80)
            .prop_map(|pairs| pairs.into_iter().map(|(x, d)| (x, x + d)).unzip())
    }

    proptest! {
        #[test]
        fn what_is_chosen_keeps_every_promise((good, bad) in sides(), limit in 0.0..2.0_f64) {
            let found = profile(&good, &bad);
            let whole = found.prefix(found.len());
            if let Some(chunks) = enough(&found, limit) {
                let prefix = found.prefix(chunks).unwrap();
                let whole = whole.unwrap();
                prop_assert!(3 * chunks <= 2 * good.len() && chunks >= 8);
                prop_assert!((prefix.bad > prefix.good) == (whole.bad > whole.good));
                let (distance, scaled) = ((prefix.bad - prefix.good).abs(), limit * prefix.share);
                // 5σ of rounding to four places: 5 · 0.5e-4/√3.
                prop_assert!(scaled >= 1.4e-4 && distance - scaled >= 1.4e-4);
                let moved = good[..chunks].iter().zip(&bad).filter(|(a, b)| (**b - **a).abs() > 1e-9);
                prop_assert!(moved.count() >= 8);
                prop_assert!((1..chunks).all(|shorter| !found.is_enough(shorter, limit)));
            }
        }

        #[test]
        fn the_whole_text_has_all_of_the_difference((good, bad) in sides()) {
            let found = profile(&good, &bad);
            if let Some(whole) = found.prefix(found.len()) {
                prop_assert!((whole.share - 1.0).abs() < 1e-12);
            }
            prop_assert_eq!(found.prefix(0), None);
            prop_assert_eq!(found.prefix(found.len() + 1), None);
        }

        #[test]
        fn swapping_the_sides_changes_no_choice((good, bad) in sides(), limit in 0.0..2.0_f64) {
            prop_assert_eq!(enough(&profile(&good, &bad), limit), enough(&profile(&bad, &good), limit));
        }
    }
}

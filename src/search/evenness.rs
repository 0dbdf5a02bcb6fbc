//! Whether the commits of one side fail equally often. Only then do failure rates separate the
//! sides: a commit with its own failure rate is neither good nor bad.

use statrs::function::beta::{beta_reg, ln_beta};

/// Both parameters of Jeffreys' Beta prior of a rate.
const PRIOR: f64 = 0.5;
/// Number of equal parts into which [`chance_of_rise`] divides the range from 0 to 1.
const PARTS: usize = 200;

/// The natural log of the Bayes factor of one rate per commit against one common rate:
/// ∏ B(fᵢ+½, nᵢ−fᵢ+½)/B(½, ½) against B(∑f+½, ∑(n−f)+½)/B(½, ½), with fᵢ failures in nᵢ runs of the
/// i-th commit.
pub(crate) fn log_odds_of_unevenness(counts: &[(usize, usize)]) -> f64 {
    let marginal = |failed: usize, runs: usize| {
        let (failed, passed) = (failed as f64, (runs - failed) as f64);
        ln_beta(failed + PRIOR, passed + PRIOR) - ln_beta(PRIOR, PRIOR)
    };
    let each: f64 = counts.iter().map(|(failed, runs)| marginal(*failed, *runs)).sum();
    let sum = |of: fn(&(usize, usize)) -> usize| counts.iter().map(of).sum();
    each - marginal(sum(|count| count.0), sum(|count| count.1))
}

/// The probability that the second of two commits fails more often than the first one by at least
/// `rise` (0.2 is 20 points): each rate has a Beta(f + ½, n − f + ½) distribution, with f failures
/// in n runs. Adds up [`PARTS`] of the range of the first rate; each part counts as its middle.
pub(crate) fn chance_of_rise(counts: [(usize, usize); 2], rise: f64) -> f64 {
    let [below_first, below_second] = counts.map(|(failed, runs)| {
        let (failed, passed) = (failed as f64 + PRIOR, (runs - failed) as f64 + PRIOR);
        move |rate: f64| beta_reg(failed, passed, rate.clamp(0.0, 1.0))
    });
    let rate = |part: usize| part as f64 / PARTS as f64;
    let part = |at: usize| {
        let first = below_first(rate(at + 1)) - below_first(rate(at));
        first * (1.0 - below_second(f64::midpoint(rate(at), rate(at + 1)) + rise))
    };
    (0..PARTS).map(part).sum()
}

/// The smallest rise of the failure rate that these counts exclude with this confidence, in steps of
/// one percentage point: 0.2 is 20 points.
pub(crate) fn excluded_rise(counts: [(usize, usize); 2], confidence: f64) -> f64 {
    let mut rises = (1_u32..100).map(|points| f64::from(points) / 100.0);
    rises.find(|rise| chance_of_rise(counts, *rise) < 1.0 - confidence).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_that_flakes_by_itself_is_seen() {
        let even = [(0, 5), (1, 6), (1, 9), (2, 8), (1, 5)];
        assert!(log_odds_of_unevenness(&even) < 0.0, "{}", log_odds_of_unevenness(&even));
        let uneven = [(0, 12), (0, 9), (5, 9), (0, 5)];
        assert!(log_odds_of_unevenness(&uneven) > 3.0, "{}", log_odds_of_unevenness(&uneven));
    }

    #[test]
    fn two_commits_by_hand() {
        // B(1.5, 0.5)/B(0.5, 0.5) = 1/2 each; of both B(1.5, 1.5)/B(0.5, 0.5) = 1/8.
        let odds = log_odds_of_unevenness(&[(1, 1), (0, 1)]);
        assert!((odds - 2.0_f64.ln()).abs() < 1e-12, "{odds}");
    }

    #[test]
    fn few_equal_counts_do_not_exclude_a_rise() {
        let chance = |counts| chance_of_rise(counts, 0.2);
        // Without runs, both rates have an arcsine distribution.
        let none = chance([(0, 0), (0, 0)]);
        assert!((none - 0.338).abs() < 0.01, "{none}");
        assert!(chance([(0, 20), (0, 20)]) < 0.01);
        assert!(chance([(20, 20), (20, 20)]) < 0.01);
        let few = chance([(10, 20), (10, 20)]);
        assert!((0.08..0.12).contains(&few), "{few}");
        assert!(chance([(50, 100), (50, 100)]) < 0.01);
        assert!(chance([(12, 20), (8, 20)]) < few && few < chance([(8, 20), (12, 20)]));
        let all = chance_of_rise([(3, 9), (5, 11)], -1.0);
        assert!((all - 1.0).abs() < 1e-9, "{all}");
    }

    #[test]
    fn more_runs_exclude_a_smaller_rise() {
        let rise = |runs| excluded_rise([(runs / 2, runs), (runs / 2, runs)], 0.99);
        assert!((0.20..0.23).contains(&rise(60)), "{}", rise(60));
        assert!(rise(10) > rise(20) && rise(20) > rise(60), "{} {}", rise(10), rise(20));
        assert!(excluded_rise([(0, 1), (1, 1)], 0.99) > 0.95);
    }

    proptest! {
        #[test]
        fn equal_shares_speak_for_one_rate(runs in 4_usize..30, commits in 2_usize..8) {
            let counts = vec![(runs / 2, runs); commits];
            prop_assert!(log_odds_of_unevenness(&counts) < 0.0);
        }
    }
}

//! Whether the commits of one side fail equally often. Only then do failure rates separate the
//! sides: a commit with its own failure rate is neither good nor bad.

use statrs::function::beta::ln_beta;

/// Both parameters of Jeffreys' Beta prior of a rate.
const PRIOR: f64 = 0.5;

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

    proptest! {
        #[test]
        fn equal_shares_speak_for_one_rate(runs in 4_usize..30, commits in 2_usize..8) {
            let counts = vec![(runs / 2, runs); commits];
            prop_assert!(log_odds_of_unevenness(&counts) < 0.0);
        }
    }
}

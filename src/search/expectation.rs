//! Estimates the runs and builds of a search before it starts.

use super::Levels;

/// The expected runs and builds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Expectation {
    /// Runs in total, including those of the endpoints.
    pub runs: f64,
    /// Builds without those of the endpoints.
    pub builds: f64,
}

/// E\[runs\] ≈ 2 max(4, 34/d²) + 2 max(2, 21/d²) + log₂ N · (0.8 + 8.2/d²) + 19.6/d² + 1 and builds
/// ≈ log₂ N + 4, both from simulation (within 15 %). With pairs, the search takes twice the runs,
/// but endpoints and confirmation do not take more.
pub(crate) fn expected_cost(commits: usize, levels: &Levels, paired: bool) -> Expectation {
    let d = levels.distance();
    let over = |x: f64| x / (d * d);
    let steps = (commits.max(1) as f64).log2();
    let endpoints = 2.0 * over(34.0).max(4.0);
    let search = steps * (0.8 + over(8.2)) + over(19.6) + 1.0;
    let confirmation = 2.0 * over(21.0).max(2.0);
    let both = if paired { 2.0 } else { 1.0 };
    Expectation { runs: endpoints + both * search + confirmation, builds: steps + 4.0 }
}

/// Number of halvings until one of `commits` commits is left: log₂, rounded up.
pub(crate) fn steps_of(commits: usize) -> usize {
    let commits = commits.max(1);
    commits.ilog2() as usize + usize::from(!commits.is_power_of_two())
}

#[cfg(test)]
mod tests;

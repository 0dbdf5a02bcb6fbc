//! Estimates the time left in a hunt from the durations so far.

use std::time::Duration;

/// The measured pace of a hunt. `build` and `runs` are means of measured durations; nothing is
/// guessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Mean duration of a build; `None` before the first build.
    pub build: Option<Duration>,
    /// Mean duration of all runs at one commit; `None` before the first run.
    pub runs: Option<Duration>,
    /// Steps of the search that are left, the current one included.
    pub steps: u32,
    /// Commits that a confirmation measures afresh: the first bad one and its parents.
    pub confirm_commits: u32,
    /// Runs of a confirmation at each commit, as a multiple of a step's runs.
    pub confirm_runs: u32,
    /// Time since the current step began.
    pub elapsed: Duration,
}

impl Estimate {
    /// `steps × (build + runs) + confirmation − elapsed`; `None` before the first run. A step that
    /// takes longer than the mean counts as done, never as negative.
    pub fn left(&self) -> Option<Duration> {
        let runs = self.runs?;
        let build = self.build.unwrap_or_default();
        let step = build + runs;
        let confirmation = (build + runs * self.confirm_runs) * self.confirm_commits;
        let begun = if self.steps == 0 { Duration::ZERO } else { self.elapsed.min(step) };
        Some((step * self.steps + confirmation).saturating_sub(begun))
    }

    /// The mean of durations in seconds; `None` if there are none.
    pub fn mean(seconds: &[f64]) -> Option<Duration> {
        if seconds.is_empty() {
            return None;
        }
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        Duration::try_from_secs_f64(mean).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    fn pace() -> Estimate {
        Estimate {
            build: Some(seconds(10)),
            runs: Some(seconds(5)),
            steps: 3,
            confirm_commits: 2,
            confirm_runs: 3,
            elapsed: Duration::ZERO,
        }
    }

    #[test]
    fn steps_and_confirmation_add_up() {
        assert_eq!(pace().left(), Some(seconds(3 * 15 + 2 * (10 + 15))));
    }

    #[test]
    fn nothing_measured_is_nothing_promised() {
        assert_eq!(Estimate { runs: None, ..pace() }.left(), None);
        assert_eq!(Estimate::mean(&[]), None);
        assert_eq!(Estimate::mean(&[1.0, 2.0]), Some(Duration::from_millis(1500)));
        assert_eq!(Estimate::mean(&[f64::NAN]), None);
    }

    #[test]
    fn a_slow_step_never_makes_the_rest_negative() {
        let slow = Estimate { elapsed: seconds(1000), ..pace() };
        assert_eq!(slow.left(), Some(seconds(2 * 15 + 50)));
        let last = Estimate { steps: 0, confirm_commits: 0, ..slow };
        assert_eq!(last.left(), Some(Duration::ZERO));
    }

    #[test]
    fn a_build_that_was_never_needed_costs_nothing() {
        let prebuilt = Estimate { build: None, confirm_commits: 0, ..pace() };
        assert_eq!(prebuilt.left(), Some(seconds(15)));
    }
}

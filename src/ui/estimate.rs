//! How long a hunt still takes, from how long its parts took so far.

use std::time::Duration;

/// What is known of the pace of a hunt. All durations are means of what was measured; nothing
/// is guessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Mean duration of a build; `None` while none was made.
    pub build: Option<Duration>,
    /// Mean duration of all runs that one commit takes; `None` while none was made.
    pub runs: Option<Duration>,
    /// Steps of the search that are left, the one being taken included.
    pub steps: u32,
    /// How many commits a confirmation measures afresh (the first bad one and its parents).
    pub confirm_commits: u32,
    /// How many times as many runs a confirmation makes at each of them as a step does.
    pub confirm_runs: u32,
    /// How long the step being taken goes on already.
    pub elapsed: Duration,
}

impl Estimate {
    /// `steps × (build + runs) + confirmation − elapsed`, or `None` before anything was
    /// measured. A step that outlasts its mean counts as nearly done, never as negative.
    pub fn left(&self) -> Option<Duration> {
        let runs = self.runs?;
        let build = self.build.unwrap_or_default();
        let step = build + runs;
        let confirmation = (build + runs * self.confirm_runs) * self.confirm_commits;
        let begun = if self.steps == 0 { Duration::ZERO } else { self.elapsed.min(step) };
        Some((step * self.steps + confirmation).saturating_sub(begun))
    }

    /// The mean of some durations in seconds; `None` when there are none.
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

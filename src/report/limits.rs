//! The limits of an unattended hunt, in words.

use std::time::Duration;

use jiff::Timestamp;

use crate::evaluation::Limits;
use crate::store::journal::LimitsInForce;
use crate::ui::{local_time, text};

/// How a point in time is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// In local time, for a terminal.
    Here,
    /// With its time zone, for a page that may be read elsewhere.
    Utc,
}

impl Clock {
    fn show(self, at: Timestamp) -> String {
        match self {
            Self::Here => local_time(&at.to_string()),
            Self::Utc => at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        }
    }
}

/// `until 2026-11-24 08:00, at most 8 h 00 min, at most 50 more runs`; `None` without limits.
pub(crate) fn limits_in_words(limits: &Limits, clock: Clock) -> Option<String> {
    let until = limits.deadline.map(|at| format!("until {}", clock.show(at)));
    let time = limits
        .max_seconds
        .map(|seconds| format!("at most {}", text::duration(Duration::from_secs(seconds))));
    let runs = limits.max_runs.map(|runs| format!("at most {}", counted(runs, "more run")));
    let gpus = limits.max_gpu_seconds.map(|seconds| gpu_hours("at most ", seconds));
    let all: Vec<String> = until.into_iter().chain(time).chain(runs).chain(gpus).collect();
    Some(all.join(", ")).filter(|all| !all.is_empty())
}

/// `until 08:00 (7 h 12 min left), 50 runs (12 made)`; `None` without limits.
pub(crate) fn limits_left(limits: &LimitsInForce, now: Timestamp, clock: Clock) -> Option<String> {
    let until = limits.until.as_ref().map(|(at, _)| {
        let left = at.duration_since(now).as_secs_f64();
        let left = if left > 0.0 { format!("{} left", text::seconds(left)) } else { "over".into() };
        format!("until {} ({left})", clock.show(*at))
    });
    let runs = limits.runs.map(|runs| format!("{} ({} made)", counted(runs, "run"), limits.made));
    let gpus = limits.gpu.map(|(seconds, _)| gpu_hours("", seconds));
    let all: Vec<String> = until.into_iter().chain(runs).chain(gpus).collect();
    Some(all.join(", ")).filter(|all| !all.is_empty())
}

fn gpu_hours(before: &str, seconds: u64) -> String {
    format!("{before}{} GPU-hours", text::typed_hours(seconds))
}

fn counted(runs: u32, noun: &str) -> String {
    text::plural(usize::try_from(runs).unwrap_or(usize::MAX), noun)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::ReachedLimit;

    #[test]
    fn a_page_shows_what_was_asked_and_what_is_left() {
        let deadline: Timestamp = "2026-11-24T07:00:00Z".parse().unwrap();
        let limits = Limits {
            max_runs: Some(50),
            max_seconds: Some(8 * 3600),
            max_gpu_seconds: Some(4 * 3600),
            deadline: Some(deadline),
        };
        assert_eq!(
            limits_in_words(&limits, Clock::Utc).unwrap(),
            "until 2026-11-24 07:00 UTC, at most 8 h 00 min, at most 50 more runs, at most 4 \
             GPU-hours"
        );
        let until = Some((deadline, ReachedLimit::Deadline { at: deadline }));
        let gpu = Some((4 * 3600, deadline));
        let in_force = LimitsInForce { runs: Some(50), until, gpu, made: 12, goes_on_after: None };
        let left = |at: &str| limits_left(&in_force, at.parse().unwrap(), Clock::Utc).unwrap();
        assert_eq!(
            left("2026-11-24T05:30:00Z"),
            "until 2026-11-24 07:00 UTC (1 h 30 min left), 50 runs (12 made), 4 GPU-hours"
        );
        assert!(left("2026-11-24T07:30:00Z").contains("(over)"));
        assert_eq!(limits_in_words(&Limits::default(), Clock::Utc), None);
        assert_eq!(limits_left(&LimitsInForce::default(), deadline, Clock::Utc), None);
    }
}

//! Points in time in local time, and the words that mark a result from the store.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::text;
use crate::evaluation::ReachedLimit;

/// `(stored result of 00:57)`, in local time; with the date if it is not today's. `at`: when it
/// was made (RFC 3339); any other text is shown as it is.
pub(crate) fn stored_result(at: &str) -> String {
    with_now(at, &Zoned::now())
}

/// `00:57`, in local time; with the date if it is not today's. `at`: RFC 3339; any other text is
/// shown as it is.
pub(crate) fn local_time(at: &str) -> String {
    at.parse().map_or_else(|_| text::line(at), |at| clock(at, &Zoned::now()))
}

fn clock(at: Timestamp, now: &Zoned) -> String {
    let at = at.to_zoned(now.time_zone().clone());
    let format = if at.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    at.strftime(format).to_string()
}

fn with_now(at: &str, now: &Zoned) -> String {
    format!("(stored result of {})", when(at, |at| clock(at, now)))
}

/// `(stored result of 2026-11-22 00:57 UTC)`, for pages that are read on other days.
pub(crate) fn stored_result_dated(at: &str) -> String {
    format!("(stored result of {})", dated(at))
}

/// `(build of 2026-11-22 00:57 UTC)`: the same for a build that was kept, which is no result.
pub(crate) fn kept_build_dated(at: &str) -> String {
    format!("(build of {})", dated(at))
}

fn dated(at: &str) -> String {
    when(at, |at| at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string())
}

fn when(at: &str, show: impl Fn(Timestamp) -> String) -> String {
    at.parse().map_or_else(|_| text::line(at), show)
}

/// Which limit of a hunt is reached: `the deadline 2026-11-24 08:00 has passed`, in local time.
pub(crate) fn reached_limit(limit: &ReachedLimit) -> String {
    match limit {
        ReachedLimit::Runs { runs } => format!("the budget of {runs} runs is spent"),
        ReachedLimit::Time { seconds } => {
            format!("the budget of {} is spent", text::duration(Duration::from_secs(*seconds)))
        }
        ReachedLimit::GpuTime { seconds } => {
            format!("the budget of {} GPU-hours is spent", text::typed_hours(*seconds))
        }
        ReachedLimit::Deadline { at } => {
            let at = at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M");
            format!("the deadline {at} has passed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_shown_unless_it_is_today() {
        let now: Zoned = "2026-11-22T09:30:00+02:00[Etc/GMT-2]".parse().unwrap();
        let told = |at| with_now(at, &now);
        assert_eq!(told("2026-11-21T22:57:10Z"), "(stored result of 00:57)");
        assert_eq!(told("2026-11-21T20:57:10Z"), "(stored result of 2026-11-21 22:57)");
        assert!(!told("soon\u{1b}[2J").contains('\u{1b}'));
        let dated = stored_result_dated("2026-11-21T22:57:10.123Z");
        assert_eq!(dated, "(stored result of 2026-11-21 22:57 UTC)");
        let dated = kept_build_dated("2026-11-21T22:57:10.123Z");
        assert_eq!(dated, "(build of 2026-11-21 22:57 UTC)");
    }

    #[test]
    fn a_spent_budget_of_gpu_hours_is_said_as_it_was_typed() {
        let limit = ReachedLimit::GpuTime { seconds: 15 };
        assert_eq!(reached_limit(&limit), "the budget of 0.004 GPU-hours is spent");
    }
}

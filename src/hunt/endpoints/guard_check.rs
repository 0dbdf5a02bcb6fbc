//! The result of checking a guard with the endpoints' runs.

use crate::evaluation::{Direction, Guard, GuardTarget, Value};
use crate::ui::text;

/// The result of checking one guard at the endpoints.
pub(crate) enum GuardCheck {
    Target(Box<GuardTarget>),
    TooNoisy(String),
    NotBroken(String),
    /// More runs are needed.
    More,
}

/// Formats a change: "ppl 6.12 → 6.13 (+0.01, tolerance 0.05)".
pub(crate) fn moved(guard: &Guard, baseline: &Value, level: &Value, limit: f64) -> String {
    match (baseline.number(), level.number()) {
        (Some(good), Some(bad)) if guard.direction() != Direction::Any => {
            let sign = if bad > good { "+" } else { "" };
            let change = format!("{sign}{}", text::difference(bad - good));
            let [good, bad, limit] = [good, bad, limit].map(text::figure);
            format!("{} {good} → {bad} ({change}, tolerance {limit})", guard.metric)
        }
        _ if baseline == level => {
            format!("{} is unchanged ({})", guard.metric, text::value(level))
        }
        _ => format!("{} {}", guard.metric, text::values(baseline, level)),
    }
}

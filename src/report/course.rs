//! Where a hunt is, in a sentence.

use std::time::Duration;

use jiff::Timestamp;

use crate::ui::text;

use super::Pace;

/// `searching, step 3 of about 6, 12 commits left; ran for 3 min 05 s, about 2 min left`. `now`:
/// `None` if no process drives the hunt; `current`: seconds since the current build or run began.
pub(crate) fn course(pace: &Pace, now: Option<Timestamp>, current: f64) -> String {
    let step = pace.step().map_or_else(String::new, |(step, of, commits)| {
        format!(", step {step} of about {of}, {} left", text::plural(commits, "commit"))
    });
    let ran = pace.seconds(now);
    let left = pace.seconds_left(current);
    let left = left.map_or_else(String::new, |left| {
        let left = text::about(Duration::try_from_secs_f64(left).unwrap_or_default());
        format!(", {left}")
    });
    format!("{}{step}; ran for {}{left}", pace.stage(), text::seconds(ran))
}

//! A hunt's plan as text.

use crate::store::journal::Plan;
use crate::ui::text;

/// The shortest search, in seconds, for which [`long_plan`] has advice.
const LONG: f64 = 3600.0;

/// `41 commits, about 6 steps: 8 builds and 8 runs, about 35 s`.
pub(crate) fn plan(plan: &Plan) -> String {
    let builds = match plan.builds {
        0 => String::new(),
        builds => format!("{} and ", text::plural(builds, "build")),
    };
    let about = if plan.stored { "at most about" } else { "about" };
    let less = if plan.stored { " (results in the store take no time)" } else { "" };
    format!(
        "{}, about {}: {builds}{}, {about} {}{less}",
        text::plural(plan.commits, "commit"),
        text::plural(plan.steps, "step"),
        text::plural(plan.runs, "run"),
        text::seconds(plan.seconds)
    )
}

/// For a search of an hour or more: when it would end, in local time, and how to shorten it.
/// `planned_at`: when the plan was made.
pub(crate) fn long_plan(plan: &Plan, planned_at: jiff::Timestamp) -> Option<String> {
    if plan.seconds < LONG {
        return None;
    }
    let time = std::time::Duration::try_from_secs_f64(plan.seconds).ok()?;
    let end = planned_at.checked_add(time).ok()?.to_zoned(jiff::tz::TimeZone::system());
    Some(format!(
        "this search takes about {}, until about {}; shorter: leave commits out ([build] ignore \
         or paths), name a newer --good, follow --first-parent, or build with ccache. Ctrl-C \
         stops it, `bisect-ppl resume` goes on",
        text::seconds(plan.seconds),
        end.strftime("%a %-d %b %H:%M")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan =
        Plan { commits: 41, steps: 6, builds: 8, runs: 8, seconds: 35.0, stored: false };

    #[test]
    fn a_plan_is_one_line() {
        assert_eq!(plan(&PLAN), "41 commits, about 6 steps: 8 builds and 8 runs, about 35 s");
        let prebuilt =
            Plan { commits: 2, steps: 1, builds: 0, runs: 1, seconds: 0.4, stored: false };
        assert_eq!(plan(&prebuilt), "2 commits, about 1 step: 1 run, about 0.4 s");
        assert_eq!(
            plan(&Plan { stored: true, ..prebuilt }),
            "2 commits, about 1 step: 1 run, at most about 0.4 s (results in the store take no time)"
        );
    }

    #[test]
    fn only_a_long_one_says_its_end_and_how_to_cut_it() {
        let said = "2026-11-21T10:00:00Z".parse().unwrap();
        assert_eq!(long_plan(&PLAN, said), None);
        let words = long_plan(&Plan { seconds: 4.5 * 3600.0, ..PLAN }, said).unwrap();
        assert!(words.starts_with("this search takes about 4 h 30 min, until about "), "{words}");
        for cure in ["ignore", "--good", "--first-parent", "ccache", "resume"] {
            assert!(words.contains(cure), "{words}");
        }
        let end = said.checked_add(std::time::Duration::from_mins(270)).unwrap();
        let end = end.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M").to_string();
        assert!(words.contains(&end), "{words}");
    }
}

//! A hunt's plan as text.

use crate::store::journal::{HuntPart, Plan, PlanAhead, PlanPart};
use crate::ui::text;

use super::usage::hours;

/// The shortest search, in seconds, for which [`long_plan`] has advice.
const LONG: f64 = 3600.0;

/// `41 commits, about 6 steps: at least 9 builds and 11 runs, usually up to 32 and 66; about 40 s
/// to 2 min 10 s`.
pub(crate) fn plan(plan: &Plan) -> String {
    let size = format!(
        "{}, about {}",
        text::plural(plan.commits, "commit"),
        text::plural(plan.steps, "step")
    );
    if plan.parts.is_empty() {
        return format!("{size}: {}", plan_of_search(plan));
    }
    let sum = |of: fn(&PlanPart) -> usize| plan.parts.iter().map(of).sum::<usize>();
    let [least, most] = [
        (sum(|part| part.builds[0]), sum(|part| part.runs[0])),
        (sum(|part| part.builds[1]), sum(|part| part.runs[1])),
    ];
    let less = if plan.stored { " (results in the store cost nothing)" } else { "" };
    let counts = match (plan.stored, most.0) {
        (true, 0) => format!("usually up to {}", text::plural(most.1, "run")),
        (true, _) => format!("usually up to {}", builds_and_runs(most)),
        (false, 0) => {
            format!("at least {}, usually up to {}", text::plural(least.1, "run"), most.1)
        }
        (false, _) if least.0 == 0 => {
            let most = builds_and_runs(most);
            format!("at least {}, usually up to {most}", text::plural(least.1, "run"))
        }
        (false, _) => {
            format!("at least {}, usually up to {} and {}", builds_and_runs(least), most.0, most.1)
        }
    };
    format!("{size}: {counts}{less}{}", time(plan))
}

/// What the first column says of [`Plan::ahead`].
const AHEAD: &str = "measured ahead";

/// What each part of the hunt costs, one line each: `search        5-7 builds, 5-14 runs`.
pub(crate) fn plan_parts(plan: &Plan) -> Vec<String> {
    let name = |part: HuntPart| match part {
        HuntPart::Ends => "ends",
        HuntPart::Search => "search",
        HuntPart::Confirmation => "confirmation",
        HuntPart::LaterCommits => "later commits",
        HuntPart::Localization => "cause inside the commit",
        HuntPart::Sweep => "sweep",
    };
    // Two spaces behind the longest name.
    let names = plan.parts.iter().map(|part| name(part.part)).chain(plan.ahead.map(|_| AHEAD));
    let width = names.map(str::len).max().unwrap_or(0).max(12) + 2;
    let line = |part: &PlanPart| {
        let all = cost(part.builds, part.runs);
        let more = match part.part {
            HuntPart::LaterCommits => ", to see whether the step lasts",
            HuntPart::Localization => ", more for a large change (--no-localize leaves this out)",
            _ => "",
        };
        format!("{:<width$}{all}{more}", name(part.part))
    };
    let ahead = |ahead: PlanAhead| {
        let all = cost([0, ahead.builds], [0, ahead.runs]);
        let (places, cure) = if ahead.in_jobs {
            ("jobs", "--slots 1 or max_jobs = 1 leaves")
        } else {
            ("slots", "--slots 1 leaves")
        };
        format!("{AHEAD:<width$}{all} more, in other {places} ({cure} this out)")
    };
    plan.parts.iter().map(line).chain(plan.ahead.map(ahead)).collect()
}

/// `5-7 builds, 5-14 runs`, without what a part does not need.
fn cost(builds: [usize; 2], runs: [usize; 2]) -> String {
    let counts = [(builds, "build"), (runs, "run")].into_iter();
    let is_nothing = builds[1] + runs[1] == 0;
    let counts = counts.filter(|(count, noun)| count[1] > 0 || (is_nothing && *noun == "run"));
    counts.map(|(count, noun)| counted(count, noun)).collect::<Vec<_>>().join(", ")
}

/// The cost of the search and its confirmation, in the words of journals without parts.
fn plan_of_search(plan: &Plan) -> String {
    let builds = match plan.builds {
        0 => String::new(),
        builds => format!("{} and ", text::plural(builds, "build")),
    };
    let about = if plan.stored { "at most about" } else { "about" };
    let less = if plan.stored { " (results in the store take no time)" } else { "" };
    format!(
        "{builds}{}, {about} {}{less}",
        text::plural(plan.runs, "run"),
        text::seconds(plan.seconds)
    )
}

fn builds_and_runs((builds, runs): (usize, usize)) -> String {
    format!("{} and {}", text::plural(builds, "build"), text::plural(runs, "run"))
}

/// `5-7 builds`, or `2 builds` if both bounds are equal.
fn counted([least, most]: [usize; 2], noun: &str) -> String {
    if least == most {
        return text::plural(most, noun);
    }
    format!("{least}-{}", text::plural(most, noun))
}

/// Seconds of all parts: at least, and usually at most.
fn all_seconds(plan: &Plan) -> [f64; 2] {
    [0, 1].map(|at| plan.parts.iter().map(|part| part.seconds[at]).sum())
}

/// `; about 40 s to 2 min 10 s, up to 0.04 GPU-hours`; empty if no duration is known.
fn time(plan: &Plan) -> String {
    let [least, most] = all_seconds(plan);
    if most <= 0.0 {
        return String::new();
    }
    let ahead = plan.ahead.filter(|ahead| ahead.seconds > 0.0);
    let gpus = plan.gpus.map_or_else(String::new, |gpus| {
        let all = most + ahead.map_or(0.0, |ahead| ahead.seconds);
        let with = if ahead.is_some() { " with what is measured ahead" } else { "" };
        format!(", up to {} GPU-hours{with}", hours(all * f64::from(gpus)))
    });
    let time = if plan.stored {
        format!("at most about {}", text::seconds(most))
    } else {
        format!("about {} to {}", text::seconds(least), text::seconds(most))
    };
    format!("; {time}{gpus}")
}

/// For a hunt whose search takes an hour or more: when it would end, in local time, and how to
/// shorten it. `planned_at`: when the plan was made.
pub(crate) fn long_plan(plan: &Plan, planned_at: jiff::Timestamp) -> Option<String> {
    if plan.seconds < LONG {
        return None;
    }
    let after = |seconds: f64| {
        let time = std::time::Duration::try_from_secs_f64(seconds).ok()?;
        let end = planned_at.checked_add(time).ok()?.to_zoned(jiff::tz::TimeZone::system());
        Some(end.strftime("%a %-d %b %H:%M").to_string())
    };
    let [_, most] = all_seconds(plan);
    let later = Some(most).filter(|most| *most > plan.seconds).and_then(after);
    let later = later.map_or_else(String::new, |end| format!(" (the whole hunt: until {end})"));
    Some(format!(
        "the search takes about {}, until about {}{later}; shorter: leave commits out ([build] \
         ignore or paths), name a newer --good, follow --first-parent, or build with ccache. \
         Ctrl-C stops it, `bisect-ppl resume` goes on",
        text::seconds(plan.seconds),
        after(plan.seconds)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan {
        commits: 41,
        steps: 6,
        builds: 8,
        runs: 8,
        seconds: 35.0,
        stored: false,
        parts: Vec::new(),
        gpus: None,
        ahead: None,
    };

    fn part(part: HuntPart, builds: [usize; 2], runs: [usize; 2]) -> PlanPart {
        let seconds = [0, 1].map(|at| 3.0 * builds[at] as f64 + runs[at] as f64);
        PlanPart { part, builds, runs, seconds }
    }

    fn whole() -> Plan {
        let parts = vec![
            part(HuntPart::Ends, [2, 2], [4, 4]),
            part(HuntPart::Search, [5, 8], [5, 16]),
            part(HuntPart::Localization, [1, 14], [1, 28]),
        ];
        Plan { parts, ..PLAN }
    }

    #[test]
    fn a_plan_has_a_lower_and_a_usual_upper_bound() {
        let plan_of = |change: fn(&mut Plan)| {
            let mut changed = whole();
            change(&mut changed);
            plan(&changed)
        };
        assert_eq!(
            plan(&whole()),
            "41 commits, about 6 steps: at least 8 builds and 10 runs, usually up to 24 and 48; \
             about 34 s to 2 min 00 s"
        );
        assert_eq!(
            plan_of(|plan| plan.stored = true),
            "41 commits, about 6 steps: usually up to 24 builds and 48 runs (results in the store \
             cost nothing); at most about 2 min 00 s"
        );
        let with_gpus = plan_of(|plan| plan.gpus = Some(4));
        assert!(with_gpus.ends_with(" to 2 min 00 s, up to 0.13 GPU-hours"), "{with_gpus}");
        let unknown = plan_of(|plan| plan.parts.iter_mut().for_each(|it| it.seconds = [0.0; 2]));
        assert!(unknown.ends_with("usually up to 24 and 48"), "{unknown}");
        let prebuilt = plan_of(|plan| plan.parts.iter_mut().for_each(|it| it.builds = [0; 2]));
        assert!(prebuilt.contains(": at least 10 runs, usually up to 48; "), "{prebuilt}");
        let taken = plan_of(|plan| plan.parts.iter_mut().for_each(|it| it.builds[0] = 0));
        let words = ": at least 10 runs, usually up to 24 builds and 48 runs; ";
        assert!(taken.contains(words), "{taken}");
    }

    #[test]
    fn each_part_is_one_line() {
        assert_eq!(
            plan_parts(&whole()),
            [
                "ends                     2 builds, 4 runs",
                "search                   5-8 builds, 5-16 runs",
                "cause inside the commit  1-14 builds, 1-28 runs, more for a large change \
                 (--no-localize leaves this out)",
            ]
        );
        let lines = |one: PlanPart| plan_parts(&Plan { parts: vec![one], ..PLAN });
        let ends = part(HuntPart::Ends, [2, 2], [4, 4]);
        assert_eq!(lines(ends), ["ends          2 builds, 4 runs"]);
        assert_eq!(
            lines(part(HuntPart::LaterCommits, [0, 4], [0, 8])),
            ["later commits  0-4 builds, 0-8 runs, to see whether the step lasts"]
        );
        let unbuilt = part(HuntPart::Search, [0, 0], [0, 8]);
        assert_eq!(lines(unbuilt), ["search        0-8 runs"]);
        let unrun = part(HuntPart::Search, [3, 5], [0, 0]);
        assert_eq!(lines(unrun), ["search        3-5 builds"]);
        let known = part(HuntPart::Ends, [0, 0], [0, 0]);
        assert_eq!(lines(known), ["ends          0 runs"]);
    }

    #[test]
    fn what_is_measured_ahead_costs_gpu_hours_but_no_time() {
        let ahead = Some(PlanAhead { builds: 8, runs: 16, seconds: 360.0, in_jobs: false });
        let one = Plan { gpus: Some(1), ..whole() };
        let both = Plan { ahead, ..one.clone() };
        assert!(plan(&one).ends_with("; about 34 s to 2 min 00 s, up to 0.033 GPU-hours"));
        let with = "; about 34 s to 2 min 00 s, up to 0.13 GPU-hours with what is measured ahead";
        assert!(plan(&both).ends_with(with), "{}", plan(&both));
        assert_eq!(
            plan_parts(&both).last().unwrap(),
            "measured ahead           0-8 builds, 0-16 runs more, in other slots (--slots 1 leaves \
             this out)"
        );
        let ahead = both.ahead.map(|ahead| PlanAhead { in_jobs: true, ..ahead });
        let in_jobs = plan_parts(&Plan { ahead, ..both });
        let end = " more, in other jobs (--slots 1 or max_jobs = 1 leaves this out)";
        assert!(in_jobs.last().unwrap().ends_with(end), "{in_jobs:?}");
    }

    #[test]
    fn an_old_plan_is_that_of_the_search() {
        assert_eq!(plan(&PLAN), "41 commits, about 6 steps: 8 builds and 8 runs, about 35 s");
    }

    #[test]
    fn only_a_long_one_says_its_end_and_how_to_cut_it() {
        let said = "2026-11-21T10:00:00Z".parse().unwrap();
        assert_eq!(long_plan(&PLAN, said), None);
        let words = long_plan(&Plan { seconds: 4.5 * 3600.0, ..PLAN }, said).unwrap();
        assert!(words.starts_with("the search takes about 4 h 30 min, until about "), "{words}");
        assert!(!words.contains("whole hunt"), "the parts are unknown: {words}");
        for cure in ["ignore", "--good", "--first-parent", "ccache", "resume"] {
            assert!(words.contains(cure), "{words}");
        }
        let end = said.checked_add(std::time::Duration::from_mins(270)).unwrap();
        let end = end.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M").to_string();
        assert!(words.contains(&end), "{words}");
    }
}

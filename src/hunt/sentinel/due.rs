//! When the good endpoint is measured again although nothing looks wrong.
//!
//! If an exact engine begins to give other values, or the machine slows down, a long search ends at
//! a wrong commit. So a run of the good endpoint's kept build is made now and then. It is one run,
//! never a build, and takes at most a twentieth of the time since the last one.

use std::time::Duration;

use jiff::Timestamp;

use crate::evaluation::{CommitId, GuardTarget, Phase, Target};
use crate::hunt::HuntError;
use crate::oracle::{Oracle, measures_of};
use crate::store::HuntDir;
use crate::store::journal::{Entry, Event};

/// Maximum number of times that a hunt begins again because the machine changed. If it changes more
/// often, the hunt does not look for changes any more.
pub(super) const MOST_RESTARTS: usize = 2;

/// The time since the last run of the good endpoint is at least this many times what a run takes.
const TIMES: f64 = 20.0;

/// A point in a hunt at which the good endpoint may be measured again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A search has ended, before its answer is confirmed.
    EndOfSearch,
    /// Git asks about the next commit of a search.
    NextCommit,
}

impl Moment {
    /// Shortest time since the last run of the good endpoint. Shorter hunts measure it again only
    /// if a claim fails.
    fn shortest(self) -> Duration {
        match self {
            Self::EndOfSearch => Duration::from_mins(10),
            Self::NextCommit => Duration::from_hours(1),
        }
    }
}

/// Whether the good endpoint is to be measured again at this moment. The driver and the oracle ask,
/// and get the same answer: the oracle then leaves its commit alone, and the driver measures.
pub(crate) fn is_look_due(
    oracle: &mut Oracle,
    hunt: &HuntDir,
    moment: Moment,
) -> Result<bool, HuntError> {
    let Some(good) = oracle.control.as_ref().map(|control| control.commit.clone()) else {
        return Ok(false);
    };
    let entries = hunt.entries()?;
    let targets = with_level(&entries).into_iter().map(Target::Guard).collect::<Vec<_>>();
    let measures = measures_of(&targets);
    let now = Timestamp::now();
    Ok(restarts(&entries) < MOST_RESTARTS
        && is_due(&entries, (&good, &measures), moment, now)
        && oracle.has_control_build()?)
}

/// How often the hunt began again because the machine changed.
pub(super) fn restarts(entries: &[Entry]) -> usize {
    entries.iter().filter(|one| matches!(one.event, Event::MachineChanged { .. })).count()
}

/// The hunt's targets with a level at the good end. Rates have none.
pub(super) fn with_level(entries: &[Entry]) -> Vec<GuardTarget> {
    let newest = entries.iter().rev().find_map(|entry| match &entry.event {
        Event::Targets { targets, .. } => Some(targets),
        _ => None,
    });
    let guards = newest.into_iter().flatten().filter_map(Target::guard);
    let has_level = |target: &&GuardTarget| {
        target.baseline.number().is_some_and(f64::is_finite) && !target.is_rate()
    };
    guards.filter(has_level).cloned().collect()
}

/// Whether the last runs of these measures at the good end are long ago. False if one of them comes
/// from the store: then the hunt has no build of the good end.
fn is_due(
    entries: &[Entry],
    (good, measures): (&CommitId, &[String]),
    moment: Moment,
    now: Timestamp,
) -> bool {
    let last = |measure: &String| {
        entries.iter().rev().find_map(|entry| match &entry.event {
            Event::Run(run)
                if run.commit == *good
                    && run.phase == Phase::Endpoint
                    && run.measure == *measure
                    && !run.reused =>
            {
                Some((entry.at.parse::<Timestamp>().ok()?, run.wall_s))
            }
            _ => None,
        })
    };
    let Some(last) = measures.iter().map(last).collect::<Option<Vec<_>>>() else { return false };
    let Some(oldest) = last.iter().map(|(at, _)| *at).min() else { return false };
    let since = now.duration_since(oldest).as_secs_f64();
    let takes: f64 = last.iter().map(|(_, wall_s)| wall_s).sum();
    since >= moment.shortest().as_secs_f64().max(TIMES * takes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::journal::RunDone;

    const BEGAN: &str = "2026-11-24T22:00:00Z";

    fn good() -> CommitId {
        "a".repeat(40).parse().unwrap()
    }

    fn run(measure: &str, phase: Phase, wall_s: f64) -> RunDone {
        let text = serde_json::json!({
            "commit": good(), "measure": measure, "attempt": "a", "run_key": "k", "phase": phase,
            "wall_s": wall_s, "log": "l", "values": {}, "failure": null, "reused": false,
            "argv": [],
        });
        serde_json::from_value(text).unwrap()
    }

    /// Whether a look is due so many minutes after these runs.
    fn due(runs: &[RunDone], measures: &[&str], moment: Moment, minutes: i64) -> bool {
        let entry = |run: &RunDone| Entry { at: BEGAN.to_owned(), event: Event::Run(run.clone()) };
        let entries: Vec<Entry> = runs.iter().map(entry).collect();
        let measures: Vec<String> = measures.iter().map(|name| (*name).to_owned()).collect();
        let began: Timestamp = BEGAN.parse().unwrap();
        let now = began + jiff::Span::new().minutes(minutes);
        is_due(&entries, (&good(), &measures), moment, now)
    }

    #[test]
    fn a_look_comes_after_ten_minutes_and_within_a_search_after_an_hour() {
        let runs = [run("ppl", Phase::Endpoint, 2.0)];
        let at = |moment, minutes| due(&runs, &["ppl"], moment, minutes);
        assert!(!at(Moment::EndOfSearch, 9) && at(Moment::EndOfSearch, 11));
        assert!(!at(Moment::NextCommit, 59) && at(Moment::NextCommit, 61));
        assert!(!at(Moment::EndOfSearch, -600), "the clock was set back");
    }

    #[test]
    fn a_long_run_is_made_more_rarely() {
        let runs = [run("ppl", Phase::Endpoint, 120.0), run("speed", Phase::Endpoint, 60.0)];
        assert!(!due(&runs, &["ppl"], Moment::EndOfSearch, 39));
        assert!(due(&runs, &["ppl"], Moment::EndOfSearch, 41));
        assert!(!due(&runs, &["ppl", "speed"], Moment::EndOfSearch, 59));
        assert!(due(&runs, &["ppl", "speed"], Moment::EndOfSearch, 61));
    }

    #[test]
    fn only_own_runs_of_the_endpoint_count() {
        let stored = RunDone { reused: true, ..run("ppl", Phase::Endpoint, 1.0) };
        for runs in [vec![], vec![stored], vec![run("ppl", Phase::Confirm, 1.0)]] {
            assert!(!due(&runs, &["ppl"], Moment::EndOfSearch, 600), "{runs:?}");
        }
        assert!(!due(&[run("ppl", Phase::Endpoint, 1.0)], &["ppl", "b"], Moment::NextCommit, 600));
        assert!(!due(&[], &[], Moment::NextCommit, 600), "no target has a level");
    }
}

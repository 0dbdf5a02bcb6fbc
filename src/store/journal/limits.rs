//! The limits that hold for a hunt, from its journal: `start` or a later `resume` set them.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use crate::evaluation::{Limits, ReachedLimit};

use super::{Entry, Event};

/// The limits of a hunt as a total number of runs and a point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitsInForce {
    /// Maximum number of runs of the whole hunt, if `--max-runs` was given.
    pub runs: Option<u32>,
    /// When the time is over, and which limit that is.
    pub until: Option<(Timestamp, ReachedLimit)>,
    /// The seconds of GPUs that are allowed, and since when they count.
    pub gpu: Option<(u64, Timestamp)>,
    /// Runs made so far.
    pub made: u32,
    /// Runs made when the hunt was last resumed, if `resume` set new limits or a limit other than
    /// that of runs had ended the hunt.
    pub goes_on_after: Option<u32>,
}

impl LimitsInForce {
    /// The limits after these entries. New limits replace all earlier ones. Without new ones, the
    /// earlier limits hold for a resumed hunt unless one of them was reached.
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let mut own = Self::default();
        let mut attempts = BTreeSet::new();
        let mut is_begun = false;
        // How much the GPUs worked is not in the journal, but whether this ended the hunt is.
        let mut is_gpu_spent = false;
        for entry in entries {
            let at = entry.at.parse().unwrap_or_else(|_| Timestamp::now());
            match &entry.event {
                Event::Begun(begun) if !is_begun => {
                    is_begun = true;
                    own.set(&begun.options.limits, at);
                }
                Event::Resumed { limits: Some(limits), .. } => {
                    own.set(limits, at);
                    own.goes_on_after = Some(own.made);
                    is_gpu_spent = false;
                }
                Event::Resumed { limits: None, .. } if is_gpu_spent || own.is_reached(at) => {
                    let was_time = own.until.as_ref().is_some_and(|(end, _)| *end <= at);
                    own.set(&Limits::default(), at);
                    own.goes_on_after = (was_time || is_gpu_spent).then_some(own.made);
                    is_gpu_spent = false;
                }
                Event::Ended { finding, .. } => {
                    is_gpu_spent = matches!(finding.limit, Some(ReachedLimit::GpuTime { .. }));
                }
                Event::Run(run) if !run.reused && attempts.insert(&run.attempt) => own.made += 1,
                _ => {}
            }
        }
        own
    }

    /// The limits if the hunt were resumed now.
    pub(crate) fn if_resumed(mut entries: Vec<Entry>, limits: Option<&Limits>) -> Self {
        let event = Event::Resumed { limits: limits.cloned(), driver_since: None };
        entries.push(Entry { at: Timestamp::now().to_string(), event });
        Self::of(&entries)
    }

    /// How many runs the hunt may make in all. `configured`: `[statistics] max_runs`, which counts
    /// if no option says otherwise. If that number was spent when the hunt was resumed, the hunt
    /// may make as many runs again.
    pub(crate) fn allowed_runs(&self, configured: u32) -> u32 {
        let spent = self.goes_on_after.filter(|made| *made >= configured);
        let allowed = spent.map_or(configured, |made| made.saturating_add(configured));
        self.runs.unwrap_or(allowed)
    }

    /// What is left of the limits, for a hunt that follows from this one. It may use GPUs without a
    /// limit: the jobs in which it runs are those of this hunt.
    pub(crate) fn left(&self) -> Limits {
        Limits {
            max_runs: self.runs.map(|runs| runs.saturating_sub(self.made)),
            max_seconds: None,
            max_gpu_seconds: None,
            deadline: self.until.as_ref().map(|(at, _)| *at),
        }
    }

    fn set(&mut self, limits: &Limits, from: Timestamp) {
        self.runs = limits.max_runs.map(|runs| self.made.saturating_add(runs));
        self.gpu = limits.max_gpu_seconds.map(|seconds| (seconds, from));
        let time = limits.max_seconds.and_then(|seconds| {
            let end = from.checked_add(Duration::from_secs(seconds)).ok()?;
            Some((end, ReachedLimit::Time { seconds }))
        });
        let deadline = limits.deadline.map(|at| (at, ReachedLimit::Deadline { at }));
        self.until = time.into_iter().chain(deadline).min_by_key(|(at, _)| *at);
    }

    fn is_reached(&self, now: Timestamp) -> bool {
        self.runs.is_some_and(|runs| self.made >= runs)
            || self.until.as_ref().is_some_and(|(at, _)| *at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Finding, Outcome};

    fn entry(at: &str, limits: Option<Limits>) -> Entry {
        Entry { at: at.to_owned(), event: Event::Resumed { limits, driver_since: None } }
    }

    fn hours(hours: u64) -> Limits {
        Limits { max_seconds: Some(3600 * hours), ..Limits::default() }
    }

    #[test]
    fn time_counts_from_the_driver_that_got_the_limit() {
        let night = "2026-11-23T22:00:00Z";
        let of = |entries: &[Entry]| LimitsInForce::of(entries).until.map(|(at, _)| at.to_string());
        let given = entry(night, Some(hours(8)));
        assert_eq!(of(std::slice::from_ref(&given)).unwrap(), "2026-11-24T06:00:00Z");
        let early = entry("2026-11-23T23:00:00Z", None);
        assert_eq!(of(&[given.clone(), early]).unwrap(), "2026-11-24T06:00:00Z");
        let late = entry("2026-11-24T09:00:00Z", None);
        assert_eq!(of(&[given.clone(), late]), None);
        let again = entry("2026-11-24T09:00:00Z", Some(hours(1)));
        assert_eq!(of(&[given, again]).unwrap(), "2026-11-24T10:00:00Z");
    }

    #[test]
    fn a_spent_gpu_budget_ends_with_the_hunt_that_it_ended() {
        let night = "2026-11-23T22:00:00Z";
        let budget = Limits { max_gpu_seconds: Some(7200), ..Limits::default() };
        let given = entry(night, Some(budget));
        let in_force = |entries: &[Entry]| LimitsInForce::of(entries).gpu;
        let expected = Some((7200, night.parse().unwrap()));
        let later = || entry("2026-11-24T09:00:00Z", None);
        assert_eq!(in_force(&[given.clone(), later()]), expected, "nothing reached it");
        let ended = |limit: ReachedLimit| {
            let finding = Finding { limit: Some(limit), ..Finding::plain(Outcome::Candidates, "") };
            let event = Event::Ended { finding: Box::new(finding), order: Vec::new() };
            Entry { at: "2026-11-24T05:00:00Z".to_owned(), event }
        };
        let spent = ended(ReachedLimit::GpuTime { seconds: 7200 });
        assert_eq!(in_force(&[given.clone(), spent, later()]), None);
        let other = ended(ReachedLimit::Runs { runs: 5 });
        assert_eq!(in_force(&[given, other, later()]), expected);
    }

    #[test]
    fn the_earlier_of_two_times_counts() {
        let deadline: Timestamp = "2026-11-24T05:00:00Z".parse().unwrap();
        let both = Limits { deadline: Some(deadline), ..hours(8) };
        let (at, limit) =
            LimitsInForce::of(&[entry("2026-11-23T22:00:00Z", Some(both.clone()))]).until.unwrap();
        assert_eq!((at, limit), (deadline, ReachedLimit::Deadline { at: deadline }));
        let (_, limit) =
            LimitsInForce::of(&[entry("2026-11-23T20:00:00Z", Some(both))]).until.unwrap();
        assert_eq!(limit, ReachedLimit::Time { seconds: 8 * 3600 });
    }
}

//! What the workers of a hunt measured ahead, and how much of it the hunt used.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::evaluation::Phase;
use crate::store::journal::{AheadDone, Entry, Event};
use crate::ui::text;

/// Work in the executor's other slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ahead {
    /// Builds that were made ahead.
    pub builds: usize,
    /// Runs that were made ahead.
    pub runs: usize,
    /// Seconds of all workers.
    pub seconds: f64,
    /// The part that verdicts use. `totals` counts only this part.
    pub used: Spent,
    /// The good end in another slot: it tells whether slots give the same values. No verdict uses
    /// it, but the hunt does. Older reports count it in `unused`.
    #[serde(default)]
    pub checked: Spent,
    /// The rest, which nothing uses. It stays in the store.
    pub unused: Spent,
    /// Workers that were stopped because the search can no longer ask about their commit.
    pub cancelled: usize,
    /// The seconds that the used builds and runs took, minus the seconds that the hunt waited for
    /// workers. 0 if the hunt waited longer than that: then no time was saved.
    pub saved_s: f64,
}

/// Builds and runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spent {
    /// Builds.
    pub builds: usize,
    /// Runs.
    pub runs: usize,
    /// Seconds of these builds and runs.
    pub seconds: f64,
}

impl Ahead {
    /// Adds up the work of the workers in a journal; `None` if there were none.
    pub(super) fn of(entries: &[Entry]) -> Option<Self> {
        let mut used = BTreeSet::new();
        for entry in entries {
            match &entry.event {
                Event::Run(run) if !run.reused => drop(used.insert(run.attempt.as_str())),
                Event::Build(build) if !build.reused => drop(used.insert(build.attempt.as_str())),
                _ => {}
            }
        }
        let mut ahead = Self::default();
        let mut waited = 0.0_f64;
        let mut is_any = false;
        // A worker that was started again reports its commit's work again.
        let mut counted = BTreeSet::new();
        for entry in entries {
            let done = match &entry.event {
                Event::Ahead(done) => done,
                Event::TookOver { waited_s, .. } => {
                    waited += waited_s;
                    continue;
                }
                _ => continue,
            };
            is_any = true;
            ahead.seconds += done.seconds;
            ahead.cancelled += usize::from(done.cancelled);
            let builds = done.builds.iter().map(|build| (build, true));
            let runs = done.runs.iter().map(|run| (run, false));
            for ((attempt, seconds), is_build) in builds.chain(runs) {
                if !counted.insert(attempt.as_str()) {
                    continue;
                }
                let part = if used.contains(attempt.as_str()) {
                    &mut ahead.used
                } else if is_slot_check(done) {
                    &mut ahead.checked
                } else {
                    &mut ahead.unused
                };
                part.builds += usize::from(is_build);
                part.runs += usize::from(!is_build);
                part.seconds += seconds;
            }
        }
        let parts = [ahead.used, ahead.checked, ahead.unused];
        ahead.builds = parts.iter().map(|part| part.builds).sum();
        ahead.runs = parts.iter().map(|part| part.runs).sum();
        ahead.saved_s = (ahead.used.seconds - waited).max(0.0);
        is_any.then_some(ahead)
    }

    /// `Measured ahead: 6 builds and 8 runs (12 s); 2 builds and 2 runs of them were not used (4 s).
    /// Saved about 7 s.`, or `all were used.` and `No time was saved.` `None` if the workers built
    /// and ran nothing.
    pub(super) fn in_words(&self) -> Option<String> {
        if self.builds + self.runs == 0 {
            return None;
        }
        let spent = |builds: usize, runs: usize| {
            format!("{} and {}", text::plural(builds, "build"), text::plural(runs, "run"))
        };
        let all = self.used.seconds + self.checked.seconds + self.unused.seconds;
        let saved = if self.saved_s > 0.0 {
            format!("Saved about {}.", text::seconds(self.saved_s))
        } else {
            "No time was saved.".to_owned()
        };
        let used = if self.unused.builds + self.unused.runs == 0 {
            "all were used".to_owned()
        } else {
            let unused = spent(self.unused.builds, self.unused.runs);
            format!("{unused} of them were not used ({})", text::seconds(self.unused.seconds))
        };
        Some(format!(
            "Measured ahead: {} ({}); {used}. {saved}",
            spent(self.builds, self.runs),
            text::seconds(all),
        ))
    }
}

/// Whether a worker ran the good end in another slot, to see whether slots give the same values.
fn is_slot_check(done: &AheadDone) -> bool {
    done.phase == Phase::Control && !done.cancelled && !done.runs.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_saved_time_is_never_negative() {
        let commit = || "1".repeat(40).parse().unwrap();
        let done = AheadDone {
            commit: commit(),
            phase: Phase::Search,
            slot: 2,
            seconds: 9.0,
            builds: vec![("a".to_owned(), 3.0)],
            runs: Vec::new(),
            cancelled: false,
        };
        let waited = Event::TookOver { commit: commit(), phase: Phase::Search, waited_s: 5.0 };
        let entry = |event| Entry { at: String::new(), event };
        let ahead = Ahead::of(&[entry(waited), entry(Event::Ahead(done))]).unwrap();
        assert!(ahead.saved_s.abs() < 1e-9, "{ahead:?}");
        let said = ahead.in_words().unwrap();
        assert!(said.ends_with(" No time was saved."), "{said}");
        let said = Ahead { saved_s: 7.0, ..ahead }.in_words().unwrap();
        assert!(said.contains(" Saved about 7"), "{said}");
        let idle = Ahead { seconds: 9.0, cancelled: 1, ..Ahead::default() };
        assert_eq!(idle.in_words(), None);
    }

    #[test]
    fn the_check_of_another_slot_is_used_and_saves_no_time() {
        let check = AheadDone {
            commit: "1".repeat(40).parse().unwrap(),
            phase: Phase::Control,
            slot: 2,
            seconds: 6.0,
            builds: vec![("a".to_owned(), 3.0)],
            runs: vec![("b".to_owned(), 2.0)],
            cancelled: false,
        };
        let ahead = |done: &AheadDone| {
            let event = Event::Ahead(done.clone());
            Ahead::of(&[Entry { at: String::new(), event }]).unwrap()
        };
        let said = ahead(&check).in_words().unwrap();
        assert!(said.contains("; all were used. No time was saved."), "{said}");
        assert_eq!((ahead(&check).checked.runs, ahead(&check).unused), (1, Spent::default()));
        let cancelled = ahead(&AheadDone { cancelled: true, ..check });
        let said = cancelled.in_words().unwrap();
        assert!(said.contains("; 1 build and 1 run of them were not used (5"), "{said}");
    }
}

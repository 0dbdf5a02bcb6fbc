//! Adds the runs' dates to an answer from stored runs only: the machine may have changed since.

use crate::evaluation::Finding;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::store::journal::{Entry, Event, RunDone};

impl Driver<'_> {
    /// Reports the records that were set aside. If this hunt made no new run, adds a note with the
    /// dates of the stored runs to the finding.
    pub(crate) fn with_age(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        self.oracle.tell_set_aside()?;
        let entries = self.hunt.entries()?;
        let Some(runs) = only_reused(&entries) else { return Ok(finding) };
        let mut days = Vec::new();
        for run in runs {
            let run = self.oracle.store.run(&run.run_key, &run.attempt)?;
            days.extend(run.and_then(|run| day(&run.record.started).map(str::to_owned)));
        }
        days.sort();
        if let (Some(oldest), Some(newest)) = (days.first(), days.last()) {
            let text = words(oldest, newest);
            self.oracle.recorder.event(Event::Note { text: text.clone() })?;
            finding.notes.push(text);
        }
        Ok(finding)
    }
}

/// The hunt's runs if all of them came from the store.
fn only_reused(entries: &[Entry]) -> Option<Vec<&RunDone>> {
    let runs = entries.iter().filter_map(|entry| match &entry.event {
        Event::Run(run) if run.phase.exclusion_reason().is_none() => Some(run),
        _ => None,
    });
    let runs: Vec<&RunDone> = runs.collect();
    runs.iter().all(|run| run.reused).then_some(runs)
}

/// The day of an RFC 3339 date.
fn day(date: &str) -> Option<&str> {
    date.get(..10)
}

fn words(oldest: &str, newest: &str) -> String {
    let when = if oldest == newest { oldest.to_owned() } else { format!("{oldest} to {newest}") };
    format!("this answer comes from stored runs of {when}; nothing was run now")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_day_or_from_the_first_to_the_last() {
        assert_eq!(day("2026-01-02T03:04:05Z"), Some("2026-01-02"));
        assert_eq!(day("soon"), None);
        assert!(words("2026-01-02", "2026-01-02").contains("runs of 2026-01-02; nothing"));
        assert!(words("2026-01-02", "2026-02-03").contains("2026-01-02 to 2026-02-03"));
    }
}

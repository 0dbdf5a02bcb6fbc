//! Adds the runs' dates to an answer from stored runs only: the machine may have changed since.

use crate::evaluation::Finding;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::earlier_runs::days;
use crate::store::journal::{Entry, Event, RunDone};

impl Driver<'_> {
    /// Reports the records that were set aside. If this hunt made no new run, adds a note with the
    /// dates of the stored runs to the finding.
    pub(crate) fn with_age(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        self.oracle.tell_set_aside()?;
        let entries = self.hunt.entries()?;
        let Some(runs) = only_reused(&entries) else { return Ok(finding) };
        let mut dates = Vec::new();
        for run in runs {
            let run = self.oracle.store.run(&run.run_key, &run.attempt)?;
            dates.extend(run.map(|run| run.record.started));
        }
        if let Some(when) = days(dates.iter().map(String::as_str)) {
            let text = words(&when);
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

fn words(when: &str) -> String {
    format!("this answer comes from stored runs of {when}; nothing was run now")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_day_or_from_the_first_to_the_last() {
        let of = |dates: &[&str]| words(&days(dates.iter().copied()).unwrap());
        let [first, second] = ["2026-01-02T03:04:05Z", "2026-02-03T03:04:05Z"];
        assert!(of(&[first, first]).contains("runs of 2026-01-02; nothing"));
        assert!(of(&[second, first]).contains("2026-01-02 to 2026-02-03"));
        assert_eq!(days(["soon"].into_iter()), None);
    }
}

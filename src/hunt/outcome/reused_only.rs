//! Adds the runs' dates to an answer from stored runs only: the machine may have changed since.

use jiff::Timestamp;

use crate::evaluation::Finding;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::earlier_runs::days;
use crate::store::journal::{Entry, Event, RunDone};

impl Driver<'_> {
    /// Reports the records that were set aside. If the answer comes from stored runs only, adds a
    /// note with their dates to the finding. The parts of a found commit may have been run now.
    pub(crate) fn with_age(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        self.oracle.tell_set_aside()?;
        let entries = self.hunt.entries()?;
        let Some(runs) = only_reused(&entries) else { return Ok(finding) };
        let mut dates = Vec::new();
        for run in runs {
            let run = self.oracle.store.run(&run.run_key, &run.attempt)?;
            dates.extend(run.map(|run| run.record.started.clone()));
        }
        let last = dates.iter().filter_map(|date| date.parse::<Timestamp>().ok()).max();
        if let Some(when) = days(dates.iter().map(String::as_str)) {
            let is_part = |entry: &Entry| matches!(&entry.event, Event::Run(run) if !run.reused);
            let is_ahead =
                |entry: &Entry| matches!(&entry.event, Event::Ahead(done) if !done.runs.is_empty());
            let when = last.map_or_else(|| when.clone(), |last| with_time(&when, last));
            let text = words(&when, entries.iter().any(is_part), entries.iter().any(is_ahead));
            self.oracle.recorder.event(Event::Note { text: text.clone() })?;
            finding.notes.push(text);
        }
        Ok(finding)
    }
}

/// The hunt's runs of commits, not of parts of them, if all of these came from the store.
fn only_reused(entries: &[Entry]) -> Option<Vec<&RunDone>> {
    let runs = entries.iter().filter_map(|entry| match &entry.event {
        Event::Run(run) if run.phase.exclusion_reason().is_none() => Some(run),
        _ => None,
    });
    let runs: Vec<&RunDone> = runs.collect();
    runs.iter().all(|run| run.reused).then_some(runs)
}

/// `parts`: whether parts of a commit were run now; `ahead`: whether workers ran something now.
fn words(when: &str, parts: bool, ahead: bool) -> String {
    let now = match (parts, ahead) {
        (true, _) => "only parts of a commit were run now",
        (false, true) => "what was run ahead now did not count",
        (false, false) => "nothing was run now",
    };
    format!(
        "this answer comes from stored runs of {when}; {now}, so the answer and its confidence are \
         those of that time"
    )
}

/// The days of the runs, with the time at which the last one began.
fn with_time(days: &str, last: Timestamp) -> String {
    format!("{days} (the last one began at {} UTC)", last.strftime("%H:%M"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_day_or_from_the_first_to_the_last() {
        let of = |dates: &[&str]| words(&days(dates.iter().copied()).unwrap(), false, false);
        let [first, second] = ["2026-01-02T03:04:05Z", "2026-02-03T03:04:05Z"];
        assert!(of(&[first, first]).contains("runs of 2026-01-02; nothing"));
        assert!(of(&[second, first]).contains("2026-01-02 to 2026-02-03"));
        assert_eq!(days(["soon"].into_iter()), None);
        let at = with_time("2026-01-02", first.parse().unwrap());
        assert_eq!(at, "2026-01-02 (the last one began at 03:04 UTC)");
        let told = |parts, ahead| words("2026-01-02", parts, ahead);
        assert!(told(true, true).contains("only parts of a commit were run now, so the answer"));
        assert!(told(false, true).contains("what was run ahead now did not count, so the answer"));
    }
}

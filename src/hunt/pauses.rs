//! Pauses after a fault of the machine: the hunt goes on by itself when the fault has passed.
//!
//! A driver that tries again takes the same path as `resume`, so it measures nothing twice. The
//! pauses grow. When all are used up, the hunt stops with exit code 5, and nothing is lost.

use std::time::Duration;

use crate::config::Config;
use crate::oracle::Activity;
use crate::process::Stop;
use crate::store::HuntDir;
use crate::store::journal::Event;
use crate::ui::text;

use super::HuntError;

/// Longest pause before the endpoints are measured: whoever started the hunt may be waiting for its
/// first lines.
const LONGEST_AT_FIRST: Duration = Duration::from_secs(30);

/// The pauses of one driver.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    /// Pauses made since the hunt last made progress.
    made: usize,
    /// Number of the journal's entries at the last fault.
    seen: usize,
    /// The pause to make now, and the fault.
    due: Option<(Duration, String)>,
}

impl Pauses {
    /// How many pauses are left.
    pub(crate) fn left(&self, config: &Config) -> usize {
        config.failures.pauses.len().saturating_sub(self.made)
    }

    /// Plans a pause after an error that may pass by itself; returns whether there is one. A run
    /// that worked since the last pause begins the pauses from the first one again.
    pub(crate) fn plan(
        &mut self,
        error: &HuntError,
        hunt: &HuntDir,
        config: &Config,
    ) -> Result<bool, HuntError> {
        // If the fault is a lost GPU, the next try finds another class of machine.
        let is_same_fault = self.made > 0 && matches!(error, HuntError::Environment(_));
        if !error.may_pass() && !is_same_fault {
            return Ok(false);
        }
        let entries = hunt.entries()?;
        let has_worked = entries.iter().skip(self.seen).any(|entry| match &entry.event {
            Event::Run(run) => !run.reused && run.failure.is_none(),
            _ => false,
        });
        self.seen = entries.len();
        if has_worked {
            self.made = 0;
        }
        let is_begun = entries.iter().any(|entry| matches!(entry.event, Event::Targets { .. }));
        let pause = config.failures.pauses.get(self.made);
        let pause = pause.filter(|pause| is_begun || **pause <= LONGEST_AT_FIRST);
        let Some(pause) = pause else { return Ok(false) };
        self.made += 1;
        self.due = Some((*pause, text::line(&error.to_string())));
        Ok(true)
    }

    /// Makes the planned pause, if there is one, and says so in the journal and for displays.
    /// Returns whether there was one. A request to stop ends it early.
    pub(crate) fn make(&mut self, hunt: &HuntDir, stop: &Stop) -> Result<bool, HuntError> {
        let Some((pause, fault)) = self.due.take() else { return Ok(false) };
        let lasts = text::seconds(pause.as_secs_f64());
        let note = format!("{fault}; the hunt tries again after a pause of {lasts}");
        hunt.journal()?.append(Event::Note { text: note })?;
        let why = format!("waiting {lasts} before another try, because {fault}");
        Activity::wait_as_noted(&hunt.now_path(), why);
        stop.within(pause);
        Ok(true)
    }
}

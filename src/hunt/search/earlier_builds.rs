//! Whether builds of earlier hunts misled a search. Something may have changed since they were made
//! that no key contains. Only fresh builds show it.

use crate::evaluation::{Phase, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::machine_change::MachineChange;
use crate::oracle::measures_of;
use crate::store::journal::Event;

impl Driver<'_> {
    /// After a claim that fresh builds contradict: if the hunt took builds of earlier hunts, the
    /// change that may explain it. None of the runs so far counts then.
    pub(super) fn earlier_builds_mislead(
        &self,
        targets: &[Target],
        contradiction: &str,
    ) -> Result<Option<MachineChange>, HuntError> {
        if self.oracle.stored.has_outdated() {
            return Ok(None);
        }
        let entries = self.hunt.entries()?;
        let is_taken = |event: &Event| matches!(event, Event::Build(done) if done.is_taken());
        if !entries.iter().any(|entry| is_taken(&entry.event)) {
            return Ok(None);
        }
        let measures = measures_of(targets);
        let attempts = entries.iter().filter_map(|entry| match &entry.event {
            Event::Run(run) if run.phase != Phase::Confirm && measures.contains(&run.measure) => {
                Some(run.attempt.clone())
            }
            _ => None,
        });
        let text = format!(
            "fresh builds contradict a search that used builds of earlier hunts \
             ({contradiction}): something outside may have changed since those were made. They no \
             longer count, and the hunt begins again with builds of its own"
        );
        Ok(Some(MachineChange { text, attempts: attempts.collect(), measures }))
    }
}

//! Hunts with several slots that use only one of them. If slots give different values, their use
//! ends: an engine whose result depends on its path, or on what runs at the same time, would show a
//! difference between two commits that are the same. A search in noise says that it uses one slot.

use crate::evaluation::Finding;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Observation;
use crate::store::journal::Event;

impl Driver<'_> {
    /// Begins the hunt again with one slot, if the good endpoint repeats bit for bit and another
    /// slot gave it another value; `None` if no value differs.
    pub(crate) fn begin_in_one_slot(
        &mut self,
        good: &Observation,
        measures: &[String],
    ) -> Result<Option<Finding>, HuntError> {
        let is_steady = || measures.iter().all(|measure| good.is_same_each_time(measure));
        if self.slots() < 2 || !is_steady() || self.slots_agree(measures)? != Some(false) {
            return Ok(None);
        }
        let text = format!(
            "{} has other values in another slot than in the first one, or fails there: the \
             engine's result may depend on its path, on a slot's variables or on what runs at the \
             same time, so the hunt begins again with one slot",
            good.commit.short()
        );
        self.oracle.recorder.event(Event::Note { text })?;
        let attempts = self.runs_ahead()?;
        self.oracle.stored.use_one_slot(&attempts);
        self.oracle.recorder.event(Event::OneSlot { attempts })?;
        self.begun.options.slots = Some(1);
        self.oracle.pool.free_all_but(&self.begun.good.commit);
        self.run_anew().map(Some)
    }

    /// Says once that a search in noise leaves the other slots unused: which commit it measures
    /// next, and how often, depends on all runs so far.
    pub(crate) fn tell_one_slot_in_noise(&mut self) -> Result<(), HuntError> {
        if self.slots() < 2 {
            return Ok(());
        }
        let is_cluster = self.oracle.recipes.config.executor.slurm.is_some();
        let (place, others) = if is_cluster { ("job", "jobs") } else { ("slot", "slots") };
        let text = format!(
            "values vary from run to run, so commits are measured one after the other, in one \
             {place}; this search does not use the other {others}"
        );
        Ok(self.oracle.recorder.note_once(text)?)
    }
}

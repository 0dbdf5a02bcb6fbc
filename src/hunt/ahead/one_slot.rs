//! Ends the use of several slots if they give different values. An engine whose result depends on
//! its path would show a difference between two commits that are the same.

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
            "{} has other values in another slot than in the first one: the engine's result may \
             depend on its path or on a slot's variables, so the hunt begins again with one slot",
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
}

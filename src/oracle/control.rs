//! The control run: a run of the good endpoint's kept build, made right after another commit
//! fails in a way that may be the machine's fault.

use crate::config::{Config, Measure};
use crate::evaluation::{CommitId, Phase};
use crate::store::{Control, StoredRun};

use super::OracleError;
use super::built_programs::has_programs;
use super::launch::Launch;
use super::parts::{Oracle, Placed};

impl Oracle {
    /// Runs the control for a failed run, and stores and returns whether it worked. `first`: an
    /// earlier run that failed too, for which the control holds as well. `None` if there is no
    /// control: there is no hunt, the run is the good endpoint's own, or all runs of the good
    /// endpoint failed too.
    pub(super) fn run_control(
        &mut self,
        failed: &StoredRun,
        first: Option<&StoredRun>,
        measure: &Measure,
    ) -> Result<Option<bool>, OracleError> {
        let Some(control) = self.control.clone() else { return Ok(None) };
        let good = control.commit;
        let is_own = failed.record.phase.exclusion_reason().is_none();
        if is_own && good == failed.record.commit {
            return Ok(None);
        }
        let mut recipe = self.recipes.at(&good)?;
        let measure = match recipe.measure(&measure.name) {
            Some(own) => own.clone(),
            // No recipe lists the cells of a sweep.
            None if failed.record.phase == Phase::Inquiry => {
                recipe.measures.push(measure.clone());
                measure.clone()
            }
            None => return Ok(None),
        };
        if self.has_only_failed(&good, &recipe, &measure)? {
            return Ok(None);
        }
        let mut build = match control.build {
            Some(stamp) => self.pool.with_stamp(&stamp)?.map(|slot| (slot, stamp)),
            None => None,
        };
        if let Some((slot, _)) = &build {
            slot.take_turn()?;
        }
        build = build.filter(|(slot, stamp)| has_programs(slot, stamp));
        if let Some((slot, stamp)) = build {
            let stamp = self.take_found(&slot, stamp, &good, Phase::Control)?;
            build = stamp.map(|stamp| (slot, stamp));
        }
        let checkout_spec = self.recipes.checkout_spec(&good, &recipe)?;
        let placed = match (build, checkout_spec) {
            (Some((slot, stamp)), Ok(checkout_spec)) => Placed { slot, stamp, checkout_spec },
            _ => self.place(&good, &recipe, Phase::Control)?,
        };
        placed.slot.fresh(&placed.slot.cache())?;
        let key = self.recipes.run_key_of(&good, &recipe, &measure)?;
        let phase = Phase::Control;
        let launch = Launch {
            commit: &good,
            recipe: &recipe,
            measure: &measure,
            key: &key,
            phase,
            warm_up: false,
            after_failure: false,
        };
        if failed.record.prepare.is_some() {
            // A `[[prepare]]` step failed, so the control must run its steps again.
            placed.slot.clear_all_prepared()?;
        }
        let (ran, derived) = match self.prepare(launch, &placed)? {
            Some(failed) => failed,
            None => self.launch(launch, &placed)?,
        };
        self.recorder.run(&ran, &derived.sample, &good, phase)?;
        let worked = derived.fault.is_none();
        for about in first.into_iter().chain([failed]) {
            let (about, attempt) = (about.record.attempt.clone(), ran.record.attempt.clone());
            self.store.put_control(&Control { about, attempt, worked })?;
        }
        Ok(Some(worked))
    }

    /// Whether a slot still has the good endpoint's build, so that a run of it needs no build.
    pub(crate) fn has_control_build(&mut self) -> Result<bool, OracleError> {
        let stamp = self.control.as_ref().and_then(|control| control.build.clone());
        let Some(stamp) = stamp else { return Ok(false) };
        let slot = self.pool.with_stamp(&stamp)?;
        Ok(slot.is_some_and(|slot| has_programs(&slot, &stamp)))
    }

    /// Whether the good endpoint was measured in this hunt, and every run failed. Then the command
    /// fails at both ends, and its failure says nothing about the machine.
    fn has_only_failed(
        &self,
        good: &CommitId,
        recipe: &Config,
        measure: &Measure,
    ) -> Result<bool, OracleError> {
        let key = self.recipes.run_key_of(good, recipe, measure)?;
        let hunt = self.recorder.hunt();
        self.stored.have_all_failed(recipe, measure, &key, &self.store, hunt)
    }
}

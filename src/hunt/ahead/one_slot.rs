//! Hunts with several slots that go on with one of them. If slots give different values, the hunt
//! begins again with one slot: an engine whose result depends on its path, or on what runs at the
//! same time, would show a difference between two commits that are the same, or hide a real one. A
//! search in noise that leaves the other slots unused says so.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{Finding, Guard, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, OracleError, RunPlace, Sample};
use crate::stats;
use crate::store::journal::Event;

use super::slot_levels::{SlotLevels, compare_levels};

impl Driver<'_> {
    /// Begins the hunt again with one slot, if another slot gave the good endpoint other values
    /// than the first one: if it repeats bit for bit, any other value; in noise, another level.
    /// `None` if no slot is known to differ.
    pub(crate) fn begin_in_one_slot(
        &mut self,
        good: &Observation,
        bad: &Observation,
        measures: &[String],
    ) -> Result<Option<Finding>, HuntError> {
        if self.slots() < 2 {
            return Ok(None);
        }
        let is_steady = measures.iter().all(|measure| good.is_same_each_time(measure));
        let (differ, what) = if is_steady {
            (self.slots_agree(measures)? == Some(false), "other values")
        } else {
            (self.slot_levels(good, bad)? == SlotLevels::Unlike, "another level, beyond the noise,")
        };
        if !differ {
            return Ok(None);
        }
        let text = format!(
            "{} has {what} in another slot than in the first one, or fails there: the \
             engine's result may depend on its path, on a slot's variables or on what runs at the \
             same time, so the hunt begins again with one slot",
            good.commit.short()
        );
        self.use_one_slot(good, bad, text).map(Some)
    }

    /// Begins the hunt again with one slot before the finding `no-regression`, if the bad endpoint
    /// ran in another slot than the good one, and the check does not show that both slots give the
    /// same level: a difference between the slots may hide the step. In noise, the check does not
    /// show this if the levels of the two slots differ by more than a guard allows.
    pub(crate) fn deny_in_one_slot(
        &mut self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<Finding>, HuntError> {
        if self.slots() < 2 || !self.is_any_slot_unchecked(good, bad)? {
            return Ok(None);
        }
        let text = "the ends show no regression, but they ran in different slots, and it is not \
                    clear that both show the same level, so the hunt begins again with one slot";
        self.use_one_slot(good, bad, text.to_owned()).map(Some)
    }

    /// Begins the hunt again with one slot, and notes `text` as the reason. Runs of the ends in
    /// another slot do not count any more, nor do those that workers made.
    pub(crate) fn use_one_slot(
        &mut self,
        good: &Observation,
        bad: &Observation,
        text: String,
    ) -> Result<Finding, HuntError> {
        self.oracle.recorder.event(Event::Note { text })?;
        let mut attempts = self.runs_ahead()?;
        // The driver also runs builds of the ends where workers made them.
        let own = self.oracle.pool.reserve().map_err(OracleError::from)?;
        for seen in [good, bad] {
            for measure in seen.samples.keys() {
                let mut places = self.places(seen, measure)?;
                places.retain(|_, place| own.as_os_str() != place.slot.as_str());
                attempts.extend(places.into_keys());
            }
        }
        attempts.sort_unstable();
        attempts.dedup();
        self.oracle.stored.use_one_slot(&attempts);
        self.oracle.recorder.event(Event::OneSlot { attempts })?;
        self.begun.options.slots = Some(1);
        self.oracle.pool.use_own_slot();
        self.oracle.pool.free_all_but(&self.begun.good.commit);
        self.run_anew()
    }

    /// What the check of the slots says about the levels of all guards: the worst of the answers.
    fn slot_levels(&self, good: &Observation, bad: &Observation) -> Result<SlotLevels, HuntError> {
        let mut worst = SlotLevels::Alike;
        for guard in self.guards() {
            worst = worst.max(self.slot_levels_of(&guard, good, bad)?);
        }
        Ok(worst)
    }

    /// Compares the good endpoint's level in the checked slots with its level in the first one.
    /// Runs of the bad endpoint tell more about the noise. The answer is unclear if the levels
    /// differ by more than the guard allows, although the noise may explain it.
    fn slot_levels_of(
        &self,
        guard: &Guard,
        good: &Observation,
        bad: &Observation,
    ) -> Result<SlotLevels, HuntError> {
        let metric = &guard.metric;
        let checks = self.oracle.slot_check_runs(&good.commit, &metric.measure)?;
        let has_failed = checks.iter().any(|(_, sample)| sample.result.is_err());
        let works = good.of(&metric.measure).iter().all(|sample| sample.result.is_ok());
        if has_failed && works {
            return Ok(SlotLevels::Unlike);
        }
        let number = |sample: &Sample| sample.value(metric).and_then(|value| value.number());
        let there: Vec<f64> = checks.iter().filter_map(|(_, sample)| number(sample)).collect();
        let slots: BTreeSet<&String> = checks.iter().map(|(slot, _)| slot).collect();
        let places = self.places(good, &metric.measure)?;
        let is_own = |sample: &&Sample| {
            places.get(&sample.attempt).is_some_and(|place| !slots.contains(&place.slot))
        };
        let own = good.of(&metric.measure).iter().filter(is_own);
        let here: Vec<f64> = own.filter_map(number).collect();
        let places = self.places(bad, &metric.measure)?;
        let mut at_bad: BTreeMap<Option<&RunPlace>, Vec<f64>> = BTreeMap::new();
        for sample in bad.of(&metric.measure) {
            let group = at_bad.entry(places.get(&sample.attempt)).or_default();
            group.extend(number(sample));
        }
        let groups: Vec<Vec<f64>> = at_bad.into_values().collect();
        let levels = compare_levels(&here, &there, &groups);
        if levels == SlotLevels::Alike
            && let (Some(a), Some(b)) = (stats::mean(&here), stats::mean(&there))
        {
            let is_step = |a, b| guard.is_broken(&Value::Number(a), &Value::Number(b));
            if is_step(a, b) || is_step(b, a) {
                return Ok(SlotLevels::Unclear);
            }
        }
        Ok(levels)
    }

    /// Whether the bad endpoint has runs in a slot in which the good one has none, and no check
    /// shows that this slot gives the values, or in noise the level, of the first one.
    fn is_any_slot_unchecked(
        &self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<bool, HuntError> {
        let is_cluster = self.oracle.recipes.config.executor.is_cluster();
        let mut is_mixed = false;
        for measure in bad.samples.keys() {
            let slots = |seen: &Observation| -> Result<BTreeSet<String>, HuntError> {
                let places = self.places(seen, measure)?;
                Ok(places.into_values().map(|place| place.slot).collect())
            };
            let (at_good, mut others) = (slots(good)?, slots(bad)?);
            others.retain(|slot| !at_good.contains(slot));
            if others.is_empty() {
                continue;
            }
            is_mixed = true;
            let checks = self.oracle.slot_check_runs(&good.commit, measure)?;
            let is_checked = |slot: &String| checks.iter().any(|(checked, _)| checked == slot);
            // In a cluster the path of a slot is not its node.
            if !is_cluster && !others.iter().all(is_checked) {
                return Ok(true);
            }
        }
        if !is_mixed {
            return Ok(false);
        }
        let measures: Vec<String> = bad.samples.keys().cloned().collect();
        let same = self.oracle.earlier_slot_check(&good.commit, &measures, &good.attempts())?;
        Ok(same != Some(true) && self.slot_levels(good, bad)? != SlotLevels::Alike)
    }

    /// Where the runs of a measure at an endpoint were made, by attempt.
    fn places(
        &self,
        seen: &Observation,
        measure: &str,
    ) -> Result<BTreeMap<String, RunPlace>, HuntError> {
        let attempts: Vec<String> =
            seen.of(measure).iter().map(|sample| sample.attempt.clone()).collect();
        Ok(self.oracle.places_of_runs(&seen.commit, measure, &attempts)?)
    }

    /// Says once that a search in noise leaves the other slots unused: it measures time or speed,
    /// or each of its runs needs a new build, or the slots are jobs of a cluster.
    pub(crate) fn tell_one_slot_in_noise(&mut self) -> Result<(), HuntError> {
        if self.slots() < 2 {
            return Ok(());
        }
        let is_cluster = self.oracle.recipes.config.executor.is_cluster();
        let (place, others) = if is_cluster { ("job", "jobs") } else { ("slot", "slots") };
        let text = format!(
            "values vary from run to run, so commits are measured one after the other, in one \
             {place}; this search does not use the other {others}"
        );
        Ok(self.oracle.recorder.note_once(text)?)
    }
}

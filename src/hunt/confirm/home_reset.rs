//! If runs of one commit differ with one and the same home folder, other values with an empty one
//! do not show that the home folder matters: the confirmations get an empty home folder again.

use std::collections::BTreeMap;

use crate::config::HomeUse;
use crate::evaluation::{CommitId, GuardTarget, Metric, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::store::journal::{Entry, Event};

impl Driver<'_> {
    /// Uses the home folder as configured again, if the hunt uses the user's because of other
    /// values, and runs of one commit differ with one and the same home folder too. Only once: what
    /// shows later that the home folder matters is no single value.
    pub(crate) fn check_home_again(&mut self, targets: &[Target]) -> Result<(), HuntError> {
        let is_shared = self.oracle.recipes.config.home == HomeUse::Shared;
        let is_forced = uses_user_home(&self.hunt.entries()?);
        if !is_shared || !is_forced || !self.differ_with_one_home(targets)? {
            return Ok(());
        }
        let text = "runs of one commit differ with one and the same home folder, so other values \
                    with an empty one do not show that files there matter: the confirmation gets \
                    an empty home folder again";
        self.oracle.recorder.event(Event::Note { text: text.to_owned() })?;
        self.oracle.recorder.event(Event::HomeChecked)?;
        self.oracle.recipes.config.home = HomeUse::Checked;
        // The build key does not tell builds with the user's home folder from those with an empty
        // one.
        self.oracle.pool.free_all_but(&self.begun.good.commit);
        Ok(())
    }

    /// Whether other values with an empty home folder are known to show nothing.
    pub(super) fn values_vary_with_one_home(&self) -> Result<bool, HuntError> {
        let entries = self.hunt.entries()?;
        Ok(entries.iter().any(|entry| matches!(entry.event, Event::HomeChecked)))
    }

    /// Whether two runs of one commit with the same home folder differ in a target by more than the
    /// tolerance.
    fn differ_with_one_home(&self, targets: &[Target]) -> Result<bool, HuntError> {
        let guards: Vec<&GuardTarget> = targets.iter().filter_map(Target::guard).collect();
        let mut first: BTreeMap<(CommitId, Metric, bool), Value> = BTreeMap::new();
        for entry in &self.hunt.entries_in_force()? {
            let Event::Run(run) = &entry.event else { continue };
            let counts = run.phase.exclusion_reason().is_none() && run.apart.is_none();
            if !counts || run.failure.is_some() {
                continue;
            }
            let stored = self.oracle.store.run(&run.run_key, &run.attempt)?;
            let Some(stored) = stored else { continue };
            for target in &guards {
                let metric = &target.guard.metric;
                let Some(value) = run.values.get(metric) else { continue };
                let key = (run.commit.clone(), metric.clone(), stored.record.empty_home);
                let known = first.entry(key).or_insert_with(|| value.clone());
                if is_other_value(target, known, value) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Whether the hunt uses the user's home folder since a check showed other values or failures with
/// an empty one, and the check was not taken back before.
fn uses_user_home(entries: &[Entry]) -> bool {
    let mut is_forced = false;
    for entry in entries {
        match entry.event {
            Event::Home { empty } => is_forced = !empty,
            Event::HomeChecked => return false,
            _ => {}
        }
    }
    is_forced
}

/// Whether two values differ by more than the guard's tolerance, in either direction.
fn is_other_value(target: &GuardTarget, one: &Value, other: &Value) -> bool {
    match (one.number(), other.number()) {
        (Some(a), Some(b)) if a.is_finite() && b.is_finite() => {
            target.guard.worsening(a, b).abs() > target.limit.abs()
        }
        _ => one != other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::target;

    fn entries(events: impl IntoIterator<Item = Event>) -> Vec<Entry> {
        events.into_iter().map(|event| Entry { at: String::new(), event }).collect()
    }

    #[test]
    fn the_check_is_taken_back_once() {
        let [user, empty] = [false, true].map(|empty| Event::Home { empty });
        assert!(!uses_user_home(&entries([])));
        assert!(uses_user_home(&entries([user.clone()])));
        assert!(!uses_user_home(&entries([user.clone(), empty])));
        assert!(!uses_user_home(&entries([user.clone(), Event::HomeChecked])));
        assert!(!uses_user_home(&entries([user.clone(), Event::HomeChecked, user])));
    }

    #[test]
    fn values_differ_beyond_the_tolerance_in_either_direction() {
        let target = target(GuardForm::MaxIncrease(0.1), 7.0, 7.3);
        let differ = |a: f64, b: f64| is_other_value(&target, &Value::Number(a), &Value::Number(b));
        assert!(differ(7.0, 7.3) && differ(7.3, 7.0));
        assert!(!differ(7.0, 7.05) && !differ(7.3, 7.3));
    }
}

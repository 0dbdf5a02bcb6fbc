//! Whether the machine changed since the endpoints were measured: another program took a share of
//! it, heat slowed it down, or a library gives other values now. Then runs from before and after
//! the change must not be compared, and the hunt begins again.
//!
//! A confirmation compares fresh runs, so no commit is named because the machine changed. But the
//! search would end at a wrong commit, and levels of different times would give a wrong account. So
//! the good endpoint, whose build is kept, is measured again: after each search whose metric
//! depends on the machine's speed, after a claim that does not hold, and now and then in long hunts
//! (`due`).

pub(crate) mod due;
mod node;

use std::collections::BTreeSet;

use crate::evaluation::{Finding, GuardTarget, MachineStates, Phase, Target};
use crate::oracle::{Observation, Request, measures_of};
use crate::stats::median;
use crate::store::journal::{Event, RunDone};
use crate::ui::text;

use super::HuntError;
use super::driver::Driver;
use super::machine_change::MachineChange;
use super::range::SearchRange;
use super::searched::Searched;
use super::strategy::SearchStrategy;
use due::{MOST_RESTARTS, Moment, is_look_due, restarts, with_level};

/// Number of runs of the good endpoint that must all have left its level.
const LOOKS: usize = 3;
/// A run has left the level beyond this many standard deviations of the runs.
const DEVIATIONS: f64 = 3.0;
/// A run has left the level only beyond this share of the tolerance. A smaller move cannot change a
/// verdict if the step from good to bad is at least as large as the tolerance.
const SHARE_OF_TOLERANCE: f64 = 0.5;

impl Driver<'_> {
    /// The result of a search in noise; or the change of the machine if the good endpoint left its
    /// level meanwhile. It is measured again if the metric depends on the machine's speed, or if
    /// its last run is long ago.
    pub(super) fn with_machine(
        &mut self,
        search_range: &SearchRange,
        searched: Searched,
    ) -> Result<Searched, HuntError> {
        let strategy = SearchStrategy::of(&search_range.targets, self.begun.options.search);
        let begins_again = matches!(
            searched,
            Searched::BuildsDisagree(_)
                | Searched::DirectModeMatters(_)
                | Searched::HomeMatters(_)
                | Searched::ChecksVary(_)
                | Searched::MachineChanged(_)
        );
        let Some(target) = strategy.noisy().filter(|_| !begins_again) else { return Ok(searched) };
        let change = if target.may_drift() {
            unless_limited(self.machine_change())?
        } else {
            self.look_after_search()?
        };
        Ok(change.map_or(searched, Searched::MachineChanged))
    }

    /// Whether the good endpoint is to be measured again before git asks about the next commit.
    pub(crate) fn is_look_due(&mut self) -> Result<bool, HuntError> {
        is_look_due(&mut self.oracle, self.hunt, Moment::NextCommit)
    }

    /// Measures the good endpoint again after a search, if its last run is long ago.
    pub(crate) fn look_after_search(&mut self) -> Result<Option<MachineChange>, HuntError> {
        if !is_look_due(&mut self.oracle, self.hunt, Moment::EndOfSearch)? {
            return Ok(None);
        }
        unless_limited(self.machine_change())
    }

    /// Measures the good endpoint again. `Some` if its level has moved, in every run, by more than
    /// noise and half the tolerance. If the first run shows the old level, there is no second one.
    pub(crate) fn machine_change(&mut self) -> Result<Option<MachineChange>, HuntError> {
        let entries = self.hunt.entries()?;
        let targets = with_level(&entries);
        if targets.is_empty() || restarts(&entries) >= MOST_RESTARTS {
            return Ok(None);
        }
        let measures = measures_of(&targets.iter().cloned().map(Target::Guard).collect::<Vec<_>>());
        let before: BTreeSet<String> =
            self.runs_of(&measures)?.into_iter().map(|run| run.attempt).collect();
        let Some((target, values)) = self.moved_level(&targets, &measures, &before)? else {
            return Ok(None);
        };
        let metric = &target.guard.metric;
        let now = median(&values).map(text::figure).unwrap_or_default();
        let text = format!(
            "the machine changed: {metric} of the good end {} was {}, and is {now} now ({}){}. Runs \
             from before no longer count, and the hunt begins again",
            self.begun.good.commit.short(),
            text::value(&target.baseline),
            text::plural(values.len(), "run"),
            self.meanwhile(&measures)?,
        );
        let attempts = before.into_iter().collect();
        Ok(Some(MachineChange { text, measures, attempts }))
    }

    /// The first target whose level at the good end has moved, and the new runs' values.
    fn moved_level<'t>(
        &mut self,
        targets: &'t [GuardTarget],
        measures: &[String],
        before: &BTreeSet<String>,
    ) -> Result<Option<(&'t GuardTarget, Vec<f64>)>, HuntError> {
        let good = self.begun.good.commit.clone();
        let look = Request::look(&good, measures, Phase::Endpoint);
        let known = self.oracle.evaluate(look)?;
        let known = known.fewest_runs();
        let mut moved: Vec<(&GuardTarget, Vec<f64>)> = Vec::new();
        for run in 1..=LOOKS {
            let seen = self.oracle.evaluate(Request { runs: known + run, keep: true, ..look })?;
            let of = |target| (target, new_values(&seen, target, before));
            moved = targets
                .iter()
                .map(of)
                .filter(|(target, values)| is_moved(target, values))
                .collect();
            if moved.is_empty() {
                return Ok(None);
            }
        }
        Ok(moved.into_iter().next())
    }

    /// The runs of these measures in the journal.
    fn runs_of(&self, measures: &[String]) -> Result<Vec<RunDone>, HuntError> {
        let entries = self.hunt.entries()?;
        let runs = entries.iter().filter_map(|entry| match &entry.event {
            Event::Run(run) if measures.contains(&run.measure) => Some(run.clone()),
            _ => None,
        });
        Ok(runs.collect())
    }

    /// What the machine did between the first and the last run of these measures, in words.
    fn meanwhile(&self, measures: &[String]) -> Result<String, HuntError> {
        let runs = self.runs_of(measures)?;
        let mut states = Vec::new();
        for run in [runs.first(), runs.last()].into_iter().flatten() {
            let stored = self.oracle.store.run(&run.run_key, &run.attempt)?;
            states.extend(stored.and_then(|stored| stored.record.machine.clone()));
        }
        let [first, last] = states.as_slice() else { return Ok(String::new()) };
        let changes = changes(first, last);
        Ok(if changes.is_empty() { String::new() } else { format!("; {}", changes.join(", ")) })
    }

    /// Starts the hunt again. Runs from before the change do not count.
    pub(crate) fn begin_after_change(
        &mut self,
        change: MachineChange,
    ) -> Result<Finding, HuntError> {
        let MachineChange { text, measures, mut attempts } = change;
        // Runs of workers that the hunt has not taken over do not count either.
        attempts.extend(self.runs_ahead()?);
        self.oracle.recorder.event(Event::Note { text })?;
        self.oracle.stored.set_outdated(&measures, &attempts);
        self.oracle.recorder.event(Event::MachineChanged { measures, attempts })?;
        self.oracle.pool.free_all_but(&self.begun.good.commit);
        self.run_anew()
    }
}

/// No change if a limit ends the hunt: the next run meets the limit too.
fn unless_limited(
    change: Result<Option<MachineChange>, HuntError>,
) -> Result<Option<MachineChange>, HuntError> {
    match change {
        Err(HuntError::Limit(_)) => Ok(None),
        change => change,
    }
}

/// The values of the runs that are not in `before`.
fn new_values(seen: &Observation, target: &GuardTarget, before: &BTreeSet<String>) -> Vec<f64> {
    let metric = &target.guard.metric;
    let runs = seen.of(&metric.measure).iter().filter(|run| !before.contains(&run.attempt));
    runs.filter_map(|run| run.value(metric)?.number()).collect()
}

/// Whether all values have left the level of the good end.
fn is_moved(target: &GuardTarget, values: &[f64]) -> bool {
    let level = target.baseline.number();
    let has_left = |value: &f64| level.is_some_and(|level| has_left(target, level, *value));
    !values.is_empty() && values.iter().all(has_left)
}

/// Whether a value is farther from the level than noise and a share of the tolerance explain.
fn has_left(target: &GuardTarget, level: f64, value: f64) -> bool {
    let scale = target.orientation();
    let distance = (scale.oriented(value) - scale.oriented(level)).abs();
    let noise = target.noise.map_or(0.0, |noise| DEVIATIONS * noise.sd);
    distance > noise.max(SHARE_OF_TOLERANCE * target.oriented_limit().abs())
}

/// What differs between the machine's states around two runs, in words.
fn changes(first: &MachineStates, last: &MachineStates) -> Vec<String> {
    let shown = |what: &str, unit: &str, [from, to]: [Option<f64>; 2]| {
        let (from, to) = (from?, to?);
        let is_same = (from - to).abs() <= 0.1 * from.abs().max(to.abs());
        (!is_same).then(|| format!("{what} {from:.1} then and {to:.1}{unit} now"))
    };
    let mut said: Vec<String> = [
        shown("load", "", [first.before.load, last.before.load]),
        shown("processor clock", " MHz", [first.after.cpu_mhz, last.after.cpu_mhz]),
        shown("hottest sensor", " °C", [first.after.hottest_c, last.after.hottest_c]),
        shown("free memory", " MiB", [first.before.free_mib, last.before.free_mib]),
    ]
    .into_iter()
    .flatten()
    .collect();
    let meanwhile = MachineStates { before: first.after.clone(), after: last.after.clone() };
    if meanwhile.is_throttled_by_heat() {
        said.push("heat throttled the processor meanwhile".to_owned());
    }
    if meanwhile.is_out_of_memory() {
        said.push("the kernel killed a process for lack of memory meanwhile".to_owned());
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, MachineState, Noise, NoiseKind};
    use crate::oracle::fixture::target;

    #[test]
    fn an_exact_level_has_moved_beyond_half_the_tolerance() {
        let target = target(GuardForm::MaxIncrease(0.5), 7.0, 8.0);
        assert!(is_moved(&target, &[7.3]) && is_moved(&target, &[6.7, 7.3, 9.0]));
        assert!(!is_moved(&target, &[7.2]) && !is_moved(&target, &[9.0, 7.0, 9.0]));
        assert!(!is_moved(&target, &[]));
    }

    #[test]
    fn a_level_in_noise_has_moved_beyond_three_deviations_too() {
        let kind = NoiseKind::Plain;
        let noise =
            Noise { kind, good: 7.0, bad: 8.0, sd: 0.2, runs: 4, paired: false, error: 0.0 };
        let target =
            GuardTarget { noise: Some(noise), ..target(GuardForm::MaxIncrease(0.5), 7.0, 8.0) };
        assert!(is_moved(&target, &[7.65]) && !is_moved(&target, &[7.55]));
    }

    #[test]
    fn what_the_machine_did_is_told_only_where_it_differs() {
        let state = |load, throttle_count| MachineState {
            load: Some(load),
            throttle_count: Some(throttle_count),
            free_mib: Some(4096.0),
            ..MachineState::default()
        };
        let around = |state: MachineState| MachineStates { before: state.clone(), after: state };
        let said = |then, now| changes(&around(then), &around(now));
        assert_eq!(said(state(0.5, 7), state(0.5, 7)), [""; 0]);
        assert_eq!(
            said(state(0.5, 7), state(6.0, 9)),
            ["load 0.5 then and 6.0 now", "heat throttled the processor meanwhile"]
        );
        assert_eq!(said(MachineState::default(), state(1.0, 0)), [""; 0]);
    }
}

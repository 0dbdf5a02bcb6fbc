//! Decides which stored runs count for a request.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Config, HomeUse, Measure, Prepare};
use crate::evaluation::{Ended, FailureKind, Fault, Phase, RunRecord};
use crate::store::{RunKey, Store, StoredRun};

use super::derive::{Derivation, Derivations};
use super::duration::as_duration;
use super::failed_runs::{FailedRuns, must_be_seen_twice};
use super::loaded::Present;
use super::sought_failures::SoughtFailures;
use super::{OracleError, Request, Sample};

/// What this process knows about stored runs.
#[derive(Debug, Default)]
pub(crate) struct StoredRuns {
    /// Whether failures of other hunts do not count, so that they are tried again.
    pub(super) retry_failed: bool,
    /// Attempts of an earlier hunt's confirmation that this hunt reuses.
    pub taken_over: BTreeSet<String>,
    /// Measures whose runs from before a change of the machine do not count.
    outdated_measures: BTreeSet<String>,
    /// The runs of this hunt from before the change.
    outdated_attempts: BTreeSet<String>,
    /// Measures whose first run of each build is a warm-up, although the configuration has none:
    /// the runs of other hunts do not count.
    warmed_up: BTreeSet<String>,
    /// The first runs of the endpoints' builds of these measures.
    cold_runs: BTreeSet<String>,
    /// The runs of this hunt in other slots than the first; `None` if all slots give the same
    /// values.
    other_slots: Option<BTreeSet<String>>,
    /// Runs on nodes of a cluster that are slower or faster than the others.
    other_nodes: BTreeSet<String>,
    /// The nodes of a cluster that this hunt uses. Another hunt's run on another node does not
    /// count if its values depend on the node's speed.
    nodes: BTreeSet<String>,
    /// The failures that the search looks for.
    pub(crate) sought: SoughtFailures,
    /// Current digests of programs and shared objects from outside the slot.
    pub(super) present: Present,
    /// Samples already derived from logs.
    pub(super) derivations: Derivations,
    /// Whether reused results are refuted, by attempt, and how many values were known then.
    pub(super) refuted: RefCell<BTreeMap<String, (usize, bool)>>,
}

/// The stored runs that a request may use.
#[derive(Debug, Default)]
pub(super) struct Usable {
    /// The runs that count, oldest first.
    pub(super) counting: Vec<(StoredRun, Sample)>,
    /// What is known of crashes and time-outs among the runs.
    pub(super) failed: FailedRuns,
}

impl Usable {
    /// Leaves out the first crash or time-out, unless the next run crashed or timed out too. So a
    /// run that once counted still counts when more runs are stored, and the order stays.
    /// `is_sought`: whether a run shows a sought failure, which counts even if the next run works.
    fn of(runs: Vec<(StoredRun, Sample)>, is_sought: impl Fn(&Sample) -> bool) -> Self {
        let mut usable = Self::default();
        for (run, sample) in runs {
            let failure = sample.result.as_ref().err();
            if failure.is_some_and(|failure| usable.failed.is_first(failure)) {
                usable.failed.unconfirmed = Some((run, sample));
                continue;
            }
            if let Some(first) = usable.failed.unconfirmed.take() {
                usable.failed.was_seen = true;
                let counts = match failure {
                    Some(failure) => must_be_seen_twice(failure),
                    None => is_sought(&first.1),
                };
                if counts {
                    usable.counting.push(first);
                }
            }
            usable.counting.push((run, sample));
        }
        usable
    }
}

impl StoredRuns {
    /// `retry_failed`: failures of other hunts do not count, so that they are tried again.
    pub(crate) fn new(retry_failed: bool) -> Self {
        Self { retry_failed, ..Self::default() }
    }

    /// Excludes these runs, and all runs of these measures that other hunts made.
    pub(crate) fn set_outdated(&mut self, measures: &[String], attempts: &[String]) {
        self.outdated_measures.extend(measures.iter().cloned());
        self.outdated_attempts.extend(attempts.iter().cloned());
    }

    /// From now on each build is warmed up before the first run of this measure. Excludes these
    /// runs, which were the first ones, and all runs of the measure that other hunts made.
    pub(crate) fn warm_up(&mut self, measure: &str, cold_runs: &[String]) {
        self.warmed_up.insert(measure.to_owned());
        self.cold_runs.extend(cold_runs.iter().cloned());
    }

    /// Whether each build is warmed up before the first run of this measure, although the
    /// configuration does not ask for it.
    pub(crate) fn is_warmed_up(&self, measure: &str) -> bool {
        self.warmed_up.contains(measure)
    }

    /// Excludes these runs, which were made in other slots than the first, and all runs that
    /// workers of other hunts made ahead.
    pub(crate) fn use_one_slot(&mut self, attempts: &[String]) {
        self.other_slots.get_or_insert_default().extend(attempts.iter().cloned());
    }

    /// The hunt uses this node.
    pub(crate) fn use_node(&mut self, node: &str) {
        self.nodes.insert(node.to_owned());
    }

    /// The hunt does not use this node any more, and these runs on it do not count.
    pub(crate) fn leave_node(&mut self, node: &str, attempts: &[String]) {
        self.nodes.remove(node);
        self.other_nodes.extend(attempts.iter().cloned());
    }

    /// Whether another hunt made this run on a node that this hunt does not use, and the run
    /// depends on the node's speed.
    fn is_of_other_node(&self, run: &RunRecord, recipe: &Config) -> bool {
        let is_here = run.host.as_ref().is_some_and(|host| self.nodes.contains(&host.name));
        recipe.executor.is_cluster() && !is_here && recipe.is_timed(&run.measure)
    }

    /// Whether the machine changed during this hunt.
    pub(crate) fn has_outdated(&self) -> bool {
        !self.outdated_measures.is_empty()
    }

    /// Whether a run is from before the machine changed, the first one of a build that was not
    /// warmed up, or from a slot or node that gives other values.
    pub(super) fn is_outdated(&self, run: &RunRecord, hunt: Option<&str>) -> bool {
        let is_other_hunts = run.hunt.as_deref() != hunt;
        let is_before_change = self.outdated_measures.contains(&run.measure)
            && (is_other_hunts || self.outdated_attempts.contains(&run.attempt));
        let is_cold = self.warmed_up.contains(&run.measure)
            && (is_other_hunts || self.cold_runs.contains(&run.attempt));
        let is_of_other_slot = self.other_slots.as_ref().is_some_and(|attempts| {
            (run.ahead && is_other_hunts) || attempts.contains(&run.attempt)
        });
        is_before_change || is_cold || is_of_other_slot || self.other_nodes.contains(&run.attempt)
    }

    /// Those of a commit's stored runs that count for this request, without the reference run.
    pub(super) fn usable(
        &self,
        request: Request<'_>,
        recipe: &Config,
        measure: &Measure,
        (runs, reference): (Vec<StoredRun>, Option<&StoredRun>),
        store: &Store,
        hunt: Option<&str>,
    ) -> Result<Usable, OracleError> {
        let mut whole = Vec::new();
        let mut failed = Vec::new();
        let how = Derivation::new(measure, recipe, reference, store);
        for run in runs {
            // The reference run equals itself, so it gives no sample.
            if reference.is_some_and(|it| it.record.attempt == run.record.attempt) {
                continue;
            }
            // The hunt uses the user's home folder, so runs with an empty one do not count.
            if run.record.empty_home && recipe.home == HomeUse::Shared {
                continue;
            }
            // A check with an empty home folder takes no run with the user's.
            let is_taken_over = self.taken_over.contains(&run.record.attempt);
            if !run.record.empty_home && !is_taken_over && recipe.home.is_check_in(request.phase) {
                continue;
            }
            // A worker's run of the good endpoint tests the worker's slot and is no sample.
            if run.record.ahead && run.record.phase == Phase::Control {
                continue;
            }
            if self.is_outdated(&run.record, hunt) {
                continue;
            }
            let is_ours = run.record.hunt.as_deref() == hunt;
            // A confirmation is taken over whole, so its runs are of one node.
            let is_elsewhere = !is_ours && self.is_of_other_node(&run.record, recipe);
            let serves = is_taken_over
                || (request.phase.may_reuse(run.record.phase, is_ours) && !is_elsewhere);
            if !serves || (!is_ours && self.is_of_other_libraries(&run, store)?) {
                continue;
            }
            // The stored run timed out under a shorter limit.
            let its = |p: &&Prepare| {
                run.record.prepare.as_ref().is_some_and(|failed| failed.name == p.name)
            };
            let limit = recipe.prepares.iter().find(its).map_or(measure.timeout, |p| p.timeout);
            if run.record.ended == Ended::TimedOut && as_duration(run.record.used.wall_s) < limit {
                continue;
            }
            let derived = self.derivations.of(&run, &how)?;
            if self.retry_failed && !is_ours && derived.sample.result.is_err() {
                continue;
            }
            let controlled = run.control.as_ref().is_some_and(|control| control.worked);
            match (derived.fault, &derived.sample.result) {
                (None, _) => whole.push((run, derived.sample)),
                (Some(Fault::Commit), Err(failure)) if failure.kind != FailureKind::Incomplete => {
                    whole.push((run, derived.sample));
                }
                (Some(Fault::Commit), _) => failed.push((run, derived.sample)),
                (Some(Fault::Unclear), _) if controlled => whole.push((run, derived.sample)),
                (Some(Fault::Resource), _) if controlled => failed.push((run, derived.sample)),
                _ => {}
            }
        }
        let is_sought =
            |sample: &Sample| self.sought.has_failure_of(request, &measure.name, sample);
        let mut usable = Usable::of(whole, is_sought);
        // An incomplete or killed run counts only if the commit has no better run.
        if usable.counting.is_empty() {
            let needs = |sample: &Sample| if sample.starved { 1 } else { 2 };
            if failed.last().is_some_and(|(_, sample)| failed.len() >= needs(sample)) {
                usable.counting.extend(failed.pop());
            }
        }
        Ok(usable)
    }

    /// The crashes and time-outs among the runs of other hunts under this key, by attempt, with what
    /// each said. One that was not seen twice is no sample, but it may be a rare failure of the
    /// commit. Runs that had an empty home folder are left out, and all runs if failures of other
    /// hunts do not count.
    pub(super) fn failures_of_others(
        &self,
        recipe: &Config,
        measure: &Measure,
        key: &RunKey,
        store: &Store,
        hunt: Option<&str>,
    ) -> Result<BTreeMap<String, String>, OracleError> {
        let mut failures = BTreeMap::new();
        if self.retry_failed {
            return Ok(failures);
        }
        let how = Derivation::new(measure, recipe, None, store);
        for run in store.runs(key)? {
            let is_ours = run.record.hunt.as_deref() == hunt;
            let is_elsewhere = self.is_of_other_node(&run.record, recipe);
            if is_ours || is_elsewhere || run.record.empty_home {
                continue;
            }
            if self.is_outdated(&run.record, hunt) || self.is_of_other_libraries(&run, store)? {
                continue;
            }
            let derived = self.derivations.of(&run, &how)?;
            let is_of_commit = matches!(derived.fault, Some(Fault::Commit | Fault::Unclear));
            if let Err(failure) = &derived.sample.result
                && is_of_commit
                && must_be_seen_twice(failure)
                && !derived.sample.starved
            {
                failures.insert(run.record.attempt.clone(), failure.detail.clone());
            }
        }
        Ok(failures)
    }

    /// Whether this hunt ran the measure under this key, and every run failed.
    pub(super) fn have_all_failed(
        &self,
        recipe: &Config,
        measure: &Measure,
        key: &RunKey,
        store: &Store,
        hunt: Option<&str>,
    ) -> Result<bool, OracleError> {
        let mut any = false;
        let how = Derivation::new(measure, recipe, None, store);
        for run in store.runs(key)?.iter().filter(|run| run.record.hunt.as_deref() == hunt) {
            if self.derivations.of(run, &how)?.is_value() {
                return Ok(false);
            }
            any = true;
        }
        Ok(any)
    }

    /// Whether a program or shared object from outside changed since this stored run.
    pub(super) fn is_of_other_libraries(
        &self,
        run: &StoredRun,
        store: &Store,
    ) -> Result<bool, OracleError> {
        let Some(loaded) = &run.record.loaded else { return Ok(false) };
        Ok(self.present.differs(loaded, store)?)
    }
}

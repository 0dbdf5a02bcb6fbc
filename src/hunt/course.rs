//! Drives a hunt from its first measurement to its finding. A resumed hunt takes the same path. The
//! store holds the earlier results, so nothing is measured twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::evaluation::{Finding, Limits, Metric, ReachedLimit};
use crate::git::Repository;
use crate::hunt::begin::open::{begun, open};
use crate::oracle::Oracle;
use crate::process::{Expiry, ProcessError, Stop};
use crate::report::Usage;
use crate::store::HuntDir;
use crate::store::journal::{Entry, Event, LimitsInForce};

use super::HuntError;
use super::ahead::slots;
use super::asker::Asker;
use super::cleanup::clean;
use super::driver::Driver;
use super::environment::check_environment_unchanged;
use super::missing_commits::explained;
use super::pauses::Pauses;
use super::undone_effects::UndoneEffects;

/// Time between two looks at how much GPUs worked.
const GPU_INTERVAL: Duration = Duration::from_secs(2);

/// Drives a hunt to its end. The caller holds the hunt's lock.
///
/// Once the hunt measures, the journal records how it ends, and the hunt's worktrees are removed.
/// `limits`: new ones for a resumed hunt. A hunt that a limit ended goes on if its limits allow it.
pub(crate) fn drive(
    repository: &Repository,
    hunt: &HuntDir,
    program: &Path,
    stop: &Stop,
    limits: Option<&Limits>,
    asker: Asker<'_>,
) -> Result<Finding, HuntError> {
    let mut pauses = Pauses::default();
    let mut limits = limits;
    loop {
        let result = try_once(repository, hunt, program, stop, &mut limits, asker, &mut pauses);
        if !(result.is_err() && pauses.make(hunt, stop)?) {
            return result;
        }
    }
}

/// Drives a hunt until it ends, stops, or waits for a fault of the machine to pass. Takes `limits`
/// once the journal has them: a fault may come before.
fn try_once(
    repository: &Repository,
    hunt: &HuntDir,
    program: &Path,
    stop: &Stop,
    limits: &mut Option<&Limits>,
    asker: Asker<'_>,
    pauses: &mut Pauses,
) -> Result<Finding, HuntError> {
    let entries = hunt.entries()?;
    if let Some(Event::Ended { finding, .. }) = entries.last().map(|entry| &entry.event) {
        let finding = (**finding).clone();
        let (oracle, _) = open(repository, hunt, stop)?;
        if finding.limit.is_none() || !allows_runs(&oracle, entries.to_vec(), *limits) {
            // A driver that was killed after its last entry has not cleaned up.
            clean(repository, hunt, oracle.pool.slots())?;
            return Ok(finding);
        }
    }
    let is_beginning = |entry: &Entry| matches!(entry.event, Event::Begun(_));
    let is_new = entries.iter().all(is_beginning);
    let is_first = !has_worked(&entries);
    let is_resumed = limits.is_some() || !is_first;
    // What a killed driver did last, and since when, is not what this one does.
    std::fs::remove_file(hunt.now_path()).ok();
    repository.repair()?;
    // How many slots the hunt began with, even if it uses one now.
    let started = begun(hunt)?;
    let (oracle, begun) = open(repository, hunt, stop)?;
    if !is_new && let Err(error) = check_environment_unchanged(&oracle) {
        pauses.plan(&error, hunt, &oracle.recipes.config)?;
        return Err(error);
    }
    let pauses_left = pauses.left(&oracle.recipes.config);
    let mut driver = Driver {
        oracle,
        begun,
        hunt,
        program: program.to_owned(),
        stop: stop.clone(),
        asker,
        searches: 0,
        excluded_runs: BTreeSet::new(),
        short: None,
        is_flaky: false,
        has_drifted: false,
        is_clean: false,
        undone: Vec::new(),
        earlier_good: None,
        compared: BTreeSet::new(),
        needed_at_end: BTreeSet::new(),
        own_head_shows: BTreeMap::new(),
        added_targets: Vec::new(),
        limit: None,
        pauses_left,
        unread: Vec::new(),
    };
    if is_resumed {
        driver.oracle.recorder.event(resumed(hunt, limits.take())?)?;
    }
    let in_force = LimitsInForce::of(&hunt.entries()?);
    let statistics = &mut driver.oracle.recipes.config.statistics;
    statistics.max_runs = in_force.allowed_runs(statistics.max_runs);
    let gpu_time = in_force.gpu.map(|(seconds, since)| gpu_limit(hunt, seconds, since, stop));
    let expiry = in_force.until.map(|(at, limit)| stop.expire_at(at, limit));
    let _expiry = expiry.transpose().map_err(ProcessError::Start)?;
    let _gpu_expiry = gpu_time.transpose().map_err(ProcessError::Start)?;
    if is_first {
        driver.note_large_links()?;
        driver.note_tracked_inputs()?;
        driver.note_environment_changes()?;
    }
    let result = driver.ask_build_node().and_then(|()| driver.run_to_end());
    let result = result.map_err(|error| error.unless_signaled(stop));
    let result = result.and_then(|finding| driver.with_age(finding));
    let result = result.map(|finding| driver.no_surer_than_outside(finding));
    let result = result.map(|finding| driver.with_dependency_hunt(finding));
    let result = result.map(|finding| driver.with_limit(finding));
    if let Err(error) = &result
        && pauses.plan(error, hunt, &driver.oracle.recipes.config)?
    {
        return result;
    }
    let number = slots(&started, &driver.oracle.recipes.config);
    let result = result.map_err(|error| error.in_slots(number));
    let last = match &result {
        // The journal has the reason, and the hunt has not stopped.
        Err(HuntError::LeavesNode(_)) => None,
        Err(error) if is_left_alone(error, hunt) => None,
        Ok(finding) => {
            Some(Event::Ended { finding: Box::new(finding.clone()), order: driver.order()? })
        }
        Err(error) => Some(Event::Stopped {
            world: !matches!(error, HuntError::Stopped),
            fault: error.recorded(),
        }),
    };
    if let Some(last) = last {
        driver.oracle.recorder.event(last)?;
    }
    let slots = driver.oracle.pool.slots().clone();
    drop(driver);
    std::fs::remove_file(hunt.now_path()).ok();
    let cleaned = clean(repository, hunt, &slots);
    // Report the hunt's error, not that of the clean-up.
    result.and_then(|finding| cleaned.map(|()| finding))
}

/// That the hunt goes on, with new limits if `resume` got some.
fn resumed(hunt: &HuntDir, limits: Option<&Limits>) -> Result<Event, HuntError> {
    let driver_since = hunt.holder()?.and_then(|holder| holder.since);
    let driver_since = driver_since.map(|since| since.to_string());
    Ok(Event::Resumed { limits: limits.cloned(), driver_since })
}

/// Whether this work of the hunt ended because the hunt's driver is gone. Nobody stopped the hunt
/// then, and the journal must not say so: it ends like that of a driver on this machine that was
/// killed.
pub(super) fn is_left_alone(error: &HuntError, hunt: &HuntDir) -> bool {
    matches!(error, HuntError::Stopped) && matches!(hunt.is_driven(), Ok(false))
}

/// Asks the hunt to stop when its jobs or runs have used this many seconds of GPUs.
fn gpu_limit(
    hunt: &HuntDir,
    seconds: u64,
    since: Timestamp,
    stop: &Stop,
) -> std::io::Result<Expiry> {
    let (hunt, mut last, mut gpus) = (hunt.clone(), None::<Instant>, None);
    let is_reached = move || {
        if last.is_some_and(|last| last.elapsed() < GPU_INTERVAL) {
            return false;
        }
        last = Some(Instant::now());
        // A journal that cannot be read now is read again later.
        let entries = hunt.entries().unwrap_or_default();
        let used = Usage::of(&hunt, &entries, Some(since), &mut gpus).gpu_s;
        used.is_some_and(|used| used >= seconds as f64)
    };
    stop.expire_when(is_reached, ReachedLimit::GpuTime { seconds })
}

/// Whether a driver of the hunt has worked before. Whoever submits the hunt's jobs may write notes
/// before the first job begins, such as the nodes that it avoids.
fn has_worked(entries: &[Entry]) -> bool {
    !entries.iter().all(|entry| matches!(entry.event, Event::Begun(_) | Event::Note { .. }))
}

/// Whether a hunt that is resumed with these limits may make a run.
fn allows_runs(oracle: &Oracle, entries: Vec<Entry>, limits: Option<&Limits>) -> bool {
    let in_force = LimitsInForce::if_resumed(entries, limits);
    in_force.made < in_force.allowed_runs(oracle.recipes.config.statistics.max_runs)
}

impl Driver<'_> {
    /// Runs the hunt. If the nodes before this one were slower, their runs do not count.
    fn run_on_this_node(&mut self) -> Result<Finding, HuntError> {
        match self.node_change()? {
            Some(change) => self.begin_after_change(change),
            None => self.run(),
        }
    }

    /// The finding, or that a commit of the hunt is gone from the repository, if one is.
    fn run_to_end(&mut self) -> Result<Finding, HuntError> {
        let finding = self.run_and_explain();
        finding.map_err(|error| explained(error, self.hunt, &self.oracle, &self.begun))
    }

    /// The finding, with the causes of its commits and what they do inside the engine. If the
    /// change of one of several commits was undone by hand, the hunt goes on with this knowledge.
    fn run_and_explain(&mut self) -> Result<Finding, HuntError> {
        loop {
            let finding = self.run_and_localize()?;
            let finding = self.add_levels(finding)?;
            let finding = self.add_printed(finding)?;
            let finding = self.add_logits(finding)?;
            let finding = self.add_tensors(finding)?;
            let finding = self.sweep_shapes(finding)?;
            let finding = self.localize_others(finding)?;
            let finding = self.unless_all_present(finding)?;
            let mut finding = self.unless_jointly_contradicted(finding)?;
            let later = self.undone_beside(&mut finding);
            let mut later = self.unless_faulty(later)?;
            if let Some(undone) = later.undone {
                self.note_undone(undone)?;
                continue;
            }
            let idle = self.idle_beside_in_noise(&mut finding);
            later.open.extend(self.unless_faulty(idle)?);
            later.open.extend(self.idle_alone(&finding)?);
            let finding = self.unless_open(finding, &later.open)?;
            let finding = self.unless_remnant(finding)?;
            let finding = self.lower_if_untested(finding)?;
            let finding = self.lower_if_fix_is_untold(finding)?;
            let finding = self.lower_if_rest_is_open(finding);
            let finding = self.lower_if_references_matter(finding)?;
            let finding = self.lower_if_copies_ran(finding)?;
            let finding = self.lower_if_git_folder_changed(finding)?;
            let finding = self.lower_if_files_were_put_back(finding)?;
            return self.lower_if_values_follow_names(finding);
        }
    }

    /// The finding, with the cause of its main first bad commit. If the change of that commit was
    /// undone by hand, or if an earlier commit is fixed already, the hunt goes on with this
    /// knowledge.
    fn run_and_localize(&mut self) -> Result<Finding, HuntError> {
        loop {
            let found = match self.run_on_this_node() {
                Err(HuntError::Limit(limit)) => self.best_so_far(limit),
                other => other,
            };
            let found = self.cut_short(found?);
            let finding = self.localize(found)?;
            let finding = self.without_unneeded(finding)?;
            let mut finding = self.without_present_fixes(finding)?;
            let later = self.undone_by_hand(&finding);
            let mut later = self.unless_faulty(later)?;
            if let Some(undone) = later.undone {
                self.note_undone(undone)?;
                continue;
            }
            if later.open.is_empty() {
                let idle = self.idle_own_lines(&mut finding);
                later.open.extend(self.unless_faulty(idle)?);
            }
            let idle = self.idle_in_noise(&mut finding);
            later.open.extend(self.unless_faulty(idle)?);
            let finding = self.unless_contradicted(finding)?;
            let Some(finding) = self.unless_fixed_before(finding)? else { continue };
            return self.unless_open(finding, &later.open);
        }
    }

    /// The result of a test that may change the answer, or nothing after a fault of the machine:
    /// the commit is found, and a fault must not lose the answer now.
    pub(crate) fn unless_faulty<T: Default>(
        &self,
        tested: Result<T, HuntError>,
    ) -> Result<T, HuntError> {
        match tested {
            Err(error) if self.must_end(&error) => Err(error),
            other => Ok(other.unwrap_or_default()),
        }
    }

    /// Notes that effects of a found commit are gone at a later commit.
    fn note_undone(&mut self, undone: UndoneEffects) -> Result<(), HuntError> {
        let names: Vec<String> = undone.metrics.iter().map(Metric::to_string).collect();
        let names = names.join(", ");
        let only = |word: &str| {
            if undone.is_in_part { format!(" {word} {names}") } else { String::new() }
        };
        let (on, of) = (only("on"), only("of"));
        let text = format!(
            "the change of {} has no effect{on} at {} any more, so a later commit causes what the \
             {} end shows{of}; the search goes on",
            undone.found.short(),
            undone.at.short(),
            self.terms().newer(),
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.undone.push(undone);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn notes_before_the_first_driver_are_no_work() {
        let entry = |event| Entry { at: String::new(), event };
        let note = entry(Event::Note { text: "node n2 is avoided".to_owned() });
        assert!(!has_worked(&[]) && !has_worked(std::slice::from_ref(&note)));
        assert!(has_worked(&[note, entry(Event::NoDirectMode)]));
    }

    #[test]
    fn work_that_stops_is_left_alone_only_if_the_driver_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
        let driver = hunt.lock().unwrap();
        assert!(!is_left_alone(&HuntError::Stopped, &hunt));
        drop(driver);
        assert!(is_left_alone(&HuntError::Stopped, &hunt));
        assert!(!is_left_alone(&HuntError::Environment("no disk".to_owned()), &hunt));
    }
}

//! Drives a hunt from its first measurement to its finding. A resumed hunt takes the same path. The
//! store holds the earlier results, so nothing is measured twice.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::config::{BuildMode, HomeUse};
use crate::evaluation::{CommitId, Culprit, Finding, Limits, ReachedLimit, Target};
use crate::git::Repository;
use crate::hunt::begin::open::{begun, open};
use crate::hunt::outcome::account::Ledger;
use crate::hunt::outcome::found_step::{FoundStep, is_beyond_the_end};
use crate::hunt::search::short_text;
use crate::oracle::{Facts, Observation, Oracle};
use crate::process::{ProcessError, Stop};
use crate::store::HuntDir;
use crate::store::journal::{Entry, Event, LimitsInForce};

use super::HuntError;
use super::asker::Asker;
use super::cleanup::clean;
use super::driver::Driver;
use super::missing_commits::explained;
use super::path_filter::PathFilter;
use super::pauses::Pauses;
use super::range::SearchRange;
use super::searched::Searched;
use super::strategy::SearchStrategy;

/// Maximum number of searches in one hunt.
const MOST_SEARCHES: usize = 16;
/// Maximum number of nested merges that are followed to the commit that they bring in.
const MOST_MERGES: usize = 4;

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
        let result = try_once(repository, hunt, program, stop, limits, asker, &mut pauses);
        if !(result.is_err() && pauses.make(hunt, &begun(hunt)?, stop)?) {
            return result;
        }
        // The journal has them already.
        limits = None;
    }
}

/// Drives a hunt until it ends, stops, or waits for a fault of the machine to pass.
fn try_once(
    repository: &Repository,
    hunt: &HuntDir,
    program: &Path,
    stop: &Stop,
    limits: Option<&Limits>,
    asker: Asker<'_>,
    pauses: &mut Pauses,
) -> Result<Finding, HuntError> {
    let entries = hunt.entries()?;
    if let Some(Event::Ended { finding, .. }) = entries.last().map(|entry| &entry.event) {
        let finding = (**finding).clone();
        let (oracle, _) = open(repository, hunt, stop)?;
        if finding.limit.is_none() || !allows_runs(&oracle, entries.clone(), limits) {
            // A driver that was killed after its last entry has not cleaned up.
            clean(repository, hunt, oracle.pool.slots())?;
            return Ok(finding);
        }
    }
    let is_resumed = entries.len() > 1;
    repository.repair()?;
    let (oracle, begun) = open(repository, hunt, stop)?;
    if is_resumed && let Err(error) = check_environment_unchanged(&oracle) {
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
        is_clean: false,
        undone: BTreeMap::new(),
        limit: None,
        pauses_left,
        unread: Vec::new(),
    };
    if is_resumed {
        driver.oracle.recorder.event(Event::Resumed { limits: limits.cloned() })?;
    }
    let in_force = LimitsInForce::of(&hunt.entries()?);
    let statistics = &mut driver.oracle.recipes.config.statistics;
    statistics.max_runs = in_force.allowed_runs(statistics.max_runs);
    let expiry = in_force.until.map(|(at, limit)| stop.expire_at(at, limit));
    let _expiry = expiry.transpose().map_err(ProcessError::Start)?;
    if !is_resumed {
        driver.note_large_links()?;
        driver.note_tracked_inputs()?;
        driver.note_environment_changes()?;
    }
    let result = driver.run_and_localize();
    let result = result.and_then(|finding| driver.add_levels(finding));
    let result = result.and_then(|finding| driver.add_printed(finding));
    let result = result.and_then(|finding| driver.add_logits(finding));
    let result = result.and_then(|finding| driver.add_tensors(finding));
    let result = result.and_then(|finding| driver.sweep_shapes(finding));
    let result = result.and_then(|finding| driver.with_age(finding));
    let result = result.map(|finding| driver.with_limit(finding));
    if let Err(error) = &result
        && pauses.plan(error, hunt, &driver.oracle.recipes.config)?
    {
        return result;
    }
    let last = match &result {
        Ok(finding) => Event::Ended { finding: Box::new(finding.clone()), order: driver.order()? },
        Err(error) => Event::Stopped {
            reason: error.to_string(),
            world: !matches!(error, HuntError::Stopped),
            hint: error.hint(),
            may_pass: error.may_pass(),
        },
    };
    driver.oracle.recorder.event(last)?;
    let slots = driver.oracle.pool.slots().clone();
    drop(driver);
    std::fs::remove_file(hunt.now_path()).ok();
    let cleaned = clean(repository, hunt, &slots);
    // Report the hunt's error, not that of the clean-up.
    result.and_then(|finding| cleaned.map(|()| finding))
}

/// Whether a hunt that is resumed with these limits may make a run.
fn allows_runs(oracle: &Oracle, entries: Vec<Entry>, limits: Option<&Limits>) -> bool {
    let in_force = LimitsInForce::if_resumed(entries, limits);
    in_force.made < in_force.allowed_runs(oracle.recipes.config.statistics.max_runs)
}

/// Whether a target has a finite number at the bad end.
fn has_levels(target: &Target) -> bool {
    matches!(target, Target::Guard(target) if target.bad.number().is_some_and(f64::is_finite))
}

/// What tells two searches apart: their ends and the metrics that they are about.
fn key(search_range: &SearchRange) -> (CommitId, CommitId, Vec<String>) {
    let name = |target: &Target| match target {
        Target::Guard(target) => target.guard.metric.to_string(),
        Target::Failure { measure, .. } => format!("{measure:?} fails"),
    };
    let names = search_range.targets.iter().map(name).collect();
    (search_range.older.clone(), search_range.newer.clone(), names)
}

/// Stops if the machine or its environment changed since the hunt began: runs of different
/// machines, drivers or compilers are never compared.
fn check_environment_unchanged(oracle: &Oracle) -> Result<(), HuntError> {
    let now = Facts::gather(&oracle.recipes.config, &oracle.store, oracle.checkout.as_deref())?;
    if now.machine.class != oracle.recipes.facts.machine.class {
        return Err(HuntError::Environment(format!(
            "the hunt began on another class of machine ({}), this is {}",
            oracle.recipes.facts.machine.cpu, now.machine.cpu
        )));
    }
    if now.machine.cores != oracle.recipes.facts.machine.cores {
        return Err(HuntError::Environment(format!(
            "the hunt began with {0} cores, but this process may use {1}: allow {0} cores again, or \
             begin a new hunt",
            oracle.recipes.facts.machine.cores, now.machine.cores
        )));
    }
    let changes = now.surroundings.changes_since(&oracle.recipes.facts.surroundings);
    if !changes.is_empty() {
        let changes = changes.join("; ");
        return Err(HuntError::Environment(format!(
            "the environment of commands has changed since the hunt began: {changes}. Restore it, \
             or begin a new hunt: results that still hold are taken from the store"
        )));
    }
    if now.environment != oracle.recipes.facts.environment {
        return Err(HuntError::Environment(
            "the output of [environment] probe has changed since the hunt began".to_owned(),
        ));
    }
    Ok(())
}

impl Driver<'_> {
    /// The finding, with the cause of its main first bad commit. If the change of that commit was
    /// undone by hand, the hunt goes on with this knowledge.
    fn run_and_localize(&mut self) -> Result<Finding, HuntError> {
        loop {
            let found = match self.run() {
                Err(HuntError::Limit(limit)) => self.best_so_far(limit),
                other => {
                    other.map_err(|error| explained(error, self.hunt, &self.oracle, &self.begun))
                }
            };
            let found = self.cut_short(found?);
            let finding = self.localize(found)?;
            let undone = match self.undone_by_hand(&finding) {
                Err(error) if self.must_end(&error) => return Err(error),
                // The commit is found: a machine fault must not lose the answer now.
                other => other.unwrap_or_default(),
            };
            let Some((found, at)) = undone else { return self.unless_contradicted(finding) };
            let text = format!(
                "the change of {} has no effect at {} any more, so a later commit causes what the \
                 {} end shows; the search goes on",
                found.short(),
                at.short(),
                self.terms().newer(),
            );
            self.oracle.recorder.event(Event::Note { text })?;
            self.undone.insert(found, at);
        }
    }

    pub(super) fn run(&mut self) -> Result<Finding, HuntError> {
        let endpoints = match self.endpoints()? {
            Ok(endpoints) => endpoints,
            Err(finding) => return Ok(*finding),
        };
        self.unread = self.leave_out_unread()?;
        self.announce(&endpoints.chosen.targets)?;
        let strategy = SearchStrategy::of(&endpoints.chosen.targets, self.begun.options.search);
        self.short = short_text::choose(&endpoints, &strategy, &self.oracle.recipes.config);
        let mut ledger = Ledger::new(&endpoints.chosen.targets, self.terms());
        let whole = self.whole_search_range(endpoints.chosen.targets.clone());
        let mut search_ranges = VecDeque::from([whole.clone()]);
        let mut searched_before = BTreeSet::new();
        let mut looked_at = BTreeSet::new();
        let mut claims = Vec::new();
        let mut beside = endpoints.chosen.beside.clone();
        loop {
            let Some(search_range) = search_ranges.pop_front() else {
                match self.look_whether_all_last(&mut ledger, &whole, &mut looked_at) {
                    Err(HuntError::Limit(limit)) if !ledger.is_empty() => {
                        self.leave_open(&mut ledger, limit);
                        break;
                    }
                    more => search_ranges.extend(more?),
                }
                if self.begun.options.first_only && ledger.has_answer() {
                    break;
                }
                if search_ranges.is_empty() {
                    let unmoved = ledger.range_of_unmoved(&whole);
                    let unmoved = unmoved.filter(|range| !searched_before.contains(&key(range)));
                    let more = match unmoved {
                        None => self.range_of_beside(&mut ledger, &whole, &mut beside)?,
                        more => more,
                    };
                    search_ranges.extend(more);
                }
                if search_ranges.is_empty() {
                    break;
                }
                continue;
            };
            // The same search range may be queued twice.
            if !searched_before.insert(key(&search_range)) {
                continue;
            }
            if self.searches >= MOST_SEARCHES {
                ledger.note(format!(
                    "stopped after {MOST_SEARCHES} searches: part of the change is not explained"
                ));
                break;
            }
            let searched = match super::search::search(self, search_range.clone()) {
                // Confirmed commits stay; only the rest was not searched.
                Err(HuntError::Limit(limit)) if !ledger.is_empty() => {
                    self.leave_open(&mut ledger, limit);
                    break;
                }
                other => other?,
            };
            let searched = match self.unless_begun_again(&search_range, searched)? {
                Ok(searched) => searched,
                Err(finding) => return Ok(finding),
            };
            if let Searched::Culprit(culprit, _) = &searched {
                claims.push((culprit.info.commit.clone(), search_range.clone()));
            }
            let bad = &endpoints.bad;
            match self.go_on(&mut ledger, &search_range, searched, bad, &mut claims) {
                Err(HuntError::Limit(limit)) if !ledger.is_empty() => {
                    self.leave_open(&mut ledger, limit);
                    break;
                }
                more => search_ranges.extend(more?),
            }
            if self.begun.options.first_only && ledger.has_answer() {
                search_ranges.clear();
            }
        }
        self.withdraw_what_is_put_back(&mut ledger, &whole)?;
        if self.is_flaky {
            self.recheck(&mut ledger, &claims)?;
            self.withdraw_unequal_rates(&mut ledger, &claims)?;
        }
        let contributions = if ledger.is_gradual() {
            match self.contributions(&endpoints, ledger.first_metric()) {
                Err(HuntError::Limit(limit)) => {
                    self.leave_open(&mut ledger, limit);
                    Vec::new()
                }
                other => other?,
            }
        } else {
            Vec::new()
        };
        let range = self.whole();
        let history = self.oracle.history.commits(&range)?;
        Ok(ledger.close(contributions, &history, self.begun.options.first_only))
    }

    /// The result of a search; or the hunt's finding, if the result shows that the hunt must begin
    /// again under other conditions.
    fn unless_begun_again(
        &mut self,
        search_range: &SearchRange,
        searched: Searched,
    ) -> Result<Result<Searched, Finding>, HuntError> {
        match self.with_machine(search_range, searched)? {
            Searched::BuildsDisagree(why) if !self.is_clean => self.begin_clean(&why).map(Err),
            Searched::HomeMatters(why) => self.begin_with_empty_home(&why).map(Err),
            Searched::MachineChanged(change) => self.begin_after_change(change).map(Err),
            searched => Ok(Ok(searched)),
        }
    }

    /// The search range between the hunt's own ends.
    fn whole_search_range(&self, targets: Vec<Target>) -> SearchRange {
        let [older, newer] = self.begun.ends().map(CommitId::clone);
        SearchRange {
            older,
            newer,
            terms: self.terms(),
            targets,
            paths: PathFilter {
                asked: self.begun.options.paths.clone(),
                unread: self.unread.clone(),
            },
            aside: Vec::new(),
        }
    }

    /// Notes that a limit ended the hunt. Confirmed commits stay.
    pub(crate) fn leave_open(&mut self, ledger: &mut Ledger, limit: ReachedLimit) {
        ledger.note_limit("part of the change is not explained", &limit);
        self.limit = Some(limit);
    }

    /// Adds the result of a search to the ledger; returns further ranges to search.
    fn go_on(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        searched: Searched,
        bad: &Observation,
        claims: &mut Vec<(CommitId, SearchRange)>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        if let Searched::Untestable(commits) = searched {
            return self.look_behind_span(ledger, search_range, commits);
        }
        let (found, crossing) = match &searched {
            Searched::Culprit(culprit, seen) => (Some((culprit.clone(), seen.clone())), None),
            Searched::Gradual(crossing, _) => (None, Some(crossing.clone())),
            _ => (None, None),
        };
        if matches!(searched, Searched::Unchanged(_)) && search_range.explains_levels() {
            self.doubt_mends_at(ledger, search_range)?;
        }
        let mut next = ledger.enter(search_range, searched, bad);
        if let Some(crossing) = crossing.as_ref().filter(|_| search_range.explains_levels()) {
            next.extend(self.find_dip(search_range, crossing)?);
        }
        let Some((culprit, seen)) = &found else { return Ok(next) };
        if search_range.explains_levels() {
            // Drop the range after the commit: levels measured inside it give better ranges than
            // the end's level alone.
            let after = |one: &SearchRange| one.older == culprit.info.commit;
            next.retain(|one| !after(one) || !one.targets.iter().all(has_levels));
        }
        let moved = search_range.moved_by(culprit);
        let step = FoundStep { search_range: &moved, culprit, seen };
        let looked = self.check_persistence(ledger, &step).and_then(|more| {
            if search_range.explains_levels() && !self.begun.options.first_parent {
                self.follow_into_merges(ledger, search_range, culprit, claims)?;
            }
            Ok(more)
        });
        match looked {
            Err(HuntError::Limit(limit)) => {
                ledger.note_unchecked_last(is_beyond_the_end(&step), &limit);
                self.limit = Some(limit);
            }
            more => next.extend(more?),
        }
        self.settle_account(ledger)?;
        Ok(next)
    }

    /// Replaces a found merge by the commit of its branch that made the change.
    fn follow_into_merges(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        culprit: &Culprit,
        claims: &mut Vec<(CommitId, SearchRange)>,
    ) -> Result<(), HuntError> {
        let (mut search_range, mut merge) = (search_range.clone(), culprit.clone());
        for _ in 0..MOST_MERGES {
            let Some(inner) = self.inside_merge(ledger, &search_range, &merge)? else { break };
            let Searched::Culprit(inside, _) = super::search::search(self, inner.clone())? else {
                break;
            };
            // If the merge's parent already contains the commit, the merge does not bring it in.
            if self.oracle.history.is_ancestor(&inside.info.commit, &merge.parent)? {
                break;
            }
            ledger.brought_by(&merge.info.commit, &inside);
            claims.push((inside.info.commit.clone(), inner.clone()));
            (search_range, merge) = (inner, *inside);
        }
        Ok(())
    }

    /// Starts the hunt again with an empty home folder for every build and run.
    pub(super) fn begin_with_empty_home(&mut self, why: &str) -> Result<Finding, HuntError> {
        let text = format!(
            "with an empty home folder, {why}: something in the home folder leads from one commit \
             to another, so from now on every build and run gets an empty one (`[environment] home`)"
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.oracle.recorder.event(Event::Home { empty: true })?;
        self.oracle.recipes.config.home = HomeUse::Empty;
        self.oracle.pool.free_all();
        self.run()
    }

    /// Starts the hunt again with clean builds only: incremental builds gave other verdicts.
    fn begin_clean(&mut self, why: &str) -> Result<Finding, HuntError> {
        let text = format!(
            "incremental and clean builds give different verdicts ({why}): incremental builds no \
             longer count, and from now on every build is clean"
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.oracle.recipes.config.build.mode = BuildMode::Clean;
        self.is_clean = true;
        self.run()
    }
}

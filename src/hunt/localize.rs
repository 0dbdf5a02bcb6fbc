//! From the first bad commit to its cause: which files and hunks of its change make the step, and
//! whether a revert makes the bad endpoint good.
//!
//! Builds the parent with parts of the change. The hunt's own oracle judges these builds between
//! the levels of parent and commit. `search::isolate` chooses the parts.

mod beside;
mod change;
mod clues;
mod contradiction;
mod lines;
mod logits;
mod revert;
pub(crate) mod step;
mod tensors;
mod trials;
mod undone;

use std::collections::BTreeMap;

use crate::differ::BuiltSources;
use crate::evaluation::{
    Backport, Cause, CauseEnd, CauseSet, Culprit, Effect, FileRole, Finding, Revert, Shows, Target,
    Trial,
};
use crate::git::{History, Range};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::{OTHER_RECIPE, note_limit};
use crate::search::{self, Isolated, IsolationEnd, Parts, Tested};
use crate::store::journal::{Event, OtherGuard};

use change::{Change, Part};
use clues::Clues;

/// Maximum number of sets that each make the step.
const MOST_SETS: usize = 3;

/// Up to this many files are divided into hunks, even if the clues do not separate the files.
const FEW_FILES: usize = 3;

/// A localisation in progress.
struct Localization<'l, 'd> {
    driver: &'l mut Driver<'d>,
    culprit: &'l Culprit,
    change: Change<'l>,
    /// The targets between parent and commit.
    targets: Vec<Target>,
    /// The hunt's own targets.
    whole: Vec<Target>,
    /// The guards that the hunt does not search for.
    others: Vec<OtherGuard>,
    trials: Vec<Trial>,
    /// The indices of the trials by the tree that was built.
    trees: BTreeMap<String, usize>,
    /// What failed trials printed, by their indices.
    said: BTreeMap<usize, Vec<String>>,
    /// The source files of the builds of parent and commit.
    built: BuiltSources,
    /// The trials that the journal has already.
    written: Vec<Trial>,
    is_spent: bool,
}

impl Driver<'_> {
    /// Adds to a finding which parts of its main first bad commit make the step.
    pub(crate) fn localize(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(culprit) = self.main_to_ask(&finding).cloned() else { return Ok(finding) };
        // The commit is found: a machine fault must not lose the answer now.
        let cause = match self.cause(&culprit) {
            Err(error) if self.must_end(&error) => return Err(error),
            Err(fault) => {
                note_limit(&mut finding, &fault);
                unknown(&culprit, fault.to_string())
            }
            Ok(cause) => cause,
        };
        for own in finding.culprits.iter_mut().filter(|own| own.info == culprit.info) {
            for file in &mut own.files {
                file.role = cause.role(&file.path);
            }
        }
        finding.cause = Some(cause);
        Ok(finding)
    }

    /// The finding, or candidates if a test of the endpoints contradicts it.
    pub(crate) fn unless_contradicted(&mut self, finding: Finding) -> Result<Finding, HuntError> {
        let Some(cause) = &finding.cause else { return Ok(finding) };
        let terms = self.terms();
        let (targets, _) = self.sought()?;
        let contradicted = contradiction::found(&finding, cause, &targets, terms);
        if let Some(unexplained) = contradicted {
            let history = self.oracle.history.commits(&self.whole())?;
            return Ok(contradiction::incomplete(finding, unexplained, &history, terms));
        }
        let Some(at) = self.fixed_before(&finding)? else { return Ok(finding) };
        let [bad, _] = self.begun.ends();
        let candidates = self.oracle.history.commits(&Range::between(bad, &at))?;
        Ok(undone::earlier_fix(finding, &at, bad, candidates))
    }

    /// The hunt's targets, and the guards that it does not search for.
    pub(super) fn sought(&self) -> Result<(Vec<Target>, Vec<OtherGuard>), HuntError> {
        let entries = self.hunt.entries()?.into_iter().rev();
        let mut found = entries.filter_map(|entry| match entry.event {
            Event::Targets { targets, others, .. } => Some((targets, others)),
            _ => None,
        });
        Ok(found.next().unwrap_or_default())
    }

    fn cause(&mut self, culprit: &Culprit) -> Result<Cause, HuntError> {
        let none = |why: &str| unknown(culprit, why.to_owned());
        if self.oracle.recipes.engine.within.is_some() {
            return Ok(none("its files are those of a dependency"));
        }
        if self.common_recipe(culprit)?.is_none() {
            return Ok(none(OTHER_RECIPE));
        }
        let (whole, others) = self.sought()?;
        let (mut written, mut is_begun) = (Vec::new(), false);
        for entry in self.hunt.entries()? {
            match entry.event {
                Event::Localizing { .. } => is_begun = true,
                Event::Trial(trial) => written.push(*trial),
                _ => {}
            }
        }
        let options = &self.begun.options;
        let targets = match step::targets(culprit, &whole, self.terms(), options.search) {
            Ok(targets) => targets,
            Err(why) => return Ok(none(why)),
        };
        let built = self.built_sources(&culprit.parent, &culprit.info.commit)?;
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        if !is_begun {
            let (commit, files) = (culprit.info.commit.clone(), change.whole().len());
            self.oracle.recorder.event(Event::Localizing { commit, files })?;
        }
        let localization = Localization {
            driver: self,
            culprit,
            change,
            targets,
            whole,
            others,
            trials: Vec::new(),
            trees: BTreeMap::new(),
            said: BTreeMap::new(),
            built,
            written,
            is_spent: false,
        };
        localization.run()
    }
}

/// Parts that make the step, and what is known of them.
struct Found {
    parts: Vec<Part>,
    /// Other parts that were present when these made the step.
    context: Vec<Part>,
    is_minimal: bool,
    alone: Option<usize>,
}

/// What a localisation knows when it ends.
#[derive(Default)]
struct IsolationResult {
    found: Vec<Found>,
    /// The change without the found parts.
    rest: Vec<Part>,
    /// Parts that seem to need the found ones, and are in neither set.
    dependents: Vec<Part>,
    /// The test of `rest`, by its index in the trials.
    without: Option<usize>,
}

impl Localization<'_, '_> {
    fn run(mut self) -> Result<Cause, HuntError> {
        let mut known = IsolationResult { rest: self.change.whole(), ..IsolationResult::default() };
        let end = match self.search(&mut known) {
            Err(error) if self.driver.must_end(&error) => return Err(error),
            Err(fault) => CauseEnd::Stopped(fault.to_string()),
            Ok(end) => end,
        };
        let IsolationResult { found, rest, dependents, without } = known;
        let found_parts = found.iter().flat_map(|one| one.parts.iter().copied());
        let parts: Vec<Part> = found_parts.chain(dependents.iter().copied()).collect();
        // Parts that are not known to make the step are not reverted one by one.
        let (reverted, kept) =
            if self.is_spent { (self.change.whole(), Vec::new()) } else { (parts, rest) };
        let is_over = self.driver.limit.is_some() || matches!(end, CauseEnd::Stopped(_));
        let (mut revert, mut backport) = (None, None);
        if !is_over {
            revert = match self.revert(&reverted, &kept) {
                Err(error) if self.driver.must_end(&error) => return Err(error),
                Err(fault) => Some(Revert::Stopped(fault.to_string())),
                Ok(revert) => revert,
            };
            backport = match self.backport(&reverted, &kept) {
                Err(error) if self.driver.must_end(&error) => return Err(error),
                Err(fault) => Some(Backport::Stopped(fault.to_string())),
                Ok(backport) => backport,
            };
        }
        let roles = match self.roles(&found, &dependents, &end) {
            Err(error) if self.driver.must_end(&error) => return Err(error),
            roles => roles.unwrap_or_default(),
        };
        let shown = |parts: &[Part]| parts.iter().map(|part| self.change.shown(*part)).collect();
        let set = |one: &Found| CauseSet {
            parts: shown(&one.parts),
            context: one.context.len(),
            with: shown(&one.context),
            is_minimal: one.is_minimal,
            alone: one.alone,
        };
        let sets: Vec<CauseSet> = found.iter().map(set).collect();
        Ok(Cause {
            commit: self.culprit.info.commit.clone(),
            parent: self.culprit.parent.clone(),
            sets,
            end,
            dependents: shown(&dependents),
            trials: self.trials,
            without,
            roles,
            revert,
            backport,
        })
    }

    fn search(&mut self, known: &mut IsolationResult) -> Result<CauseEnd, HuntError> {
        loop {
            known.without = None;
            let whole = known.rest.clone();
            let mut one = self.isolated(&whole)?;
            known.rest = self.rest(&whole, &one.parts)?;
            let is_part = !known.rest.is_empty() || !known.found.is_empty();
            let alone = if is_part { self.test(&one.parts)? } else { None };
            one.alone = alone.map(|(_, place)| place);
            if let Some((Shows::Difference, _)) = alone
                && !one.context.is_empty()
            {
                // Fewer of them were only tested together with the context.
                one = self.isolate(&[], &one.parts, 1)?.0;
                one.alone = self.tested(&one.parts)?;
                known.rest = self.rest(&whole, &one.parts)?;
            }
            known.found.push(one);
            if self.is_spent {
                return Ok(CauseEnd::Budget);
            }
            if known.rest.is_empty() {
                return Ok(CauseEnd::Complete);
            }
            let Some((mut shows, mut place)) = self.test(&known.rest)? else {
                return Ok(CauseEnd::Budget);
            };
            if shows == Shows::Unresolved
                && let Some(judged) = self.test_without_dependents(known, place)?
            {
                (shows, place) = judged;
            }
            if self.is_spent {
                return Ok(CauseEnd::Budget);
            }
            known.without = Some(place);
            match shows {
                Shows::Nothing if self.is_at_parent(place) => return Ok(CauseEnd::Complete),
                Shows::Nothing => return Ok(CauseEnd::RestPart),
                Shows::Unresolved => return Ok(CauseEnd::RestUnknown),
                Shows::Difference if known.found.len() == MOST_SETS => {
                    return Ok(CauseEnd::RestShows);
                }
                Shows::Difference => {}
            }
        }
    }

    /// Tests the rest again without the parts that seem to need the found ones. `None` if there are
    /// no such parts, or if this test cannot be judged either; `rest` then stays as it is.
    /// `failed`: the trial of the rest.
    fn test_without_dependents(
        &mut self,
        known: &mut IsolationResult,
        failed: usize,
    ) -> Result<Option<(Shows, usize)>, HuntError> {
        let found = known.found.iter().flat_map(|one| one.parts.iter().copied());
        let all: Vec<Part> = known.rest.iter().copied().chain(found).collect();
        let clues = Clues::of(&self.change, &all, self.culprit, &self.built)?;
        let rest: Parts = (0..known.rest.len()).collect();
        let found: Parts = (known.rest.len()..all.len()).collect();
        let mut hints = clues.hints();
        let said = self.said.get(&failed).map(Vec::as_slice).unwrap_or_default();
        hints.learn(&clues.lacking(said, &rest));
        let gone = hints.dependents(&found, &rest);
        let left: Vec<Part> = rest.difference(&gone).map(|number| all[*number]).collect();
        if gone.is_empty() || left.is_empty() {
            return Ok(None);
        }
        let judged = self.test(&left)?.filter(|(shows, _)| *shows != Shows::Unresolved);
        if judged.is_some() {
            known.dependents.extend(gone.iter().map(|number| all[*number]));
            known.rest = left;
        }
        Ok(judged)
    }

    /// Whether a trial's level is the parent's.
    fn is_at_parent(&self, place: usize) -> bool {
        self.culprit.effects.first().is_none_or(|effect| {
            let level = self.trials[place].levels.get(&effect.metric);
            level.is_some_and(|level| step::is_none(effect, level))
        })
    }

    /// The smallest part of `whole` that makes the step: first files, then their hunks.
    fn isolated(&mut self, whole: &[Part]) -> Result<Found, HuntError> {
        let (files, end) = self.isolate(&[], whole, FEW_FILES)?;
        if end == IsolationEnd::Spent {
            return Ok(files);
        }
        let mut parts = Vec::new();
        for file in &files.parts {
            parts.extend(self.change.split(*file)?);
        }
        if files.is_minimal && parts == files.parts {
            return Ok(files);
        }
        Ok(self.isolate(&files.context, &parts, 1)?.0)
    }

    fn isolate(
        &mut self,
        context: &[Part],
        change: &[Part],
        few: usize,
    ) -> Result<(Found, IsolationEnd), HuntError> {
        let all: Vec<Part> = context.iter().chain(change).copied().collect();
        let numbers: Vec<usize> = (context.len()..all.len()).collect();
        let chosen = |parts: &Parts| parts.iter().map(|number| all[*number]).collect::<Vec<_>>();
        let clues = Clues::of(&self.change, &all, self.culprit, &self.built)?;
        let context = (0..context.len()).collect();
        let Isolated { parts, context, end } =
            search::isolate(&context, &numbers, clues.hints(), few, |parts| {
                let Some((shows, place)) = self.test(&chosen(parts))? else { return Ok(None) };
                let said = self.said.get(&place).map(Vec::as_slice).unwrap_or_default();
                Ok::<_, HuntError>(Some(Tested { shows, needs: clues.lacking(said, parts) }))
            })?;
        let (parts, context) = (chosen(&parts), chosen(&context));
        let is_minimal = matches!(end, IsolationEnd::Minimal | IsolationEnd::Bound);
        Ok((Found { parts, context, is_minimal, alone: None }, end))
    }

    /// The change without these parts.
    fn rest(&self, whole: &[Part], without: &[Part]) -> Result<Vec<Part>, HuntError> {
        let mut rest = Vec::new();
        for part in whole {
            if without.contains(part) {
                continue;
            }
            let is_split = without.iter().any(|gone| gone.file == part.file);
            let parts = if is_split { self.change.split(*part)? } else { vec![*part] };
            rest.extend(parts.into_iter().filter(|part| !without.contains(part)));
        }
        Ok(rest)
    }

    /// A file is necessary if the only set is in this file alone, and nothing of the step is left
    /// without it. If set and context make the whole step of the only metric that moved, all files
    /// are innocent that have no part of the set, of its context or of the removed dependents.
    fn roles(
        &mut self,
        found: &[Found],
        dependents: &[Part],
        end: &CauseEnd,
    ) -> Result<BTreeMap<String, FileRole>, HuntError> {
        let only = match found {
            [one] if *end == CauseEnd::Complete && one.is_minimal => Some(one),
            _ => None,
        };
        let is_whole = match only {
            Some(one) => self.is_whole(one)?,
            None => false,
        };
        let role = |part: Part| {
            let Some(one) = only else { return FileRole::Unknown };
            let is_in = |parts: &[Part]| parts.iter().any(|own| own.file == part.file);
            let is_all = one.parts.iter().all(|own| own.file == part.file);
            match is_in(&one.parts) {
                true if is_all && dependents.is_empty() => FileRole::Necessary,
                false if is_whole && dependents.is_empty() && !is_in(&one.context) => {
                    FileRole::Innocent
                }
                _ => FileRole::Unknown,
            }
        };
        let whole = self.change.whole().into_iter();
        Ok(whole.map(|part| (self.change.path(part), role(part))).collect())
    }

    /// Whether a set with its context makes the whole step of the only metric that moved.
    fn is_whole(&mut self, one: &Found) -> Result<bool, HuntError> {
        let mut parts = [one.context.as_slice(), one.parts.as_slice()].concat();
        parts.sort_unstable();
        if self.culprit.effects.len() > 1 || self.rest(&self.change.whole(), &parts)?.is_empty() {
            return Ok(self.culprit.effects.len() <= 1);
        }
        let Some(place) = self.tested(&parts)? else { return Ok(false) };
        let level = |effect: &Effect| self.trials[place].levels.get(&effect.metric);
        Ok(self.culprit.effects.first().is_none_or(|effect| {
            // Without a level the step is a failure.
            level(effect).is_none_or(|level| step::is_whole(effect, level))
        }))
    }
}

/// The cause is unknown, for the reason `why`.
fn unknown(culprit: &Culprit, why: String) -> Cause {
    Cause {
        commit: culprit.info.commit.clone(),
        parent: culprit.parent.clone(),
        sets: Vec::new(),
        end: CauseEnd::NotSeparable(why),
        dependents: Vec::new(),
        trials: Vec::new(),
        without: None,
        roles: BTreeMap::new(),
        revert: None,
        backport: None,
    }
}

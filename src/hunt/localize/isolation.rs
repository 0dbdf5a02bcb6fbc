//! Isolates the parts of a change that make its step: builds the parent with parts of the change,
//! until the set is small enough. `search::isolate` chooses the parts.

use std::collections::BTreeMap;

use crate::differ::BuiltSources;
use crate::evaluation::{
    Backport, Cause, CauseEnd, CauseSet, Culprit, Effect, FileRole, Revert, Shows, Target, Trial,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::search::{self, Isolated, IsolationEnd, Parts, Tested};
use crate::store::journal::OtherGuard;

use super::change::{Change, Part};
use super::clues::Clues;
use super::step;

/// Maximum number of sets that each make the step.
const MOST_SETS: usize = 3;

/// Up to this many files are divided into hunks, even if the clues do not separate the files.
const FEW_FILES: usize = 3;

/// A localisation in progress.
pub(super) struct Localization<'l, 'd> {
    pub(super) driver: &'l mut Driver<'d>,
    pub(super) culprit: &'l Culprit,
    pub(super) change: Change<'l>,
    /// The targets between parent and commit.
    pub(super) targets: Vec<Target>,
    /// The hunt's own targets.
    pub(super) whole: Vec<Target>,
    /// The guards that the hunt does not search for.
    pub(super) others: Vec<OtherGuard>,
    pub(super) trials: Vec<Trial>,
    /// The indices of the trials by the tree that was built.
    pub(super) trees: BTreeMap<String, usize>,
    /// What failed trials printed, by their indices.
    pub(super) said: BTreeMap<usize, Vec<String>>,
    /// The source files of the builds of parent and commit.
    pub(super) built: BuiltSources,
    /// The trials that the journal has already.
    pub(super) written: Vec<Trial>,
    pub(super) is_spent: bool,
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
    /// Finds the parts that make the step, then tests the endpoints with and without them.
    pub(super) fn run(mut self) -> Result<Cause, HuntError> {
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
    pub(super) fn rest(&self, whole: &[Part], without: &[Part]) -> Result<Vec<Part>, HuntError> {
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

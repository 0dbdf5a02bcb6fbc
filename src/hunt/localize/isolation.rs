//! Isolates the parts of a change that make its step: builds the parent with parts of the change,
//! until the set is small enough. `search::isolate` chooses the parts.

use std::collections::BTreeMap;

use crate::differ::BuiltSources;
use crate::evaluation::{
    Backport, Cause, CauseEnd, CauseSet, Culprit, Effect, Revert, Shows, Target, Trial,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::search::{self, Isolated, IsolationEnd, Parts, Tested};
use crate::store::journal::OtherGuard;

use super::change::{Change, Part};
use super::clues::Clues;
use super::contradiction;
use super::journaled::JournaledTrials;
use super::step;

/// The search stops after this many sets that each make the step alone.
const MOST_SETS: usize = 3;

/// Up to this many files are divided into hunks, even if the clues do not separate the files.
const FEW_FILES: usize = 3;

/// Which of the first bad commits is taken apart.
#[derive(Clone, Copy)]
pub(super) enum Rank {
    /// The main one. The endpoints are tested without its cause.
    Main,
    /// Another one, with at most so many tests of parts.
    Other { most_trials: usize },
}

/// A localisation in progress.
pub(super) struct Localization<'l, 'd> {
    pub(super) driver: &'l mut Driver<'d>,
    pub(super) culprit: &'l Culprit,
    pub(super) change: Change<'l>,
    /// The targets of the trials. Their thresholds lie between the levels of parent and commit.
    pub(super) targets: Vec<Target>,
    /// The hunt's own targets.
    pub(super) whole: Vec<Target>,
    /// The guards that the hunt does not search for.
    pub(super) others: Vec<OtherGuard>,
    pub(super) trials: Vec<Trial>,
    /// The indices of the trials by the tree that was built.
    pub(super) trees: BTreeMap<String, usize>,
    /// The lines about the failure of each failed trial, by its index.
    pub(super) said: BTreeMap<usize, Vec<String>>,
    /// The source files of the builds of parent and commit.
    pub(super) built: BuiltSources,
    /// What the journal has already.
    pub(super) journaled: JournaledTrials,
    pub(super) rank: Rank,
    pub(super) is_spent: bool,
}

/// Parts that make the step, and what is known of them.
pub(super) struct Found {
    pub(super) parts: Vec<Part>,
    /// Other parts that were present when these made the step.
    pub(super) context: Vec<Part>,
    pub(super) is_minimal: bool,
    pub(super) alone: Option<usize>,
}

/// The parts of a change that the tests of the endpoints take out or add.
pub(super) struct Taken {
    pub(super) parts: Vec<Part>,
    /// The other parts of the change, which stay.
    pub(super) rest: Vec<Part>,
}

/// What a localisation knows when it ends.
#[derive(Default)]
pub(super) struct IsolationResult {
    pub(super) found: Vec<Found>,
    /// The change without the found parts.
    pub(super) rest: Vec<Part>,
    /// Parts that seem to need the found ones. They are neither in `found` nor in `rest`.
    dependents: Vec<Part>,
    /// The test of `rest`, by its index in the trials.
    without: Option<usize>,
}

impl Localization<'_, '_> {
    /// Finds the parts that make the step, then tests the endpoints with and without them.
    pub(super) fn run(mut self) -> Result<Cause, HuntError> {
        let mut known = IsolationResult { rest: self.change.whole(), ..IsolationResult::default() };
        let searched = self.search(&mut known).and_then(|end| self.repeated(&known, end));
        let end = match searched {
            Err(error) if self.driver.must_end(&error) => return Err(error),
            Err(fault) => CauseEnd::Stopped(fault.to_string()),
            Ok(end) => end,
        };
        if matches!(end, CauseEnd::Unsteady(_)) {
            known = IsolationResult::default();
        }
        let IsolationResult { found, rest, dependents, without } = known;
        let found_parts = found.iter().flat_map(|one| one.parts.iter().copied());
        let parts: Vec<Part> = found_parts.chain(dependents.iter().copied()).collect();
        // The rest of the change may make the step too, unless a test said that it does not.
        let own = Taken { parts, rest };
        let whole = Taken { parts: self.change.whole(), rest: Vec::new() };
        let is_rest_clean = end == CauseEnd::Complete;
        let mut taken = if is_rest_clean { &own } else { &whole };
        let is_over = self.driver.limit.is_some() || end.is_without_answer();
        let (mut revert, mut backport) = (None, None);
        let (mut broken_too, mut in_part) = (None, false);
        if !is_over && matches!(self.rank, Rank::Main) {
            let mut reverted = self.reverted(taken)?;
            let conflicts =
                matches!(&reverted, Some(it) if matches!(it.revert, Revert::Conflict(_)));
            if !is_rest_clean && !self.is_spent && conflicts {
                (taken, in_part) = (&own, true);
                reverted = self.reverted(taken)?;
            }
            let is_rest_left = is_rest_clean && !own.rest.is_empty();
            if is_rest_left && reverted.as_ref().is_some_and(|it| it.broken_too.is_some()) {
                // The parts make the failure, and the rest of the change may break the guard.
                let all = self.reverted_if_told(&whole)?;
                in_part = all.is_none();
                if all.is_some() {
                    (taken, reverted) = (&whole, all);
                }
            } else if is_rest_left && self.keeps_another_effect() {
                let all = self.reverted(&whole)?;
                if all.as_ref().is_some_and(|it| it.revert.is_tested()) {
                    (taken, reverted) = (&whole, all);
                }
            }
            if let Some(reverted) = reverted {
                broken_too = reverted.broken_too;
                revert = Some(reverted.revert);
            }
            backport = match self.backport(taken) {
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
            edits: self.change.edits(&one.parts).unwrap_or_default(),
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
            broken_too,
            in_part,
            backport,
        })
    }

    fn search(&mut self, known: &mut IsolationResult) -> Result<CauseEnd, HuntError> {
        loop {
            known.without = None;
            let whole = known.rest.clone();
            let mut one = self.isolated(&whole)?;
            known.rest = self.change.without(&whole, &one.parts)?;
            let is_part = !known.rest.is_empty() || !known.found.is_empty();
            // Edits are nothing without the code that they edit.
            let is_buildable = is_part && !one.parts.iter().any(|part| part.is_edit());
            let alone = if is_buildable { self.test(&one.parts)? } else { None };
            one.alone = alone.map(|(_, place)| place);
            if let Some((Shows::Difference, _)) = alone
                && !one.context.is_empty()
            {
                // Smaller sets of these parts were tested only together with the context.
                one = self.isolate(&[], &one.parts, 1)?.0;
                one.alone = self.tested(&one.parts)?;
                known.rest = self.change.without(&whole, &one.parts)?;
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

    /// Whether the test of an endpoint that was just made takes the commit's largest effect away
    /// and leaves another one. The tested parts make the largest effect, and the rest of the change
    /// may make the other one.
    fn keeps_another_effect(&self) -> bool {
        let Some(trial) = self.trials.last().filter(|trial| trial.of.is_of_endpoint()) else {
            return false;
        };
        let Some((largest, others)) = self.culprit.effects.split_first() else { return false };
        let is_kept = |effect: &Effect| contradiction::keeps_effect(effect, trial, &self.whole);
        !is_kept(largest) && others.iter().any(is_kept)
    }

    /// Whether a trial's level is the parent's.
    pub(super) fn is_at_parent(&self, place: usize) -> bool {
        self.culprit.effects.first().is_none_or(|effect| {
            let level = self.trials[place].levels.get(&effect.metric);
            level.is_some_and(|level| step::is_none(effect, level))
        })
    }

    /// The smallest part of `whole` that makes the step: first edits of moved code, then files,
    /// then their hunks.
    fn isolated(&mut self, whole: &[Part]) -> Result<Found, HuntError> {
        if let Some(found) = self.isolated_edits(whole)? {
            return Ok(found);
        }
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

    pub(super) fn isolate(
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
                let missing = clues.edits_without_code(parts);
                if !missing.is_empty() {
                    return Ok(Some(Tested { shows: Shows::Unresolved, needs: missing }));
                }
                self.tested_with(&clues, parts, &chosen(parts))
            })?;
        let (parts, context) = (chosen(&parts), chosen(&context));
        let is_minimal = matches!(end, IsolationEnd::Minimal | IsolationEnd::Bound);
        Ok((Found { parts, context, is_minimal, alone: None }, end))
    }
}

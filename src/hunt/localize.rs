//! From the first bad commit to its cause: which files and hunks of its change make the step, and
//! whether a revert heals the bad endpoint.
//!
//! The parent is built with parts of the change, and judged by the hunt's own oracle between the
//! levels of parent and commit. `search::isolate` chooses the parts.

mod change;
mod logits;
mod revert;
pub(crate) mod step;
mod tensors;

use std::collections::BTreeMap;

use crate::config::Config;
use crate::evaluation::{
    Cause, CauseEnd, CauseSet, CommitId, Culprit, FileRole, Finding, Phase, Revert, Shows, Target,
    Trial, TrialOf,
};
use crate::git::History;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::OTHER_RECIPE;
use crate::oracle::Observation;
use crate::search::{self, Isolated, Parts};
use crate::store::journal::Event;

use change::{Change, Part};

/// Maximum number of tests of parts of a change.
const MOST_TRIALS: usize = 48;

/// Maximum number of sets that make the step, each by itself.
const MOST_SETS: usize = 3;

/// How many parts to try alone first, if there are more than this many twice.
const LIKELY: usize = 2;

/// A localisation may take this many seconds, or as long as the hunt did before.
const LEAST_SECONDS: f64 = 600.0;

/// A localisation in progress.
struct Localization<'l, 'd> {
    driver: &'l mut Driver<'d>,
    culprit: &'l Culprit,
    change: Change<'l>,
    /// The targets between parent and commit.
    targets: Vec<Target>,
    /// The hunt's own targets.
    whole: Vec<Target>,
    trials: Vec<Trial>,
    /// The places of the trials by the tree that was built.
    trees: BTreeMap<String, usize>,
    /// The trials that the journal has already.
    written: Vec<Trial>,
    is_spent: bool,
}

impl Driver<'_> {
    /// Adds to a finding what in its main first bad commit makes the step.
    pub(crate) fn localize(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(culprit) = self.main_to_ask(&finding).cloned() else { return Ok(finding) };
        // The commit is found: a fault of the machine now must not take the answer away.
        let cause = match self.cause(&culprit) {
            Err(HuntError::Stopped) => return Err(HuntError::Stopped),
            Err(fault) => unknown(&culprit, fault.to_string()),
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

    fn cause(&mut self, culprit: &Culprit) -> Result<Cause, HuntError> {
        let none = |why: &str| unknown(culprit, why.to_owned());
        if self.oracle.recipes.engine.within.is_some() {
            return Ok(none("its files are those of a dependency"));
        }
        if self.common_recipe(culprit)?.is_none() {
            return Ok(none(OTHER_RECIPE));
        }
        let (mut whole, mut written, mut is_begun) = (Vec::new(), Vec::new(), false);
        for entry in self.hunt.entries()? {
            match entry.event {
                Event::Targets { targets, .. } => whole = targets,
                Event::Localizing { .. } => is_begun = true,
                Event::Trial(trial) => written.push(*trial),
                _ => {}
            }
        }
        let options = &self.begun.options;
        let targets = match step::targets(culprit, &whole, options.aim, options.search) {
            Ok(targets) => targets,
            Err(why) => return Ok(none(why)),
        };
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
            trials: Vec::new(),
            trees: BTreeMap::new(),
            written,
            is_spent: false,
        };
        localization.run()
    }
}

/// Parts that make the step, and what is known of them.
struct Found {
    parts: Vec<Part>,
    /// Other parts that were there when these made the step.
    context: Vec<Part>,
    is_minimal: bool,
    alone: Option<usize>,
}

/// What a localisation knows when it ends.
#[derive(Default)]
struct Known {
    found: Vec<Found>,
    /// The change without the found parts.
    rest: Vec<Part>,
    /// The test of `rest`, by its place in the trials.
    without: Option<usize>,
}

impl Localization<'_, '_> {
    fn run(mut self) -> Result<Cause, HuntError> {
        let mut known = Known { rest: self.change.whole(), ..Known::default() };
        let end = match self.search(&mut known) {
            Err(HuntError::Stopped) => return Err(HuntError::Stopped),
            Err(fault) => CauseEnd::Stopped(fault.to_string()),
            Ok(end) => end,
        };
        let Known { found, rest, without } = known;
        let parts: Vec<Part> = found.iter().flat_map(|one| one.parts.iter().copied()).collect();
        let is_over = self.is_spent || matches!(end, CauseEnd::Stopped(_));
        let revert = match self.revert(&parts, &rest, is_over) {
            Err(HuntError::Stopped) => return Err(HuntError::Stopped),
            Err(_) => Some(Revert::Unknown),
            Ok(revert) => revert,
        };
        let shown = |parts: &[Part]| parts.iter().map(|part| self.change.shown(*part)).collect();
        let set = |one: &Found| CauseSet {
            parts: shown(&one.parts),
            context: one.context.len(),
            is_minimal: one.is_minimal,
            alone: one.alone,
        };
        let sets: Vec<CauseSet> = found.iter().map(set).collect();
        let roles = self.roles(&found, &end);
        Ok(Cause {
            commit: self.culprit.info.commit.clone(),
            parent: self.culprit.parent.clone(),
            sets,
            end,
            trials: self.trials,
            without,
            roles,
            revert,
        })
    }

    fn search(&mut self, known: &mut Known) -> Result<CauseEnd, HuntError> {
        loop {
            known.without = None;
            let mut one = self.isolated(&known.rest)?;
            known.rest = self.rest(&known.rest, &one.parts)?;
            let is_part = !known.rest.is_empty() || !known.found.is_empty();
            let alone = if is_part { self.test(&one.parts)? } else { None };
            one.alone = alone.map(|(_, place)| place);
            if let Some((Shows::Difference, _)) = alone {
                one.context.clear();
            }
            known.found.push(one);
            if self.is_spent {
                return Ok(CauseEnd::Budget);
            }
            if known.rest.is_empty() {
                return Ok(CauseEnd::Complete);
            }
            let Some((shows, place)) = self.test(&known.rest)? else {
                return Ok(CauseEnd::Budget);
            };
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

    /// Whether a trial's level is that of the parent.
    fn is_at_parent(&self, place: usize) -> bool {
        self.culprit.effects.first().is_none_or(|effect| {
            let level = self.trials[place].levels.get(&effect.metric);
            level.is_some_and(|level| step::is_none(effect, level))
        })
    }

    /// The smallest part of `whole` that makes the step: first files, then their hunks.
    fn isolated(&mut self, whole: &[Part]) -> Result<Found, HuntError> {
        let files = self.isolate(&[], whole)?;
        if !files.is_minimal {
            return Ok(files);
        }
        let mut parts = Vec::new();
        for file in &files.parts {
            parts.extend(self.change.split(*file)?);
        }
        if parts == files.parts { Ok(files) } else { self.isolate(&files.context, &parts) }
    }

    fn isolate(&mut self, context: &[Part], change: &[Part]) -> Result<Found, HuntError> {
        let all: Vec<Part> = context.iter().chain(change).copied().collect();
        let numbers: Vec<usize> = (context.len()..all.len()).collect();
        let likely = if change.len() > 2 * LIKELY { LIKELY } else { 0 };
        let chosen = |parts: &Parts| parts.iter().map(|number| all[*number]).collect::<Vec<_>>();
        let Isolated { parts, context, is_minimal } =
            search::isolate(&(0..context.len()).collect(), &numbers, likely, |parts| {
                Ok::<_, HuntError>(self.test(&chosen(parts))?.map(|(shows, _)| shows))
            })?;
        let (parts, context) = (chosen(&parts), chosen(&context));
        Ok(Found { parts, context, is_minimal, alone: None })
    }

    /// What is left of the change without these parts of it.
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

    /// Judges the parent with these parts of the change; `None` if the budget is spent. The same
    /// files are judged once. Also returns the trial's place.
    fn test(&mut self, parts: &[Part]) -> Result<Option<(Shows, usize)>, HuntError> {
        let parent = self.culprit.parent.clone();
        let recipe = self.driver.oracle.recipes.at(&parent)?;
        let recipe = recipe.with_part(self.change.entries(parts)?);
        let tree = self.driver.oracle.recipes.tree_of(&parent, &recipe)?;
        if let Some(place) = self.trees.get(&tree) {
            return Ok(Some((self.trials[*place].shows, *place)));
        }
        // A resumed hunt repeats what it has tested before, whatever the time.
        let is_new = self.trials.len() >= self.written.len();
        if self.is_spent || self.trials.len() >= MOST_TRIALS || (is_new && self.is_late()?) {
            self.is_spent = true;
            return Ok(None);
        }
        let judged =
            self.driver.oracle.judge_as(&parent, &recipe, &self.targets, Phase::Localize, None);
        let (judgement, seen) = match judged.map_err(HuntError::from) {
            Err(HuntError::Budget(_)) => {
                self.is_spent = true;
                return Ok(None);
            }
            other => other?,
        };
        let shows = step::shows(&judgement, &seen, self.culprit, self.driver.begun.options.aim);
        let rest = self.rest(&self.change.whole(), parts)?;
        let (of, named) = if rest.len() < parts.len() {
            (TrialOf::Without, rest.as_slice())
        } else {
            (TrialOf::Only, parts)
        };
        let named = named.iter().map(|part| self.change.shown(*part)).collect();
        let mut trial = trial(of, named, shows, judgement.reason, &seen, &self.targets);
        if seen.build_failure.is_some() {
            trial.attempts = self.failed_build(&parent, &recipe)?;
        }
        self.write(trial)?;
        let place = self.trials.len() - 1;
        self.trees.insert(tree, place);
        Ok(Some((shows, place)))
    }

    /// The newest build with this recipe, if it failed.
    fn failed_build(&self, commit: &CommitId, recipe: &Config) -> Result<Vec<String>, HuntError> {
        let oracle = &self.driver.oracle;
        let key = oracle.recipes.build_key_of(commit, recipe)?;
        let last = oracle.store.builds(&key)?.pop();
        Ok(last
            .filter(|build| build.failure.is_some())
            .map(|build| build.attempt)
            .into_iter()
            .collect())
    }

    /// Adds a trial, to the journal too unless a driver before wrote it.
    fn write(&mut self, trial: Trial) -> Result<(), HuntError> {
        if !self.written.contains(&trial) {
            self.driver.oracle.recorder.event(Event::Trial(Box::new(trial.clone())))?;
        }
        self.trials.push(trial);
        Ok(())
    }

    /// Whether the localisation built and ran for longer than the hunt did before, and for longer
    /// than [`LEAST_SECONDS`].
    fn is_late(&self) -> Result<bool, HuntError> {
        let (mut own, mut before, mut is_begun) = (0.0, 0.0, false);
        for entry in self.driver.hunt.entries()? {
            let seconds = match entry.event {
                Event::Build(build) if !build.reused => build.wall_s,
                Event::Run(run) if !run.reused => run.wall_s,
                Event::Localizing { .. } => {
                    is_begun = true;
                    continue;
                }
                _ => continue,
            };
            *(if is_begun { &mut own } else { &mut before }) += seconds;
        }
        Ok(own > f64::max(before, LEAST_SECONDS))
    }

    /// A file is necessary if one set is in this file alone, and nothing of the step is left
    /// without it. The others are then innocent if the set alone makes the whole step of the only
    /// metric that moved.
    fn roles(&self, found: &[Found], end: &CauseEnd) -> BTreeMap<String, FileRole> {
        let only = match found {
            [one] if *end == CauseEnd::Complete && one.is_minimal => Some(one),
            _ => None,
        };
        let effect = self.culprit.effects.first();
        let is_whole = only.is_some_and(|one| {
            let level = one.alone.and_then(|place| self.trials[place].levels.get(&effect?.metric));
            let is_all = match (level, effect) {
                (Some(level), Some(effect)) => step::is_whole(effect, level),
                // A failure, or the whole change.
                _ => true,
            };
            is_all && one.context.is_empty() && self.culprit.effects.len() <= 1
        });
        let role = |part: Part| match only {
            Some(one) if one.parts.iter().all(|own| own.file == part.file) => FileRole::Necessary,
            Some(one) if is_whole && one.parts.iter().all(|own| own.file != part.file) => {
                FileRole::Innocent
            }
            _ => FileRole::Unknown,
        };
        let whole = self.change.whole().into_iter();
        whole.map(|part| (self.change.path(part), role(part))).collect()
    }
}

/// No part of the change is known to make the step; the reason.
fn unknown(culprit: &Culprit, why: String) -> Cause {
    Cause {
        commit: culprit.info.commit.clone(),
        parent: culprit.parent.clone(),
        sets: Vec::new(),
        end: CauseEnd::NotSeparable(why),
        trials: Vec::new(),
        without: None,
        roles: BTreeMap::new(),
        revert: None,
    }
}

/// The record of a test.
fn trial(
    of: TrialOf,
    parts: Vec<crate::evaluation::ChangePart>,
    shows: Shows,
    reason: String,
    seen: &Observation,
    targets: &[Target],
) -> Trial {
    let level = |target: &Target| match target {
        Target::Guard(target) => {
            let metric = &target.guard.metric;
            Some((metric.clone(), seen.level(metric)?))
        }
        Target::Failure { .. } => None,
    };
    let samples = seen.samples.values().flatten();
    Trial {
        of,
        parts,
        shows,
        reason,
        failure: seen.first_failure().map(|failure| failure.kind),
        levels: targets.iter().filter_map(level).collect(),
        attempts: samples.map(|sample| sample.attempt.clone()).collect(),
    }
}

/// The commit that the parts are taken away from, to see whether a revert heals it.
fn newer_end(driver: &Driver<'_>) -> CommitId {
    driver.begun.ends()[1].clone()
}

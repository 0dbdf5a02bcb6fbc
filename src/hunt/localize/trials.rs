//! Trials: the parent with some parts of the change, built, run and judged.

use crate::config::Config;
use crate::evaluation::{
    ChangePart, CommitId, Failure, FailureMessage, Judgement, Phase, Shows, Target, Trial, TrialOf,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Observation;
use crate::store::journal::Event;

use super::change::Part;
use super::isolation::{Localization, Rank};
use super::step;

/// Maximum number of tests of parts of changes in a hunt.
pub(crate) const MOST_TRIALS: usize = 48;

/// A localisation may take as long as the hunt before it, and at least this many seconds.
const LEAST_SECONDS: f64 = 600.0;

impl Localization<'_, '_> {
    /// Judges the parent with these parts of the change; `None` if the budget is spent. Judges the
    /// same files only once. Also returns the trial's index.
    pub(super) fn test(&mut self, parts: &[Part]) -> Result<Option<(Shows, usize)>, HuntError> {
        let parent = self.culprit.parent.clone();
        let (recipe, tree) = self.recipe(parts)?;
        if let Some(place) = self.trees.get(&tree) {
            return Ok(Some((self.trials[*place].shows, *place)));
        }
        // A resumed hunt repeats what it has tested before, whatever the time.
        let is_part = |trial: &&Trial| !trial.of.is_of_endpoint();
        let is_new = self.trials.len() >= self.journaled.trials.iter().filter(is_part).count();
        let most = match self.rank {
            Rank::Main => MOST_TRIALS,
            Rank::Other { most_trials } => most_trials,
        };
        let is_over = self.trials.len() >= most;
        if self.is_spent || is_over || (is_new && self.driver.is_late()?) {
            self.is_spent = true;
            return Ok(None);
        }
        let judged =
            self.driver.oracle.judge_as(&parent, &recipe, &self.targets, Phase::Localize, None);
        let (judgement, seen) = match judged.map_err(HuntError::from) {
            Err(HuntError::Limit(limit)) => {
                self.driver.limit = Some(limit);
                self.is_spent = true;
                return Ok(None);
            }
            other => other?,
        };
        let terms = self.driver.terms();
        let shows = step::shows(&judgement, &seen, self.culprit, &self.targets, terms);
        let rest = self.change.without(&self.change.whole(), parts)?;
        let (of, named) = if rest.len() < parts.len() {
            (TrialOf::Without, rest.as_slice())
        } else {
            (TrialOf::Only, parts)
        };
        let named = named.iter().map(|part| self.change.shown(*part)).collect();
        let mut trial = trial(of, named, shows, judgement, &seen, &self.targets);
        if seen.build_failure.is_some() {
            trial.attempts = self.driver.failed_build(&parent, &recipe)?;
        }
        self.write(trial)?;
        let place = self.trials.len() - 1;
        if shows == Shows::Unresolved
            && let Some(failure) = seen.first_failure()
        {
            self.said.insert(place, said(failure));
        }
        self.trees.insert(tree, place);
        Ok(Some((shows, place)))
    }

    /// The index of the trial of these parts, if it was made.
    pub(super) fn tested(&mut self, parts: &[Part]) -> Result<Option<usize>, HuntError> {
        let (_, tree) = self.recipe(parts)?;
        Ok(self.trees.get(&tree).copied())
    }

    /// The parent's recipe with these parts of the change, and the tree that it builds.
    pub(super) fn recipe(&mut self, parts: &[Part]) -> Result<(Config, String), HuntError> {
        let recipes = &mut self.driver.oracle.recipes;
        let recipe = recipes.at(&self.culprit.parent)?.with_part(self.change.entries(parts)?);
        let tree = recipes.tree_of(&self.culprit.parent, &recipe)?;
        Ok((recipe, tree))
    }

    /// Adds a trial. Writes it to the journal unless an earlier driver did.
    pub(super) fn write(&mut self, trial: Trial) -> Result<(), HuntError> {
        if !self.journaled.trials.iter().any(|known| known.is_of_same_build(&trial)) {
            if !self.journaled.is_last {
                self.announce()?;
            }
            self.driver.oracle.recorder.event(Event::Trial(Box::new(trial.clone())))?;
        }
        self.trials.push(trial);
        Ok(())
    }

    /// Writes to the journal that the next trials are about this commit.
    pub(super) fn announce(&mut self) -> Result<(), HuntError> {
        let (commit, files) = (self.culprit.info.commit.clone(), self.change.whole().len());
        self.driver.oracle.recorder.event(Event::Localizing { commit, files })?;
        self.journaled.is_last = true;
        Ok(())
    }
}

impl Driver<'_> {
    /// The newest build with this recipe, if it failed.
    pub(super) fn failed_build(
        &self,
        commit: &CommitId,
        recipe: &Config,
    ) -> Result<Vec<String>, HuntError> {
        let oracle = &self.oracle;
        let key = oracle.recipes.build_key_of(commit, recipe)?;
        let last = oracle.store.builds(&key)?.pop();
        Ok(last
            .filter(|build| build.failure.is_some())
            .map(|build| build.attempt)
            .into_iter()
            .collect())
    }

    /// Whether the localisation has used up its time: as long as the hunt took before it, and at
    /// least [`LEAST_SECONDS`]. Only the time of builds and runs counts.
    pub(super) fn is_late(&self) -> Result<bool, HuntError> {
        let (mut own, mut before, mut is_begun) = (0.0, 0.0, false);
        for entry in &self.hunt.entries()? {
            let (phase, seconds) = match &entry.event {
                Event::Build(build) if !build.reused => (build.phase, build.wall_s),
                Event::Run(run) if !run.reused => (run.phase, run.wall_s),
                Event::Localizing { .. } => {
                    is_begun = true;
                    continue;
                }
                _ => continue,
            };
            match phase {
                Phase::Localize => own += seconds,
                _ if !is_begun => before += seconds,
                _ => {}
            }
        }
        Ok(own > f64::max(before, LEAST_SECONDS))
    }
}

/// The lines of a failed command about the failure.
fn said(failure: &Failure) -> Vec<String> {
    match failure.evidence.as_ref().and_then(|evidence| evidence.said.as_ref()) {
        Some(FailureMessage::Diagnostics(lines) | FailureMessage::Reason { lines, .. }) => {
            lines.clone()
        }
        Some(FailureMessage::Reached(line)) => vec![line.clone()],
        None => Vec::new(),
    }
}

/// The record of a test.
pub(super) fn trial(
    of: TrialOf,
    parts: Vec<ChangePart>,
    shows: Shows,
    judgement: Judgement,
    seen: &Observation,
    targets: &[Target],
) -> Trial {
    let level = |target: &Target| {
        let metric = &target.guard()?.guard.metric;
        Some((metric.clone(), seen.level(metric)?))
    };
    let samples = seen.samples.values().flatten();
    Trial {
        of,
        parts,
        shows,
        reason: judgement.reason,
        skip: judgement.skip,
        failure: seen.first_failure().map(|failure| failure.kind),
        levels: targets.iter().filter_map(level).collect(),
        attempts: samples.map(|sample| sample.attempt.clone()).collect(),
    }
}

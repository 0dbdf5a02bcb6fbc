//! Which levels of the engine, from its kernels up, differ between the first bad commit and its
//! parent.

mod compare;

use crate::config::{Config, Level};
use crate::evaluation::{
    CommitId, Culprit, Finding, LevelCheck, LevelResult, LevelShows, Outcome, Phase,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Request, Sample};
use crate::store::journal::{Entry, Event};

/// Runs of the parent: their difference is the noise.
const PARENT_RUNS: usize = 2;

/// A failure of the commit counts if it repeats.
const FAILED_RUNS: usize = 2;

impl Driver<'_> {
    /// Adds to a finding what each `[[level]]` shows at the main first bad commit and its parent.
    pub(crate) fn check_levels(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(main) = finding.main.filter(|_| finding.outcome == Outcome::Culprit) else {
            return Ok(finding);
        };
        if !self.begun.options.localize || self.oracle.recipes.engine.within.is_some() {
            return Ok(finding);
        }
        let culprit = finding.culprits[main].clone();
        for level in self.oracle.recipes.config.levels.clone() {
            // The commit is found: a fault of the machine now must not take the answer away.
            match self.level(&level, &culprit) {
                Err(HuntError::Stopped) => return Err(HuntError::Stopped),
                Err(fault) => {
                    finding
                        .notes
                        .push(format!("the level {} was not checked: {fault}", level.name));
                    break;
                }
                Ok(result) => finding.levels.push(result),
            }
        }
        Ok(finding)
    }

    fn level(&mut self, level: &Level, culprit: &Culprit) -> Result<LevelResult, HuntError> {
        let [parent, commit] = [&culprit.parent, &culprit.info.commit];
        let recipe = self.oracle.recipes.at(commit)?;
        let mut checks = Vec::new();
        for measure in &level.measures {
            checks.push(self.check(level, &recipe, measure, [parent, commit])?);
        }
        let shows = checks.iter().map(|check| check.shows).max().unwrap_or(LevelShows::Unknown);
        let result = LevelResult { name: level.name.clone(), shows, checks };
        // A resumed hunt checks again, and finds the runs in the store.
        let event = Event::Level(Box::new(result.clone()));
        let is_told =
            |entry: &Entry| matches!(&entry.event, Event::Level(known) if **known == result);
        if !self.hunt.entries()?.iter().any(is_told) {
            self.oracle.recorder.event(event)?;
        }
        Ok(result)
    }

    fn check(
        &mut self,
        level: &Level,
        recipe: &Config,
        measure: &str,
        [parent, commit]: [&CommitId; 2],
    ) -> Result<LevelCheck, HuntError> {
        let parents = self.level_runs(parent, measure, PARENT_RUNS)?;
        let mut commits = self.level_runs(commit, measure, 1)?;
        if commits.iter().any(|sample| sample.result.is_err()) {
            commits = self.level_runs(commit, measure, FAILED_RUNS)?;
        }
        let attempts: Vec<String> =
            parents.iter().chain(&commits).map(|sample| sample.attempt.clone()).collect();
        let unknown = |reason: String| LevelCheck {
            measure: measure.to_owned(),
            shows: LevelShows::Unknown,
            metric: None,
            parent: None,
            commit: None,
            tolerance: None,
            reason: Some(reason),
            attempts: attempts.clone(),
        };
        let (Some(declared), false, false) =
            (recipe.measure(measure), parents.is_empty(), commits.is_empty())
        else {
            return Ok(unknown("it does not build".to_owned()));
        };
        let failure = |samples: &[Sample]| {
            samples.iter().find_map(|sample| sample.result.as_ref().err().cloned())
        };
        if let Some(failure) = failure(&parents) {
            return Ok(unknown(format!("the parent fails too: {}", failure.detail)));
        }
        if let Some(failure) = failure(&commits) {
            let always = commits.iter().all(|sample| sample.result.is_err());
            let shows = if always { LevelShows::Fails } else { LevelShows::Unknown };
            return Ok(LevelCheck { shows, ..unknown(failure.detail) });
        }
        if declared.parser.is_compared() {
            let difference = self.oracle.logits_between(parent, commit, measure)?;
            let Some(difference) = difference else {
                return Ok(unknown("the logits cannot be compared".to_owned()));
            };
            return Ok(LevelCheck {
                attempts,
                ..compare::logits(measure, &difference, level.allows())
            });
        }
        let readings = |samples: &[Sample]| -> Vec<_> {
            samples.iter().filter_map(|sample| sample.result.as_ref().ok().cloned()).collect()
        };
        let (parents, commits) = (readings(&parents), readings(&commits));
        let parents: Vec<_> = parents.iter().collect();
        let check =
            compare::compare(measure, &declared.parser, &parents, &commits[0], level.allows());
        Ok(LevelCheck { attempts, ..check })
    }

    fn level_runs(
        &mut self,
        commit: &CommitId,
        measure: &str,
        runs: usize,
    ) -> Result<Vec<Sample>, HuntError> {
        let names = [measure.to_owned()];
        let look = Request::look(commit, &names, Phase::Inquiry);
        let seen = self.oracle.evaluate(Request { runs, ..look })?;
        Ok(seen.of(measure).to_vec())
    }
}

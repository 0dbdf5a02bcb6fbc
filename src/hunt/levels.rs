//! Which levels of the engine, from its kernels up, differ between the first bad commit and its
//! parent.

mod compare;

use crate::config::{Level, Parser};
use crate::evaluation::{Failure, Finding, LevelCheck, LevelResult, LevelShows, Reading};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::Pair;
use crate::oracle::Sample;
use crate::store::journal::{Entry, Event};

/// Runs of the parent. The difference between them is the noise.
const PARENT_RUNS: usize = 2;

/// Runs of the parent if its first runs differ.
const NOISY_RUNS: usize = 4;

/// Runs of the commit. A difference counts if the second run shows it too.
const COMMIT_RUNS: usize = 2;

impl Driver<'_> {
    /// Adds to a finding what each `[[level]]` shows at the main first bad commit and its parent. A
    /// hunt for a fix checks no level, because levels explain what got worse.
    pub(crate) fn add_levels(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(pair) = self.pair_to_compare(&finding)? else { return Ok(finding) };
        if !self.terms().explains_levels() {
            return Ok(finding);
        }
        for level in &pair.recipe.levels {
            let what = format!("the level {} was not checked", level.name);
            let asked = self.level(level, &pair);
            match self.unless_ended(asked, &mut finding, &what)? {
                Some(result) => finding.inquiry.levels.push(result),
                None => break,
            }
        }
        Ok(finding)
    }

    pub(crate) fn level(&mut self, level: &Level, pair: &Pair) -> Result<LevelResult, HuntError> {
        let mut checks = Vec::new();
        for measure in &level.measures {
            checks.push(self.check(level, pair, measure)?);
        }
        let shows = checks.iter().map(|check| check.shows).max().unwrap_or(LevelShows::Unknown);
        let result = LevelResult { name: level.name.clone(), shows, checks };
        // A resumed hunt checks again with stored runs: do not write the same result twice.
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
        pair: &Pair,
        measure: &str,
    ) -> Result<LevelCheck, HuntError> {
        let Some(declared) = pair.recipe.measure(measure) else {
            return Ok(LevelCheck::unknown(measure, "no measure has this name here"));
        };
        let allowed = level.allows();
        if declared.parser.is_compared() {
            return Ok(match self.logits(pair, measure)? {
                Some(change) => compare::logits(&change, allowed),
                None => LevelCheck::unknown(measure, "the logits cannot be compared"),
            });
        }
        if matches!(declared.parser, Parser::Tensors) {
            return Ok(match self.tensors(pair, declared)? {
                Ok(change) => compare::tensors(&change, allowed),
                Err(why) => LevelCheck::unknown(measure, &why),
            });
        }
        let judged = |parents: &[Sample], commit: &Sample| -> LevelCheck {
            if let Some(failure) = parents.iter().find_map(failure_of) {
                let reason = format!("the parent fails too: {}", failure.detail);
                return LevelCheck::unknown(measure, &reason);
            }
            match &commit.result {
                Err(failure) => LevelCheck {
                    shows: LevelShows::Fails,
                    ..LevelCheck::unknown(measure, &failure.detail)
                },
                Ok(reading) => {
                    let parents: Vec<&Reading> =
                        parents.iter().filter_map(|sample| sample.result.as_ref().ok()).collect();
                    compare::compare(measure, &declared.parser, &parents, reading, allowed)
                }
            }
        };
        let mut parents = self.measure_extra(&pair.parent, measure, PARENT_RUNS, None)?;
        let mut commits = self.measure_extra(&pair.commit, measure, 1, None)?;
        let Some(first) = commits.of(measure).first() else {
            return Ok(LevelCheck::unknown(measure, "it does not build"));
        };
        let mut check = judged(parents.of(measure), first);
        if check.shows == LevelShows::Fails {
            if !parents.is_same_each_time(measure) {
                parents = self.measure_extra(&pair.parent, measure, NOISY_RUNS, None)?;
            }
            commits = self.measure_extra(&pair.commit, measure, COMMIT_RUNS, None)?;
            let again = commits.of(measure).iter();
            let all: Vec<LevelCheck> =
                again.map(|commit| judged(parents.of(measure), commit)).collect();
            let fails = all.iter().filter(|check| check.shows == LevelShows::Fails).count();
            let runs = all.len();
            check = match all.into_iter().next() {
                Some(first) if fails == runs => first,
                _ => LevelCheck::unknown(measure, "only some of its runs differ"),
            };
        }
        check.attempts = [parents.attempts(), commits.attempts()].concat();
        Ok(check)
    }
}

fn failure_of(sample: &Sample) -> Option<&Failure> {
    sample.result.as_ref().err()
}

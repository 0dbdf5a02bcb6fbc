//! Before the answer "no regression": builds and runs both endpoints once with an empty home
//! folder. A file in the home folder that one commit leaves and another reads can hide a
//! regression, because both endpoints then show the same.

use crate::config::{ConfirmBuild, HomeUse};
use crate::evaluation::{CommitId, Finding, Outcome, Phase, Reading, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::home_evidence::{HUNT_WITH_HOME, levels};
use crate::oracle::{Observation, Request, guarded_measures};
use crate::store::journal::Event;

use super::noise::EndpointPolicy;
use super::targets::choose;

/// What the endpoints show with an empty home folder.
pub(super) enum WithEmptyHome {
    /// A regression.
    Regression,
    /// The same as with the user's home folder.
    Same,
    /// Not measured.
    Unknown,
}

impl Driver<'_> {
    /// Whether the endpoints show a regression with an empty home folder. Measures them only if a
    /// measure gives the same at both, bit for bit, and never in a hunt inside a dependency: the
    /// outer hunt confirmed the dependency's change with an empty home folder.
    pub(super) fn check_with_empty_home(
        &mut self,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
    ) -> Result<WithEmptyHome, HuntError> {
        let guards = self.guards();
        let measures = guarded_measures(&guards);
        if self.oracle.recipes.config.home != HomeUse::Checked
            || self.begun.within.is_some()
            || !measures.iter().any(|measure| is_equal(good, bad, measure))
        {
            return Ok(WithEmptyHome::Unknown);
        }
        let mut seen = Vec::new();
        for commit in [&good.commit, &bad.commit] {
            let end = match self.measure_with_empty_home(commit, &measures) {
                Err(limit @ HuntError::Limit(_)) => {
                    return self.home_is_unchecked(&limit.to_string());
                }
                end => end?,
            };
            if let Some(failure) = end.first_failure() {
                let why = format!("{} fails with an empty one: {}", commit.short(), failure.detail);
                return self.home_is_unchecked(&why);
            }
            seen.push(end);
        }
        if choose(&seen[0], &seen[1], &guards, policy).is_ok() {
            return Ok(WithEmptyHome::Regression);
        }
        if let Some(path) = self.change_in_home() {
            let why = format!("{path} changed during the hunt, and an empty one has it too");
            return self.home_is_unchecked(&why);
        }
        Ok(WithEmptyHome::Same)
    }

    /// The finding in place of "no regression" if the endpoints showed one with the user's home
    /// folder (`shown`), before the hunt began again with an empty one: settings there may make it.
    pub(super) fn gone_with_empty_home(
        &self,
        denied: Finding,
        shown: &[Target],
    ) -> Result<Finding, HuntError> {
        let candidates = self.oracle.history.commits(&self.whole())?;
        let summary = format!(
            "with your home folder the endpoints showed {}, but files there may carry results from \
             one commit to another; with an empty home folder, {}",
            levels(shown),
            denied.summary
        );
        let (outcome, next) = (Outcome::Candidates, vec![HUNT_WITH_HOME.to_owned()]);
        Ok(Finding { outcome, summary, candidates, next, ..denied })
    }

    fn home_is_unchecked(&mut self, why: &str) -> Result<WithEmptyHome, HuntError> {
        let text = format!("whether files in your home folder hide a regression is unknown: {why}");
        self.oracle.recorder.event(Event::Note { text })?;
        Ok(WithEmptyHome::Unknown)
    }

    /// One new build and one run of each measure, with an empty home folder. The build is new even
    /// if another check has just built the commit, since that one had the user's home folder.
    fn measure_with_empty_home(
        &mut self,
        commit: &CommitId,
        measures: &[String],
    ) -> Result<Observation, HuntError> {
        let look = Request::look(commit, measures, Phase::Confirm);
        let rebuild = self.oracle.recipes.config.build.confirm == ConfirmBuild::Rebuild;
        Ok(self.oracle.evaluate(Request { runs: 1, rebuild, ..look })?)
    }
}

/// Whether all runs of a measure at both endpoints are bit-identical.
pub(super) fn is_equal(good: &Observation, bad: &Observation, measure: &str) -> bool {
    let mut readings = good.readings(measure).chain(bad.readings(measure));
    let first: Option<&Reading> = readings.next();
    first.is_some_and(|first| readings.all(|one| one.same_bits(first)))
}

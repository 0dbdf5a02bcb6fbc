//! Questions about the inside of the main first bad commit, asked at it and at its worst parent.

use crate::config::Config;
use crate::evaluation::{CommitId, Culprit, FailureKind, Finding, Outcome, Phase};
use crate::oracle::{Observation, Request};

use super::HuntError;
use super::driver::Driver;

/// Why two commits cannot be compared part by part.
pub(crate) const OTHER_RECIPE: &str = "oracle.toml has another recipe for it than for its parent";

/// The two commits that are asked, and how both are built and run.
pub(crate) struct Pair {
    pub(crate) parent: CommitId,
    pub(crate) commit: CommitId,
    pub(crate) recipe: Config,
}

impl Driver<'_> {
    /// The commits to ask; `None` if there is no main first bad commit, if it does not build, if
    /// nobody wants to know, or if the two have different recipes: then what they print cannot be
    /// compared.
    pub(crate) fn pair_to_ask(&self, finding: &Finding) -> Result<Option<Pair>, HuntError> {
        let Some(culprit) = self.main_to_ask(finding) else { return Ok(None) };
        let builds = culprit.failure.as_ref().is_none_or(|it| it.kind != FailureKind::Build);
        if self.oracle.recipes.engine.within.is_some() || !builds {
            return Ok(None);
        }
        let (parent, commit) = (culprit.parent.clone(), culprit.info.commit.clone());
        let recipe = self.common_recipe(culprit)?;
        Ok(recipe.map(|recipe| Pair { parent, commit, recipe }))
    }

    /// The main first bad commit; `None` if there is none, or if nobody wants to know more of it.
    pub(crate) fn main_to_ask<'f>(&self, finding: &'f Finding) -> Option<&'f Culprit> {
        let is_asked = finding.outcome == Outcome::Culprit && self.begun.options.localize;
        finding.culprit().filter(|_| is_asked)
    }

    /// The recipe of a commit and of its worst parent; `None` if they have different ones.
    pub(crate) fn common_recipe(&self, culprit: &Culprit) -> Result<Option<Config>, HuntError> {
        let recipes = &self.oracle.recipes;
        let recipe = recipes.at(&culprit.info.commit)?;
        let is_same = recipes.at(&culprit.parent)?.text() == recipe.text();
        Ok(is_same.then_some(recipe))
    }

    /// Runs of one measure at a commit, of fresh builds. `recipe`: not the commit's own.
    pub(crate) fn inquire(
        &mut self,
        commit: &CommitId,
        measure: &str,
        runs: usize,
        recipe: Option<&Config>,
    ) -> Result<Observation, HuntError> {
        let names = [measure.to_owned()];
        let look = Request::look(commit, &names, Phase::Inquiry);
        Ok(self.oracle.evaluate(Request { runs, recipe, ..look })?)
    }
}

/// An error that a question may give: the commit is found, so a fault of the machine must not take
/// the answer away. Only a stop by the user does.
pub(crate) fn unless_stopped<T>(
    asked: Result<T, HuntError>,
    finding: &mut Finding,
    what: &str,
) -> Result<Option<T>, HuntError> {
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(HuntError::Stopped) => Err(HuntError::Stopped),
        Err(fault) => {
            note_limit(finding, &fault);
            finding.notes.push(format!("{what}: {fault}"));
            Ok(None)
        }
    }
}

/// Notes in the finding that a question is open because a limit of the hunt is reached.
pub(crate) fn note_limit(finding: &mut Finding, fault: &HuntError) {
    if let HuntError::Limit(limit) = fault {
        finding.limit = Some(limit.clone());
    }
}

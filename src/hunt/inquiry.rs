//! Extra measurements of the main first bad commit and its worst parent, to explain the change.

use crate::config::Config;
use crate::evaluation::{CommitId, Culprit, FailureKind, Finding, Outcome, Phase};
use crate::oracle::{Observation, Request};

use super::HuntError;
use super::driver::Driver;

/// Why two commits cannot be compared part by part.
pub(crate) const OTHER_RECIPE: &str =
    "oracle.toml has different recipes for the commit and its parent";

/// The two commits to compare, and their common recipe.
pub(crate) struct Pair {
    pub(crate) parent: CommitId,
    pub(crate) commit: CommitId,
    pub(crate) recipe: Config,
}

impl Driver<'_> {
    /// The commits to compare. `None` if there is no main first bad commit, if it does not build,
    /// if the user wants no explanation, or if the two have different recipes: their output cannot
    /// be compared then.
    pub(crate) fn pair_to_compare(&self, finding: &Finding) -> Result<Option<Pair>, HuntError> {
        let Some(culprit) = self.main_to_explain(finding) else { return Ok(None) };
        let builds = culprit.failure.as_ref().is_none_or(|it| it.kind != FailureKind::Build);
        if !builds {
            return Ok(None);
        }
        let (parent, commit) = (culprit.parent.clone(), culprit.info.commit.clone());
        let recipe = self.common_recipe(culprit)?;
        Ok(recipe.map(|recipe| Pair { parent, commit, recipe }))
    }

    /// The main first bad commit; `None` if there is none, or if the user wants no explanation.
    pub(crate) fn main_to_explain<'f>(&self, finding: &'f Finding) -> Option<&'f Culprit> {
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

    /// Runs of one measure at a commit, from builds of a confirmation or new ones. `recipe`: replaces
    /// the commit's own.
    pub(crate) fn measure_extra(
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

    /// Turns an error of an extra measurement into a note: the commit is found, so a machine fault
    /// must not lose the answer. An error that ends the driver remains one ([`Driver::must_end`]).
    pub(crate) fn unless_ended<T>(
        &self,
        asked: Result<T, HuntError>,
        finding: &mut Finding,
        what: &str,
    ) -> Result<Option<T>, HuntError> {
        match asked {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if self.must_end(&error) => Err(error),
            Err(fault) => {
                note_limit(finding, &fault);
                finding.notes.push(format!("{what}: {fault}"));
                Ok(None)
            }
        }
    }
}

/// Notes in the finding that a limit of the hunt prevented an extra measurement.
pub(crate) fn note_limit(finding: &mut Finding, fault: &HuntError) {
    if let HuntError::Limit(limit) = fault {
        finding.limit = Some(limit.clone());
    }
}

//! Questions about the inside of the main first bad commit, asked at it and at its worst parent.

use crate::config::Config;
use crate::evaluation::{CommitId, FailureKind, Finding, Outcome, Phase};
use crate::oracle::{Request, Sample};

use super::HuntError;
use super::driver::Driver;

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
        let main = finding.main.filter(|_| finding.outcome == Outcome::Culprit);
        let Some(culprit) = main.map(|main| &finding.culprits[main]) else { return Ok(None) };
        let builds = culprit.failure.as_ref().is_none_or(|it| it.kind != FailureKind::Build);
        let recipes = &self.oracle.recipes;
        if !self.begun.options.localize || recipes.engine.within.is_some() || !builds {
            return Ok(None);
        }
        let (parent, commit) = (culprit.parent.clone(), culprit.info.commit.clone());
        let recipe = recipes.at(&commit)?;
        let is_same = recipes.at(&parent)?.text() == recipe.text();
        Ok(is_same.then_some(Pair { parent, commit, recipe }))
    }

    /// Runs of one measure at one of the commits, of fresh builds. `recipe`: not the commit's own.
    pub(crate) fn inquire(
        &mut self,
        commit: &CommitId,
        measure: &str,
        runs: usize,
        recipe: Option<&Config>,
    ) -> Result<Vec<Sample>, HuntError> {
        let names = [measure.to_owned()];
        let look = Request::look(commit, &names, Phase::Inquiry);
        let seen = self.oracle.evaluate(Request { runs, recipe, ..look })?;
        Ok(seen.of(measure).to_vec())
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
            finding.notes.push(format!("{what}: {fault}"));
            Ok(None)
        }
    }
}

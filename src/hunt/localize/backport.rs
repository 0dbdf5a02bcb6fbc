//! In a hunt for a fix: tests the bad endpoint with the parts that make the fix. It should be good
//! then.

use crate::config::Config;
use crate::evaluation::{Backport, CommitId, Metric, Target, Trial, TrialOf, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::end_levels::backport_by_levels;
use super::isolation::{Localization, Taken};
use super::revert::EndTest;

impl Localization<'_, '_> {
    /// In a hunt for a fix: judges the bad endpoint with these parts of the change. `None` in a
    /// hunt for a regression, or if no target can be judged there.
    pub(super) fn backport(&mut self, taken: &Taken) -> Result<Option<Backport>, HuntError> {
        let targets = self.driver.judged_alone(&self.whole);
        if self.driver.terms().aim().is_regression() || targets.is_empty() {
            return Ok(None);
        }
        let [end, _] = self.driver.begun.ends().map(CommitId::clone);
        let [without, whole] = self.driver.step_trees(self.culprit, &self.change, &taken.rest)?;
        let of = TrialOf::Backported;
        let shown = self.shown(&taken.parts);
        Ok(match self.driver.test_end(&end, &[[without, whole]], of, shown, &targets)? {
            EndTest::Conflict(said) => Some(Backport::Conflict(said)),
            EndTest::Same => Some(Backport::Present),
            EndTest::Limit => None,
            EndTest::Judged { verdict, recipe, trial } => {
                let culprit = self.culprit;
                let own_step = |metric: &Metric| culprit.effect_on(metric)?.own_step;
                let told = self.driver.backported(verdict, &recipe, &trial, &targets, own_step)?;
                self.write(*trial)?;
                Some(told)
            }
        })
    }
}

impl Driver<'_> {
    /// What a test of the bad endpoint with fixes says. `recipe` builds that endpoint with them.
    /// `own_step`: what they make better of a metric, if that is known.
    pub(super) fn backported(
        &mut self,
        verdict: Verdict,
        recipe: &Config,
        trial: &Trial,
        targets: &[Target],
        own_step: impl Fn(&Metric) -> Option<f64>,
    ) -> Result<Backport, HuntError> {
        match backport_by_levels(of_verdict(verdict), trial, targets, own_step) {
            Backport::Heals => {
                let [end, _] = self.begun.ends().map(CommitId::clone);
                let broken = self.broken_by_fix(&end, recipe)?;
                Ok(broken.map_or(Backport::Heals, Backport::BreaksOther))
            }
            told => Ok(told),
        }
    }
}

/// What the verdict on the bad end with a fix says.
fn of_verdict(verdict: Verdict) -> Backport {
    match verdict {
        Verdict::Good => Backport::Heals,
        Verdict::Bad => Backport::StillBad,
        Verdict::Skip | Verdict::Unknown => Backport::Unknown,
    }
}

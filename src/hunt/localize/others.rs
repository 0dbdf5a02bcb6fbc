//! The causes inside the other first bad commits, after that of the main one.

use crate::evaluation::{Cause, CauseEnd, Culprit, Finding};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::store::journal::Event;

use super::isolation::Rank;
use super::trials::MOST_TRIALS;
use super::unknown;

impl Driver<'_> {
    /// Adds to a finding the causes inside its other first bad commits. They share the budget of
    /// the main commit's cause, which comes first.
    pub(crate) fn localize_others(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(main) = self.main_to_explain(&finding).map(|main| main.info.clone()) else {
            return Ok(finding);
        };
        // If a fault of the machine ended the tests of the main commit, make no more tests.
        let Some(first) = finding.cause.as_ref().filter(|cause| !is_stopped(cause)) else {
            return Ok(finding);
        };
        let mut made = first.tests_of_parts();
        let others: Vec<Culprit> =
            finding.culprits.iter().filter(|one| one.info != main).cloned().collect();
        for culprit in &others {
            if self.limit.is_some() {
                break;
            }
            let cause = if let Some(why) = self.over_budget(culprit, made)? {
                unknown(culprit, why)
            } else {
                let rank = Rank::Other { most_trials: MOST_TRIALS - made };
                self.cause_or_reason(culprit, rank, &mut finding)?
            };
            made += cause.tests_of_parts();
            let is_over = is_stopped(&cause);
            finding.other_causes.push(cause);
            if is_over {
                break;
            }
        }
        let is_known = finding.other_causes.len() == others.len();
        if !others.is_empty() && is_known && self.limit.is_none() {
            return self.tested_jointly(finding);
        }
        Ok(finding)
    }

    /// Why the budget allows no test of parts of this commit; `None` if it does. `made`: the tests
    /// that other commits took.
    fn over_budget(&self, culprit: &Culprit, made: usize) -> Result<Option<String>, HuntError> {
        let commit = &culprit.info.commit;
        let is_begun = self.hunt.entries()?.iter().any(
            |entry| matches!(&entry.event, Event::Localizing { commit: one, .. } if one == commit),
        );
        // A resumed hunt repeats what it has tested before, whatever the time.
        if made < MOST_TRIALS && (is_begun || !self.is_late()?) {
            return Ok(None);
        }
        // `bisect-ppl localize` works for a regression only.
        let is_regression = self.terms().aim().is_regression();
        let advice = is_regression
            .then(|| format!("; `bisect-ppl localize {}` looks for it", commit.short()));
        let advice = advice.unwrap_or_default();
        Ok(Some(format!("the tests of the other commits took the whole budget{advice}")))
    }
}

/// Whether a fault of the machine ended the tests.
fn is_stopped(cause: &Cause) -> bool {
    matches!(cause.end, CauseEnd::Stopped(_))
}

//! One clean build against a search whose builds may have kept files of other commits. If its runs
//! contradict the search, the hunt begins again with clean builds, so no other build is made for
//! the claim.

use crate::evaluation::{CommitId, Phase};
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::driver::Driver;
use crate::hunt::run_verdicts::{all_are, verdict_of_run};
use crate::hunt::verdict::{VerdictContext, write_down};
use crate::oracle::measures_of;

/// How many runs of the build must contradict the search. A single one may be a disturbed run.
const RUNS: usize = 3;

impl Driver<'_> {
    /// Why a clean build of a parent, or of the claimed commit, rejects the claim; `None` if none
    /// does. Only for a search whose builds may have kept files. Not in noise, where runs of two
    /// commits are compared in turn; not with several slots, which build all of them at the same
    /// time. A commit that fails is left to the confirmation, which knows other reasons for it.
    pub(super) fn rejection_by_clean_build(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
    ) -> Result<Option<ConfirmationOutcome>, HuntError> {
        let Claim { commit, targets, strategy, terms, .. } = claim;
        let measures = measures_of(targets);
        let keeps_files = self.oracle.recipes.config.build.mode.keeps_files();
        if !keeps_files || strategy.noisy().is_some() || self.slots() > 1 || measures.is_empty() {
            return Ok(None);
        }
        for one in parents.iter().chain([commit]) {
            let against = if one == commit { terms.older() } else { terms.newer() };
            // Further runs follow only if those so far contradict the search.
            for runs in 1..=RUNS {
                let seen = self.measure_once_more(one, &measures, runs, false)?;
                let recipe = self.oracle.recipes.at(one)?;
                let is_against = seen.first_failure().is_none()
                    && all_are(against, &seen, &strategy.targets, &recipe);
                if !is_against {
                    break;
                }
                if runs < RUNS {
                    continue;
                }
                let judgement = verdict_of_run(&seen, 0, &strategy.targets, &recipe);
                let search_number = claim.search_number;
                let place = VerdictContext { search_number, phase: Phase::Confirm, left: None };
                write_down(&mut self.oracle, &seen, &judgement, place)?;
                return Ok(Some(if one == commit {
                    ConfirmationOutcome::not_reproduced(&judgement, terms)
                } else {
                    ConfirmationOutcome::parent_already(one, &judgement, terms)
                }));
            }
        }
        Ok(None)
    }
}

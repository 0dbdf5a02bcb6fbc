//! Checks confirmed commits again if the hunt saw later that runs or builds of one commit differ.

use std::collections::BTreeMap;

use crate::evaluation::{Basis, CommitId, Phase};
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::account::Ledger;
use crate::hunt::range::SearchRange;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::{Request, measures_of};
use crate::ui::text;

use super::chance::reported_confidence;
use super::reason_to_reject;

/// A claim with a smaller confidence is more likely wrong than right.
const SUPPORTED: f64 = 0.5;

impl Driver<'_> {
    /// Computes the confidence of these confirmed commits again. A commit with too low a confidence
    /// gets more fresh runs, and becomes a candidate if they do not suffice. A claim by failure
    /// rates already expects that runs of one commit differ, so it stays if all commits flake alike
    /// and its change is still in the tree at the newer end.
    pub(crate) fn recheck(
        &mut self,
        ledger: &mut Ledger,
        claims: &[(CommitId, SearchRange)],
    ) -> Result<(), HuntError> {
        for (commit, search_range) in claims {
            let strategy = SearchStrategy::of(&search_range.targets, self.begun.options.search);
            let found = ledger.found().iter().map(|found| &found.culprit);
            let by_rates = found
                .filter(|culprit| culprit.basis == Basis::Posterior)
                .find(|culprit| culprit.info.commit == *commit);
            let lasts = match by_rates {
                Some(culprit) => {
                    let history = &self.oracle.history;
                    let [_, newer] = self.begun.ends();
                    let change = history.change_until(&culprit.parent, commit, newer)?;
                    !history.is_gone_in_part(newer, &change)
                }
                None => false,
            };
            if strategy.noisy().is_some()
                || (lasts
                    && !self.flaky_commits(&search_range.targets, search_range.terms)?.are_uneven())
            {
                continue;
            }
            let mut sides = self.oracle.history.parents(commit)?;
            sides.push(commit.clone());
            let measures = measures_of(&search_range.targets);
            let mut fresh = BTreeMap::new();
            for one in &sides {
                let look = Request::look(one, &measures, Phase::Confirm);
                fresh.insert(one, self.oracle.evaluate(look)?);
            }
            fresh.retain(|_, seen| !seen.samples.is_empty());
            let number = self.searches.saturating_sub(1);
            let claim = Claim::of(search_range, commit, &strategy, number);
            let odds = self.chance_odds(claim, &fresh)?;
            let mut confidence = reported_confidence(odds.chance());
            let mut stands = confidence >= self.wanted_confidence(odds.is_unsteady)?;
            let others = fresh.keys().copied().filter(|one| *one != commit);
            let parents: Vec<CommitId> = others.cloned().collect();
            let mut is_rejected = false;
            if !stands && !parents.is_empty() {
                let more = self.measure_afresh(claim, &parents)?;
                let verdicts = more.verdicts(&strategy, &self.oracle.recipes.config);
                confidence = reported_confidence(more.chance_of_error);
                is_rejected = reason_to_reject(commit, &parents, &verdicts, claim.terms).is_some();
                stands = confidence >= more.wanted && !is_rejected;
            }
            if stands {
                ledger.lower_confidence(commit, confidence);
                continue;
            }
            let why = reason_to_withdraw(commit, confidence, is_rejected);
            self.reopen(ledger, commit, search_range, &why)?;
        }
        Ok(())
    }

    /// Makes a candidate of a confirmed commit, beside the commits that the runs do not surely
    /// exclude.
    fn reopen(
        &mut self,
        ledger: &mut Ledger,
        commit: &CommitId,
        search_range: &SearchRange,
        why: &str,
    ) -> Result<(), HuntError> {
        let among = self.open_by_rates(search_range)?;
        let (mut among, why) = self.with_all_open(search_range, among, why)?;
        if !among.contains(commit) {
            among.push(commit.clone());
        }
        ledger.withdraw(commit, &among, why);
        Ok(())
    }
}

/// Why a confirmed commit becomes a candidate. `is_rejected`: its fresh runs, or those of a parent,
/// have another verdict than the claim.
fn reason_to_withdraw(commit: &CommitId, confidence: f64, is_rejected: bool) -> String {
    let now = if is_rejected || confidence < SUPPORTED {
        "all runs together no longer show that it made the step".to_owned()
    } else {
        format!("its confidence is now only {}", text::percent(confidence))
    };
    format!("{} was confirmed, but runs or builds of other commits differ; {now}", commit.short())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn a_claim_that_runs_no_longer_support_has_no_confidence_to_tell() {
        let said =
            |confidence, is_rejected| reason_to_withdraw(&commit('5'), confidence, is_rejected);
        let why = |end: &str| {
            format!(
                "{} was confirmed, but runs or builds of other commits differ; {end}",
                commit('5').short()
            )
        };
        assert_eq!(said(0.978_965, false), why("its confidence is now only 97.8 %"));
        let unsupported = why("all runs together no longer show that it made the step");
        assert_eq!(said(0.0, false), unsupported);
        // The confidence says nothing about a parent that shows the step too.
        assert_eq!(said(0.9999, true), unsupported);
    }
}

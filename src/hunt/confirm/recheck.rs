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
            if !stands && !parents.is_empty() {
                let more = self.measure_afresh(claim, &parents)?;
                let verdicts = more.verdicts(&strategy, &self.oracle.recipes.config);
                confidence = reported_confidence(more.chance_of_error);
                stands = confidence >= more.wanted
                    && reason_to_reject(commit, &parents, &verdicts, claim.terms).is_none();
            }
            if stands {
                ledger.lower_confidence(commit, confidence);
                continue;
            }
            let why = format!(
                "since {} was confirmed, runs or builds of other commits were seen to differ; its \
                 confidence is now only {}",
                commit.short(),
                text::figure(confidence)
            );
            let among = self.open_range(search_range)?;
            ledger.withdraw(commit, &among, why);
        }
        Ok(())
    }
}

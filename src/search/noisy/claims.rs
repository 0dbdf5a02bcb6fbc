//! The candidates that a search in noise claims, and what fresh runs that reject one change.

use super::Noisy;
use crate::search::advice::{Advice, Candidate, EndReason, MeasuredCommit};
use crate::search::belief::UntestableSpan;

/// Share of the posterior that a candidate must hold for the one confirmation after the last run.
const LEADING: f64 = 0.5;
/// Maximum number of rejected confirmations.
pub(super) const MOST_REJECTED: usize = 3;

impl Noisy<'_> {
    /// What to do when no further run may be made: one claim of the candidate in the lead, whose
    /// fresh runs decide. With rates, commits may have rates of their own, so nothing is claimed.
    pub(super) fn claim_lead(&mut self, lead: Option<UntestableSpan>) -> Advice {
        let may_claim = !self.is_lead_claimed && self.levels().is_some();
        let lead = lead.filter(|lead| may_claim && lead.mass >= LEADING);
        let Some(lead) = lead else { return Advice::Stop(EndReason::Exhausted) };
        if let Some(commit) = self.unmeasured(&lead) {
            return self.measure(commit);
        }
        self.is_lead_claimed = true;
        self.claim(lead)
    }

    /// Asks for fresh runs of a candidate and of what it is compared with.
    pub(super) fn claim(&mut self, lead: UntestableSpan) -> Advice {
        let is_cut = |commit: &usize| self.graph.parents(*commit).len() == 0;
        let mut against: Vec<MeasuredCommit> =
            lead.frontier.into_iter().map(MeasuredCommit::Commit).collect();
        if against.is_empty() || lead.span.iter().any(is_cut) {
            against.push(MeasuredCommit::Good);
        }
        let UntestableSpan { commit, span, mass, .. } = lead;
        let candidate = Candidate { commit, against, span, mass };
        self.candidate = Some(candidate.clone());
        Advice::Confirm(candidate)
    }

    /// A commit that must be measured before the candidate is claimed, if any.
    pub(super) fn unmeasured(&self, lead: &UntestableSpan) -> Option<usize> {
        let mut wanted = lead.frontier.iter().chain([&lead.commit]);
        wanted.find(|&&commit| self.samples_of(commit) == 0).copied()
    }

    /// Reports that fresh runs rejected the candidate. `fresh`: these runs and their places.
    ///
    /// The fresh runs count as samples, except in a paired search: they are not differences to the
    /// good endpoint. A paired search drops the samples of the candidate and of the commits it
    /// was compared with, but keeps those of the bad endpoint.
    pub fn rejected(&mut self, fresh: &[(MeasuredCommit, f64)]) {
        self.runs += fresh.len();
        self.rejected += 1;
        self.asked = None;
        self.current = None;
        let candidate = self.candidate.take();
        if !self.is_paired() {
            self.samples.extend(fresh.iter().filter(|(_, x)| x.is_finite()));
        } else if let Some(candidate) = candidate {
            let tip = MeasuredCommit::Commit(self.tip());
            let is_doubted = |place: &MeasuredCommit| {
                *place != tip
                    && (*place == MeasuredCommit::Commit(candidate.commit)
                        || candidate.against.contains(place))
            };
            self.samples.retain(|(place, _)| !is_doubted(place));
        }
        if self.rejected >= MOST_REJECTED {
            self.ended = Some(EndReason::Rejected);
        }
    }
}

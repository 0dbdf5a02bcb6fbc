//! Handles a step that one of several untestable commits in a row made. The hunt checks whether the
//! step lasts to the newer end, as with a found commit: a step that was undone is no answer.

use std::collections::BTreeSet;

use crate::evaluation::{Basis, CommitId, Culprit, Target};
use crate::hunt::HuntError;
use crate::hunt::confirm::effect::effects;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::why::CandidatesReason;
use crate::oracle::{Observation, measures_of};

use super::account::Ledger;
use super::culprit_status::FoundCommit;
use super::found_step::FoundStep;

impl Driver<'_> {
    /// Adds the candidates to the ledger and checks whether the step that one of them made lasts to
    /// the newer end. Returns further ranges to search.
    pub(crate) fn look_behind_span(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        commits: Vec<CommitId>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let step = if search_range.explains_levels() {
            self.step_over(search_range, &commits)?
        } else {
            None
        };
        let Some((culprit, seen)) = step else {
            ledger.enter_open(search_range, commits, CandidatesReason::Untestable);
            return Ok(Vec::new());
        };
        ledger.enter_span(culprit.clone(), commits, CandidatesReason::Untestable);
        let step = FoundStep { search_range, culprit: &culprit, seen: &seen };
        let next = match self.follow_levels_or_measure(ledger, &step) {
            Err(HuntError::Limit(limit)) => {
                ledger.note_unchecked_last(false, &limit);
                self.limit = Some(limit);
                Vec::new()
            }
            next => next?,
        };
        self.settle_account(ledger)?;
        Ok(next)
    }

    /// An untestable span hides whether one of its commits undid an earlier found step and made a
    /// larger one: then the earlier commit and the span are candidates. If values repeat, the
    /// earlier commit stays if the newer end loses its step without it.
    pub(crate) fn doubt_before_spans(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        if !whole.explains_levels() {
            return Ok(());
        }
        let repeats = self.values_repeat(&whole.targets);
        let named: Vec<Culprit> = ledger.named().cloned().collect();
        let spans: Vec<(CommitId, Vec<CommitId>)> =
            ledger.found.iter().filter_map(untestable_span).collect();
        for culprit in &named {
            let commit = &culprit.info.commit;
            let Some(among) = self.first_span_after(commit, &spans)? else { continue };
            let may_tell = repeats && culprit.basis == Basis::BitExact;
            if may_tell && self.rest_makes_the_step(culprit)? {
                continue;
            }
            let either: Vec<CommitId> = [commit].into_iter().chain(among).cloned().collect();
            let found = commit.short();
            let open = if may_tell {
                format!("no test shows that the bad end still needs {found}")
            } else {
                "runs of one commit differ".to_owned()
            };
            let why = format!(
                "{open}, and the commits after {found} cannot be tested: one of them may have \
                 undone its step and made another one",
            );
            ledger.withdraw(commit, &either, why);
        }
        Ok(())
    }

    /// The first of these untestable spans that comes after a commit.
    fn first_span_after<'s>(
        &self,
        commit: &CommitId,
        spans: &'s [(CommitId, Vec<CommitId>)],
    ) -> Result<Option<&'s [CommitId]>, HuntError> {
        for (newest, among) in spans {
            if self.oracle.history.is_ancestor(commit, newest)? {
                return Ok(Some(among.as_slice()));
            }
        }
        Ok(None)
    }

    /// The step over the candidates, as if the newest one had made it, and the newest one's runs.
    /// `None` if the newest candidate or the parent before them lacks the expected verdict.
    fn step_over(
        &mut self,
        search_range: &SearchRange,
        commits: &[CommitId],
    ) -> Result<Option<(Culprit, Observation)>, HuntError> {
        let history = &self.oracle.history;
        let verdicts = self.last_verdicts()?;
        let [older, newer] = search_range.ends();
        let is = |one: &CommitId, end: &CommitId, verdict| {
            one == end || verdicts.get(one) == Some(&verdict)
        };
        let mut newest = None;
        for one in commits {
            let mut comes_after_all = is(one, newer, search_range.terms.newer());
            for other in commits {
                comes_after_all = comes_after_all && history.is_ancestor(other, one)?;
            }
            if comes_after_all {
                newest = Some(one.clone());
            }
        }
        let mut before = BTreeSet::new();
        for one in commits {
            let parents = history.parents(one)?.into_iter();
            before.extend(parents.filter(|parent| !commits.contains(parent)));
        }
        let parent = before.into_iter().find(|one| is(one, older, search_range.terms.older()));
        let (Some(commit), Some(parent)) = (newest, parent) else { return Ok(None) };
        let measures = measures_of(&search_range.targets);
        let from = self.known_runs(&parent, &measures)?;
        let seen = self.known_runs(&commit, &measures)?;
        let config = &self.oracle.recipes.config;
        let (targets, terms) = (&search_range.targets, search_range.terms);
        let (effects, _) = effects(&seen, &[from], targets, config, terms);
        let failure = search_range.targets.iter().find_map(Target::failure).cloned();
        let culprit = Culprit {
            parents: self.oracle.history.parents(&commit)?,
            basis: Basis::Sequential,
            effects,
            failure,
            ..Culprit::bare(self.oracle.history.named(&commit)?, parent)
        };
        Ok(Some((culprit, seen)))
    }
}

/// If a span of untestable commits was found in place of a single commit: the newest of them, and
/// all.
fn untestable_span(found: &FoundCommit) -> Option<(CommitId, Vec<CommitId>)> {
    match &found.among {
        Some((among, CandidatesReason::Untestable)) if among.len() > 1 => {
            Some((found.culprit.info.commit.clone(), among.clone()))
        }
        _ => None,
    }
}

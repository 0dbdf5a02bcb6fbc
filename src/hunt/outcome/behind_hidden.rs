//! Looks behind a failure or a large step that may have hidden other steps, if the newer end shows
//! the level that was seen right after it, and behind untestable commits of which one made a step:
//! such a change may have been undone and landed again.

use std::collections::BTreeSet;

use crate::evaluation::CommitId;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::{Observation, measures_of};

use super::account::Ledger;
use super::culprit_status::CulpritStatus;
use super::range_after_mend::goes_on_from;
use super::untestable_span::untestable_span;

/// Maximum number of hidden commits whose changes are looked for in later trees.
const MOST_HIDDEN: usize = 64;
/// Maximum number of commits that are measured because they lack a hidden change.
const MOST_PLACES: usize = 3;

/// A found step that may have hidden the steps of other commits, or that one of several untestable
/// commits made.
struct Hiding {
    found: CommitId,
    /// These commits, with the found one.
    among: Vec<CommitId>,
    /// The commit after which changes of these are looked for: the one that undid the found step as
    /// a whole, or the newest of untestable commits.
    after: CommitId,
}

impl Driver<'_> {
    /// For each found commit that was undone and may have hidden others: measures commits after the
    /// mend whose trees lack the change of a hidden commit. The same after untestable commits whose
    /// step stands. If a measured commit surely has the older end's verdict, adds a mend there to
    /// the ledger and returns the range that begins there: a later commit causes what the newer end
    /// shows. Only where values repeat. `looked_at`: the found commits already checked.
    pub(crate) fn look_behind_hidden(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        looked_at: &mut BTreeSet<CommitId>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        if !whole.explains_levels() || !self.values_repeat(&whole.targets) {
            return Ok(Vec::new());
        }
        let mut next = Vec::new();
        for Hiding { found, among, after } in ledger.hiding() {
            if !looked_at.insert(found) {
                continue;
            }
            let places = self.without_a_change_of(whole, &among, &after)?;
            let Some(seen) = self.first_older(whole, &places)? else { continue };
            let before = self.known_runs(&after, &measures_of(&whole.targets))?;
            next.push(goes_on_from(ledger, whole, &seen, &before));
        }
        if !next.is_empty() {
            self.settle_account(ledger)?;
        }
        Ok(next)
    }

    /// The first commit after `after` in each part of the history whose trees lack the own change
    /// of one of these commits, or perhaps lack it. First the parts after which the change is back.
    /// A change that `after` lacks too makes no difference to its level.
    pub(crate) fn without_a_change_of(
        &self,
        search_range: &SearchRange,
        among: &[CommitId],
        after: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let newer = &search_range.newer;
        let skip = &self.begun.options.skip;
        let (mut back, mut gone) = (Vec::new(), Vec::new());
        if after == newer {
            return Ok(back);
        }
        for one in among.iter().take(MOST_HIDDEN) {
            let Some(parent) = history.parents(one)?.into_iter().next() else { continue };
            let change = history.change_until(&parent, one, newer)?;
            let absences = history.commits_perhaps_without_change(one, newer, &change)?;
            if absences.iter().any(|absence| absence.commits.contains(after)) {
                continue;
            }
            for absence in absences {
                for place in &absence.commits {
                    if place != newer
                        && !skip.contains(place)
                        && history.is_ancestor(after, place)?
                    {
                        let is_back = !absence.commits.contains(newer);
                        let places = if is_back { &mut back } else { &mut gone };
                        if !places.contains(place) {
                            places.push(place.clone());
                        }
                        break;
                    }
                }
            }
        }
        back.extend(gone);
        back.truncate(MOST_PLACES);
        Ok(back)
    }

    /// The runs of the first of these commits that surely has the older end's verdict.
    pub(super) fn first_older(
        &mut self,
        search_range: &SearchRange,
        places: &[CommitId],
    ) -> Result<Option<Observation>, HuntError> {
        let (terms, targets) = (search_range.terms, &search_range.targets);
        for place in places {
            let judgement = self.judge(place, targets)?;
            if search_range.is_older(judgement.verdict)
                && let Some(seen) = self.repeats_as(terms.older(), place, targets)?
            {
                return Ok(Some(seen));
            }
        }
        Ok(None)
    }
}

impl Ledger {
    /// The found commits that one mend undid as a whole, and that may have hidden others; and the
    /// untestable commits whose step stands.
    fn hiding(&self) -> Vec<Hiding> {
        let hiding = self.found.iter().filter_map(|found| match &found.status {
            CulpritStatus::Hides { among, undone_by: Some(by), why: None, .. } => Some(Hiding {
                found: found.culprit.info.commit.clone(),
                among: among.clone(),
                after: by.clone(),
            }),
            CulpritStatus::Stands => {
                let (newest, among) = untestable_span(found)?;
                Some(Hiding { found: newest.clone(), among, after: newest })
            }
            _ => None,
        });
        hiding.collect()
    }
}

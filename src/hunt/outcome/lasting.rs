//! Checks whether the change of a found commit lasts to the newer end. A change that was undone
//! does not explain the newer end; the hunt then goes on after the mend.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Culprit, Neighbours, Target};
use crate::git::{Change, Range};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::measures_of;
use crate::store::journal::Event;

use super::account::Ledger;
use super::found_step::{FoundStep, is_beyond_the_end};
use super::hidden_cause::WhyHidden;
use super::looks::Looks;
use super::range_after_mend::goes_on_from;
use super::replaced::are_specific;
use super::slight_difference;
use super::suspects::{UndoLocation, UndoneInPart};

/// Maximum number of commits that are measured to see whether a change lasts.
const MOST_LOOKS: usize = 2;
/// Maximum number of measured places where the change is gone from the tree.
const MOST_ABSENCES: usize = 3;

impl Driver<'_> {
    /// Checks whether the step lasts. Adds mends to the ledger; returns further ranges to search.
    pub(crate) fn check_persistence(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let mut next = Vec::new();
        if step.search_range.explains_levels() {
            next.extend(self.on_other_branches(step)?);
            if let Some((earlier, mend)) = self.landed_before(step)? {
                ledger.mended(mend);
                next.push(earlier);
            }
        }
        next.extend(self.follow_levels_or_measure(ledger, step)?);
        Ok(next)
    }

    /// Measures the later commits that name what the found one adds, and follows the levels after
    /// the step; if these decide nothing, measures other commits after it.
    pub(crate) fn follow_levels_or_measure(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        // Before the levels: they are followed through the commits measured here.
        let undone = self.undone_where_named(ledger, step)?;
        let levels = if step.search_range.explains_levels() {
            self.follow_levels(ledger, step, None)?
        } else {
            None
        };
        let mut next = levels.unwrap_or_default();
        match undone {
            _ if !next.is_empty() => {}
            Some(seen) => next.push(goes_on_from(ledger, step.search_range, &seen, step.seen)),
            None if step.search_range.targets.iter().any(drifts) => {
                if let Some(seen) = self.undone_where_text_is_gone(ledger, step)? {
                    next.push(goes_on_from(ledger, step.search_range, &seen, step.seen));
                }
            }
            None => next.extend(self.measure_after(ledger, step)?),
        }
        if next.is_empty()
            && let Some(seen) = self.undone_after_addition(ledger, step)?
        {
            next.push(goes_on_from(ledger, step.search_range, &seen, step.seen));
        }
        Ok(next)
    }

    /// Checks each found commit whose change leaves the tree, at least in part, before the hunt's
    /// newer end: the change may last only to the end of the range in which it was found. Returns
    /// further ranges to search. `looked_at`: the commits already checked.
    pub(crate) fn look_whether_all_last(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        looked_at: &mut BTreeSet<CommitId>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let [_, newer] = whole.ends();
        let culprits: Vec<Culprit> = ledger.standing_culprits().cloned().collect();
        let (mut next, mut rises) = (Vec::new(), Vec::new());
        for culprit in culprits {
            let found = &culprit.info.commit;
            if found == newer || !looked_at.insert(found.clone()) {
                continue;
            }
            let whole = &whole.moved_by(&culprit);
            match self.leave_if_gone_at_next(ledger, whole, &culprit) {
                // A limit must not discard a confirmed commit.
                Err(HuntError::Limit(limit)) => {
                    ledger.note_limit("the commit after a found one was not measured", &limit);
                    self.limit = Some(limit);
                }
                gone => {
                    if let Some(gone) = gone? {
                        next.push(gone.range);
                        if !gone.in_part {
                            continue;
                        }
                    }
                }
            }
            match self.withdraw_if_within_tolerance(ledger, whole, &culprit) {
                Err(HuntError::Limit(limit)) => {
                    ledger.note_limit("the level of a found commit was not checked", &limit);
                    self.limit = Some(limit);
                }
                other => other?,
            }
            let measures = measures_of(&whole.targets);
            let is_drifting = whole.targets.iter().any(drifts);
            if whole.explains_levels() && !is_drifting {
                let seen = self.known_runs(found, &measures)?;
                let step = FoundStep { search_range: whole, culprit: &culprit, seen: &seen };
                match self.note_later_mends(ledger, &step) {
                    // A limit must not discard a confirmed commit.
                    Err(HuntError::Limit(limit)) => {
                        ledger.note_limit("other branches were not checked", &limit);
                        self.limit = Some(limit);
                    }
                    later => rises.extend(later?),
                }
            }
            if !is_drifting
                && let Some(range) = self.after_squash_was_undone(ledger, whole, &culprit)?
            {
                next.push(range);
                continue;
            }
            let history = &self.oracle.history;
            let change = history.change_until(&culprit.parent, found, newer)?;
            // A commit that moves the lines may also take their effect away.
            let is_kept = history.commits_without_change(found, newer, &change)?.is_empty()
                && change.moves().next().is_none();
            let is_undone_by_hand = self.undone.iter().any(|one| one.found == *found);
            if is_kept && !is_undone_by_hand && !history.is_gone_in_part(newer, &change) {
                let seen = self.known_runs(found, &measures)?;
                let step = FoundStep { search_range: whole, culprit: &culprit, seen: &seen };
                if whole.explains_levels()
                    && !is_drifting
                    && !ledger.measured_after.contains(found)
                    && self.differs_slightly(&step)?
                {
                    next.extend(self.measure_after(ledger, &step)?);
                }
                continue;
            }
            // If the verdict differs from the newer end's, a search between other ends found the
            // commit.
            let verdict = self.judge(found, &whole.targets)?.verdict;
            if !whole.is_newer(verdict) {
                continue;
            }
            let seen = self.known_runs(found, &measures)?;
            let step = FoundStep { search_range: whole, culprit: &culprit, seen: &seen };
            if is_drifting {
                next.extend(self.range_after_gone_text(ledger, &step)?);
                continue;
            }
            ledger.leaves(found);
            match self.measure_after(ledger, &step) {
                Err(HuntError::Limit(limit)) => {
                    let chain = self.chain(found, newer)?;
                    self.doubt_what_is_gone(ledger, &step, &chain)?;
                    ledger.note_unchecked_last(is_beyond_the_end(&step), &limit);
                    self.limit = Some(limit);
                }
                more => next.extend(more?),
            }
        }
        self.settle_account(ledger)?;
        next.extend(self.rises_left_after_mends(ledger, rises)?);
        Ok(next)
    }

    /// Measures commits after the found one. First where the change is gone from the tree; then, if
    /// nothing shows that the change lasts, in the middle of the unmeasured commits.
    pub(super) fn measure_after(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let search_range = step.search_range;
        let [_, newer] = search_range.ends();
        let chain = self.chain(&step.culprit.info.commit, newer)?;
        let found = &step.culprit.info.commit;
        if newer == self.begun.ends()[1] {
            ledger.measured_after.push(found.clone());
        }
        let mut suspects = self.suspects(step)?;
        let absences = suspects.iter().filter(|suspect| suspect.is_absence).count();
        let change = self.oracle.history.change_until(&step.culprit.parent, found, newer)?;
        // Number of commits that removed the change's text but kept the level: they rewrote the
        // text.
        let mut idle = 0;
        // A commit without the change that is still as bad: another commit caused the same again.
        let mut done_again = None;
        let has_plain_result = self.has_plain_result(search_range)?;
        let mut next = Vec::new();
        // If runs of one commit contradict each other, equal bits are no proof of one cause, and
        // often no test of the newer end without the change decides later.
        let is_plain = !self.is_flaky && self.is_same_result(step)?;
        if has_plain_result && !is_plain && absences == 0 {
            suspects.extend(self.first_rewrite(step, &change)?);
        }
        let differs_slightly = self.differs_slightly(step)?;
        let looks = if differs_slightly || self.is_flaky {
            slight_difference::MOST_LOOKS
        } else {
            absences.clamp(MOST_LOOKS, MOST_ABSENCES)
        };
        let mut looks = Looks::new(suspects, looks, is_plain, differs_slightly, chain.len());
        while let Some(suspect) = self.next_look(step, &chain, &mut looks)? {
            if let Some(seen) = self.find_undone(ledger, search_range, step.culprit, &suspect)? {
                return Ok(vec![goes_on_from(ledger, search_range, &seen, step.seen)]);
            }
            if let Some(UndoneInPart { undone, left, seen }) =
                self.find_undone_in_part(search_range, found, &suspect)?
            {
                next.push(goes_on_from(ledger, &undone, &seen, step.seen));
                let (culprit, seen) = (step.culprit, step.seen);
                let rest = FoundStep { search_range: &left, culprit, seen };
                next.extend(self.measure_after(ledger, &rest)?);
                return Ok(next);
            }
            let UndoLocation { before, places, is_absence } = suspect;
            if is_absence && self.withdraw_if_masked(ledger, step, &places, &change)? {
                continue;
            }
            let at = places.into_iter().next().expect("a suspect has a place");
            let history = &self.oracle.history;
            // A merge that takes the other side's files rewrites nothing.
            let is_dropped = is_absence && history.drops_change(found, &at, &change)?;
            let is_doubtful = is_dropped
                || (has_plain_result && history.replaces_elsewhere(&before, &at, &change)?);
            if is_absence
                && !is_doubtful
                && self.same_levels(&search_range.targets, &before, &at)?
                && !self.differ_in_a_level(&search_range.targets, &before, &at)?
            {
                idle += 1;
                if self.oracle.history.is_restored(&at, &change) {
                    done_again = Some(at);
                }
                continue;
            }
            if is_absence
                && !is_dropped
                && (self.withdraw_if_replaced(ledger, step, [&before, &at], &change)?
                    || self.withdraw_if_mixed(ledger, found, [&before, &at], &change)?)
            {
                if let Some(by) = done_again {
                    ledger.hides(found, &self.beside_or_after(found, &by)?, WhyHidden::GoneAt(by));
                }
                return Ok(next);
            }
            if is_absence
                && (has_plain_result || is_dropped)
                && self.is_gone_and_as_bad(search_range, &at, &change)?
            {
                done_again = Some(at.clone());
            }
            // The metric is as bad there: another commit may be the cause.
            if search_range.explains_levels() {
                let via = if before == *found { &at } else { &before };
                next.extend(self.follow_levels(ledger, step, Some(via))?.unwrap_or_default());
            }
        }
        // The answer comes first: more measurements may use up the budget of runs.
        if let Some(by) = done_again {
            ledger.hides(found, &self.beside_or_after(found, &by)?, WhyHidden::GoneAt(by));
        } else if absences == 0 || idle < absences {
            self.doubt_what_is_gone(ledger, step, &chain)?;
        }
        if differs_slightly {
            next.extend(self.look_into_branches(ledger, step, &chain)?);
        }
        Ok(next)
    }

    /// Writes to the journal that at most `most` commits after a found one are measured now, to see
    /// whether its step lasts.
    pub(super) fn begin_later(&mut self, found: &CommitId, most: usize) -> Result<(), HuntError> {
        let (of, side) = (found.clone(), Neighbours::Later);
        Ok(self.oracle.recorder.event(Event::Neighbours { of, side, most })?)
    }

    /// Whether a commit lacks the change's text and still has the newer end's verdict. A missing
    /// part of the text is enough if the newer end lacks a part too and several causes can give the
    /// same failure or value.
    fn is_gone_and_as_bad(
        &mut self,
        search_range: &SearchRange,
        at: &CommitId,
        change: &Change,
    ) -> Result<bool, HuntError> {
        let judgement = self.judge(at, &search_range.targets)?;
        let history = &self.oracle.history;
        let [_, newer] = search_range.ends();
        let is_gone = |one: &CommitId| history.is_gone_in_part(one, change);
        let lacks_a_part = !are_specific(&search_range.targets) && is_gone(at) && is_gone(newer);
        Ok(search_range.is_newer(judgement.verdict)
            && (history.contains_change(at, change) == Some(false) || lacks_a_part))
    }

    /// The commits of the hunt that `by` contains and `found` does not: those after `found`, and
    /// those of branches that are merged later.
    pub(super) fn beside_or_after(
        &self,
        found: &CommitId,
        by: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let old = vec![found.clone(), self.begun.ends()[0].clone()];
        Ok(self.oracle.history.commits(&Range { old, ..Range::between(found, by) })?)
    }
}

/// Whether machine drift may move the metric. Once it does, a commit's level can be compared only
/// with a level measured beside it.
pub(super) fn drifts(target: &Target) -> bool {
    matches!(target, Target::Guard(target) if target.noise.is_some() && target.may_drift())
}

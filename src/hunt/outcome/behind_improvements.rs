//! Looks behind improvements that landed after the good end and were taken back before the bad end.
//! The commit that takes one back makes a step, but neither end has the improvement. The step that
//! the ends show was hidden by it, or lies before it.

use crate::evaluation::{
    CommitId, Culprit, GuardTarget, HiddenStep, Metric, Target, exceeds_limit,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::answer::step_sentence;
use super::between_named::Open;
use super::culprit_status::{CulpritStatus, FoundCommit, Mend};
use super::dropped_improvement::DroppedImprovement;
use super::level::{Level, is_worse, join, part};
use super::mean_level::{SURE, has_noisy_levels};

/// Maximum number of commits that brought one improvement: both sides of each are measured.
pub(super) const MOST_BROUGHT: usize = 3;

impl Driver<'_> {
    /// The search ranges around the improvements that the found commits take back: the parts of the
    /// history without a commit that brought the improvement, if the metric gets worse there by more
    /// than the found commits explain. Measures both ends of each part.
    pub(crate) fn look_behind_improvements(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let mut next = Vec::new();
        for (culprit, dropped) in self.note_dropped_improvements(ledger, whole)? {
            if dropped.brought.len() > MOST_BROUGHT {
                continue;
            }
            for ends in &dropped.parts {
                for target in &whole.moved_by(&culprit).targets {
                    if let Some(range) = self.rise_within(ledger, whole, target, ends)? {
                        join(&mut next, range);
                    }
                }
            }
        }
        Ok(next)
    }

    /// Adds to the ledger each improvement that a standing found commit takes back, if that commit
    /// does nothing else. Returns the new ones with their found commits.
    fn note_dropped_improvements(
        &self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<Vec<(Culprit, DroppedImprovement)>, HuntError> {
        let mut new = Vec::new();
        if !whole.explains_levels() {
            return Ok(new);
        }
        let history = &self.oracle.history;
        let [good, _] = whole.good_and_bad();
        let unread = self.unread_in_force()?;
        for FoundCommit { culprit, .. } in ledger.found.iter().filter(|one| is_standing(one)) {
            let (commit, parent) = (&culprit.info.commit, &culprit.parent);
            let is_known = ledger.dropped.iter().any(|dropped| dropped.by == *commit);
            // Compared with one of its parents, a merge takes back what the others never had.
            if is_known || culprit.parents.len() != 1 || !history.is_ancestor(good, parent)? {
                continue;
            }
            let mut line = vec![good.clone()];
            line.extend(self.chain(good, parent)?);
            let taken = history.takes_back(&line, commit, &unread)?;
            if let Some(dropped) = DroppedImprovement::of(&line, &taken, commit)
                && !self.restores_a_found_change(ledger, &dropped)?
            {
                new.push((culprit.clone(), dropped));
            }
        }
        ledger.dropped.extend(new.iter().map(|(_, dropped)| dropped.clone()));
        Ok(new)
    }

    /// Whether the change of another found commit is gone where the improvement was, and the commit
    /// that takes the improvement back brings that change back. Then it makes that commit's step
    /// again.
    fn restores_a_found_change(
        &self,
        ledger: &Ledger,
        dropped: &DroppedImprovement,
    ) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        let [Some(first), Some(last)] = [dropped.brought.first(), dropped.brought.last()] else {
            return Ok(false);
        };
        for FoundCommit { culprit, .. } in &ledger.found {
            let found = &culprit.info.commit;
            if *found == dropped.by || !history.is_ancestor(found, first)? {
                continue;
            }
            let change = history.change_until(&culprit.parent, found, last)?;
            if history.contains_change(last, &change) == Some(false)
                && history.contains_change(&dropped.by, &change) == Some(true)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The range between these commits, if the newer one is worse by more than the tolerance and the
    /// found commits between them do not explain that.
    fn rise_within(
        &mut self,
        ledger: &Ledger,
        whole: &SearchRange,
        target: &Target,
        ends: &[CommitId; 2],
    ) -> Result<Option<SearchRange>, HuntError> {
        let Some(guarded) = target.guard().filter(|target| has_levels(target)) else {
            return self.change_of_verdict(ledger, whole, target, ends);
        };
        let levels = if has_noisy_levels(guarded) {
            self.ends_beyond_tolerance(guarded, ends, Open::Nothing)?
        } else {
            self.rise_that_repeats(target, guarded, ends)?
        };
        let Some([from, to]) = levels else { return Ok(None) };
        let known = self.made_within(ledger, target, ends)?;
        let metric = &guarded.guard.metric;
        let steps = known.iter().filter_map(|one| one.effect_on(metric)?.own_step);
        let rise = guarded.guard.worsening(from.value, to.value);
        let rest = rise - steps.fold(0.0, |sum, step| sum + step);
        let is_open = exceeds_limit(rest, guarded.limit.max(0.0), [from.value, to.value]);
        Ok(is_open.then(|| part(whole, guarded, &from, &to)))
    }

    /// The levels of both ends of a part, if values repeat and the newer end is worse by more than
    /// the tolerance.
    fn rise_that_repeats(
        &mut self,
        target: &Target,
        guarded: &GuardTarget,
        ends: &[CommitId; 2],
    ) -> Result<Option<[Level; 2]>, HuntError> {
        for end in ends {
            self.judge(end, std::slice::from_ref(target))?;
        }
        let [older, newer] = ends;
        let (from, to) = (self.level_at(older, guarded)?, self.level_at(newer, guarded)?);
        let are_known = from.value.is_finite() && to.value.is_finite();
        Ok((are_known && is_worse(guarded, &from, &to)).then_some([from, to]))
    }

    /// The range between these commits, if only the newer one is bad, and no found commit between
    /// them explains that. For failures, rates and facts.
    fn change_of_verdict(
        &mut self,
        ledger: &Ledger,
        whole: &SearchRange,
        target: &Target,
        [older, newer]: &[CommitId; 2],
    ) -> Result<Option<SearchRange>, HuntError> {
        let targets = std::slice::from_ref(target);
        let is_older = *older == whole.older || whole.is_older(self.judge(older, targets)?.verdict);
        if !is_older || !whole.is_newer(self.judge(newer, targets)?.verdict) {
            return Ok(None);
        }
        let known = self.made_within(ledger, target, &[older.clone(), newer.clone()])?;
        Ok(known.is_empty().then(|| SearchRange {
            older: older.clone(),
            newer: newer.clone(),
            targets: targets.to_vec(),
            ..whole.clone()
        }))
    }

    /// The found commits after the first of these up to the second that move the target and were
    /// not undone before the second.
    fn made_within<'l>(
        &self,
        ledger: &'l Ledger,
        target: &Target,
        [older, newer]: &[CommitId; 2],
    ) -> Result<Vec<&'l Culprit>, HuntError> {
        let history = &self.oracle.history;
        let mut within = Vec::new();
        for FoundCommit { culprit, status, .. } in &ledger.found {
            let commit = &culprit.info.commit;
            if !culprit.breaks(target)
                || !history.is_ancestor(commit, newer)?
                || history.is_ancestor(commit, older)?
            {
                continue;
            }
            let is_undone = if let CulpritStatus::Undone { by, .. } = status {
                history.is_ancestor(by, newer)?
            } else {
                false
            };
            if !is_undone {
                within.push(culprit);
            }
        }
        Ok(within)
    }

    /// Leaves the found commits that only take an improvement back unnamed if the others explain
    /// what the bad end shows without them. The improvement counts as a mend no longer. Otherwise
    /// see [`Self::withdraw_reverts`].
    pub(crate) fn settle_dropped_improvements(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        if self.begun.options.first_only {
            return Ok(());
        }
        let (mut reverts, mut left_out, mut improved) = (Vec::new(), Vec::new(), Vec::new());
        // A revert stands again once another one, which undid its step, is left out.
        let settled = loop {
            let more = self.take_reverts(ledger, whole)?;
            if more.is_empty() {
                break Ok(());
            }
            reverts.extend(more.iter().map(|found| found.culprit.clone()));
            left_out.extend(more);
            let mut fresh = Vec::new();
            for mend in ledger.mends() {
                if self.is_by_improvement(ledger, &reverts, mend)? {
                    fresh.push(mend.clone());
                }
            }
            ledger.drop_mends(&fresh);
            improved.extend(fresh);
            if let Err(error) = self.settle_account(ledger) {
                break Err(error);
            }
        };
        if reverts.is_empty() {
            return Ok(());
        }
        let is_explained = |one: &Culprit| ledger.is_explained_without(one);
        let are_explained = ledger.has_answer() && reverts.iter().all(is_explained);
        if settled.is_ok()
            && are_explained
            && self.are_worth_their_gains(ledger, whole, &reverts)?
        {
            return self.tell_dropped_improvements(ledger, &reverts);
        }
        ledger.found.extend(left_out);
        for mend in improved {
            ledger.mended(mend);
        }
        settled?;
        self.settle_account(ledger)?;
        self.withdraw_reverts(ledger, whole, &reverts)
    }

    /// Takes the standing commits that only take an improvement back out of the ledger.
    fn take_reverts(
        &self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<Vec<FoundCommit>, HuntError> {
        self.note_dropped_improvements(ledger, whole)?;
        // What they restore may have been found since they were noted.
        for dropped in ledger.dropped.clone() {
            if self.restores_a_found_change(ledger, &dropped)? {
                ledger.dropped.retain(|one| one.by != dropped.by);
            }
        }
        let dropped = &ledger.dropped;
        let is_revert = |found: &FoundCommit| {
            let commit = &found.culprit.info.commit;
            is_standing(found) && dropped.iter().any(|one| one.by == *commit)
        };
        let (reverts, kept) = std::mem::take(&mut ledger.found).into_iter().partition(is_revert);
        ledger.found = kept;
        Ok(reverts)
    }

    /// Whether one of these commits took the improvement of a mend back: the mend lies between the
    /// commits that brought the improvement and that commit, it is not larger than that commit's
    /// step, and no found commit's lines are gone there.
    fn is_by_improvement(
        &self,
        ledger: &Ledger,
        reverts: &[Culprit],
        mend: &Mend,
    ) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        for FoundCommit { culprit, status, .. } in &ledger.found {
            let CulpritStatus::Undone { by, .. } = status else { continue };
            if *by != mend.by {
                continue;
            }
            let change = history.change_until(&culprit.parent, &culprit.info.commit, by)?;
            if history.contains_change(by, &change) == Some(false) {
                return Ok(false);
            }
        }
        for culprit in reverts {
            let dropped = ledger.dropped.iter().find(|one| one.by == culprit.info.commit);
            let first = dropped.and_then(|dropped| dropped.brought.first());
            let step = FoundCommit::new(culprit.clone()).step(mend.metric.as_ref());
            let (Some(first), Some(step)) = (first, step) else { continue };
            if mend.amount <= step + allowance(ledger, mend.metric.as_ref())
                && history.is_ancestor(first, &mend.by)?
                && history.is_ancestor(&mend.by, &culprit.parent)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records in each standing commit before one of these which improvement hid its step, and adds
    /// a note for each of these.
    fn tell_dropped_improvements(
        &self,
        ledger: &mut Ledger,
        reverts: &[Culprit],
    ) -> Result<(), HuntError> {
        for culprit in reverts {
            let until = &culprit.info.commit;
            let Some(dropped) = ledger.dropped.iter().find(|one| one.by == *until).cloned() else {
                continue;
            };
            let Some(by) = dropped.brought.first() else { continue };
            let moves_same = |found: &FoundCommit| {
                let same_metric = |one: &Metric| culprit.effect_on(one).is_some();
                let own = &found.culprit;
                own.effects.iter().any(|effect| same_metric(&effect.metric))
                    || (own.failure.is_some() && culprit.failure.is_some())
            };
            for found in ledger.found.iter_mut().filter(|found| found.stands()) {
                let commit = &found.culprit.info.commit;
                let history = &self.oracle.history;
                // Of several, the one that was taken back first hid the step first.
                let is_first = match &found.culprit.hidden {
                    Some(hidden) => history.is_ancestor(until, &hidden.until)?,
                    None => true,
                };
                if moves_same(found) && is_first && history.is_ancestor(commit, until)? {
                    found.culprit.hidden =
                        Some(HiddenStep { by: by.clone(), until: until.clone() });
                }
            }
            let step = step_sentence(culprit, ledger.terms);
            let step = step.map(|step| format!(": {step}")).unwrap_or_default();
            ledger.note(format!(
                "{} only takes back what {} brought{step}; neither end has that, so {0} is not \
                 named",
                until.short(),
                dropped.names()
            ));
        }
        Ok(())
    }
}

/// Whether the commits of a range have levels of this target that can be compared.
pub(super) fn has_levels(target: &GuardTarget) -> bool {
    !target.is_rate()
        && target.noise.is_none_or(|noise| noise.has_levels())
        && target.bad.number().is_some_and(f64::is_finite)
}

fn is_standing(found: &FoundCommit) -> bool {
    found.stands() && found.is_named()
}

/// By how much the size of a mend may differ from that of a step: the tolerance, and the noise.
fn allowance(ledger: &Ledger, metric: Option<&Metric>) -> f64 {
    let target = metric.and_then(|metric| ledger.target_on(metric));
    target.map_or(0.0, |target| target.limit.max(0.0) + SURE * ledger.error_of_rest(target))
}

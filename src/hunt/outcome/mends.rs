//! Decides which of the found commits a later mend undid.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Metric};
use crate::git::{Change, Range};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::search::ChangePresence;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, MadeBy, Mend, MendContext, depends_on_author};
use super::good_again::settle_good_again;
use super::partial_mends::{PartialMend, apply_mends_in_parts};

/// Maximum number of commits after a found commit that are listed as hidden by its step.
const MOST_HIDDEN: usize = 200;

impl Driver<'_> {
    /// Sets the status of every found commit from all mends. A mend undoes only effects on its own
    /// metric.
    pub(crate) fn settle_account(&mut self, ledger: &mut Ledger) -> Result<(), HuntError> {
        let history = self.oracle.history.commits(&self.whole())?;
        // Compute every status again: a mend may undo a commit that was found later.
        for found in ledger.found() {
            found.status = CulpritStatus::Stands;
            found.perhaps_mended_by = None;
        }
        ledger.owned_mends.clear();
        ledger.join_effects();
        let mended: Vec<Metric> =
            ledger.mends().iter().filter_map(|mend| mend.metric.clone()).collect();
        ledger.split_effects(&mended);
        let culprits: Vec<Culprit> =
            ledger.found().iter().map(|found| found.culprit.clone()).collect();
        let mut mends = self.without_merged_ones(ledger.mends(), &culprits)?;
        // The outcome of a mend depends on earlier mends.
        mends.sort_by_key(|mend| history.iter().position(|commit| *commit == mend.by));
        let mut parts = Vec::new();
        for mut mend in mends {
            let mut around = Vec::new();
            for found in &culprits {
                around.push(self.around(ledger, found, &mend)?);
            }
            self.size_in_noise(ledger, &mut mend, &mut around)?;
            self.mark_anothers(ledger, &mend, &mut around)?;
            if !self.is_flaky {
                settle_good_again(ledger.found(), &mend, &around);
            }
            let status = |ledger: &mut Ledger| -> Vec<CulpritStatus> {
                ledger.found().iter().map(|found| found.status.clone()).collect()
            };
            let before = status(ledger);
            ledger.apply_mend(&mend, &around);
            let after = status(ledger);
            let changed: Vec<usize> =
                (0..after.len()).filter(|place| before[*place] != after[*place]).collect();
            let is_unclear = |place: &usize| after[*place] == CulpritStatus::Unclear;
            let (unclear, others): (Vec<usize>, Vec<usize>) =
                changed.into_iter().partition(is_unclear);
            let is_flaky = self.is_flaky;
            let is_reduced = |place: &usize| {
                let status = &after[*place];
                !is_flaky && matches!(status, CulpritStatus::Hides { undone_by: None, .. })
            };
            let (reduced, settled): (Vec<usize>, Vec<usize>) =
                others.into_iter().partition(is_reduced);
            // If levels repeat, mends that add up to a step exactly tell more than one mend of
            // about its size, or of most of it.
            let is_unchanged = unclear.is_empty() && reduced.is_empty();
            if settled.is_empty() && (is_unchanged || mend.repeats) {
                parts.push(PartialMend { mend, around, unclear, reduced });
            }
        }
        apply_mends_in_parts(ledger.found(), &parts);
        if !self.is_flaky {
            ledger.settle_what_hides_nothing();
        }
        if ledger.has_answer() {
            self.settle_made_again(ledger, &culprits)?;
        }
        ledger.join_effects();
        Ok(())
    }

    /// Marks the undone commits whose change is back at the newer end. If only a branch undid a
    /// commit, and another line of history kept its change, the commit stands, unless a found
    /// commit landed the change again.
    fn settle_made_again(
        &self,
        ledger: &mut Ledger,
        culprits: &[Culprit],
    ) -> Result<(), HuntError> {
        let [_, newer] = self.begun.ends();
        let mut kept = Vec::new();
        for found in ledger.found() {
            let CulpritStatus::Undone { again, by } = &mut found.status else { continue };
            *again = self.is_made_again(&found.culprit, by)?;
            if !*again || !self.is_kept_beside(&found.culprit, by, newer)? {
                continue;
            }
            if self.is_landed_again(&found.culprit, culprits)? {
                kept.push(found.culprit.info.commit.clone());
            } else {
                found.status = CulpritStatus::Stands;
            }
        }
        ledger.kept_beside.extend(kept);
        Ok(())
    }

    /// Whether the text of a found commit's change is gone at the commit that undid it, and is back
    /// at the newer end, at the same place. Both may have the file under a later name.
    fn is_made_again(&self, culprit: &Culprit, by: &CommitId) -> Result<bool, HuntError> {
        let [_, newer] = self.begun.ends();
        let (parent, found) = (&culprit.parent, &culprit.info.commit);
        let history = &self.oracle.history;
        let change = history.change_until(parent, found, by)?;
        if history.contains_change(by, &change) != Some(false) {
            return Ok(false);
        }
        let change = history.change_until(parent, found, newer)?;
        Ok(history.carries_mostly(newer, &change) && self.is_at_own_place(culprit, by, &change)?)
    }

    /// Whether the newer end has the text of a found commit's change only at other places of its
    /// files: the same short line elsewhere is another commit's change. `by`: the commit that
    /// undid the found one.
    pub(super) fn is_made_elsewhere(
        &self,
        culprit: &Culprit,
        by: &CommitId,
    ) -> Result<bool, HuntError> {
        let [_, newer] = self.begun.ends();
        let history = &self.oracle.history;
        let change = history.change_until(&culprit.parent, &culprit.info.commit, newer)?;
        Ok(history.carries_mostly(newer, &change) && !self.is_at_own_place(culprit, by, &change)?)
    }

    /// Whether the newer end has a found commit's change, whose text it has, at the change's own
    /// place. `by`: the commit that undid the found one. `change`: followed to the newer end.
    fn is_at_own_place(
        &self,
        culprit: &Culprit,
        by: &CommitId,
        change: &Change,
    ) -> Result<bool, HuntError> {
        let [_, newer] = self.begun.ends();
        let mut path = self.chain(&culprit.info.commit, by)?;
        path.extend(self.chain(by, newer)?);
        Ok(self.oracle.history.carries_at_own_place(&path, change))
    }

    /// The mends without merges that only bring in a mend from a branch. That mend is counted at
    /// the commit of the branch.
    fn without_merged_ones(
        &self,
        mends: &[Mend],
        culprits: &[Culprit],
    ) -> Result<Vec<Mend>, HuntError> {
        let mut kept = Vec::new();
        for mend in mends {
            let mut is_merged = false;
            for other in mends.iter().filter(|other| other.by != mend.by) {
                is_merged = is_merged || self.brings_in(mend, other, culprits)?;
            }
            if !is_merged {
                kept.push(mend.clone());
            }
        }
        Ok(kept)
    }

    /// Whether `mend` only merges `other` in: both have the same size, and `other` is an ancestor
    /// of the commit of `mend` but not of the commit before `mend`. False if a found commit is an
    /// ancestor of `mend` but not of `other`: `mend` may have undone that commit.
    fn brings_in(
        &self,
        mend: &Mend,
        other: &Mend,
        culprits: &[Culprit],
    ) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        let Some(before) = &mend.before else { return Ok(false) };
        let is_alike = mend.metric == other.metric
            && (mend.amount - other.amount).abs() <= mend.limit.max(0.0);
        if !is_alike
            || !history.is_ancestor(&other.by, &mend.by)?
            || history.is_ancestor(&other.by, before)?
        {
            return Ok(false);
        }
        for culprit in culprits {
            let found = &culprit.info.commit;
            if history.is_ancestor(found, &mend.by)? && !history.is_ancestor(found, &other.by)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn around(
        &mut self,
        ledger: &Ledger,
        found: &Culprit,
        mend: &Mend,
    ) -> Result<MendContext, HuntError> {
        let commit = &found.info.commit;
        if !self.oracle.history.is_ancestor(commit, &mend.by)? {
            return Ok(MendContext::default());
        }
        let history = &self.oracle.history;
        let change = history.change_until(&found.parent, commit, &mend.by)?;
        let older = self.begun.ends()[0].clone();
        let range = Range { old: vec![commit.clone(), older], ..Range::between(commit, &mend.by) };
        let mut hidden = history.commits(&range)?;
        hidden.truncate(MOST_HIDDEN);
        let was_gone = match &mend.before {
            Some(before) => {
                history.is_ancestor(commit, before)?
                    && history.contains_change(before, &change) == Some(false)
            }
            None => false,
        };
        let carried = match history.contains_change(&mend.by, &change) {
            Some(false) if was_gone => ChangePresence::GoneBefore,
            Some(false) => ChangePresence::Gone,
            Some(true) if history.is_gone_in_part(&mend.by, &change) => ChangePresence::InPart,
            Some(true) => ChangePresence::Whole,
            None => ChangePresence::Unknown,
        };
        let is_reworked = history.is_reworked(&mend.by, &change);
        let parents = history.parents(&mend.by)?;
        let puts_back = |parent: &CommitId| history.restores_file(parent, &mend.by, &change);
        let is_put_back = match &mend.before {
            Some(before) if parents.contains(before) => puts_back(before),
            _ => parents.iter().all(puts_back),
        };
        let is_whole = carried == ChangePresence::Whole;
        let is_one_commits = self.is_one_commits_mend(ledger, found, mend, is_whole)?;
        let made_by = if is_one_commits { MadeBy::OneCommit } else { MadeBy::Unknown };
        let before = before(found, mend);
        let before = before.and_then(|(metric, level)| ledger.beyond_good(metric, level));
        let before = before.unwrap_or(0.0);
        Ok(MendContext {
            is_before: true,
            carried,
            is_reworked,
            is_put_back,
            made_by,
            before,
            hidden,
            ..MendContext::default()
        })
    }

    /// Whether values repeat, and the commit of a mend made the whole improvement itself: the last
    /// worse commit is its parent, and all its parents contain the found commit and are as bad.
    /// Otherwise one commit may have undone the step and another one made a smaller step.
    ///
    /// A merge of a branch without the found commit also made all of it if the last worse commit is
    /// as bad with the branch's whole change. That test costs a build, so it is made only if the
    /// answer depends on it. `is_whole`: the mend's source still has the found commit's change.
    fn is_one_commits_mend(
        &mut self,
        ledger: &Ledger,
        found: &Culprit,
        mend: &Mend,
        is_whole: bool,
    ) -> Result<bool, HuntError> {
        let (Some(before), Some(metric)) = (&mend.before, &mend.metric) else { return Ok(false) };
        let commit = &found.info.commit;
        let parents = self.oracle.history.parents(&mend.by)?;
        let Some(target) = ledger.target_on(metric).cloned() else { return Ok(false) };
        if !mend.repeats
            || self.is_flaky
            || !parents.contains(before)
            || !self.oracle.history.is_ancestor(commit, before)?
        {
            return Ok(false);
        }
        for parent in parents.iter().filter(|parent| *parent != before) {
            if !self.oracle.history.is_ancestor(commit, parent)? {
                let step = found.effect_on(metric).and_then(|effect| effect.own_step);
                let matters = is_whole
                    && parents.len() == 2
                    && step.is_some_and(|step| depends_on_author(step, mend));
                if !matters || !self.is_merges_own_fall(mend, before, parent, &target)? {
                    return Ok(false);
                }
                continue;
            }
            let level = self.level_at(parent, &target)?.value;
            let worse = ledger.beyond_good(metric, level).filter(|worse| worse.is_finite());
            let differs = worse.map(|worse| (worse - mend.left - mend.amount).abs());
            if differs.is_none_or(|differs| differs > mend.limit.max(0.0)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a mend's commit, which merges `branch` into `before`, made the improvement by its
    /// own edits.
    fn is_merges_own_fall(
        &mut self,
        mend: &Mend,
        before: &CommitId,
        branch: &CommitId,
        target: &GuardTarget,
    ) -> Result<bool, HuntError> {
        let level = self.level_at(before, target)?.value;
        let merge = Culprit::bare(self.oracle.history.named(&mend.by)?, before.clone());
        self.is_fall_of_merge_itself(&merge, branch, target, level)
    }
}

/// The mended metric and the metric's level at the found commit's parent.
fn before<'a>(found: &Culprit, mend: &'a Mend) -> Option<(&'a Metric, f64)> {
    let metric = mend.metric.as_ref()?;
    let effect = found.effect_on(metric)?;
    Some((metric, effect.parent.number()?))
}

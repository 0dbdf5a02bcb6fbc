//! In a hunt for a fix, found commits whose whole change the bad end has already. Such a commit only
//! mends what another commit broke after the bad end, so that end needs another fix. Git alone tells
//! this where values vary too much for a test of the bad end with the fix.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Target, Verdict};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, FoundCommit};
use super::mean_level::{MeanLevel, Rest, has_varying_levels};
use super::unexplained::SURE;

/// A confirmed fix that was broken again later.
struct BrokenFix {
    culprit: Culprit,
    /// The first known commit without its effect, if that is known.
    by: Option<CommitId>,
}

impl Driver<'_> {
    /// In a hunt for a fix without tests of the bad end: leaves the found commits unnamed whose
    /// whole change that end has already. A confirmed fix before such a commit, which was broken
    /// again in between, stands again. If the commits named then do not explain what the ends show,
    /// the commits up to the first good one are candidates too. Builds and runs nothing.
    pub(crate) fn settle_mended_breaks(&mut self, ledger: &mut Ledger) -> Result<(), HuntError> {
        if !self.is_fix_untestable()? {
            return Ok(());
        }
        let named: Vec<Culprit> = ledger.named().cloned().collect();
        let mends = self.those_in_bad_end(named)?;
        if mends.is_empty() {
            return Ok(());
        }
        for mend in &mends {
            for fix in self.broken_before(ledger, mend)? {
                ledger.note(broken_again(&fix, mend));
                stand_again(ledger, &fix.culprit);
            }
        }
        let is_mend = |found: &FoundCommit| {
            found.is_named() && mends.iter().any(|one| one.info == found.culprit.info)
        };
        let (left_out, kept) =
            std::mem::take(&mut ledger.found).into_iter().partition::<Vec<_>, _>(is_mend);
        ledger.found = kept;
        let mut open = Vec::new();
        for found in left_out {
            let mend = &found.culprit;
            let commit = mend.info.commit.short();
            let why = format!(
                "the bad end has the whole change of {commit} already, so {commit} only mends a \
                 later break"
            );
            if is_explained_without(ledger, mend) {
                ledger.note(format!("{commit} is not named: {why}"));
                continue;
            }
            let commits = self.up_to_first_good(ledger, mend)?;
            open.push(FoundCommit { among: Some((commits, why.into())), ..found });
        }
        ledger.found.extend(open);
        Ok(())
    }

    /// The commits whose whole change the bad end has already.
    fn those_in_bad_end(&mut self, commits: Vec<Culprit>) -> Result<Vec<Culprit>, HuntError> {
        let mut present = Vec::new();
        for culprit in commits {
            let is_present = self.has_whole_change(&culprit);
            if self.unless_faulty(is_present)? {
                present.push(culprit);
            }
        }
        Ok(present)
    }

    /// The confirmed fixes before a commit that do not stand any more, although the good end has
    /// their text, and that the bad end lacks.
    fn broken_before(
        &mut self,
        ledger: &Ledger,
        mend: &Culprit,
    ) -> Result<Vec<BrokenFix>, HuntError> {
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let mut fixes = Vec::new();
        for FoundCommit { culprit, status, among, .. } in &ledger.found {
            let is_there =
                matches!(status, CulpritStatus::Stands | CulpritStatus::Undone { again: true, .. });
            if is_there || among.is_some() || !moves_same(culprit, mend) {
                continue;
            }
            let history = &self.oracle.history;
            let commit = &culprit.info.commit;
            if !history.is_ancestor(commit, &mend.parent)? {
                continue;
            }
            let change = history.change_until(&culprit.parent, commit, &newer)?;
            if history.contains_change(&newer, &change) == Some(false) {
                continue;
            }
            let is_present = self.has_whole_change(culprit);
            if self.unless_faulty(is_present)? {
                continue;
            }
            let by = match status {
                CulpritStatus::Undone { by, .. } => Some(by.clone()),
                CulpritStatus::Hides { undone_by, .. } => undone_by.clone(),
                CulpritStatus::Stands | CulpritStatus::Unclear => None,
            };
            fixes.push(BrokenFix { culprit: culprit.clone(), by });
        }
        Ok(fixes)
    }

    /// The commits after the bad end up to the first one that is surely good before this commit; up
    /// to this commit if none is.
    fn up_to_first_good(
        &mut self,
        ledger: &Ledger,
        mend: &Culprit,
    ) -> Result<Vec<CommitId>, HuntError> {
        let own = &mend.info.commit;
        let first = self.first_good_before(ledger, mend)?;
        let [older, _] = self.begun.ends().map(CommitId::clone);
        let range = Range {
            first_parent: self.begun.options.first_parent,
            ..Range::between(&older, first.as_ref().unwrap_or(own))
        };
        let commits = self.oracle.history.commits(&range)?;
        let tested = self.left_out()?.without(&commits);
        let has_others = tested.iter().any(|one| one != own);
        Ok(if has_others { tested } else { commits })
    }

    /// The first commit before this one that was judged good, and in noise is surely within the
    /// tolerance of the good end by its stored runs.
    fn first_good_before(
        &mut self,
        ledger: &Ledger,
        mend: &Culprit,
    ) -> Result<Option<CommitId>, HuntError> {
        let repeats = self.values_repeat(&ledger.targets);
        let guards: Vec<GuardTarget> =
            ledger.targets.iter().filter_map(Target::guard).cloned().collect();
        // A failure, and how often something fails, have no level to compare.
        let have_levels = guards.len() == ledger.targets.len()
            && guards.iter().all(has_varying_levels)
            && !self.has_drifted;
        if !repeats && !have_levels {
            return Ok(None);
        }
        let verdicts = self.last_verdicts()?;
        for place in self.oracle.history.commits(&self.whole())? {
            if verdicts.get(&place) == Some(&Verdict::Good)
                && self.oracle.history.is_ancestor(&place, &mend.parent)?
                && (repeats || self.is_surely_fixed(&place, &guards)?)
            {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Whether a commit is surely within the tolerance of the good end, by the stored runs.
    fn is_surely_fixed(
        &mut self,
        commit: &CommitId,
        guards: &[GuardTarget],
    ) -> Result<bool, HuntError> {
        let good = self.begun.good.commit.clone();
        for target in guards {
            let metric = &target.guard.metric;
            let from = self.mean_level(&good, metric, 0)?;
            let to = self.mean_level(commit, metric, 0)?;
            let is_within = from.zip(to).is_some_and(|(from, to)| {
                Rest::of(MeanLevel::beyond_tolerance(target, [from, to])) == Rest::Within
            });
            if !is_within {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether two found commits move a common metric, or both mend a failure.
fn moves_same(one: &Culprit, other: &Culprit) -> bool {
    one.effects.iter().any(|effect| other.effect_on(&effect.metric).is_some())
        || (one.failure.is_some() && other.failure.is_some())
}

/// Sets the status of a found commit: its change stands.
fn stand_again(ledger: &mut Ledger, fix: &Culprit) {
    for found in ledger.found().iter_mut().filter(|found| found.has_effects_of(fix)) {
        found.status = CulpritStatus::Stands;
        found.perhaps_mended_by = None;
    }
}

/// Whether a commit that stands moves what `mend` moves, and those that stand leave at most the
/// tolerance of it, as far as the noise tells.
fn is_explained_without(ledger: &Ledger, mend: &Culprit) -> bool {
    let is_moved = ledger.named().any(|one| moves_same(one, mend));
    let is_left = ledger.accounts().iter().any(|account| {
        let error = SURE * account.error.unwrap_or(0.0);
        mend.effect_on(&account.metric).is_some() && account.left() > account.limit.max(0.0) + error
    });
    is_moved && !is_left
}

/// The note that a fix was broken again, and that `mend` mended only that.
fn broken_again(fix: &BrokenFix, mend: &Culprit) -> String {
    let by = fix.by.as_ref().map(|by| format!(" by {} at the latest", by.short()));
    format!(
        "{} was broken again{}, and {} mended that; the bad end lacks only the former",
        fix.culprit.info.commit.short(),
        by.unwrap_or_default(),
        mend.info.commit.short(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, GuardForm};
    use crate::hunt::terms::SearchTerms;
    use crate::oracle::fixture::{self, commit, effect, target};

    /// A fix of `ppl` by this much.
    fn fix(digit: char, size: f64) -> Culprit {
        Culprit { effects: vec![effect(7.0, 7.0 + size, 0.1)], ..fixture::culprit(digit, '2') }
    }

    /// The hunt's ends differ by 0.5; 3 was undone by 5.
    fn ledger(size: f64) -> Ledger {
        let sought = target(GuardForm::MaxIncrease(0.1), 7.0, 7.5);
        let mut ledger = Ledger::new(&[Target::Guard(sought)], SearchTerms::of(Aim::Fix));
        let status = CulpritStatus::Undone { by: commit('5'), again: false };
        ledger.found.push(FoundCommit { status, ..FoundCommit::new(fix('3', size)) });
        ledger
    }

    #[test]
    fn a_fix_that_stands_again_explains_what_the_ends_show_if_it_is_large_enough() {
        let is_explained = |size: f64| {
            let mut ledger = ledger(size);
            let mend = fix('8', 0.4);
            assert!(!is_explained_without(&ledger, &mend));
            stand_again(&mut ledger, &fix('3', size));
            is_explained_without(&ledger, &mend)
        };
        assert!(is_explained(0.5) && is_explained(0.45));
        assert!(!is_explained(0.3));
    }

    #[test]
    fn the_note_names_the_break_if_it_is_known() {
        let told = |by: Option<char>| {
            let fix = BrokenFix { culprit: fix('3', 0.5), by: by.map(commit) };
            broken_again(&fix, &fixture::culprit('8', '7'))
        };
        assert!(told(Some('5')).starts_with("3333333333 was broken again by 5555555555 at the"));
        assert!(told(None).starts_with("3333333333 was broken again, and 8888888888 mended that"));
    }
}

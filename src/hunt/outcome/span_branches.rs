//! The branches that a span of untestable commits merges. The tip of such a branch may be good and
//! the branch may still make the span's step: it forks off where the level was better, and the
//! merge adds what the branch got worse to the level of the other parent.

use crate::evaluation::{Basis, CommitId, Culprit, GuardTarget, Target};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::search::search;
use crate::hunt::searched::Searched;
use crate::hunt::why::CandidatesReason;

use super::account::Ledger;
use super::culprit_status::FoundCommit;
use super::level::{is_worse, part};
use super::partial_mends::EXACT;

/// A branch that a span merges, and that may have made the span's step.
pub(super) struct SpanBranch {
    /// The commits that the span gets from this branch alone.
    pub(super) commits: Vec<CommitId>,
    /// The branch from its base to its tip, if both levels are known, the branch has one base, and
    /// the span was searched for one metric.
    rise: Option<SearchRange>,
}

impl Driver<'_> {
    /// The commits right before a span: parents of its commits that are not in it and come after
    /// none of it. A path filter may leave commits between those of a span out.
    pub(super) fn parents_before(&self, span: &[CommitId]) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let mut before: Vec<CommitId> = Vec::new();
        for one in span {
            for parent in history.parents(one)? {
                let mut is_known = span.contains(&parent) || before.contains(&parent);
                for other in span {
                    is_known = is_known || history.is_ancestor(other, &parent)?;
                }
                if !is_known {
                    before.push(parent);
                }
            }
        }
        Ok(before)
    }

    /// The branches that a span merges beside the line of its step's parent, except those that did
    /// not get worse by themselves. A branch that cannot be measured may have made the step too.
    pub(super) fn branches_into_span(
        &mut self,
        search_range: &SearchRange,
        span: &[CommitId],
        step: &Culprit,
    ) -> Result<Vec<SpanBranch>, HuntError> {
        let mut branches = Vec::new();
        if self.begun.options.first_parent {
            return Ok(branches);
        }
        let line = &step.parent;
        for tip in self.parents_before(span)? {
            let bases = self.oracle.history.merge_bases(line, &tip)?;
            // The line has all commits of such a tip. Without a base, no level can be compared.
            if bases.is_empty() || bases.contains(&tip) {
                continue;
            }
            let old = vec![line.clone(), self.begun.ends()[0].clone()];
            let range = Range { old, ..Range::between(line, &tip) };
            let commits = self.oracle.history.commits(&range)?;
            if commits.is_empty() {
                continue;
            }
            // Git may have inferred the verdict.
            let verdict = self.judge(&tip, &search_range.targets)?.verdict;
            for base in &bases {
                self.judge(base, &search_range.targets)?;
            }
            let mut is_open = !search_range.is_older(verdict);
            let mut rises = Vec::new();
            let targets = search_range.targets.iter().filter_map(Target::guard);
            // A fact that keeps its value on the tip did not change there.
            for target in targets.filter(|target| target.bad.number().is_some()) {
                let Some((_, from)) = self.worst_of(&bases, target)? else { continue };
                let to = self.level_at(&tip, target)?;
                if !from.value.is_finite() || !to.value.is_finite() {
                    is_open = true;
                } else if is_worse(target, &from, &to) {
                    rises.push(part(search_range, target, &from, &to));
                }
            }
            if !is_open && rises.is_empty() {
                continue;
            }
            let is_plain = !is_open && bases.len() == 1 && search_range.targets.len() == 1;
            let rise = rises.pop().filter(|_| is_plain);
            let rise = rise.map(|rise| SearchRange { aside: Vec::new(), ..rise });
            branches.push(SpanBranch { commits, rise });
        }
        Ok(branches)
    }

    /// The commit of a merged branch that made the whole step of a span, and the range in which it
    /// was found. Only where values repeat, and only if
    ///
    /// - no other branch may have made the step,
    /// - the branch rises by as much as the span, and this commit makes the whole rise, and
    /// - the newer end loses the step without what is left there of the commit's change.
    ///
    /// Then nothing of the step is left that the span's own commits could have made.
    pub(super) fn maker_on_branch(
        &mut self,
        step: &Culprit,
        branches: &[SpanBranch],
    ) -> Result<Option<(Culprit, SearchRange)>, HuntError> {
        let [SpanBranch { rise: Some(rise), .. }] = branches else { return Ok(None) };
        let [Target::Guard(target)] = &rise.targets[..] else { return Ok(None) };
        if !is_whole_rise(step, target) || !self.values_repeat(&rise.targets) {
            return Ok(None);
        }
        let Searched::Culprit(maker, _) = search(self, rise.clone())? else { return Ok(None) };
        let history = &self.oracle.history;
        let [older, _] = self.begun.ends();
        let commit = &maker.info.commit;
        let is_brought =
            !history.is_ancestor(commit, &step.parent)? && !history.is_ancestor(commit, older)?;
        let is_maker = is_brought
            && is_whole_rise(&maker, target)
            && maker.basis == Basis::BitExact
            && self.values_repeat(&rise.targets)
            && self.rest_makes_the_step(&maker)?;
        Ok(is_maker.then(|| (*maker, rise.clone())))
    }
}

impl Ledger {
    /// Replaces a span that stands by the commit of a merged branch that made its step. False if
    /// there is no such span, or if the commit is known from another search. `newest`: the newest
    /// commit of the span.
    pub(super) fn replace_span(&mut self, newest: &CommitId, maker: &Culprit) -> bool {
        let commit = &maker.info.commit;
        let is_known = self.found.iter().any(|found| found.culprit.info.commit == *commit);
        let is_span = |found: &FoundCommit| {
            found.culprit.info.commit == *newest
                && found.stands()
                && matches!(found.among, Some((_, CandidatesReason::UntestableOrMerged)))
        };
        let Some(place) = self.found.iter().position(is_span).filter(|_| !is_known) else {
            return false;
        };
        self.found[place] = FoundCommit::new(maker.clone());
        self.note(format!("{} is merged by {} at the latest", commit.short(), newest.short()));
        true
    }
}

/// Whether a commit's own step is the rise between this target's levels, to a thousandth. False in
/// noise.
fn is_whole_rise(culprit: &Culprit, rise: &GuardTarget) -> bool {
    let own = culprit.effect_on(&rise.guard.metric).and_then(|effect| effect.own_step);
    let levels = rise.baseline.number().zip(rise.bad.number());
    let Some((own, (from, to))) = own.zip(levels) else { return false };
    let size = rise.guard.worsening(from, to);
    rise.noise.is_none() && (size - own).abs() <= EXACT * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, GuardForm};
    use crate::hunt::outcome::culprit_status::CulpritStatus;
    use crate::hunt::terms::SearchTerms;
    use crate::oracle::fixture::{commit, culprit, effect, noisy, target};

    const UP: GuardForm = GuardForm::MaxIncrease(0.1);

    fn made(digit: char, parent: char, from: f64, to: f64) -> Culprit {
        Culprit { effects: vec![effect(from, to, 0.1)], ..culprit(digit, parent) }
    }

    #[test]
    fn only_a_step_of_the_same_size_is_the_whole_rise_of_a_branch() {
        let rise = target(UP, 6.7, 7.17);
        // The levels of the two lines differ, their steps do not.
        assert!(is_whole_rise(&made('5', '4', 7.35, 7.82), &rise));
        assert!(!is_whole_rise(&made('5', '4', 7.17, 7.82), &rise));
        assert!(!is_whole_rise(&made('5', '4', 7.35, 7.75), &rise));
        assert!(!is_whole_rise(&culprit('5', '4'), &rise));
        assert!(!is_whole_rise(&made('5', '4', 7.35, 7.82), &noisy(UP, 6.7, 7.17)));
    }

    /// A ledger with a span of the commits 4 and 5 and the merged commit 7.
    fn with_span(why: CandidatesReason) -> Ledger {
        let mut ledger = Ledger::new(&[], SearchTerms::of(Aim::Regression));
        ledger.enter_span(made('5', '3', 7.35, 7.82), ['4', '5', '7'].map(commit).to_vec(), why);
        ledger
    }

    #[test]
    fn a_commit_of_a_merged_branch_replaces_the_span() {
        let maker = made('7', '6', 6.7, 7.17);
        let mut ledger = with_span(CandidatesReason::UntestableOrMerged);
        assert!(ledger.replace_span(&commit('5'), &maker));
        let named: Vec<CommitId> = ledger.named().map(|one| one.info.commit.clone()).collect();
        assert_eq!(named, [commit('7')]);
        assert_eq!(ledger.found.len(), 1);
    }

    #[test]
    fn a_span_stays_if_it_was_undone_or_has_no_branch_or_the_commit_is_known() {
        let maker = made('7', '6', 6.7, 7.17);
        let mut undone = with_span(CandidatesReason::UntestableOrMerged);
        undone.found[0].status = CulpritStatus::Undone { by: commit('8'), again: false };
        assert!(!undone.replace_span(&commit('5'), &maker));
        let mut without = with_span(CandidatesReason::Untestable);
        assert!(!without.replace_span(&commit('5'), &maker));
        let mut known = with_span(CandidatesReason::UntestableOrMerged);
        known.found.push(FoundCommit::new(maker.clone()));
        assert!(!known.replace_span(&commit('5'), &maker));
        assert!(known.found[0].among.is_some());
    }
}

//! Looks for a step and a mend after a found commit that nearly cancel each other out: the newer
//! end's level then differs from the found commit's by less than the tolerance.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Target, exceeds_limit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::found_step::FoundStep;

/// Maximum number of commits that are measured between the found commit and the newer end.
pub(super) const MOST_LOOKS: usize = 4;
/// Maximum number of measured commits on each merged branch.
const MOST_LOOKS_AT_A_BRANCH: usize = 2;

impl Driver<'_> {
    /// The middle of the longest unmeasured part of the chain. Parts whose ends have different
    /// levels come first. Commits that change nothing that builds read are no part of it. Those of
    /// `supposed` count as measured; only without `differs_slightly`, since they have no level yet.
    pub(super) fn least_known(
        &mut self,
        step: &FoundStep<'_>,
        chain: &[CommitId],
        differs_slightly: bool,
        supposed: &[CommitId],
    ) -> Result<Option<CommitId>, HuntError> {
        let mut measured = self.measured()?;
        measured.extend(supposed.iter().cloned());
        let found = &step.culprit.info.commit;
        let Some(last) = chain.last() else { return Ok(None) };
        let read: BTreeSet<CommitId> = self.read_by_builds(found, chain)?.into_iter().collect();
        let counts = |commit: &&CommitId| {
            read.contains(*commit) || measured.contains(*commit) || *commit == last
        };
        let chain: Vec<&CommitId> = chain.iter().filter(counts).collect();
        let targets = &step.search_range.targets;
        let (mut longest, mut longest_differs) = (0..0, false);
        let (mut from, mut before) = (0, found);
        for (place, &commit) in chain.iter().enumerate() {
            if measured.contains(commit) || place + 1 == chain.len() {
                let differs = differs_slightly && !self.same_levels(targets, before, commit)?;
                if place > from && (differs, place - from) > (longest_differs, longest.len()) {
                    (longest, longest_differs) = (from..place, differs);
                }
                (from, before) = (place + 1, commit);
            }
        }
        let middle = longest.start + longest.len() / 2;
        Ok((!longest.is_empty()).then(|| chain[middle].clone()))
    }

    /// If the level changes at a merge by no more than the tolerance, a step and a mend on the
    /// merged branch may have made this difference. Measures commits of that branch; returns
    /// further ranges to search.
    pub(super) fn look_into_branches(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
        chain: &[CommitId],
    ) -> Result<Vec<SearchRange>, HuntError> {
        let found = &step.culprit.info.commit;
        let targets = &step.search_range.targets;
        let mut next = Vec::new();
        for (before, at) in [found].into_iter().chain(chain).zip(chain) {
            let parents = self.oracle.history.parents(at)?;
            if parents.len() < 2 {
                continue;
            }
            let judged = self.judged()?;
            let is_known = |one: &CommitId| one == found || judged.contains(one);
            if !is_known(before) || !is_known(at) {
                continue;
            }
            if self.same_levels(targets, before, at)? {
                continue;
            }
            for tip in parents.iter().filter(|parent| *parent != before) {
                let history = &self.oracle.history;
                let bases = history.merge_bases(before, tip)?;
                let Some(base) = bases.into_iter().find(|base| base != tip) else { continue };
                if base != *found && !history.is_ancestor(found, &base)? {
                    continue;
                }
                let branch = self.chain(&base, tip)?;
                for _ in 0..MOST_LOOKS_AT_A_BRANCH {
                    let Some(inside) = self.least_known(step, &branch, true, &[])? else { break };
                    self.judge(&inside, targets)?;
                    next.extend(
                        self.follow_levels(ledger, step, Some(&inside))?.unwrap_or_default(),
                    );
                }
            }
        }
        Ok(next)
    }

    /// Whether the metric repeats, and the newer end's level differs from the found commit's, but
    /// by no more than the tolerance. No other check of the hunt looks for such a difference.
    pub(super) fn differs_slightly(&mut self, step: &FoundStep<'_>) -> Result<bool, HuntError> {
        let targets = &step.search_range.targets;
        let is_close = |target: &Target| {
            let Target::Guard(target) = target else { return false };
            let own = step.seen.level(&target.guard.metric).and_then(|level| level.number());
            let levels = own.zip(target.bad.number());
            target.noise.is_none()
                && levels.is_some_and(|(own, end)| {
                    let change = target.guard.worsening(own, end).abs();
                    !change.is_nan() && !exceeds_limit(change, target.limit.max(0.0), [own, end])
                })
        };
        let [_, newer] = step.search_range.ends();
        Ok(targets.iter().all(is_close)
            && !self.same_levels(targets, &step.culprit.info.commit, newer)?)
    }
}

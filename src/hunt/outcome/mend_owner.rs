//! Whose mend it is, by the lines that it edits. A mend that edits the lines of one found commit,
//! and none of another's, is no part of what undid that other commit.

use crate::evaluation::{CommitId, Culprit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::search::ChangePresence;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, EditedLines, FoundCommit, Mend, MendContext};
use super::owned_mend::OwnedMend;

/// The found commits before a mend, by index, as its source shows them.
#[derive(Debug, PartialEq)]
struct BySource {
    /// Their change is whole there.
    kept: Vec<usize>,
    /// Their change is not known to be whole there, and no earlier mend undid them.
    lost: Vec<usize>,
}

impl Driver<'_> {
    /// Marks the found commits with a whole change at a mend that edits only the lines of other
    /// found commits. Their steps must be as large as the mend, together. Only where everything
    /// repeats: in noise, the levels tell. `around`: one entry for each found commit. If the mend
    /// edits only the lines of one found commit and only files of its change, the ledger gets the
    /// mend with this owner.
    pub(super) fn mark_anothers(
        &self,
        ledger: &mut Ledger,
        mend: &Mend,
        around: &mut [MendContext],
    ) -> Result<(), HuntError> {
        if self.is_flaky {
            return Ok(());
        }
        let Some(BySource { kept, lost }) = by_source(&ledger.found, mend, around) else {
            return Ok(());
        };
        let mut owners = Vec::new();
        for place in lost {
            if self.edits_lines(ledger, &ledger.found[place].culprit, mend, false)? {
                owners.push(place);
            }
        }
        if owners.is_empty() || !are_as_large(&ledger.found, &owners, mend) {
            return Ok(());
        }
        let mut edits_kept = false;
        for place in kept {
            if self.edits_lines(ledger, &ledger.found[place].culprit, mend, true)? {
                edits_kept = true;
            } else {
                around[place].edits = EditedLines::AnothersOnly;
            }
        }
        let [owner] = owners[..] else { return Ok(()) };
        let culprit = &ledger.found[owner].culprit;
        if !edits_kept && self.has_only_own_files(ledger, culprit, mend)? {
            let owner = culprit.info.commit.clone();
            let (by, metric) = (mend.by.clone(), mend.metric.clone());
            ledger.owned_mends.push(OwnedMend { by, metric, owner });
        }
        Ok(())
    }

    /// Whether all commits that may have made a mend alter only files of a found commit's change.
    /// Commits that change nothing that builds read make no difference. False if one is a merge.
    fn has_only_own_files(
        &self,
        ledger: &Ledger,
        culprit: &Culprit,
        mend: &Mend,
    ) -> Result<bool, HuntError> {
        let commit = &culprit.info.commit;
        let start = self.start_of_mend(ledger, commit, mend)?;
        let history = &self.oracle.history;
        let change = history.change_until(&culprit.parent, commit, &mend.by)?;
        let chain = self.chain(&start, &mend.by)?;
        for one in self.read_by_builds(&start, &chain)? {
            let parents = history.parents(&one)?;
            let [parent] = &parents[..] else { return Ok(false) };
            if history.alters_other_files(parent, &one, &change)? {
                return Ok(false);
            }
        }
        Ok(!chain.is_empty())
    }

    /// Whether a mend edits the lines of a found commit's change, also after other commits edited
    /// them. `has_merges`: a merge may edit them too. It also counts as an edit if it brings in a
    /// branch without the change.
    fn edits_lines(
        &self,
        ledger: &Ledger,
        culprit: &Culprit,
        mend: &Mend,
        has_merges: bool,
    ) -> Result<bool, HuntError> {
        let commit = &culprit.info.commit;
        let start = self.start_of_mend(ledger, commit, mend)?;
        let history = &self.oracle.history;
        let change = history.change_until(&culprit.parent, commit, &mend.by)?;
        let mut commits = Vec::new();
        for one in history.touching(&start, &mend.by, &change)? {
            if has_merges || history.parents(&one)?.len() == 1 {
                commits.push(one);
            }
        }
        Ok(!history.editing(&commits, &change)?.is_empty())
    }

    /// The last known commit without a mend, from a found commit on: the last worse commit. If that
    /// is not known, the last earlier mend of this metric, or the found commit.
    fn start_of_mend(
        &self,
        ledger: &Ledger,
        commit: &CommitId,
        mend: &Mend,
    ) -> Result<CommitId, HuntError> {
        let history = &self.oracle.history;
        if let Some(before) = &mend.before
            && history.is_ancestor(commit, before)?
        {
            return Ok(before.clone());
        }
        let mut start = commit.clone();
        for earlier in ledger.mends() {
            if earlier.metric == mend.metric
                && earlier.by != mend.by
                && history.is_ancestor(&start, &earlier.by)?
                && history.is_ancestor(&earlier.by, &mend.by)?
            {
                start = earlier.by.clone();
            }
        }
        Ok(start)
    }
}

/// The found commits before a mend that make its metric worse. `None` if levels vary, or unless some
/// of these commits are in [`BySource::kept`] and others in [`BySource::lost`]: then the source does
/// not tell whose mend it is.
fn by_source(found: &[FoundCommit], mend: &Mend, around: &[MendContext]) -> Option<BySource> {
    let metric = mend.metric.as_ref();
    if !mend.repeats || metric.is_none() || !mend.amount.is_finite() {
        return None;
    }
    let moves_it = |place: &usize| {
        around[*place].is_before && found[*place].step(metric).is_some_and(f64::is_finite)
    };
    let is_there = |place: &usize| match &found[*place].status {
        CulpritStatus::Stands | CulpritStatus::Hides { undone_by: None, why: None, .. } => true,
        CulpritStatus::Hides { .. } | CulpritStatus::Undone { .. } | CulpritStatus::Unclear => {
            false
        }
    };
    // Short lines do not tell whether they are there. Whether the mend edits them is asked anyway.
    let is_kept = |place: &usize| around[*place].carried == ChangePresence::Whole;
    let is_lost = |place: &usize| !is_kept(place);
    let places: Vec<usize> = (0..found.len()).filter(moves_it).collect();
    let kept: Vec<usize> = places.iter().copied().filter(is_kept).collect();
    let lost: Vec<usize> = places.into_iter().filter(is_lost).filter(is_there).collect();
    (!kept.is_empty() && !lost.is_empty()).then_some(BySource { kept, lost })
}

/// Whether the steps of these found commits are together as large as a mend.
fn are_as_large(found: &[FoundCommit], places: &[usize], mend: &Mend) -> bool {
    let steps = places.iter().filter_map(|place| found[*place].step(mend.metric.as_ref()));
    mend.amount <= steps.fold(0.0, |sum, step| sum + step) + mend.limit.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Metric;
    use crate::oracle::fixture::{commit, culprit, effect};

    fn found(digit: char, step: f64) -> FoundCommit {
        let effects = vec![effect(7.0, 7.0 + step, 0.1)];
        FoundCommit::new(Culprit { effects, ..culprit(digit, '0') })
    }

    fn mend(amount: f64) -> Mend {
        Mend {
            by: commit('9'),
            before: None,
            metric: Some(Metric::of("ppl")),
            amount,
            left: 0.8,
            limit: 0.1,
            repeats: true,
        }
    }

    fn with(carried: [ChangePresence; 2]) -> Vec<MendContext> {
        let of = |carried| MendContext { is_before: true, carried, ..MendContext::default() };
        carried.map(of).to_vec()
    }

    #[test]
    fn the_source_tells_only_between_a_whole_change_and_another_that_is_there() {
        use ChangePresence::{Gone, GoneBefore, InPart, Unknown, Whole};
        let all = [found('1', 0.4), found('2', 0.8)];
        let told = |carried| by_source(&all, &mend(0.4), &with(carried));
        let one = BySource { kept: vec![0], lost: vec![1] };
        for carried in [Gone, GoneBefore, InPart, Unknown] {
            assert_eq!(told([Whole, carried]).as_ref(), Some(&one), "{carried:?}");
        }
        for carried in [[Whole, Whole], [Gone, Gone], [Unknown, Gone]] {
            assert_eq!(told(carried), None, "{carried:?}");
        }
        let varies = Mend { repeats: false, ..mend(0.4) };
        assert_eq!(by_source(&all, &varies, &with([Whole, Gone])), None);
        // An earlier mend undid the other step.
        let undone = CulpritStatus::Undone { by: commit('8'), again: false };
        let all = [found('1', 0.4), FoundCommit { status: undone, ..found('2', 0.8) }];
        assert_eq!(by_source(&all, &mend(0.4), &with([Whole, Gone])), None);
    }

    #[test]
    fn a_mend_that_is_larger_than_the_steps_of_the_edited_lines_is_more() {
        let all = [found('1', 0.8), found('2', 0.4)];
        assert!(are_as_large(&all, &[1], &mend(0.4)) && are_as_large(&all, &[1], &mend(0.2)));
        assert!(!are_as_large(&all, &[1], &mend(0.8)));
    }
}

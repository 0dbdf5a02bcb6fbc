//! Mends in the files of a found commit's own change. They tell what became of the commit where no
//! removal of its change from the newer end does.

use crate::evaluation::{CommitId, Culprit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::localize::left::EndWithoutChange;

use super::account::Ledger;
use super::culprit_status::Mend;
use super::partial_mends::EXACT;

/// The commit of a mend, and its only parent.
pub(super) struct OwnMend {
    before: CommitId,
    by: CommitId,
}

impl Driver<'_> {
    /// The mends that surely took back a found commit's step: each improved the metric by exactly
    /// that step, its commit altered only files of the found commit's change, also under later
    /// names, and none of the files of another found commit before it. Only for a commit with one
    /// effect, which is no failure.
    pub(super) fn own_mends(
        &self,
        ledger: &Ledger,
        culprit: &Culprit,
    ) -> Result<Vec<OwnMend>, HuntError> {
        let mut own = Vec::new();
        for mend in ledger.mends().iter().filter(|mend| takes_back(mend, culprit)) {
            let Some(before) = &mend.before else { continue };
            if self.oracle.history.parents(&mend.by)? == std::slice::from_ref(before)
                && self.is_in_own_files(ledger, culprit, [before, &mend.by])?
            {
                own.push(OwnMend { before: before.clone(), by: mend.by.clone() });
            }
        }
        Ok(own)
    }

    /// Whether a commit (`sides`: its parent, and it) after a found commit altered only files of
    /// that commit's change, and none of another found commit's.
    fn is_in_own_files(
        &self,
        ledger: &Ledger,
        culprit: &Culprit,
        sides: [&CommitId; 2],
    ) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        let (commit, [before, by]) = (&culprit.info.commit, sides);
        if !history.is_ancestor(commit, before)? {
            return Ok(false);
        }
        let change = history.change_until(&culprit.parent, commit, by)?;
        if history.alters_other_files(before, by, &change)? {
            return Ok(false);
        }
        for found in &ledger.found {
            let other = &found.culprit.info.commit;
            if other == commit || !history.is_ancestor(other, before)? {
                continue;
            }
            let change = history.change_until(&found.culprit.parent, other, by)?;
            if history.alters_file_of(sides, &change)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The commit of a mend in a found commit's own files, if one of the `needed` commits put these
    /// files back as they were before the mend, altered no other file, and makes the same step. For
    /// example, the file was moved aside, and later moved back.
    pub(super) fn put_back_after(
        &self,
        mends: &[OwnMend],
        culprit: &Culprit,
        needed: &[Culprit],
    ) -> Result<Option<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let found = [&culprit.parent, &culprit.info.commit];
        for OwnMend { before, by } in mends {
            for other in needed.iter().filter(|other| makes_same_step(other, culprit)) {
                let back = [&other.parent, &other.info.commit];
                if history.is_ancestor(by, back[0])?
                    && history.puts_files_back(found, [before, by], back)?
                {
                    return Ok(Some(by.clone()));
                }
            }
        }
        Ok(None)
    }

    /// The commit of a mend in a found commit's own files that took out lines of the change, if the
    /// newer end gives the same result after its lines of this change are set back to what they were
    /// before the found commit. Then another commit makes the step there.
    pub(super) fn undone_in_own_files(
        &mut self,
        mends: &[OwnMend],
        culprit: &Culprit,
    ) -> Result<Option<CommitId>, HuntError> {
        for OwnMend { before, by } in mends {
            let history = &self.oracle.history;
            let change = history.change_until(&culprit.parent, &culprit.info.commit, by)?;
            if history.takes_lines_out([before, by], &change)
                && self.newer_end_with_old_lines(culprit, None, false)?
                    == EndWithoutChange::ShowsTheSame
            {
                return Ok(Some(by.clone()));
            }
        }
        Ok(None)
    }
}

/// Whether a mend improved the metric of a commit's only effect by exactly the commit's step.
fn takes_back(mend: &Mend, culprit: &Culprit) -> bool {
    let [effect] = culprit.effects.as_slice() else { return false };
    let is_its = mend.metric.as_ref() == Some(&effect.metric);
    let step = effect.own_step.filter(|_| is_its && mend.repeats && culprit.failure.is_none());
    step.is_some_and(|step| is_equal(step, mend.amount))
}

/// Whether two commits have one effect each, on the same metric and of the same size.
fn makes_same_step(one: &Culprit, other: &Culprit) -> bool {
    let ([one], [other]) = (one.effects.as_slice(), other.effects.as_slice()) else {
        return false;
    };
    let steps = one.own_step.zip(other.own_step).filter(|_| one.metric == other.metric);
    steps.is_some_and(|(one, other)| is_equal(one, other))
}

fn is_equal(one: f64, other: f64) -> bool {
    (one - other).abs() <= EXACT * one.abs().min(other.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Effect, Metric};
    use crate::oracle::fixture::{self, commit, effect};

    fn made(effects: Vec<Effect>) -> Culprit {
        Culprit { effects, ..fixture::culprit('3', '2') }
    }

    fn mend(amount: f64) -> Mend {
        let (by, metric) = (commit('9'), Some(Metric::of("ppl")));
        Mend { by, before: None, metric, amount, left: 0.0, limit: 0.1, repeats: true }
    }

    #[test]
    fn a_mend_takes_back_a_step_of_exactly_its_size() {
        let found = made(vec![effect(7.0, 7.6, 0.1)]);
        assert!(takes_back(&mend(0.6), &found));
        // Within the tolerance is not enough: another commit may have made the rest.
        assert!(!takes_back(&mend(0.65), &found));
        assert!(!takes_back(&Mend { repeats: false, ..mend(0.6) }, &found));
        assert!(!takes_back(&Mend { metric: None, ..mend(0.6) }, &found));
        let other = Effect { metric: Metric::of("kld"), ..effect(7.0, 7.6, 0.1) };
        assert!(!takes_back(&mend(0.6), &made(vec![other.clone()])));
        assert!(!takes_back(&mend(0.6), &made(vec![effect(7.0, 7.6, 0.1), other])));
    }

    #[test]
    fn the_commit_that_puts_a_file_back_makes_the_step_again() {
        let of = |level| made(vec![effect(7.0, level, 0.1)]);
        assert!(makes_same_step(&of(8.0), &of(8.0)));
        assert!(!makes_same_step(&of(8.0), &of(8.05)));
        assert!(!makes_same_step(&made(Vec::new()), &of(8.0)));
    }
}

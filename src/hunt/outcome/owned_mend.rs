//! Mends that edit the lines of a single found commit. If the numbers add up with them, a part of
//! each step is left. Pure.

use crate::evaluation::{Account, CommitId, Metric};

use super::culprit_status::{FoundCommit, Mend};
use super::partial_mends::EXACT;

/// A mend that edits lines of one found commit, of none of the others, and no other file.
#[derive(Clone, Debug)]
pub(super) struct OwnedMend {
    pub(super) by: CommitId,
    pub(super) metric: Option<Metric>,
    /// The found commit.
    pub(super) owner: CommitId,
}

/// Whether all found commits that move a metric stand with at least a part of their step: the steps
/// minus the mends are the whole change, to a thousandth of the smallest mend, each mend is owned by
/// one of these commits, and no mends take so much of a step that only the tolerance is left.
/// `mends`: all mends of the metric.
pub(super) fn are_all_left(
    account: &Account,
    found: &[FoundCommit],
    mends: &[&Mend],
    owned: &[OwnedMend],
) -> bool {
    let metric = Some(&account.metric);
    let is_of = |owned: &OwnedMend, mend: &Mend| owned.by == mend.by && owned.metric == mend.metric;
    let owner_of =
        |mend: &Mend| owned.iter().find(|owned| is_of(owned, mend)).map(|owned| &owned.owner);
    let taken_from = |commit: &CommitId| {
        let own = mends.iter().filter(|mend| owner_of(mend) == Some(commit));
        own.fold(0.0, |sum, mend| sum + mend.amount)
    };
    let keeps_a_part = |one: &FoundCommit| {
        one.step(metric).is_none_or(|step| {
            let left = step - taken_from(&one.culprit.info.commit);
            one.stands() && one.among.is_none() && left > account.limit.max(0.0)
        })
    };
    let amount = mends.iter().fold(0.0, |sum, mend| sum + mend.amount);
    let smallest = mends.iter().fold(f64::INFINITY, |least, mend| least.min(mend.amount));
    smallest.is_finite()
        && mends.iter().all(|mend| mend.repeats && owner_of(mend).is_some())
        && account.overlap.is_none()
        && (account.rest + amount).abs() <= EXACT * smallest
        && found.iter().all(keeps_a_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Culprit;
    use crate::hunt::outcome::culprit_status::CulpritStatus;
    use crate::oracle::fixture::{commit, culprit, effect};

    /// Commit 1 makes 0.4 and commit 2 makes 0.8 worse.
    fn two() -> Vec<FoundCommit> {
        let found = |digit, step| {
            let effects = vec![effect(7.0, 7.0 + step, 0.1)];
            FoundCommit::new(Culprit { effects, ..culprit(digit, '0') })
        };
        vec![found('1', 0.4), found('2', 0.8)]
    }

    fn mend(by: char, amount: f64) -> Mend {
        Mend {
            by: commit(by),
            before: None,
            metric: Some(Metric::of("ppl")),
            amount,
            left: 0.8,
            limit: 0.1,
            repeats: true,
        }
    }

    fn owned(by: char, owner: char) -> OwnedMend {
        OwnedMend { by: commit(by), metric: Some(Metric::of("ppl")), owner: commit(owner) }
    }

    /// Whether parts of the steps of `found` are left, if the bad end is worse by `total`.
    fn are_left(total: f64, found: &[FoundCommit], mends: &[Mend], owned: &[OwnedMend]) -> bool {
        let account = Account {
            metric: Metric::of("ppl"),
            total,
            explained: 1.2,
            rest: total - 1.2,
            in_small_steps: false,
            taken_back: None,
            overlap: None,
            error: None,
            limit: 0.1,
        };
        let mends: Vec<&Mend> = mends.iter().collect();
        are_all_left(&account, found, &mends, owned)
    }

    #[test]
    fn steps_that_add_up_with_mends_in_the_lines_of_one_of_them_are_left() {
        assert!(are_left(0.8, &two(), &[mend('8', 0.4)], &[owned('8', '2')]));
        let parts = [mend('8', 0.2), mend('9', 0.2)];
        assert!(are_left(0.8, &two(), &parts, &[owned('8', '2'), owned('9', '2')]));
        // Nobody knows whose the second mend is.
        assert!(!are_left(0.8, &two(), &parts, &[owned('8', '2')]));
        // Something else moves the metric too.
        assert!(!are_left(0.78, &two(), &[mend('8', 0.4)], &[owned('8', '2')]));
        assert!(!are_left(0.8, &two(), &[], &[]));
    }

    #[test]
    fn a_step_that_a_mend_takes_as_a_whole_is_not_left() {
        assert!(!are_left(0.8, &two(), &[mend('8', 0.4)], &[owned('8', '1')]));
        assert!(!are_left(0.45, &two(), &[mend('8', 0.75)], &[owned('8', '2')]));
        let mut found = two();
        found[0].status = CulpritStatus::Unclear;
        assert!(!are_left(0.8, &found, &[mend('8', 0.4)], &[owned('8', '2')]));
        let varies = Mend { repeats: false, ..mend('8', 0.4) };
        assert!(!are_left(0.8, &two(), &[varies], &[owned('8', '2')]));
    }
}

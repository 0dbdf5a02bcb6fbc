//! A later commit that shows exactly the good end's level: what was hidden before it is gone there.
//! Pure.

use crate::evaluation::CommitId;

use super::culprit_status::{CulpritStatus, FoundCommit, Mend, MendContext};
use super::partial_mends::EXACT;

/// Marks each found commit that was undone and may have hidden others as undone by this mend, if
/// the mend contains all these commits and its level is that of the good end, to a thousandth of
/// the improvement. Whatever step was hidden is gone there, so a later commit causes what the newer
/// end shows. Only where levels repeat. `around`: one entry for each found commit.
pub(super) fn settle_good_again(found: &mut [FoundCommit], mend: &Mend, around: &[MendContext]) {
    let is_good = mend.amount.is_finite() && mend.left.abs() <= EXACT * mend.amount;
    if !mend.repeats || !is_good || mend.metric.is_none() {
        return;
    }
    for (found, around) in found.iter_mut().zip(around) {
        let commit = &found.culprit.info.commit;
        let is_gone = match &found.status {
            CulpritStatus::Hides { among, undone_by: Some(_), why: None, .. } => {
                let is_before = |one: &CommitId| one == commit || around.hidden.contains(one);
                around.is_before && among.iter().all(is_before)
            }
            _ => false,
        };
        if is_gone && found.step(mend.metric.as_ref()).is_some() {
            found.status = CulpritStatus::Undone { by: mend.by.clone(), again: false };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Culprit, Metric};
    use crate::oracle::fixture::{commit, culprit, effect};

    /// Commit 1 may have hidden commit 4, and commit 9 mends. Whether commit 1 counts as undone if
    /// the level at 9 is worse than the good end's by `left`. `after`: the commits from 2 to 9.
    fn is_undone(left: f64, after: &str, undone_by: Option<char>) -> bool {
        let status = CulpritStatus::Hides {
            among: vec![commit('1'), commit('4')],
            left: 0.8,
            undone_by: undone_by.map(commit),
            why: None,
        };
        let effects = vec![effect(7.0, 9.0, 0.1)];
        let known = FoundCommit::new(Culprit { effects, ..culprit('1', '0') });
        let mut all = [FoundCommit { status, ..known }];
        let mend = Mend {
            by: commit('9'),
            before: None,
            metric: Some(Metric::of("ppl")),
            amount: 0.8 - left,
            left,
            limit: 0.1,
            repeats: true,
        };
        let hidden = after.chars().map(commit).collect();
        let around = MendContext { is_before: true, hidden, ..MendContext::default() };
        settle_good_again(&mut all, &mend, &[around]);
        all[0].status == CulpritStatus::Undone { by: commit('9'), again: false }
    }

    #[test]
    fn nothing_hidden_is_left_where_the_level_is_the_good_ends_again() {
        assert!(is_undone(0.0, "459", Some('5')));
        // A part within the tolerance may be left.
        assert!(!is_undone(0.05, "459", Some('5')));
        // A hidden commit lies on another branch.
        assert!(!is_undone(0.0, "59", Some('5')));
        // The earlier mend left a part of the step itself.
        assert!(!is_undone(0.0, "459", None));
    }
}

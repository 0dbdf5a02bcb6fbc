//! Mends that together undid a step, although none of them undid it alone. Pure.

use super::culprit_status::{CulpritStatus, FoundCommit, Mend, MendContext};

/// Maximum number of mends that are added up.
const MOST_PARTS: usize = 6;
/// Sizes that repeat are equal if they differ by at most this share.
pub(super) const EXACT: f64 = 1e-3;

/// A mend that by itself undid no whole step.
pub(super) struct PartialMend {
    pub(super) mend: Mend,
    /// One entry for each found commit.
    pub(super) around: Vec<MendContext>,
    /// The found commits, by index, that became unclear by this mend.
    pub(super) unclear: Vec<usize>,
    /// The found commits, by index, that this mend took back but for a little rest. Another commit
    /// may have made that rest. Only where levels repeat.
    pub(super) reduced: Vec<usize>,
}

/// Marks a step as undone if several mends add up to that step, to a thousandth. Then these mends
/// did not undo the steps that each of them alone made unclear. `parts`: the mends that undid no
/// step alone, oldest first.
pub(super) fn apply_mends_in_parts(found: &mut [FoundCommit], parts: &[PartialMend]) {
    let parts = &parts[..parts.len().min(MOST_PARTS)];
    for set in 1_u32..1 << parts.len() {
        let is_taken = |i: &usize| set >> i & 1 == 1;
        let taken: Vec<&PartialMend> =
            (0..parts.len()).filter(is_taken).map(|i| &parts[i]).collect();
        let [_, .., last] = taken[..] else { continue };
        let fits = |place: &usize| do_undo(&taken, *place, &found[*place]);
        let fitting: Vec<usize> = (0..found.len()).filter(fits).collect();
        if let [one] = fitting[..] {
            let by = last.mend.by.clone();
            found[one].status = CulpritStatus::Undone { by, again: false };
            for unclear in taken.iter().flat_map(|part| &part.unclear) {
                if found[*unclear].status == CulpritStatus::Unclear {
                    found[*unclear].status = CulpritStatus::Stands;
                }
            }
        }
    }
}

/// Whether these mends together undid the step of a found commit. `place`: the commit's index.
///
/// If one of them left a little rest of the step, another commit may have made that rest. Then the
/// last mend must also bring the level back to that before the step: the rest is gone, whoever made
/// it.
fn do_undo(parts: &[&PartialMend], place: usize, found: &FoundCommit) -> bool {
    let Some(last) = parts.last() else { return false };
    let metric = last.mend.metric.as_ref();
    let is_behind = |part: &&PartialMend| {
        part.around[place].is_before
            && part.mend.metric.as_ref() == metric
            && part.reduced.iter().all(|one| *one == place)
    };
    let Some(step) = found.step(metric).filter(|_| parts.iter().all(is_behind)) else {
        return false;
    };
    let amount: f64 = parts.iter().map(|part| part.mend.amount).sum();
    let off = (step - amount).abs();
    match &found.status {
        CulpritStatus::Stands => off <= EXACT * amount,
        CulpritStatus::Hides { undone_by: None, why: None, .. } => {
            // Next to a huge step, a thousandth of the sum may be more than the rest.
            let smallest = parts.iter().map(|part| part.mend.amount).fold(f64::INFINITY, f64::min);
            let left = (last.mend.left - last.around[place].before).abs();
            off.max(left) <= EXACT * smallest
        }
        CulpritStatus::Hides { .. } | CulpritStatus::Undone { .. } | CulpritStatus::Unclear => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Culprit, Metric};
    use crate::oracle::fixture::{commit, culprit, effect};

    fn found(digit: char, step: f64, status: CulpritStatus) -> FoundCommit {
        let effects = vec![effect(7.0, 7.0 + step, 0.1)];
        let known = FoundCommit::new(Culprit { effects, ..culprit(digit, '0') });
        FoundCommit { status, ..known }
    }

    /// A mend after two found commits.
    fn part(by: char, amount: f64, left: f64) -> PartialMend {
        let mend = Mend {
            by: commit(by),
            before: None,
            metric: Some(Metric::of("ppl")),
            amount,
            left,
            limit: 0.1,
            repeats: true,
        };
        let around = vec![MendContext { is_before: true, ..MendContext::default() }; 2];
        PartialMend { mend, around, unclear: Vec::new(), reduced: Vec::new() }
    }

    fn undone(by: char) -> CulpritStatus {
        CulpritStatus::Undone { by: commit(by), again: false }
    }

    fn hides(left: f64) -> CulpritStatus {
        let among = vec![commit('1'), commit('4')];
        CulpritStatus::Hides { among, left, undone_by: None, why: None }
    }

    #[test]
    fn mends_that_add_up_to_a_step_undid_no_other_of_nearly_their_size() {
        let status = |last: f64| {
            let mut all =
                [found('1', 0.38, CulpritStatus::Unclear), found('2', 1.89, CulpritStatus::Stands)];
            let last = PartialMend { unclear: vec![0], ..part('9', last, 0.38) };
            apply_mends_in_parts(&mut all, &[part('8', 1.52, 0.75), last]);
            all.map(|found| found.status)
        };
        assert_eq!(status(0.37), [CulpritStatus::Stands, undone('9')]);
        assert_eq!(status(0.36), [CulpritStatus::Unclear, CulpritStatus::Stands]);
    }

    /// The status of a step of which a first mend left a little, after a second mend that leaves
    /// the level `left` above that of the good end.
    fn after_rest(step: f64, [first, second]: [f64; 2], left: f64) -> CulpritStatus {
        let other = found('2', 5.0, CulpritStatus::Stands);
        let mut all = [found('1', step, hides(step - first)), other];
        let first = PartialMend { reduced: vec![0], ..part('8', first, step - first) };
        apply_mends_in_parts(&mut all, &[first, part('9', second, left)]);
        let [one, other] = all.map(|found| found.status);
        assert_eq!(other, CulpritStatus::Stands);
        one
    }

    #[test]
    fn a_step_whose_rest_is_gone_too_was_undone_whoever_made_the_rest() {
        assert_eq!(after_rest(4.83, [4.4, 0.43], 0.0), undone('9'));
        // The second mend is no rest of this step, or something else is left.
        assert_eq!(after_rest(4.83, [4.4, 0.4], 0.03), hides(4.83 - 4.4));
        assert_eq!(after_rest(4.83, [4.4, 0.43], 0.2), hides(4.83 - 4.4));
        // A thousandth of such a step is more than the rest.
        let huge = 99_993.0;
        assert_eq!(after_rest(huge, [99_992.7, 0.2], 0.1), hides(huge - 99_992.7));
    }

    #[test]
    fn a_mend_that_left_a_rest_of_one_step_is_no_part_of_another() {
        // 4.4 and 0.6 would add up to the second step.
        assert_eq!(after_rest(4.83, [4.4, 0.6], 0.0), hides(4.83 - 4.4));
    }
}

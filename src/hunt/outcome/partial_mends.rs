//! Mends that together undid a step, although none of them undid it alone. Pure.

use crate::search::ChangePresence;

use super::culprit_status::{CulpritStatus, EditedLines, FoundCommit, Mend, MendContext};

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
///
/// If levels repeat and the source still has the whole change, the level must also be good at the
/// last mend, but for steps that stand: otherwise the step may be there, and it hides what is left.
/// A mend that edits only the lines of other found commits is no part of a step's undoing.
pub(super) fn apply_mends_in_parts(found: &mut [FoundCommit], parts: &[PartialMend]) {
    let parts = &parts[..parts.len().min(MOST_PARTS)];
    for set in 1_u32..1 << parts.len() {
        let is_taken = |i: &usize| set >> i & 1 == 1;
        let taken: Vec<&PartialMend> =
            (0..parts.len()).filter(is_taken).map(|i| &parts[i]).collect();
        let [_, .., last] = taken[..] else { continue };
        let fits = |place: &usize| do_undo(&taken, *place, found);
        let fitting: Vec<usize> = (0..found.len()).filter(fits).collect();
        if let [one] = fitting[..] {
            for unclear in taken.iter().flat_map(|part| &part.unclear) {
                if found[*unclear].status == CulpritStatus::Unclear {
                    found[*unclear].status = CulpritStatus::Stands;
                }
            }
            let status = status_after(last, one, found);
            found[one].status = status;
        }
    }
}

/// Whether these mends together undid the step of a found commit. `place`: the commit's index.
///
/// If one of them left a little rest of the step, another commit may have made that rest. Then the
/// last mend must also bring the level back to that before the step: the rest is gone, whoever made
/// it.
fn do_undo(parts: &[&PartialMend], place: usize, all: &[FoundCommit]) -> bool {
    let Some(last) = parts.last() else { return false };
    let (found, metric) = (&all[place], last.mend.metric.as_ref());
    let is_behind = |part: &&PartialMend| {
        part.around[place].is_before
            && part.around[place].edits == EditedLines::Any
            && part.mend.metric.as_ref() == metric
            && part.reduced.iter().all(|one| *one == place)
    };
    let Some(step) = found.step(metric).filter(|_| parts.iter().all(is_behind)) else {
        return false;
    };
    let amount: f64 = parts.iter().map(|part| part.mend.amount).sum();
    let off = (step - amount).abs();
    match &found.status {
        CulpritStatus::Stands => {
            off <= EXACT * amount && !(is_whole(last, place) && has_a_fall_twice(parts, all))
        }
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

/// The status of a found commit whose step the mends up to `last` add up to. `place`: the commit's
/// index.
fn status_after(last: &PartialMend, place: usize, all: &[FoundCommit]) -> CulpritStatus {
    let (mend, around) = (&last.mend, &last.around[place]);
    let metric = mend.metric.as_ref();
    let is_other = |i: &usize| *i != place && last.around[*i].is_before && all[*i].stands();
    let others = (0..all.len()).filter(is_other).filter_map(|i| all[i].step(metric));
    let others = others.filter(|step| step.is_finite()).fold(0.0, |sum, step| sum + step);
    let rest = mend.left - f64::max(others, around.before);
    if !is_whole(last, place) || rest <= mend.limit.max(0.0) + EXACT * mend.amount {
        return CulpritStatus::Undone { by: mend.by.clone(), again: false };
    }
    let mut among = vec![all[place].culprit.info.commit.clone()];
    among.extend(around.hidden.iter().cloned());
    CulpritStatus::Hides { among, left: mend.left, undone_by: Some(mend.by.clone()), why: None }
}

/// Whether levels repeat, and the source at this mend still has the whole change of a found commit.
fn is_whole(part: &PartialMend, place: usize) -> bool {
    part.mend.repeats && part.around[place].carried == ChangePresence::Whole
}

/// Whether two of these mends, oldest first, are one fall of the level.
fn has_a_fall_twice(parts: &[&PartialMend], all: &[FoundCommit]) -> bool {
    let is_known =
        |later: usize| (0..later).any(|earlier| are_one_fall(parts[earlier], parts[later], all));
    (1..parts.len()).any(is_known)
}

/// Whether a later mend, of which nobody knows where the level falls, may be the fall of the earlier
/// one: both end at the same level, and no found step lies between them.
fn are_one_fall(earlier: &PartialMend, later: &PartialMend, all: &[FoundCommit]) -> bool {
    let metric = later.mend.metric.as_ref();
    let is_between = |i: usize| {
        later.around[i].is_before && !earlier.around[i].is_before && all[i].step(metric).is_some()
    };
    later.mend.before.is_none()
        && earlier.mend.metric.as_ref() == metric
        && (later.mend.left - earlier.mend.left).abs() <= EXACT * later.mend.amount
        && !(0..all.len()).any(is_between)
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

    #[test]
    fn a_mend_in_the_lines_of_another_commit_is_no_part_of_the_undoing() {
        let status = |edits: EditedLines| {
            let mut all =
                [found('1', 0.4, CulpritStatus::Stands), found('2', 0.8, CulpritStatus::Stands)];
            let half = |by: char, left: f64| {
                let mut part = part(by, 0.2, left);
                part.around[0].carried = ChangePresence::Whole;
                part.around[1].carried = ChangePresence::Gone;
                part
            };
            let mut first = half('8', 1.0);
            first.around[0].edits = edits;
            apply_mends_in_parts(&mut all, &[first, half('9', 0.8)]);
            all.map(|found| found.status)
        };
        assert_eq!(status(EditedLines::Any), [undone('9'), CulpritStatus::Stands]);
        let both = [CulpritStatus::Stands, CulpritStatus::Stands];
        assert_eq!(status(EditedLines::AnothersOnly), both);
    }

    /// The status of a step of 0.4 whose text is whole, after two mends of 0.2 in other files that
    /// leave these levels above that of the good end.
    fn whole_after(left: [f64; 2]) -> CulpritStatus {
        let mut all =
            [found('1', 0.4, CulpritStatus::Stands), found('2', 5.0, CulpritStatus::Stands)];
        let whole = |by: char, left: f64| {
            let mut part = part(by, 0.2, left);
            part.around[0].carried = ChangePresence::Whole;
            part.around[0].hidden = vec![commit('4')];
            part.around[1] = MendContext::default();
            part
        };
        apply_mends_in_parts(&mut all, &[whole('8', left[0]), whole('9', left[1])]);
        let [one, other] = all.map(|found| found.status);
        assert_eq!(other, CulpritStatus::Stands);
        one
    }

    #[test]
    fn a_step_whose_text_is_whole_is_undone_only_where_the_level_is_good() {
        assert_eq!(whole_after([0.2, 0.0]), undone('9'));
        // One fall, which is known at two commits.
        assert_eq!(whole_after([0.2, 0.2]), CulpritStatus::Stands);
        // Two falls, and something is left: the step, or one that it hid.
        let among = vec![commit('1'), commit('4')];
        let undone_by = Some(commit('9'));
        let hides = CulpritStatus::Hides { among, left: 0.4, undone_by, why: None };
        assert_eq!(whole_after([0.6, 0.4]), hides);
    }
}

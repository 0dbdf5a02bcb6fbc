//! Detects that one printed set ends before the other one. Pure.

use super::entry::Entry;
use super::matching::Matching;

/// The last tensor of a set that ends early, and how many more the other one has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EarlyEnd {
    /// 0 for A, 1 for B.
    pub(super) side: usize,
    pub(super) last: String,
    pub(super) lacks: usize,
}

/// Finds a set that ends early: its last tensor has a partner, which is not the last of the other
/// set, and only tensors without a partner follow there.
pub(super) fn of(sets: [&[Entry]; 2], matched: &Matching) -> Option<EarlyEnd> {
    let partner = |side: usize| {
        let last = sets[side].len().checked_sub(1)?;
        let pair = |(a, b): &(usize, usize)| {
            let (own, other) = if side == 0 { (*a, *b) } else { (*b, *a) };
            (own == last).then_some(other)
        };
        matched.pairs.iter().find_map(pair)
    };
    (0..2).find_map(|side| {
        let (after, other) = (partner(side)? + 1, 1 - side);
        let lacks = sets[other].len() - after;
        let missing = matched.unmatched[other].iter().filter(|place| **place >= after).count();
        let last = sets[side].last()?.name.clone();
        (lacks > 0 && missing == lacks).then_some(EarlyEnd { side, last, lacks })
    })
}

//! An improvement that landed after the good end and was taken back before the bad end. Pure.

use crate::evaluation::CommitId;
use crate::git::TakenBack;
use crate::ui::text;

/// The improvement. Neither end has it, so the commit that takes it back does not explain what the
/// bad end shows: a step does that the improvement hid.
#[derive(Clone, Debug)]
pub(crate) struct DroppedImprovement {
    /// The commits that brought it, oldest first; at least one.
    pub(super) brought: Vec<CommitId>,
    /// The commit before each of these, on the same path of history.
    pub(super) before: Vec<CommitId>,
    /// The commits of `brought` that also brought other lines, which stay.
    pub(super) in_part: Vec<CommitId>,
    /// The found commit that takes it back.
    pub(super) by: CommitId,
    /// The older and the newer end of each part of the history around the commits that brought it,
    /// from the good end to the parent of `by`. Within a part, levels do not depend on it.
    pub(super) parts: Vec<[CommitId; 2]>,
}

impl DroppedImprovement {
    /// `line`: one path of commits from the good end to the parent of `by`; `taken`: what `by` takes
    /// back of what they brought. `None` if that is nothing.
    pub(super) fn of(line: &[CommitId], taken: &TakenBack, by: &CommitId) -> Option<Self> {
        let TakenBack { places, in_part } = taken;
        let ends = places.iter().map(|place| place - 1).chain([line.len() - 1]);
        let starts = [0].into_iter().chain(places.iter().copied());
        let parts = starts.zip(ends).filter(|(start, end)| start < end);
        let brought: Vec<CommitId> = places.iter().map(|place| line[*place].clone()).collect();
        (!brought.is_empty()).then(|| Self {
            before: places.iter().map(|place| line[place - 1].clone()).collect(),
            brought,
            in_part: in_part.iter().map(|place| line[*place].clone()).collect(),
            by: by.clone(),
            parts: parts.map(|(start, end)| [line[start].clone(), line[end].clone()]).collect(),
        })
    }

    /// The short names of the commits that brought it.
    pub(super) fn names(&self) -> String {
        text::joined(self.brought.iter().map(|commit| commit.short().to_owned()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    fn taken(places: &[usize]) -> TakenBack {
        TakenBack { places: places.to_vec(), ..TakenBack::default() }
    }

    #[test]
    fn the_parts_lie_before_between_and_after_the_commits_that_brought_it() {
        let line = ['1', '2', '3', '4', '5', '6'].map(commit);
        let parts = |places: &[usize]| {
            let dropped = DroppedImprovement::of(&line, &taken(places), &commit('7'));
            dropped.map(|dropped| dropped.parts)
        };
        let part = |from: char, to: char| [commit(from), commit(to)];
        assert_eq!(parts(&[]), None);
        assert_eq!(parts(&[2]), Some(vec![part('1', '2'), part('3', '6')]));
        assert_eq!(parts(&[3, 4]), Some(vec![part('1', '3'), part('5', '6')]));
        // The first commit after the good end and the last one before the revert brought it.
        assert_eq!(parts(&[1, 5]), Some(vec![part('2', '5')]));
        let taken = TakenBack { in_part: vec![5], ..taken(&[1, 5]) };
        let dropped = DroppedImprovement::of(&line, &taken, &commit('7')).unwrap();
        assert_eq!(dropped.before, ['1', '5'].map(commit));
        assert_eq!(dropped.in_part, [commit('6')]);
    }
}

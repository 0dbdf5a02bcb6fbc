//! The looks at commits after a found one, to see whether its change lasts: which commits come
//! next. With several slots, those of several looks are measured at the same time.

use std::vec;

use crate::evaluation::CommitId;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::found_step::FoundStep;
use super::suspects::UndoLocation;

/// The looks that are left.
pub(super) struct Looks {
    /// The places to look at first.
    suspects: vec::IntoIter<UndoLocation>,
    /// How many looks there may still be.
    left: usize,
    /// Whether the looks after these are at single commits, in the middle of the unmeasured ones.
    has_middles: bool,
    /// Whether the newer end's level differs a little from the found commit's. Then the levels that
    /// are known say where the next middle is.
    differs_slightly: bool,
    /// The maximum number of commits that are measured; `None` once the journal has it.
    unannounced: Option<usize>,
}

impl Looks {
    /// At most `looks` looks. `is_plain`: only at suspects. `later`: how many commits there are
    /// after the found one.
    pub(super) fn new(
        suspects: Vec<UndoLocation>,
        looks: usize,
        is_plain: bool,
        differs_slightly: bool,
        later: usize,
    ) -> Self {
        Self {
            unannounced: Some(most_measured(&suspects, looks, is_plain, later)),
            suspects: suspects.into_iter(),
            left: looks,
            has_middles: !is_plain,
            differs_slightly,
        }
    }
}

impl Driver<'_> {
    /// The next place to look at; `None` after the last one. The journal says before the first
    /// measurement that later commits are measured.
    pub(super) fn next_look(
        &mut self,
        step: &FoundStep<'_>,
        chain: &[CommitId],
        looks: &mut Looks,
    ) -> Result<Option<UndoLocation>, HuntError> {
        let Some(left) = looks.left.checked_sub(1) else { return Ok(None) };
        looks.left = left;
        let suspect = match looks.suspects.next() {
            None if looks.has_middles => {
                self.middle_suspect(step, chain, looks.differs_slightly)?
            }
            suspect => suspect,
        };
        let Some(suspect) = suspect else { return Ok(None) };
        if let Some(most) = looks.unannounced
            && self.is_unmeasured(&suspect)?
        {
            self.begin_later(&step.culprit.info.commit, most)?;
            looks.unannounced = None;
        }
        self.measure_looks_beside(step, chain, &suspect, looks)?;
        Ok(Some(suspect))
    }

    /// With several slots, measures the commits of this look and of later ones at the same time.
    /// Supposes that all of them leave the step as it is, so that no look is the last one.
    fn measure_looks_beside(
        &mut self,
        step: &FoundStep<'_>,
        chain: &[CommitId],
        suspect: &UndoLocation,
        looks: &Looks,
    ) -> Result<(), HuntError> {
        if self.slots() < 2 {
            return Ok(());
        }
        let listed = looks.suspects.as_slice();
        let listed = &listed[..listed.len().min(looks.left)];
        let mut commits = Vec::new();
        for one in [suspect].into_iter().chain(listed) {
            let found = &step.culprit.info.commit;
            commits.extend(self.places_to_judge(step.search_range, found, one)?);
        }
        if looks.has_middles && !looks.differs_slightly {
            for _ in listed.len()..looks.left {
                let Some(middle) = self.least_known(step, chain, false, &commits)? else { break };
                commits.push(middle);
            }
        }
        self.judge_beside(&commits, &step.search_range.targets)
    }

    /// The middle of the unmeasured commits after the found one, if there are any.
    fn middle_suspect(
        &mut self,
        step: &FoundStep<'_>,
        chain: &[CommitId],
        differs_slightly: bool,
    ) -> Result<Option<UndoLocation>, HuntError> {
        let middle = self.least_known(step, chain, differs_slightly, &[])?;
        Ok(middle.map(|commit| {
            let before = step.culprit.info.commit.clone();
            UndoLocation { before, places: vec![commit], is_absence: false }
        }))
    }

    /// Whether the hunt has not measured one of the suspect's commits yet.
    fn is_unmeasured(&self, suspect: &UndoLocation) -> Result<bool, HuntError> {
        let measured = self.measured()?;
        let mut commits = suspect.places.iter().chain([&suspect.before]);
        Ok(commits.any(|commit| !measured.contains(commit)))
    }
}

/// The maximum number of commits that are measured after a found one. Each look measures the
/// commits of one suspect. If no suspect is left and `is_plain` is false, a look measures a single
/// commit before the newer end, which is the last of the `later` commits.
fn most_measured(suspects: &[UndoLocation], looks: usize, is_plain: bool, later: usize) -> usize {
    let listed = suspects.iter().take(looks).map(|suspect| suspect.places.len() + 1);
    let middles = if is_plain { 0 } else { looks.saturating_sub(suspects.len()) };
    listed.sum::<usize>() + middles.min(later.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn the_looks_measure_what_the_suspects_list_and_then_single_commits() {
        let places = ['3', '5'].map(commit).to_vec();
        let suspects = [UndoLocation { before: commit('2'), places, is_absence: true }];
        assert_eq!(most_measured(&[], 2, false, 9), 2);
        assert_eq!(most_measured(&suspects, 2, false, 9), 4);
        assert_eq!(most_measured(&suspects, 2, true, 9), 3);
        // The newer end is the only later commit.
        assert_eq!(most_measured(&[], 2, false, 1), 0);
    }
}

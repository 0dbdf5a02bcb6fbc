//! Looks for the cause among the edits of moved code, before the files are taken apart.
//!
//! A commit that moves code to a new file rarely builds without one of its files. So all of the
//! change but the edits is one block here. If the cause is no edit, the usual search follows.

use crate::hunt::HuntError;
use crate::search::{self, Isolated, IsolationEnd, Parts, Tested};

use super::change::Part;
use super::clues::Clues;
use super::isolation::{Found, Localization};

/// No edits are looked at if the change has more parts.
const MOST_PARTS: usize = 300;

/// Maximum number of tests of edits, with and without the block.
const MOST_TRIALS: usize = 20;

/// The weight of an edit in the order of the tests. Every other part has a weight of 1, which is so
/// little that each tested set is the whole block and some of the edits.
const EDIT: u32 = 20;

impl Localization<'_, '_> {
    /// The smallest set of edits of moved code that makes the step; `None` if the change has no
    /// edits, or if the edits do not make the step.
    pub(super) fn isolated_edits(&mut self, whole: &[Part]) -> Result<Option<Found>, HuntError> {
        let Some(mut all) = self.change.with_edits_apart(whole)? else { return Ok(None) };
        if all.len() > MOST_PARTS {
            return Ok(None);
        }
        all.sort_by_key(|part| part.is_edit());
        let block = all.iter().filter(|part| !part.is_edit()).count();
        let clues = Clues::of(&self.change, &all, self.culprit, &self.built)?;
        let mut hints = clues.hints();
        for (number, weight) in &mut hints.weights {
            *weight = if *number < block { 1 } else { EDIT };
        }
        // A ring: each part of the block needs the next one.
        let ring: Vec<(usize, usize)> = (0..block).map(|at| (at, (at + 1) % block)).collect();
        hints.learn(&ring);
        let chosen = |parts: &Parts| parts.iter().map(|number| all[*number]).collect::<Vec<_>>();
        let numbers: Vec<usize> = (0..all.len()).collect();
        let most = self.trials.len() + MOST_TRIALS;
        let Isolated { parts, context, end } =
            search::isolate(&Parts::new(), &numbers, hints, all.len(), |parts| {
                if self.trials.len() >= most {
                    return Ok(None);
                }
                self.tested_with(&clues, parts, &chosen(parts))
            })?;
        let (parts, context) = (chosen(&parts), chosen(&context));
        if !parts.iter().all(|part| part.is_edit()) {
            return Ok(None);
        }
        if end == IsolationEnd::FewEnough && parts.len() > 1 {
            return Ok(Some(self.isolate(&context, &parts, 1)?.0));
        }
        let is_minimal = end != IsolationEnd::Spent;
        Ok(Some(Found { parts, context, is_minimal, alone: None }))
    }

    /// Tests a set of parts for the search, with what a failure tells about missing parts. `set`:
    /// the numbers of the parts among those of the clues.
    pub(super) fn tested_with(
        &mut self,
        clues: &Clues,
        set: &Parts,
        parts: &[Part],
    ) -> Result<Option<Tested>, HuntError> {
        let Some((shows, place)) = self.test(parts)? else { return Ok(None) };
        let said = self.said.get(&place).map(Vec::as_slice).unwrap_or_default();
        Ok(Some(Tested { shows, needs: clues.lacking(said, set) }))
    }
}

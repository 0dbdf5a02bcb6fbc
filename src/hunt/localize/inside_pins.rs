//! Takes a named commit's move of a submodule's pin out of the newer end, if later commits moved
//! the pin on. Two pins have no lines to merge, but the submodule's files have: the difference
//! between the two commits of the first move is taken out of the files at the end's pin, as
//! `git revert` in the submodule does.
//!
//! The submodule is laid into the end as plain files. A build may ask git for the submodule's
//! version, and then shows something else for this reason alone. So the end with the submodule as
//! plain files, and nothing taken out, must show what the end shows.

use crate::config::Config;
use crate::evaluation::{
    ChangePart, CommitId, Culprit, Revert, Target, TreeEntry, TrialOf, WholeChange,
};
use crate::git::{Conflicts, submodule_entries};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::isolation::{Localization, Taken};
use super::own_head::shows_end;
use super::patched::Patched;
use super::pin_moves::moved_by;
use super::reversal::Reversal;
use super::revert::{EndTest, Reverted};

/// The files of the submodules that a named commit moved and later commits moved on.
#[derive(Default)]
struct MovedOn {
    /// Where the submodules are.
    paths: Vec<String>,
    /// Their files before the named commit, with it, and at the newer end.
    before: Vec<TreeEntry>,
    after: Vec<TreeEntry>,
    at_end: Vec<TreeEntry>,
}

impl Localization<'_, '_> {
    /// What the newer endpoint shows without these parts of the change, if they move pins that
    /// later commits moved on. `None` if there is no such pin, or if the test does not tell.
    /// `shown`: the parts as people see them.
    ///
    /// If later commits rewrote lines that the move changed, the files get these lines as they were
    /// before the move. Then the test counts only if the endpoint keeps its verdict.
    pub(super) fn reverted_inside(
        &mut self,
        taken: &Taken,
        of: TrialOf,
        shown: &[ChangePart],
        targets: &[Target],
    ) -> Result<Option<Reverted>, HuntError> {
        let Some(moved) = self.driver.moved_on(self.culprit, shown)? else { return Ok(None) };
        let MovedOn { paths, before, after, at_end } = moved;
        let [_, end] = self.driver.begun.ends().map(CommitId::clone);
        let own = self.driver.oracle.recipes.at(&end)?.with_part(at_end);
        let (culprit, laid) = (self.culprit, [before, after]);
        let trees =
            match self.driver.reversal_with(&end, culprit, &self.change, &taken.rest, laid)? {
                Reversal::Trees(trees) => [trees],
                Reversal::Conflict(why) => return Ok(Some(Revert::Conflict(why).into())),
            };
        let (patched, conflict) =
            match self.driver.patched_onto(&end, &own, &trees, Conflicts::Stay)? {
                Patched::Conflict(why) => {
                    let replaced = Conflicts::Replaced;
                    (self.driver.patched_onto(&end, &own, &trees, replaced)?, Some(why))
                }
                other => (other, None),
            };
        let recipe = match (&patched, &conflict) {
            (Patched::Done { recipe, .. }, _) => recipe,
            (Patched::Same, None) => return Ok(Some(Revert::Absent.into())),
            (Patched::Same | Patched::Conflict(_), why) => {
                return Ok(why.clone().map(|why| Revert::Conflict(why).into()));
            }
        };
        if !self.driver.shows_itself_with_plain_pins(&end, &own, targets)? {
            return Ok(None);
        }
        if let Some(why) = conflict {
            let judged = self.driver.judge_end(&end, recipe, targets)?;
            let terms = self.driver.terms();
            if judged.is_none_or(|(judgement, _)| !terms.is_newer(judgement.verdict)) {
                return Ok(Some(Revert::Conflict(why).into()));
            }
        }
        let parts = shown.iter().map(|part| inside(part, &paths)).collect();
        let tested = self.driver.test_patched(&end, patched, of, parts, targets)?;
        let EndTest::Judged { verdict, recipe, trial } = tested else { return Ok(None) };
        let terms = self.driver.terms();
        if !terms.is_older(verdict) && !terms.is_newer(verdict) {
            return Ok(None);
        }
        self.told_by(verdict, &recipe, *trial, targets).map(Some)
    }
}

impl Driver<'_> {
    /// The files of the submodules whose pins these parts of a named commit move, and which are at
    /// another pin at the newer end. `None` if there are none, or if this clone lacks one of the
    /// pins.
    fn moved_on(
        &self,
        culprit: &Culprit,
        parts: &[ChangePart],
    ) -> Result<Option<MovedOn>, HuntError> {
        if self.begun.within.is_some() {
            return Ok(None);
        }
        let [_, end] = self.begun.ends();
        let (history, recipes) = (&self.oracle.history, &self.oracle.recipes);
        let mut found = MovedOn::default();
        for moved in parts.iter().filter_map(|part| moved_by(culprit, part)) {
            let path = &moved.path;
            let Some(pin) = history.pin(end, path)?.filter(|pin| *pin != moved.to) else {
                continue;
            };
            let Some(submodule) = history.submodule(end, path)? else { return Ok(None) };
            let files = |at: &CommitId| submodule_entries(&submodule, path, at);
            let sides = [files(&moved.from)?, files(&moved.to)?, files(&pin)?];
            let [Some(before), Some(after), Some(at_end)] = sides else { return Ok(None) };
            recipes.overlay_builder.add_submodule(end, submodule.git_dir())?;
            found.paths.push(path.clone());
            found.before.extend(before);
            found.after.extend(after);
            found.at_end.extend(at_end);
        }
        Ok((!found.paths.is_empty()).then_some(found))
    }

    /// Whether an endpoint with submodules as plain files, which `recipe` lays over it, shows what
    /// the endpoint shows.
    fn shows_itself_with_plain_pins(
        &mut self,
        end: &CommitId,
        recipe: &Config,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        let judged = self.judge_modified(end, recipe, targets)?;
        let own = self.verdict_of_end(end);
        Ok(judged
            .is_some_and(|(judgement, seen)| shows_end(own, judgement.verdict, &seen, targets)))
    }
}

/// The part, or what it changes inside the submodule if it moves the pin at one of these paths.
fn inside(part: &ChangePart, paths: &[String]) -> ChangePart {
    let is_moved = part.whole == Some(WholeChange::Submodule) && paths.contains(&part.path);
    let whole = if is_moved { Some(WholeChange::InSubmodule) } else { part.whole };
    ChangePart { whole, ..part.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::PartOf;

    #[test]
    fn only_a_pin_that_moved_on_is_taken_out_inside_the_submodule() {
        let part =
            |path: &str, whole| ChangePart { path: path.to_owned(), of: PartOf::File, whole };
        let paths = ["sub".to_owned()];
        let taken = |path, whole| inside(&part(path, whole), &paths).whole;
        let pin = Some(WholeChange::Submodule);
        assert_eq!(taken("sub", pin), Some(WholeChange::InSubmodule));
        assert_eq!(taken("other", pin), pin);
        assert_eq!(taken("sub", None), None);
    }
}

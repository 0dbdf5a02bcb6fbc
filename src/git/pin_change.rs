//! Whether a later commit still has what an earlier one changed by moving a submodule's pin. Two
//! pins have no lines to compare; the submodule's own history tells.

use crate::evaluation::{CommitId, Dependency};

use super::{GitError, History, Repository};

impl History {
    /// Whether the submodule at `end` lacks the change that this move of its pin made. If the pin
    /// moved forward: a commit that it brought is missing. If it moved back: all commits that it
    /// took away are there again. A commit with the same change (cherry-pick, rebase) counts as
    /// there. `None` if `end` has no such submodule, or if this clone lacks one of the pins.
    pub(crate) fn lacks_pin_change(
        &self,
        end: &CommitId,
        moved: &Dependency,
    ) -> Result<Option<bool>, GitError> {
        let Dependency { path, from, to, .. } = moved;
        let Some(pin) = self.pin(end, path)? else { return Ok(None) };
        let Some(submodule) = self.submodule(end, path)? else { return Ok(None) };
        let list = |arguments: &[String]| has_commits(&submodule, arguments);
        let Some(brings_commits) = list(&[format!("{from}..{to}")])? else { return Ok(None) };
        if brings_commits {
            let equal = ["--cherry-pick", "--right-only"].map(str::to_owned);
            let sides = [format!("{pin}...{to}"), format!("^{from}")];
            return list(&[equal, sides].concat());
        }
        Ok(list(&[format!("{pin}..{from}")])?.map(|is_missing| !is_missing))
    }
}

/// Whether `git rev-list` lists a commit that is no merge; `None` if a commit is missing.
fn has_commits(submodule: &Repository, arguments: &[String]) -> Result<Option<bool>, GitError> {
    let call = submodule.shared_call().args(["rev-list", "--no-merges", "--max-count=1"]);
    let said = call.args(arguments).run()?;
    Ok((said.code == 0).then_some(!said.stdout.is_empty()))
}

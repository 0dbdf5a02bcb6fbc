//! In noise, removes a named commit's change from the newer end if later commits edited the lines
//! of the change: some files keep their change, so that the removal of the rest does not conflict.

use std::collections::BTreeSet;
use std::path::Path;

use crate::config::Config;
use crate::differ;
use crate::evaluation::{CommitId, Culprit, GuardTarget};
use crate::git::Conflicts;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::change::{Change, Part};
use super::patched::Patched;

/// Maximum number of unread files that keep their change one at a time, if the removal of the whole
/// change conflicts.
const MOST_UNREAD: usize = 8;

/// Maximum number of files that are removed one by one to see which of them conflict.
const MOST_FILES: usize = 16;

impl Driver<'_> {
    /// The end without a commit's change. If that conflicts, files that no build or run reads keep
    /// their change: first each of them alone, then all together.
    pub(super) fn end_without(
        &mut self,
        end: &CommitId,
        culprit: &Culprit,
        change: &Change<'_>,
        target: &GuardTarget,
    ) -> Result<Patched, HuntError> {
        let patched = self.patched_without(end, culprit, change, &[], Conflicts::Stay)?;
        if !matches!(patched, Patched::Conflict(_)) {
            return Ok(patched);
        }
        let files = change.whole();
        let unread = self.unread_files_of(change, target)?;
        let each = unread.iter().take(MOST_UNREAD).map(|file| vec![*file]);
        let all = Some(unread.clone()).filter(|all| all.len() > 1);
        // A removal of nothing would tell nothing.
        for kept in each.chain(all).filter(|kept| kept.len() < files.len()) {
            let patched = self.patched_without(end, culprit, change, &kept, Conflicts::Stay)?;
            if !matches!(patched, Patched::Conflict(_)) {
                return Ok(patched);
            }
        }
        Ok(patched)
    }

    /// The files of a change that no build or run of the hunt's endpoints reads, as far as is known:
    /// documents, and those that the search leaves out, unless a run loaded them.
    fn unread_files_of(
        &mut self,
        change: &Change<'_>,
        target: &GuardTarget,
    ) -> Result<Vec<Part>, HuntError> {
        let measures = [target.guard.metric.measure.clone()];
        let mut loaded: BTreeSet<String> = BTreeSet::new();
        for seen in self.known_runs_of_ends(&measures)? {
            let runs = seen.of(&measures[0]).iter().filter_map(|run| run.loaded.as_ref());
            loaded.extend(runs.flat_map(|loaded| loaded.own.keys().cloned()));
        }
        let is_in_dependency = self.begun.within.is_some();
        let is_unread = |part: &Part| {
            let path = change.path(*part);
            let is_left_out = self.unread.iter().any(|one| is_in(&path, one));
            (differ::is_document(&path) || is_left_out)
                && !loaded.iter().any(|one| may_be(one, &path, is_in_dependency))
        };
        Ok(change.whole().into_iter().filter(is_unread).collect())
    }

    /// The recipe of the end without a commit's change in some files: those from which the change
    /// can be removed alone without a conflict. The other files keep their change. `None` if there
    /// is no such file, if the removal from all of them conflicts or changes nothing, or if the
    /// change has too many files.
    pub(super) fn end_without_clean_files(
        &mut self,
        end: &CommitId,
        culprit: &Culprit,
        change: &Change<'_>,
    ) -> Result<Option<Box<Config>>, HuntError> {
        let files = change.whole();
        if files.len() > MOST_FILES {
            return Ok(None);
        }
        let mut kept = Vec::new();
        for file in &files {
            let others: Vec<Part> = files.iter().filter(|one| *one != file).copied().collect();
            let patched = self.patched_without(end, culprit, change, &others, Conflicts::Stay)?;
            if matches!(patched, Patched::Conflict(_)) {
                kept.push(*file);
            }
        }
        // A removal of nothing would tell nothing.
        if kept.len() == files.len() {
            return Ok(None);
        }
        Ok(match self.patched_without(end, culprit, change, &kept, Conflicts::Stay)? {
            Patched::Done { recipe, .. } => Some(recipe),
            Patched::Same | Patched::Conflict(_) => None,
        })
    }
}

/// Whether a path is this one, or below this folder.
fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a file that a run opened may be this file of the change: the same one in the checkout,
/// or a copy of it in the folder of the build. `opened`: a path below the slot. `is_in_dependency`:
/// the change is a dependency's, so the file lies in a folder of the checkout.
fn may_be(opened: &str, path: &str, is_in_dependency: bool) -> bool {
    match Path::new(opened).strip_prefix("src") {
        Ok(file) if !is_in_dependency => file == Path::new(path),
        _ => Path::new(opened).ends_with(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_own_files_only() {
        assert!(is_in("docs/a.txt", "docs") && is_in("VERSION", "VERSION"));
        assert!(!is_in("docs2/a.txt", "docs") && !is_in("VERSION.in", "VERSION"));
    }

    #[test]
    fn a_file_is_read_as_itself_or_as_a_copy_that_the_build_made() {
        let is_read = |opened| may_be(opened, "docs/a.md", false);
        assert!(is_read("src/docs/a.md") && is_read("build/share/docs/a.md"));
        assert!(!is_read("src/docs/xa.md") && !is_read("src/other/docs/a.md"));
        assert!(!is_read("build/share/xdocs/a.md") && !may_be("src/xa.md", "a.md", false));
        assert!(may_be("src/vendor/dep/docs/a.md", "docs/a.md", true));
    }
}

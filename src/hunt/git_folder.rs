//! Whether builds or runs changed files in the git folder that all worktrees share. An engine that
//! keeps tables there carries results from one commit to another, also in a confirmation. The user
//! may have changed the files too, so the hunt goes on, with less confidence in its answer.

use crate::evaluation::{Finding, GitFolderChange};
use crate::report::git_folder_change;
use crate::store::journal::{Entry, Event};

use super::HuntError;
use super::driver::Driver;
use super::open_doubt::lower_confidence;

/// What to do about it.
const KEEP_ELSEWHERE: &str =
    "if the build or run wrote it, let it keep such files in {build} or {out}";

impl Driver<'_> {
    /// Notes what changed in the common git folder during builds and runs of the hunt, and lowers
    /// the confidence in the commits of the finding.
    pub(super) fn lower_if_git_folder_changed(
        &mut self,
        mut finding: Finding,
    ) -> Result<Finding, HuntError> {
        let change = changed(&self.hunt.entries()?, self.slots() > 1);
        let Some(change) = change else { return Ok(finding) };
        let text = format!("{}; {KEEP_ELSEWHERE}", git_folder_change(&change));
        self.oracle.recorder.note_once(text)?;
        for culprit in &mut finding.culprits {
            lower_confidence(culprit);
            culprit.doubts.git_folder_doubt = Some(change.clone());
        }
        Ok(finding)
    }
}

/// The first change of the hunt. It names no commit if another slot may have made it.
fn changed(entries: &[Entry], has_slots: bool) -> Option<GitFolderChange> {
    let mut change = entries.iter().find_map(|entry| match &entry.event {
        Event::GitFolder(change) => Some(change.clone()),
        _ => None,
    })?;
    let gave_slots_up = entries.iter().any(|entry| matches!(entry.event, Event::OneSlot { .. }));
    if has_slots || gave_slots_up {
        change.commit = None;
    }
    Some(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{ChangedDuring, CommitId};

    fn entry(event: Event) -> Entry {
        Entry { at: String::new(), event }
    }

    fn change(digit: char) -> Entry {
        entry(Event::GitFolder(GitFolderChange {
            during: ChangedDuring::Build,
            commit: Some(digit.to_string().repeat(40).parse().unwrap()),
            paths: vec!["config".to_owned()],
            more: 0,
        }))
    }

    #[test]
    fn the_first_change_counts_and_names_a_commit_only_with_one_slot() {
        let first: CommitId = "1".repeat(40).parse().unwrap();
        let entries = [entry(Event::NoDirectMode), change('1'), change('2')];
        assert_eq!(changed(&entries[..1], false), None);
        assert_eq!(changed(&entries, false).unwrap().commit, Some(first));
        assert_eq!(changed(&entries, true).unwrap().commit, None);
        let one_slot = entry(Event::OneSlot { attempts: Vec::new() });
        assert_eq!(changed(&[one_slot, change('1')], false).unwrap().commit, None);
    }
}

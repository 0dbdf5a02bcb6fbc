//! Dependencies that a commit updates: submodules by their pins, vendored ones by a file that
//! names the copied commit.

use crate::evaluation::{CommitId, Dependency};

use super::changes::FileChange;
use super::submodules::declared;
use super::{GitError, History, Repository};

/// Maximum number of a dependency's commits to count.
const MOST_COUNTED: usize = 100_000;

impl History {
    /// The dependencies that the commit updates, from its `changes` against `parent`.
    pub(crate) fn dependencies(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        changes: &[FileChange],
    ) -> Result<Vec<Dependency>, GitError> {
        let mut found = Vec::new();
        for change in changes {
            let Ok(path) = std::str::from_utf8(&change.path) else { continue };
            let pins = if change.submodule {
                [self.pin(parent, path)?, self.pin(commit, path)?]
            } else if (change.added, change.removed) == (Some(1), Some(1)) {
                [self.noted(parent, path)?, self.noted(commit, path)?]
            } else {
                continue;
            };
            let [Some(from), Some(to)] = pins else { continue };
            let commits = if change.submodule {
                self.commits_of_submodule(commit, path, &from, &to)?
            } else {
                None
            };
            found.push(Dependency {
                path: path.to_owned(),
                from,
                to,
                commits,
                is_submodule: change.submodule,
            });
        }
        Ok(found)
    }

    /// The pinned commit of the submodule at this path; `None` if there is no submodule.
    pub(crate) fn pin(&self, commit: &CommitId, path: &str) -> Result<Option<CommitId>, GitError> {
        let entry = self.entry(commit, path)?.filter(|(kind, _)| kind == "commit");
        Ok(entry.and_then(|(_, pin)| pin.parse().ok()))
    }

    /// The commit that a file names, if the file holds nothing else: scripts that copy another
    /// project write such files.
    fn noted(&self, commit: &CommitId, path: &str) -> Result<Option<CommitId>, GitError> {
        let Some(bytes) = self.file(commit, path)? else { return Ok(None) };
        Ok(std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok()))
    }

    /// Number of a submodule's commits between two pins, if the user's clone has the submodule.
    fn commits_of_submodule(
        &self,
        commit: &CommitId,
        path: &str,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Option<usize>, GitError> {
        let Some(submodule) = self.submodule(commit, path)? else { return Ok(None) };
        let count = submodule
            .shared_call()
            .args(["rev-list", "--count", &format!("--max-count={MOST_COUNTED}")])
            .arg(format!("{from}..{to}"))
            .run()?;
        let text = String::from_utf8_lossy(&count.stdout);
        Ok((count.code == 0).then(|| text.trim().parse().ok()).flatten())
    }

    /// Whether the commit declares submodules.
    pub(crate) fn has_submodules(&self, commit: &CommitId) -> Result<bool, GitError> {
        Ok(self.entry(commit, ".gitmodules")?.is_some())
    }

    /// The repository of the submodule at this path, if the user's clone has it.
    pub(crate) fn submodule(
        &self,
        commit: &CommitId,
        path: &str,
    ) -> Result<Option<Repository>, GitError> {
        let here = self.repository();
        let declared = declared(here.shared_call(), commit.as_str())?;
        let own = declared.into_iter().find(|(_, other)| other == path.as_bytes());
        let Some((name, _)) = own else { return Ok(None) };
        let modules =
            [here.common_dir(), here.git_dir()].map(|dir| dir.join("modules").join(&name));
        // A submodule that was made by hand, or by git before 1.7.8, has its git folder inside.
        let inside = here.top().map(|top| top.join(path).join(".git"));
        let found = modules.into_iter().chain(inside).find(|dir| dir.join("HEAD").exists());
        found.map(|dir| here.of_submodule(&dir)).transpose()
    }
}

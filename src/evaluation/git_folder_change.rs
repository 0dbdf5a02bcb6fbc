//! What changed in the git folder that all worktrees of a repository share, while a build or run
//! went on.

use serde::{Deserialize, Serialize};

use super::CommitId;

/// Files of the common git folder that changed during a build, a step or a run. All commits share
/// the folder, so a file there may carry results from one commit to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GitFolderChange {
    /// What went on.
    pub during: ChangedDuring,
    /// The commit that was built or run; `None` if other builds or runs may have gone on too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The first paths, below the common git folder.
    pub paths: Vec<String>,
    /// Number of further paths.
    #[serde(default)]
    pub more: usize,
}

/// What went on while a file changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChangedDuring {
    /// A build.
    Build,
    /// The `[[prepare]]` step with this name.
    Step(String),
    /// A run of this measure.
    Run(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_stored_without_what_is_not_known() {
        let change = GitFolderChange {
            during: ChangedDuring::Run("ppl".to_owned()),
            commit: None,
            paths: vec!["tuned/1".to_owned()],
            more: 0,
        };
        let text = serde_json::to_string(&change).unwrap();
        assert_eq!(text, r#"{"during":{"run":"ppl"},"paths":["tuned/1"],"more":0}"#);
        assert_eq!(serde_json::from_str::<GitFolderChange>(&text).unwrap(), change);
    }
}

//! Files that git tracks and that a build wrote. They are put back after the build, so its runs read
//! them as the commit has them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{CommitId, Loaded};

/// The most paths that a build's record names.
const MOST_PATHS: usize = 64;

/// The files that git tracks and that a build left with another content than the checkout's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenFiles {
    /// The first paths, below the top of the checkout.
    pub paths: Vec<String>,
    /// Number of further paths.
    #[serde(default)]
    pub more: usize,
}

impl WrittenFiles {
    /// `None` if there are no files. `paths`: sorted.
    pub(crate) fn of(paths: &[PathBuf]) -> Option<Self> {
        let first = paths.iter().take(MOST_PATHS);
        let first: Vec<String> = first.map(|path| path.to_string_lossy().into_owned()).collect();
        let more = paths.len() - first.len();
        (!first.is_empty()).then_some(Self { paths: first, more })
    }

    /// Those of the named files that a run of the build opened.
    pub(crate) fn opened_in(&self, loaded: &Loaded) -> Vec<String> {
        let is_opened = |path: &&String| loaded.own.contains_key(&format!("src/{path}"));
        self.paths.iter().filter(is_opened).cloned().collect()
    }
}

/// Files that a build wrote, and that a run of this build opened after they were put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PutBack {
    /// The measure that ran.
    pub measure: String,
    /// The commit that was built and run.
    pub commit: CommitId,
    /// Their paths, below the top of the checkout.
    pub paths: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(paths: &[&str]) -> Option<WrittenFiles> {
        WrittenFiles::of(&paths.iter().map(PathBuf::from).collect::<Vec<PathBuf>>())
    }

    #[test]
    fn only_the_first_paths_are_named() {
        assert_eq!(written(&[]), None);
        let all: Vec<String> = (100..170).map(|number| format!("d/{number}")).collect();
        let files = written(&all.iter().map(String::as_str).collect::<Vec<&str>>()).unwrap();
        assert_eq!((files.paths.len(), files.more), (64, 6));
        assert_eq!(files.paths[63], "d/163");
        let text = serde_json::to_string(&written(&["a"]).unwrap()).unwrap();
        assert_eq!(text, r#"{"paths":["a"],"more":0}"#);
    }

    #[test]
    fn a_run_opens_a_file_of_the_checkout_and_not_one_of_the_build() {
        let files = written(&["ops.py", "table.h", "table.sh"]).unwrap();
        let own = ["build/table.h", "src/lib/ops.py", "src/table.sh"];
        let own = own.map(|path| (path.to_owned(), "1".to_owned())).into();
        assert_eq!(files.opened_in(&Loaded { own, ..Loaded::default() }), ["table.sh"]);
    }
}

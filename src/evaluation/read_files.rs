//! The files that a build read. Commits that change none of them need no build.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What a build read of its source tree, from the records of its compilers and build system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadFiles {
    /// Paths from the top of the source tree.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub files: BTreeSet<String>,
    /// The files that the build read in its own folders, by name without folder: copies of source
    /// files, or generated files.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub names: BTreeSet<String>,
    /// Why the records do not cover everything that was compiled; `None` if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

impl ReadFiles {
    /// Whether the build read this path of the source tree, or a copy of a file with its name.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains(path) || self.names.contains(path.rsplit('/').next().unwrap_or(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_in_the_build_folder_counts_as_the_file() {
        let read = ReadFiles {
            files: ["src/a.c".to_owned()].into(),
            names: ["table.h".to_owned()].into(),
            gap: None,
        };
        assert!(read.has("src/a.c") && read.has("gen/table.h") && read.has("table.h"));
        assert!(!read.has("a.c") && !read.has("src/table.hpp"));
    }
}

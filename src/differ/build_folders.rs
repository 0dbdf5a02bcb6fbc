//! Replaces paths and commit ids in the texts of a build, so that two builds can be compared.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::evaluation::CommitId;

/// The folders of a build, and its commit.
#[derive(Clone, Debug)]
pub(crate) struct BuildFolders {
    src: String,
    build: String,
    commit: CommitId,
}

impl BuildFolders {
    /// A build of `commit`, from the sources in `src`, in the folder `build`.
    pub(crate) fn new(src: &Path, build: &Path, commit: &CommitId) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Self { src: text(src), build: text(build), commit: commit.clone() }
    }

    /// The text with placeholders for the folders and for the commit id, abbreviated or not.
    pub(crate) fn without(&self, text: &str) -> String {
        static NAME: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\b[0-9a-f]{7,40}\b").expect("a constant of ours"));
        let text = text.replace(&self.build, "{build}").replace(&self.src, "{src}");
        let own = |found: &Captures<'_>| {
            let is_own = self.commit.as_str().starts_with(&found[0]);
            if is_own { "{commit}".to_owned() } else { found[0].to_owned() }
        };
        NAME.replace_all(&text, own).into_owned()
    }

    /// The path of a file, relative to a folder, as an absolute path with placeholders.
    pub(crate) fn path(&self, folder: &Path, file: &Path) -> String {
        self.without(&absolute(folder, file).to_string_lossy())
    }
}

/// The path of a file, relative to a folder, as an absolute path without `.` and `..`. Links are
/// not followed.
pub(crate) fn absolute(folder: &Path, file: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> BuildFolders {
        let commit = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
        BuildFolders::new(Path::new("/slots/1/src"), Path::new("/slots/1/build"), &commit)
    }

    #[test]
    fn two_slots_and_two_commits_say_the_same() {
        let words = place().without("-I/slots/1/src/include -DGIT=\"0123456\" -DX=fedcba9");
        assert_eq!(words, "-I{src}/include -DGIT=\"{commit}\" -DX=fedcba9");
        let path = place().path(Path::new("/slots/1/build/sub"), Path::new("../../src/./a.c"));
        assert_eq!(path, "{src}/a.c");
    }
}

//! Evidence of what ran: the digests of the files that a run loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{GitQuestion, InstalledCopy};

/// The files that a run loaded. Digests are SHA-256 of a file's content right after the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loaded {
    /// Digests of all files of the commit's source and build that the run opened, by path below
    /// the slot: `build/bin/ppl`, `src/model.py`.
    pub own: BTreeMap<String, String>,
    /// Digests of those files of `own` that hold the slot's path, with this path and the linker's
    /// build id overwritten. Builds of one commit in two slots have the same digest here. Empty in
    /// records of older versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub without_path: BTreeMap<String, String>,
    /// The paths of `own` that were executable; `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<BTreeSet<String>>,
    /// Digests of programs and shared objects from outside the slot, by path. The memory maps are
    /// sampled, so a file that was mapped only between two samples is missing.
    pub elsewhere: BTreeMap<String, String>,
    /// Whether `own` is known to be complete.
    pub is_whole: bool,
    /// SHA-256 over the names of all files in source and build, loaded or not, and over which of
    /// these files are executable.
    pub names: String,
    /// Whether the watch on source and build saw every opened file; `false` in records of older
    /// versions.
    #[serde(default)]
    pub is_watched: bool,
    /// The commit's program that the run did not load, by path below the slot; another program of
    /// the same name may have run in its place. Set if the run loaded nothing of the commit. Also
    /// set if the run loaded nothing of the build, and another program of that name was in memory or
    /// is in PATH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed: Option<String>,
    /// The installed copies that the run loaded in place of the commit's own files, if they are
    /// older than the build; empty in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<InstalledCopy>,
    /// The paths of `own` that were pointers of Git LFS; empty in records of older versions.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub pointers: BTreeSet<String>,
    /// The program to which the run may have talked: it listened before and after the run, has the
    /// name of one of the commit's files, and something on this machine connected to it meanwhile.
    /// Looked for only at the endpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// What the run asked git about HEAD.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub asked_git: BTreeSet<GitQuestion>,
}

/// A file that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileDifference {
    /// The path below the slot, or the absolute path of a file outside.
    pub path: String,
    /// How the file differs.
    pub how: FileDifferenceKind,
}

/// How a file differs between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileDifferenceKind {
    /// Both runs loaded the file, with different content.
    Content,
    /// Both runs loaded the same content, but only one of the files was executable.
    Mode,
    /// Only the later run loaded the file.
    OnlyNow,
    /// Only the earlier run loaded the file.
    OnlyBefore,
}

impl fmt::Display for FileDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        match self.how {
            FileDifferenceKind::Content => Ok(()),
            FileDifferenceKind::Mode => f.write_str(" (executable or not)"),
            FileDifferenceKind::OnlyNow => f.write_str(" (only now)"),
            FileDifferenceKind::OnlyBefore => f.write_str(" (no longer)"),
        }
    }
}

/// Which files the runs of a commit and of its parent loaded, compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoadedFilesComparison {
    /// The files that differ, those below the slot first.
    pub unlike: Vec<FileDifference>,
    /// How many files are the same.
    pub alike: usize,
    /// Whether the lists of both runs' own files are complete.
    pub is_whole: bool,
}

impl LoadedFilesComparison {
    /// Whether both runs are known to have loaded identical files.
    pub(crate) fn is_same(&self) -> bool {
        self.is_whole && self.unlike.is_empty()
    }

    /// Whether a file with this path in the commit's tree, or a copy that the build made of it,
    /// differs.
    pub(crate) fn has_other(&self, path: &str) -> bool {
        let is_it = |file: &FileDifference| {
            file.path.strip_suffix(path).is_some_and(|folder| folder.ends_with('/'))
        };
        self.unlike.iter().any(is_it)
    }

    /// The commit's own files that only the later run loaded, by path below the checkout, or below
    /// the build's folder.
    pub(crate) fn only_now(&self) -> impl Iterator<Item = &str> {
        let is_new = |file: &&FileDifference| {
            file.how == FileDifferenceKind::OnlyNow && !file.path.starts_with('/')
        };
        let new = self.unlike.iter().filter(is_new);
        new.filter_map(|file| file.path.split_once('/')).map(|(_, below)| below)
    }
}

impl Loaded {
    /// The files that differ between `before` and `self`, those below the slot first. A file from
    /// outside the slot is listed only if both runs loaded it.
    pub(crate) fn unlike(&self, before: &Self) -> Vec<FileDifference> {
        let mut found = unlike(&before.own, &self.own);
        found.retain(|one| !self.has_same(before, &one.path));
        found.extend(self.other_modes(before));
        found.sort_by(|one, other| one.path.cmp(&other.path));
        let elsewhere = unlike(&before.elsewhere, &self.elsewhere);
        found.extend(elsewhere.into_iter().filter(|one| one.how == FileDifferenceKind::Content));
        found
    }

    /// The files that are the same in both runs.
    pub(crate) fn identical_files<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a str> {
        let own = self.own.keys().filter(|path| self.has_same(before, path));
        let own = own.filter(|path| !self.has_other_mode(before, path));
        let elsewhere = self.elsewhere.keys();
        let elsewhere = elsewhere.filter(|path| is_same(&before.elsewhere, &self.elsewhere, path));
        own.chain(elsewhere).map(String::as_str)
    }

    /// Whether a file of the commit has the same content in both runs, apart from the path of the
    /// slot.
    pub(crate) fn has_same(&self, before: &Self, path: &str) -> bool {
        is_same(&before.own, &self.own, path)
            || is_same(&before.without_path, &self.without_path, path)
    }

    fn other_modes(&self, before: &Self) -> Vec<FileDifference> {
        let same = self.own.keys().filter(|path| self.has_same(before, path));
        let other = same.filter(|path| self.has_other_mode(before, path));
        other
            .map(|path| FileDifference { path: path.clone(), how: FileDifferenceKind::Mode })
            .collect()
    }

    /// Whether the file is executable in exactly one run; `false` if a record does not say.
    fn has_other_mode(&self, before: &Self, path: &str) -> bool {
        match (&before.executable, &self.executable) {
            (Some(before), Some(now)) => before.contains(path) != now.contains(path),
            _ => false,
        }
    }
}

/// Whether both maps have this path with the same digest.
fn is_same(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>, path: &str) -> bool {
    now.get(path).is_some_and(|sha| before.get(path) == Some(sha))
}

fn unlike(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<FileDifference> {
    let paths: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let how = |path: &String| match (before.get(path), now.get(path)) {
        (Some(before), Some(now)) if before == now => None,
        (Some(_), Some(_)) => Some(FileDifferenceKind::Content),
        (None, _) => Some(FileDifferenceKind::OnlyNow),
        (_, None) => Some(FileDifferenceKind::OnlyBefore),
    };
    let one = |path: &String| Some(FileDifference { path: path.clone(), how: how(path)? });
    paths.into_iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(path, sha)| ((*path).to_owned(), (*sha).to_owned())).collect()
    }

    #[test]
    fn what_differs_is_named_with_how() {
        let before = Loaded {
            own: map(&[("build/a", "1"), ("build/b", "2"), ("build/c", "3")]),
            elsewhere: map(&[("/lib/m.so", "4"), ("/lib/seen_once.so", "5")]),
            ..Loaded::default()
        };
        let now = Loaded {
            own: map(&[("build/a", "1"), ("build/b", "x"), ("build/d", "3")]),
            elsewhere: map(&[("/lib/m.so", "y")]),
            ..Loaded::default()
        };
        let said: Vec<String> = now.unlike(&before).iter().map(FileDifference::to_string).collect();
        assert_eq!(said, ["build/b", "build/c (no longer)", "build/d (only now)", "/lib/m.so"]);
        assert_eq!(now.identical_files(&before).collect::<Vec<_>>(), ["build/a"]);
        assert!(now.unlike(&now.clone()).is_empty());
        let ran = LoadedFilesComparison { unlike: now.unlike(&before), alike: 1, is_whole: true };
        assert!(ran.has_other("b") && !ran.has_other("a"));
        assert!(!ran.has_other("uild/b"), "the end of a folder's name");
        assert_eq!(ran.only_now().collect::<Vec<_>>(), ["d"]);
    }

    #[test]
    fn the_right_to_execute_a_file_is_a_difference() {
        let of = |programs: Option<&[&str]>| Loaded {
            own: map(&[("src/a.sh", "1"), ("src/b", "2")]),
            executable: programs.map(|all| all.iter().map(|path| (*path).to_owned()).collect()),
            ..Loaded::default()
        };
        let (before, now) = (of(Some(&["src/a.sh"])), of(Some(&[])));
        let said: Vec<String> = now.unlike(&before).iter().map(FileDifference::to_string).collect();
        assert_eq!(said, ["src/a.sh (executable or not)"]);
        assert_eq!(now.identical_files(&before).collect::<Vec<_>>(), ["src/b"]);
        // A record of an older version lacks the field.
        let old: Loaded = serde_json::from_str(
            r#"{"own":{"src/a.sh":"1","src/b":"2"},"elsewhere":{},"is_whole":true,"names":""}"#,
        )
        .unwrap();
        assert!(now.unlike(&old).is_empty() && old.unlike(&before).is_empty());
    }
    #[test]
    fn a_file_that_differs_only_in_the_path_of_the_slot_is_the_same() {
        let run = |plain: &str, without_path: Option<&str>| Loaded {
            own: map(&[("build/ppl", plain)]),
            without_path: without_path.iter().map(|sha| (*sha).to_owned()).map(ppl).collect(),
            ..Loaded::default()
        };
        let is_same = |one: &Loaded, other: &Loaded| {
            let is_same = one.unlike(other).is_empty();
            assert_eq!(one.identical_files(other).count(), usize::from(is_same));
            is_same
        };
        let first = run("1", Some("x"));
        assert!(is_same(&first, &run("2", Some("x"))));
        assert!(!is_same(&first, &run("2", Some("y"))));
        // A file without the path, or a record of an older version.
        assert!(is_same(&first, &run("1", None)) && is_same(&run("1", None), &first));
        assert!(!is_same(&first, &run("2", None)) && !is_same(&run("2", None), &first));
        assert!(!is_same(&run("1", None), &run("2", None)));
    }

    fn ppl(sha: String) -> (String, String) {
        ("build/ppl".to_owned(), sha)
    }
}

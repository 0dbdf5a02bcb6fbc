//! Proof of what ran: the files that a run really loaded, by their digests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// What a run loaded. Digests are SHA-256 of a file's content, taken right after the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Files of the commit's source and build that were opened, whatever for, by their paths below
    /// the slot: `build/bin/ppl`, `src/model.py`.
    pub own: BTreeMap<String, String>,
    /// Which of those were executable, by their paths; a record of an older version does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<BTreeSet<String>>,
    /// Programs and shared objects from elsewhere, by their paths: those that were seen in memory.
    /// What comes and goes between two looks is missing.
    pub elsewhere: BTreeMap<String, String>,
    /// Whether `own` is known to hold every one of them.
    pub is_whole: bool,
    /// SHA-256 of the names of all files that lay in source and build, loaded or not, and of
    /// which are executable.
    pub names: String,
    /// Whether every file of source and build that was opened was seen; `false` of a record from
    /// before this was kept.
    #[serde(default)]
    pub is_watched: bool,
    /// Where nothing of the commit was loaded: its file that has the name of the program that ran,
    /// by its path below the slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed: Option<String>,
}

/// A file that two runs did not load alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unlike {
    /// Its path: below the slot, or from the root where it lies elsewhere.
    pub path: String,
    /// In what.
    pub how: UnlikeIn,
}

/// In what it differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnlikeIn {
    /// Both loaded one of that name, with other bytes in it.
    Content,
    /// Both loaded the same bytes, and only one of the files was executable.
    Mode,
    /// Only the later one loaded it.
    OnlyNow,
    /// Only the earlier one did.
    OnlyBefore,
}

impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        match self.how {
            UnlikeIn::Content => Ok(()),
            UnlikeIn::Mode => f.write_str(" (executable or not)"),
            UnlikeIn::OnlyNow => f.write_str(" (only now)"),
            UnlikeIn::OnlyBefore => f.write_str(" (no longer)"),
        }
    }
}

/// What the runs of a commit loaded, against those of its parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// The files that differ, those of the commit first.
    pub unlike: Vec<Unlike>,
    /// How many do not.
    pub alike: usize,
    /// Whether all that they loaded of their commits is known.
    pub is_whole: bool,
}

impl Ran {
    /// Whether both are known to have run the very same files.
    pub fn is_same(&self) -> bool {
        self.is_whole && self.unlike.is_empty()
    }
}

impl Loaded {
    /// The files that `self` did not load as `before` did, those of the commit first. Of a file
    /// from elsewhere that was seen once only nothing is said.
    pub fn unlike(&self, before: &Self) -> Vec<Unlike> {
        let mut found = unlike(&before.own, &self.own);
        found.extend(self.other_modes(before));
        found.sort_by(|one, other| one.path.cmp(&other.path));
        let elsewhere = unlike(&before.elsewhere, &self.elsewhere);
        found.extend(elsewhere.into_iter().filter(|one| one.how == UnlikeIn::Content));
        found
    }

    /// The files that both loaded alike.
    pub fn alike<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a str> {
        let own = self.own.iter().filter(|(path, sha)| before.own.get(*path) == Some(sha));
        let own = own.filter(|(path, _)| !self.has_other_mode(before, path));
        let elsewhere = self.elsewhere.iter();
        let elsewhere = elsewhere.filter(|(path, sha)| before.elsewhere.get(*path) == Some(sha));
        own.chain(elsewhere).map(|(path, _)| path.as_str())
    }

    fn other_modes(&self, before: &Self) -> Vec<Unlike> {
        let same = self.own.iter().filter(|(path, sha)| before.own.get(*path) == Some(sha));
        let other = same.filter(|(path, _)| self.has_other_mode(before, path));
        other.map(|(path, _)| Unlike { path: path.clone(), how: UnlikeIn::Mode }).collect()
    }

    /// Whether the file is executable in one of both only, as far as both know.
    fn has_other_mode(&self, before: &Self, path: &str) -> bool {
        match (&before.executable, &self.executable) {
            (Some(before), Some(now)) => before.contains(path) != now.contains(path),
            _ => false,
        }
    }
}

fn unlike(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<Unlike> {
    let paths: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let how = |path: &String| match (before.get(path), now.get(path)) {
        (Some(before), Some(now)) if before == now => None,
        (Some(_), Some(_)) => Some(UnlikeIn::Content),
        (None, _) => Some(UnlikeIn::OnlyNow),
        (_, None) => Some(UnlikeIn::OnlyBefore),
    };
    let one = |path: &String| Some(Unlike { path: path.clone(), how: how(path)? });
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
        let said: Vec<String> = now.unlike(&before).iter().map(Unlike::to_string).collect();
        assert_eq!(said, ["build/b", "build/c (no longer)", "build/d (only now)", "/lib/m.so"]);
        assert_eq!(now.alike(&before).collect::<Vec<_>>(), ["build/a"]);
        assert!(now.unlike(&now.clone()).is_empty());
    }

    #[test]
    fn the_right_to_execute_a_file_is_a_difference() {
        let of = |programs: Option<&[&str]>| Loaded {
            own: map(&[("src/a.sh", "1"), ("src/b", "2")]),
            executable: programs.map(|all| all.iter().map(|path| (*path).to_owned()).collect()),
            ..Loaded::default()
        };
        let (before, now) = (of(Some(&["src/a.sh"])), of(Some(&[])));
        let said: Vec<String> = now.unlike(&before).iter().map(Unlike::to_string).collect();
        assert_eq!(said, ["src/a.sh (executable or not)"]);
        assert_eq!(now.alike(&before).collect::<Vec<_>>(), ["src/b"]);
        // A record of an older version says nothing of it.
        let old: Loaded = serde_json::from_str(
            r#"{"own":{"src/a.sh":"1","src/b":"2"},"elsewhere":{},"is_whole":true,"names":""}"#,
        )
        .unwrap();
        assert!(now.unlike(&old).is_empty() && old.unlike(&before).is_empty());
    }
}

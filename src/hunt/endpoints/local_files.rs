//! Files of the user's checkout that git does not track, and that the engine may read: settings of
//! this machine, such as `local.mk` or `.env`. The hunt's checkouts do not have them, so a hunt may
//! see no regression, or another one than the user does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::evaluation::Loaded;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Observation;
use crate::store::journal::Event;
use crate::unread::is_recipe;

/// Maximum size of a file with settings, bytes.
const LONGEST: u64 = 64 << 10;
/// Maximum size of a tracked text that is searched for names, bytes.
const LONGEST_TEXT: u64 = 1 << 20;
/// Maximum number of files that are told.
const MOST: usize = 5;

impl Driver<'_> {
    /// Notes the local files that the hunt's checkouts lack.
    pub(super) fn note_local_files(
        &mut self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<(), HuntError> {
        if let Some(text) = self.lacked_local_files(good, bad)? {
            self.oracle.recorder.event(Event::Note { text })?;
        }
        Ok(())
    }

    /// A sentence about the local files that the hunt's checkouts lack, if a file of the bad end
    /// names them that a run opened or that tells a build system what to do. `None` without such
    /// files.
    pub(super) fn lacked_local_files(
        &self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<String>, HuntError> {
        let Some(top) = self.oracle.checkout.as_deref() else { return Ok(None) };
        let local = self.untracked_files(top)?;
        if local.is_empty() {
            return Ok(None);
        }
        let history = &self.oracle.history;
        let Some(snapshot) = history.snapshot(&self.begun.bad.commit)? else { return Ok(None) };
        let opened = opened(&[good, bad]);
        let mut lacked = BTreeMap::new();
        for (path, blob) in &snapshot.files {
            if !is_recipe(path) && !opened.contains(path.as_str()) {
                continue;
            }
            let Some(bytes) = history.blob(*blob, LONGEST_TEXT) else { continue };
            for word in words(&String::from_utf8_lossy(&bytes)) {
                if let Some(file) = local.get(word) {
                    lacked.entry(file.clone()).or_insert_with(|| path.clone());
                }
            }
        }
        for (path, _) in &snapshot.files {
            lacked.remove(path);
        }
        lacked.retain(|file, _| is_small_text(&top.join(file)));
        Ok((!lacked.is_empty()).then(|| told(&lacked)))
    }

    /// The paths of the checkout's untracked files by their names, without those that the user gave
    /// to the hunt, and without those that a build makes in its checkout too.
    fn untracked_files(&self, top: &Path) -> Result<BTreeMap<String, String>, HuntError> {
        let repository = self.oracle.history.repository();
        // In a hunt inside a dependency, the history is the dependency's.
        if self.begun.within.is_some() || repository.top() != Some(top) {
            return Ok(BTreeMap::new());
        }
        let slot = self.oracle.control.as_ref().and_then(|control| control.slot.as_deref());
        let links = &self.oracle.recipes.config.worktree.link;
        let is_there = |path: &Path| {
            links.iter().any(|link| path.starts_with(link))
                || self.begun.inputs.values().any(|input| Path::new(&input.path) == top.join(path))
                || slot.is_some_and(|slot| slot.join("src").join(path).exists())
        };
        let mut files = BTreeMap::new();
        for path in repository.untracked_files()? {
            let name = path.file_name().and_then(|name| name.to_str());
            let (Some(name), Some(shown)) = (name, path.to_str()) else { continue };
            if may_be_settings(name) && !is_there(&path) {
                files.entry(name.to_owned()).or_insert_with(|| shown.to_owned());
            }
        }
        Ok(files)
    }
}

/// The files of the source tree that runs at these endpoints opened.
fn opened<'o>(ends: &[&'o Observation]) -> BTreeSet<&'o str> {
    let runs = ends.iter().flat_map(|seen| seen.samples.values().flatten());
    let loaded = runs.filter_map(|run| run.loaded.as_ref());
    let own = loaded.flat_map(|loaded: &Loaded| loaded.own.keys());
    own.filter_map(|path| path.strip_prefix("src/")).collect()
}

/// Whether the name may be that of a file with settings. A name without a dot is a common word.
fn may_be_settings(name: &str) -> bool {
    name.contains('.') && !name.starts_with(".git") && name != "oracle.toml"
}

/// The words of a text that may be names of files.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !"._-+".contains(c));
    words.map(|word| word.trim_end_matches('.'))
}

fn is_small_text(path: &Path) -> bool {
    let is_small = |about: fs::Metadata| about.is_file() && about.len() <= LONGEST;
    let is_text = |bytes: Vec<u8>| !bytes.contains(&0) && String::from_utf8(bytes).is_ok();
    fs::symlink_metadata(path).is_ok_and(is_small) && fs::read(path).is_ok_and(is_text)
}

/// `lacked`: the tracked file that names each of these files.
fn told(lacked: &BTreeMap<String, String>) -> String {
    let files = || lacked.iter().take(MOST);
    let named: Vec<String> = files().map(|(file, by)| format!("{file} (named in {by})")).collect();
    let links: Vec<String> = files().map(|(file, _)| format!("{file:?}")).collect();
    format!(
        "your checkout has files that git does not track and that the hunt's checkouts lack: {}. \
         If builds or runs need them, set `link = [{}]` under [worktree] in oracle.toml",
        named.join(", "),
        links.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words_of_a_text() {
        let has = |text: &str, name: &str| words(text).any(|word| word == name);
        assert!(has("-include local.mk\nall:\n", "local.mk"));
        assert!(has("[ -f $d/.env ] && . \"$d/.env\"", ".env"));
        assert!(has("Settings are in local.mk.", "local.mk"));
        assert!(!has("process.env.HOME", ".env"));
        assert!(!has("include mylocal.mk local.mk.in", "local.mk"));
    }

    #[test]
    fn only_short_texts_with_a_dot_in_their_name_are_settings() {
        assert!(may_be_settings("local.mk") && may_be_settings(".env"));
        assert!(!may_be_settings("test") && !may_be_settings(".gitignore"));
        let folder = tempfile::tempdir().unwrap();
        let is_one = |bytes: &[u8]| {
            let path = folder.path().join("a.conf");
            fs::write(&path, bytes).unwrap();
            is_small_text(&path)
        };
        assert!(is_one(b"FAST=1\n"));
        assert!(!is_one(b"\x7fELF\0") && !is_one(&vec![b'a'; (64 << 10) + 1]));
        assert!(!is_small_text(folder.path()) && !is_small_text(&folder.path().join("none")));
    }

    #[test]
    fn the_sentence_has_the_line_of_the_configuration() {
        let named = [(".env", "engine"), ("local.mk", "Makefile")];
        let named = named.map(|(file, by)| (file.to_owned(), by.to_owned()));
        let told = told(&BTreeMap::from(named));
        assert!(told.contains(".env (named in engine), local.mk (named in Makefile)"), "{told}");
        assert!(told.contains("`link = [\".env\", \"local.mk\"]` under [worktree]"), "{told}");
    }
}

//! Disks that take names which differ only in case for one: `Makefile` and `makefile`.
//!
//! A commit that has both is not what lies there once it is checked out. One that differs from
//! the commit before it only in the case of a name is, but git may leave the older spelling.
//!
//! Names are compared letter by letter in lower case, as Unicode has it. What such disks do
//! besides (`ß` is `ss`, an accent a character of its own) is not looked for.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};

use crate::evaluation::CommitId;

use super::changes::os;
use super::command::Call;
use super::error::io_error;
use super::misfit::{list_tree, paths_of};
use super::{GitError, History, LONGEST_LIST, Misfit};

/// What a name is called on its way to another spelling: a disk that takes both for one has
/// nothing to do from one straight to the other.
const BETWEEN: &str = ".bisect-ppl-spelling";

/// Whether the disk takes names that differ only in case for one, as told by a file that is
/// there, and that no other differs from so.
pub(super) fn is_folded(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_ascii_uppercase();
    file.with_file_name(name).symlink_metadata().is_ok()
}

/// Whether what is made in this folder lies on such a disk. The file to tell it by has a name of
/// its own, and is gone at once.
pub fn folds_case(folder: &Path) -> Result<bool, GitError> {
    let made = tempfile::Builder::new().prefix("bisect-ppl-").tempfile_in(folder);
    Ok(is_folded(made.map_err(io_error("make a file in", folder))?.path()))
}

/// Sees to it that what was checked out on such a disk has the names of its commit, or says which
/// two are one there.
pub(super) fn settle(call: Call, top: &Path) -> Result<(), GitError> {
    // Without what sparse patterns leave out, which lies nowhere.
    let said = call.args(["ls-files", "-t", "-z"]).capture(LONGEST_LIST).ok()?.stdout;
    let records = said.split(|byte| *byte == 0);
    let mut names = Names::default();
    for path in records.filter_map(|record| record.strip_prefix(b"H ")) {
        names.add(path)?;
    }
    names.spell(top)
}

/// The error that these paths of a tree are, where two of them are such names.
pub(super) fn refuse_twins<'a>(mut paths: impl Iterator<Item = &'a [u8]>) -> Result<(), GitError> {
    let mut names = Names::default();
    paths.try_for_each(|path| names.add(path))
}

impl History {
    /// Refuses a commit with names that differ only in case, which cannot lie on a disk that
    /// takes those for one.
    pub fn check_names(&self, commit: &CommitId) -> Result<(), GitError> {
        refuse_twins(paths_of(&list_tree(self.repository().shared_call(), commit.as_str())?))
    }
}

/// Files and folders of a tree by what such a disk makes of their paths. A folder stands before
/// what is in it.
#[derive(Default)]
struct Names(BTreeMap<Vec<u8>, Vec<u8>>);

impl Names {
    fn add(&mut self, path: &[u8]) -> Result<(), GitError> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain([path.len()]) {
            let name = &path[..end];
            match self.0.entry(folded(name)) {
                Entry::Vacant(free) => {
                    free.insert(name.to_owned());
                }
                Entry::Occupied(taken) if taken.get() == name => {}
                Entry::Occupied(taken) => {
                    let names = [taken.get(), name].map(|name| os(name).into());
                    return Err(GitError::Misfit(Misfit::FoldedCase(names)));
                }
            }
        }
        Ok(())
    }

    /// Gives what lies below `top` these names, where it has them in another case.
    fn spell(&self, top: &Path) -> Result<(), GitError> {
        let mut folders: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
        for name in self.0.values().map(|name| Path::new(os(name))) {
            folders.entry(name.parent().unwrap_or(Path::new(""))).or_default().push(name);
        }
        for (folder, names) in folders {
            let folder = top.join(folder);
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let lying: BTreeMap<Vec<u8>, PathBuf> = entries
                .flatten()
                .map(|entry| (folded(entry.file_name().as_encoded_bytes()), entry.path()))
                .collect();
            for name in names {
                let wanted = top.join(name);
                let file = name.file_name().unwrap_or_default();
                match lying.get(&folded(file.as_encoded_bytes())) {
                    Some(other) if *other != wanted => respell(other, &wanted)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

fn respell(from: &Path, to: &Path) -> Result<(), GitError> {
    let between = to.with_file_name(BETWEEN);
    fs::rename(from, &between).map_err(io_error("rename", from))?;
    fs::rename(&between, to).map_err(io_error("rename", between))
}

/// A name in lower case; one that is not UTF-8 as far as it is ASCII.
fn folded(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(name) => name.chars().flat_map(char::to_lowercase).collect::<String>().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests;

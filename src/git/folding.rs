//! Disks that ignore case in names, such as `Makefile` and `makefile`.
//!
//! On such a disk, a commit with both names cannot be checked out. If a commit changes only the
//! case of a name, git may leave the old spelling.
//!
//! Names are compared in Unicode lower case. Other rules of such disks (`ß` equals `ss`, composed
//! accents) are ignored.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};

use crate::evaluation::CommitId;

use super::command::{Call, LONGEST_LIST};
use super::disk::is_folded;
use super::error::io_error;
use super::raw_path::os;
use super::tree_paths::{list_tree, paths_of};
use super::{CheckoutImpossible, GitError, History};

/// Temporary name while a file gets another spelling: a direct rename between two spellings does
/// nothing on such a disk.
const BETWEEN: &str = ".bisect-ppl-spelling";

/// Whether the disk of this folder ignores case, tested with a temporary file.
pub(crate) fn folds_case(folder: &Path) -> Result<bool, GitError> {
    let made = tempfile::Builder::new().prefix("bisect-ppl-").tempfile_in(folder);
    Ok(is_folded(made.map_err(io_error("make a file in", folder))?.path()))
}

/// Gives checked-out files the spelling of their commit; an error if two names differ only in
/// case.
pub(super) fn fix_case(call: Call, top: &Path) -> Result<(), GitError> {
    // Leaves out files that sparse patterns exclude: they do not exist on the disk.
    let said = call.args(["ls-files", "-t", "-z"]).capture(LONGEST_LIST).ok()?.stdout;
    let records = said.split(|byte| *byte == 0);
    let mut names = Names::default();
    for path in records.filter_map(|record| record.strip_prefix(b"H ")) {
        names.add(path)?;
    }
    names.spell(top)
}

/// Fails if two of these paths differ only in case.
pub(super) fn refuse_twins<'a>(mut paths: impl Iterator<Item = &'a [u8]>) -> Result<(), GitError> {
    let mut names = Names::default();
    paths.try_for_each(|path| names.add(path))
}

impl History {
    /// Fails if two names of the commit differ only in case, since some disks cannot hold both.
    pub(crate) fn check_names(&self, commit: &CommitId) -> Result<(), GitError> {
        refuse_twins(paths_of(&list_tree(self.repository().shared_call(), commit.as_str())?))
    }
}

/// Files and folders of a tree by their lower-case paths. Sorted, so a folder comes before its
/// content.
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
                    return Err(GitError::CheckoutImpossible(CheckoutImpossible::FoldedCase(
                        names,
                    )));
                }
            }
        }
        Ok(())
    }

    /// Renames files and folders below `top` whose case differs from these names.
    fn spell(&self, top: &Path) -> Result<(), GitError> {
        let mut folders: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
        for name in self.0.values().map(|name| Path::new(os(name))) {
            folders.entry(name.parent().unwrap_or(Path::new(""))).or_default().push(name);
        }
        for (folder, names) in folders {
            let folder = top.join(folder);
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let present: BTreeMap<Vec<u8>, PathBuf> = entries
                .flatten()
                .map(|entry| (folded(entry.file_name().as_encoded_bytes()), entry.path()))
                .collect();
            for name in names {
                let wanted = top.join(name);
                let file = name.file_name().unwrap_or_default();
                match present.get(&folded(file.as_encoded_bytes())) {
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

/// A name in Unicode lower case, or ASCII lower case if it is not UTF-8.
fn folded(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(name) => name.chars().flat_map(char::to_lowercase).collect::<String>().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests;

//! Submodules, each at the commit its parent's tree pins.
//!
//! Git keeps the submodules of a linked worktree apart, so a fresh one would clone them all
//! anew. Where the user's checkout has them, ours start as local clones of those (hard links,
//! no network). Only what is not there is fetched, by `git submodule update`.
//!
//! Nothing is ever written to the configuration that all worktrees share: neither `init` nor
//! `sync` nor `deinit`, since each changes what the user's own checkout takes for active.

use std::path::{Component, Path, PathBuf};

use super::GitError;
use super::changes::os;
use super::command::Call;
use super::disk::Disk;
use super::removal::remove_all;
use super::restore::{Goal, Untracked, restore_tree};
use super::worktree::read_link;

/// A checked-out tree and the git folder behind it.
pub(super) struct Tree<'a> {
    pub(super) top: &'a Path,
    pub(super) git_dir: &'a Path,
    /// Whether what Git LFS keeps elsewhere is fetched.
    pub(super) lfs: bool,
    /// What the disk does.
    pub(super) disk: Disk,
}

struct Submodule {
    name: String,
    path: PathBuf,
    pin: String,
}

/// Brings every submodule of `tree`, and theirs, to its pin. `donors` are git folders whose
/// `modules` may hold the same submodules.
pub(super) fn bring(
    tree: &Tree<'_>,
    donors: &[&Path],
    untracked: Untracked,
) -> Result<(), GitError> {
    for submodule in submodules_of(tree)? {
        let module = tree.git_dir.join("modules").join(&submodule.name);
        let top = tree.top.join(&submodule.path);
        let theirs: Vec<PathBuf> =
            donors.iter().map(|donor| donor.join("modules").join(&submodule.name)).collect();
        let theirs: Vec<&Path> = theirs.iter().map(PathBuf::as_path).collect();
        if !is_ready(&module, &top, &submodule.pin) {
            fetch(tree, &submodule, &module, &theirs)?;
        }
        let Tree { lfs, disk, .. } = *tree;
        let goal = Goal { commit: &submodule.pin, laid: None, lfs, disk };
        restore_tree(&module, &top, goal, untracked)?;
        bring(&Tree { top: &top, git_dir: &module, lfs, disk }, &theirs, untracked)?;
    }
    Ok(())
}

/// The submodules that the checked-out commit pins, declares, and the user has not switched
/// off.
fn submodules_of(tree: &Tree<'_>) -> Result<Vec<Submodule>, GitError> {
    let call = || Call::in_ours(tree.git_dir, tree.top);
    // Of the commit and not of the folder: sparse patterns may leave the file out.
    let declared = call()
        .args(["config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp"])
        .arg(r"^submodule\..*\.path$")
        .run()?;
    if declared.code != 0 {
        return Ok(Vec::new()); // no such file, or no submodule in it
    }
    let staged = call().args(["ls-files", "--stage", "-z"]).ok()?.stdout;
    let mut submodules = Vec::new();
    for record in declared.stdout.split(|b| *b == 0) {
        let Some(newline) = record.iter().position(|b| *b == b'\n') else { continue };
        let (key, path) = (&record[..newline], &record[newline + 1..]);
        let key = String::from_utf8_lossy(key);
        let Some(name) = key.strip_prefix("submodule.").and_then(|k| k.strip_suffix(".path"))
        else {
            continue;
        };
        let Some(pin) = pin_of(&staged, path) else { continue };
        if is_plain(Path::new(name)) && !is_switched_off(tree, name)? {
            submodules.push(Submodule { name: name.to_owned(), path: os(path).into(), pin });
        }
    }
    Ok(submodules)
}

/// The commit that the index pins at `path`, from `ls-files --stage -z`
/// (`MODE SP OBJECT SP STAGE TAB PATH`).
fn pin_of(staged: &[u8], path: &[u8]) -> Option<String> {
    staged.split(|b| *b == 0).find_map(|record| {
        let rest = record.strip_prefix(b"160000 ")?;
        (rest.get(43..) == Some(path)).then(|| String::from_utf8_lossy(&rest[..40]).into_owned())
    })
}

/// A commit's own words decide where its submodules' git folders lie: never outside `modules`.
pub(super) fn is_plain(name: &Path) -> bool {
    let mut parts = name.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// The user (or the project) wants this submodule left alone.
fn is_switched_off(tree: &Tree<'_>, name: &str) -> Result<bool, GitError> {
    let config = |key: &str| -> Result<String, GitError> {
        let call = Call::in_ours(tree.git_dir, tree.top).args(["config", "--get"]);
        Ok(call.arg(format!("submodule.{name}.{key}")).run()?.line())
    };
    Ok(config("active")? == "false" || config("update")? == "none")
}

/// Whether the submodule is attached to its git folder and has its pin's objects.
fn is_ready(module: &Path, top: &Path, pin: &str) -> bool {
    let attached = module.canonicalize().ok();
    attached.is_some()
        && read_link(&top.join(".git")) == attached
        && Call::on(module).args(["cat-file", "-e", &format!("{pin}^{{tree}}")]).ok().is_ok()
}

/// Attaches the submodule and gets its pin, from the user's own checkout or its remote.
fn fetch(
    tree: &Tree<'_>,
    submodule: &Submodule,
    module: &Path,
    donors: &[&Path],
) -> Result<(), GitError> {
    let top = tree.top.join(&submodule.path);
    let donor = donors.iter().find(|donor| donor.join("HEAD").exists());
    if let Some(donor) = donor.filter(|_| !module.exists()) {
        clone_from(donor, module, &top)?;
    }
    let is_ready = || is_ready(module, &top, &submodule.pin);
    // Where its files cannot lie here, git has fetched them all the same.
    if is_ready() || update(tree, submodule).is_ok() || is_ready() {
        return Ok(());
    }
    // Half-cloned by a killed process, or its remote has moved: once more from nothing.
    remove_all(module)?;
    remove_all(&top)?;
    match update(tree, submodule) {
        Ok(()) => Ok(()),
        Err(full @ GitError::NoSpace { .. }) => Err(full),
        Err(error) => Err(GitError::Submodule {
            path: submodule.path.to_string_lossy().into_owned(),
            source: Box::new(error),
        }),
    }
}

/// Git's own way: clones or attaches what is missing and fetches the pin. That every submodule
/// counts as active is said on the command line and so is written nowhere.
fn update(tree: &Tree<'_>, submodule: &Submodule) -> Result<(), GitError> {
    let call = Call::in_ours(tree.git_dir, tree.top).leaving_lfs(!tree.lfs);
    let call = call.args(["-c", "submodule.active=."]);
    let call = call.args(["submodule", "--quiet", "update", "--force", "--checkout", "--"]);
    call.arg(&submodule.path).ok().map(|_| ())
}

/// A local clone of the user's own submodule, with all its objects and its remote. Where that
/// does not work the network is asked, so failure leaves nothing and is none.
fn clone_from(donor: &Path, module: &Path, top: &Path) -> Result<(), GitError> {
    remove_all(top)?;
    let parent = module.parent().unwrap_or(module);
    std::fs::create_dir_all(parent).map_err(super::error::io_error("make", parent))?;
    let mut separate = std::ffi::OsString::from("--separate-git-dir=");
    separate.push(module);
    let cloned = Call::new(parent)
        .args(["clone", "--quiet", "--local", "--no-checkout"])
        .arg(separate)
        .args([donor, top])
        .ok();
    // From the file: on the donor itself git fails where the user's checkout is without it now.
    let config = Call::new(parent).args(["config", "--file"]).arg(donor.join("config"));
    let remote = config.args(["--get", "remote.origin.url"]).run()?.line();
    if cloned.is_err() {
        remove_all(module)?;
        remove_all(top)?;
    } else if !remote.is_empty() {
        Call::on(module).args(["remote", "set-url", "origin", &remote]).ok()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

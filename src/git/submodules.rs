//! Checks out submodules at the commits that the parent's tree pins.
//!
//! Git keeps submodules of each linked worktree apart, so a new worktree would clone all of them
//! again. If the user's checkout has a submodule, ours starts as a local clone of it (hard links,
//! no network). `git submodule update` fetches only what is missing.
//!
//! Nothing here writes to the configuration that all worktrees share. So `init`, `sync`, and
//! `deinit` are never used: each changes which submodules are active in the user's checkout.

use std::path::{Component, Path, PathBuf};

use super::GitError;
use super::command::Call;
use super::disk::Disk;
use super::gitfile::read_link;
use super::raw_path::os;
use super::removal::remove_all;
use super::restore::{Goal, Untracked, restore_tree};
use super::written::Written;

/// A checked-out tree and its git folder.
pub(super) struct Tree<'a> {
    pub(super) top: &'a Path,
    pub(super) git_dir: &'a Path,
    /// Whether Git LFS files are fetched.
    pub(super) lfs: bool,
    /// Properties of the disk.
    pub(super) disk: Disk,
}

struct Submodule {
    name: String,
    path: PathBuf,
    pin: String,
}

/// Checks out every submodule of `tree` at its pin, recursively. `donors` are git folders whose
/// `modules` may hold the same submodules. Returns which tracked files somebody wrote
/// ([`restore_tree`]).
pub(super) fn check_out_submodules(
    tree: &Tree<'_>,
    donors: &[&Path],
    untracked: Untracked,
) -> Result<Written, GitError> {
    let mut written = Written::default();
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
        let goal = Goal { commit: &submodule.pin, lfs, disk };
        written.include(restore_tree(&module, &top, goal, untracked)?, &submodule.path);
        let tree = Tree { top: &top, git_dir: &module, lfs, disk };
        written.include(check_out_submodules(&tree, &theirs, untracked)?, &submodule.path);
    }
    Ok(written)
}

/// The submodules that the commit declares and pins and that are not switched off.
fn submodules_of(tree: &Tree<'_>) -> Result<Vec<Submodule>, GitError> {
    let call = || Call::in_ours(tree.git_dir, tree.top);
    // Read from the commit, since sparse patterns may leave the file out of the folder.
    let declared = declared(call(), "HEAD")?;
    if declared.is_empty() {
        return Ok(Vec::new());
    }
    let staged = call().args(["ls-files", "--stage", "-z"]).ok()?.stdout;
    let mut submodules = Vec::new();
    for (name, path) in declared {
        let Some(pin) = pin_of(&staged, &path) else { continue };
        if !is_switched_off(tree, &name)? {
            submodules.push(Submodule { name, path: os(&path).into(), pin });
        }
    }
    Ok(submodules)
}

/// The names and paths of the submodules in the `.gitmodules` of a commit. Leaves out names that
/// lead outside `modules`.
pub(super) fn declared(call: Call, commit: &str) -> Result<Vec<(String, Vec<u8>)>, GitError> {
    let file = format!("{commit}:.gitmodules");
    let call = call.args(["config", "--blob", &file, "-z", "--get-regexp"]);
    // Fails if there is no such file, or no submodule in it.
    let output = call.arg(r"^submodule\..*\.path$").run()?.stdout;
    let entry = |entry: &[u8]| {
        let newline = entry.iter().position(|b| *b == b'\n')?;
        let key = String::from_utf8_lossy(&entry[..newline]);
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        is_plain(Path::new(name)).then(|| (name.to_owned(), entry[newline + 1..].to_vec()))
    };
    Ok(output.split(|b| *b == 0).filter_map(entry).collect())
}

/// The commit that the index pins at `path`, from `ls-files --stage -z`
/// (`MODE SP OBJECT SP STAGE TAB PATH`).
fn pin_of(staged: &[u8], path: &[u8]) -> Option<String> {
    staged.split(|b| *b == 0).find_map(|record| {
        let rest = record.strip_prefix(b"160000 ")?;
        (rest.get(43..) == Some(path)).then(|| String::from_utf8_lossy(&rest[..40]).into_owned())
    })
}

/// Whether a path has only plain parts. A commit chooses its submodules' names, which must not
/// lead outside `modules`.
pub(super) fn is_plain(name: &Path) -> bool {
    let mut parts = name.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Whether the user or the project switched this submodule off.
fn is_switched_off(tree: &Tree<'_>, name: &str) -> Result<bool, GitError> {
    let config = |key: &str| -> Result<String, GitError> {
        let call = Call::in_ours(tree.git_dir, tree.top).args(["config", "--get"]);
        Ok(call.arg(format!("submodule.{name}.{key}")).run()?.line())
    };
    Ok(config("active")? == "false" || config("update")? == "none")
}

/// Whether the submodule's `.git` file leads to its git folder and this folder has the pinned
/// commit.
fn is_ready(module: &Path, top: &Path, pin: &str) -> bool {
    let attached = module.canonicalize().ok();
    attached.is_some()
        && read_link(&top.join(".git")) == attached
        && Call::on(module).args(["cat-file", "-e", &format!("{pin}^{{tree}}")]).ok().is_ok()
}

/// Connects the submodule to its git folder and gets the pinned commit, from the user's checkout
/// or the remote.
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
    // If the disk refuses the submodule's files, `update` fails, but the commit was fetched.
    if is_ready() || update(tree, submodule).is_ok() || is_ready() {
        return Ok(());
    }
    // A killed process left half a clone, or the remote has moved: start from scratch.
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

/// Lets git clone or attach the submodule and fetch the pin. A command-line setting makes every
/// submodule active, so no configuration is written.
fn update(tree: &Tree<'_>, submodule: &Submodule) -> Result<(), GitError> {
    let call = Call::in_ours(tree.git_dir, tree.top).leaving_lfs(!tree.lfs);
    let call = call.args(["-c", "submodule.active=."]);
    let call = call.args(["submodule", "--quiet", "update", "--force", "--checkout", "--"]);
    call.arg(&submodule.path).ok().map(|_| ())
}

/// Clones the user's own submodule locally, with all its objects and its remote. A failed clone is
/// removed and is not an error: the network is tried next.
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
    // Read from the file: git on the donor itself fails if the user's checkout lacks the submodule
    // now.
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

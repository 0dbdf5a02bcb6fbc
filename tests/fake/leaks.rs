//! Ways in which a build affects the next one: files hidden from git, kept objects, and state in
//! a shared folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::script::Script;

const OBJECTS: &str = "objects";

/// `build_hides`: changes a tracked file and marks it `skip-worktree`, so that git ignores the
/// change.
pub(crate) fn hide(src: &Path, script: &Script) {
    let Some((file, text)) = script.get("build_hides").and_then(|hides| hides.split_once(' '))
    else {
        return;
    };
    let mut git = Command::new("git");
    git.arg("-C").arg(src).args(["update-index", "--skip-worktree", "--", file]);
    assert!(git.status().unwrap().success(), "git does not know {file}");
    fs::write(src.join(file), format!("{text}\n")).unwrap();
}

/// `build_keeps`: the object of this kernel that an earlier build in the same folder left.
pub(crate) fn kept(script: &Script, build: &Path, kernel: &Path) -> Option<String> {
    let name = kernel.file_name()?.to_str()?;
    let mut names = script.get("build_keeps")?.split_whitespace();
    names.find(|kept| *kept == name)?;
    fs::read_to_string(build.join(OBJECTS).join(name)).ok()
}

/// Stores an object for each file of `kernels` that has none yet.
pub(crate) fn keep(src: &Path, build: &Path) {
    let Ok(kernels) = fs::read_dir(src.join("kernels")) else { return };
    fs::create_dir_all(build.join(OBJECTS)).unwrap();
    for kernel in kernels.map(|entry| entry.unwrap()) {
        let object = build.join(OBJECTS).join(kernel.file_name());
        if !object.exists() {
            fs::copy(kernel.path(), object).unwrap();
        }
    }
}

/// `build_carries`: a setting with the number that the previous build left. Stores this build's
/// number for the next build.
pub(crate) fn carried(src: &Path, script: &Script) -> String {
    let Some((file, own)) = script.get("build_carries").and_then(|line| line.split_once(' '))
    else {
        return String::new();
    };
    let file = src.join(file);
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, own).unwrap();
    if before.is_empty() { before } else { format!("ppl+carried = {before}\n") }
}

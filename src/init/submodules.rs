//! Whether a build needs the submodules of its tree. A hunt checks them out by itself, which
//! means to fetch them where they are not here.

use super::program::Build;
use super::set::Setting;
use super::tree::{Tree, base};

/// Whether something is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Needed {
    /// It is, or may be.
    Yes,
    /// Only with this option, which is off.
    Only(String),
    /// The user's own checkout goes without it.
    Absent,
}

/// Of each submodule of a tree; `own` are those of the checkout's commit.
pub(super) fn needed(
    tree: &Tree,
    builds: &[Build],
    submodules: &[String],
    own: &[String],
    settings: &[Setting],
) -> Vec<(String, Needed)> {
    // Where they are here they cost nothing.
    let is_here = |folder: &String| tree.top().join(folder).join(".git").exists();
    // Who has some of them has those that are needed, and the others may be too.
    let is_bare = !own.iter().any(is_here);
    let missing = submodules.iter().filter(|folder| !is_here(folder));
    let needed = |folder: &String| {
        of_one(builds, folder, settings).unwrap_or(if is_bare && own.contains(folder) {
            Needed::Absent
        } else {
            Needed::Yes
        })
    };
    missing.map(|folder| (folder.clone(), needed(folder))).collect()
}

/// As far as the build tells.
fn of_one(builds: &[Build], folder: &str, settings: &[Setting]) -> Option<Needed> {
    let build = builds.first().filter(|build| !build.switches.is_empty())?;
    let behind = build.idle.iter().find(|idle| idle.folder == folder).map(|idle| &idle.option);
    // A backend's sources in a folder that is called as its option is: `X_KOMPUTE`, `kompute`.
    let name = base(folder).to_uppercase().replace(['-', '.'], "_");
    let called = build.off.iter().find(|option| option.ends_with(&format!("_{name}")));
    let option = behind.or(called)?;
    let is_on = settings.iter().any(|setting| setting.mentions(option));
    Some(if is_on { Needed::Yes } else { Needed::Only(option.clone()) })
}

//! Whether a build needs the submodules of its tree. A hunt checks them out by itself, which
//! means to fetch them where they are not here.

use super::program::Build;
use super::set::Setting;
use super::tree::{Tree, base};

/// Whether something is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Needed {
    /// It is, or that cannot be told.
    Yes,
    /// Only with this option, which is off.
    Only(String),
}

/// Of each submodule.
pub(super) fn needed(
    tree: &Tree,
    builds: &[Build],
    submodules: &[String],
    settings: &[Setting],
) -> Vec<(String, Needed)> {
    // Where they are here they cost nothing.
    let is_here = |folder: &str| tree.top().join(folder).join(".git").exists();
    let missing = submodules.iter().filter(|folder| !is_here(folder));
    missing.map(|folder| (folder.clone(), of_one(builds, folder, settings))).collect()
}

fn of_one(builds: &[Build], folder: &str, settings: &[Setting]) -> Needed {
    let Some(build) = builds.first().filter(|build| !build.switches.is_empty()) else {
        return Needed::Yes;
    };
    let behind = build.idle.iter().find(|idle| idle.folder == folder).map(|idle| &idle.option);
    // A backend's sources in a folder that is called as its option is: `X_KOMPUTE`, `kompute`.
    let name = base(folder).to_uppercase().replace(['-', '.'], "_");
    let called = build.off.iter().find(|option| option.ends_with(&format!("_{name}")));
    match behind.or(called) {
        Some(option) if !settings.iter().any(|setting| setting.mentions(option)) => {
            Needed::Only(option.clone())
        }
        _ => Needed::Yes,
    }
}

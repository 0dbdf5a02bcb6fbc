//! Whether a build needs the submodules of its tree. A hunt checks submodules out by default,
//! and fetches the missing ones.

use super::program::Build;
use super::set::Setting;
use super::tree::{Tree, base};

/// Whether a submodule is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Needed {
    /// The submodule is needed, or may be needed.
    Yes,
    /// The submodule is needed only with this option, which is off.
    Only(String),
    /// The user's own checkout does not have it.
    Absent,
}

/// Each missing submodule of a tree, and whether it is needed. `own` are the submodules of the
/// checkout's commit.
pub(super) fn needed(
    tree: &Tree,
    builds: &[Build],
    submodules: &[String],
    own: &[String],
    settings: &[Setting],
) -> Vec<(String, Needed)> {
    // A submodule that is checked out already costs nothing, so it is left out.
    let is_here = |folder: &String| tree.top().join(folder).join(".git").exists();
    // If the user has some submodules, the missing ones may still be needed. If they have none,
    // their build works without.
    let has_none = !own.iter().any(is_here);
    let missing = submodules.iter().filter(|folder| !is_here(folder));
    let needed = |folder: &String| {
        of_one(builds, folder, settings).unwrap_or(if has_none && own.contains(folder) {
            Needed::Absent
        } else {
            Needed::Yes
        })
    };
    missing.map(|folder| (folder.clone(), needed(folder))).collect()
}

/// Whether one submodule is needed; `None` if the build does not tell.
fn of_one(builds: &[Build], folder: &str, settings: &[Setting]) -> Option<Needed> {
    let build = builds.first().filter(|build| !build.switches.is_empty())?;
    let behind = build.idle.iter().find(|idle| idle.folder == folder).map(|idle| &idle.option);
    // The folder of a backend may have the name of its option: `kompute`, `X_KOMPUTE`.
    let name = base(folder).to_uppercase().replace(['-', '.'], "_");
    let called = build.off.iter().find(|option| option.ends_with(&format!("_{name}")));
    let option = behind.or(called)?;
    let is_on = settings.iter().any(|setting| setting.mentions(option));
    Some(if is_on { Needed::Yes } else { Needed::Only(option.clone()) })
}

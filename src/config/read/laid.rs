//! What is laid over a commit before it is built: `[[patch]]` and `[[overlay]]`; and what
//! of a commit measures: `[ruler]`.

use super::super::walk::{Section, Walk};
use super::super::{Condition, FileOverlay, Patch, PatchSource};
use super::overrides::{condition, revision};
use super::pathspecs;

pub(super) fn patches(walk: &mut Walk, root: &mut Section<'_>) -> Vec<Patch> {
    let mut patches: Vec<Patch> = Vec::new();
    for mut section in root.sections(walk, "patch") {
        let [file, commit] = ["file", "commit"].map(|key| section.get(key));
        let source = match (file, commit) {
            (Some(file), None) => {
                if file.text(walk).is_some_and(|path| path.starts_with('~')) {
                    file.refuse(walk, "`~` means something only to a shell; write the whole path.");
                }
                file.text(walk).map(|path| PatchSource::File(path.to_owned()))
            }
            (None, Some(commit)) => revision(walk, &commit).map(PatchSource::Commit),
            (Some(_), Some(both)) => {
                both.refuse(walk, "`file` and `commit` are both given; write another [[patch]].");
                None
            }
            (None, None) => {
                let what = "is missing: a patch needs `file` or `commit`.";
                walk.complain(section.place, &format!("{}.file", section.key), what);
                None
            }
        };
        let when = when(walk, &mut section);
        section.finish(walk);
        let source = source.unwrap_or_else(|| PatchSource::File(String::new()));
        patches.push(Patch { source, when });
    }
    patches
}

pub(super) fn overlays(walk: &mut Walk, root: &mut Section<'_>) -> Vec<FileOverlay> {
    let mut overlays = Vec::new();
    for mut section in root.sections(walk, "overlay") {
        let from = section.need(walk, "from").and_then(|spot| revision(walk, &spot));
        let paths = paths(walk, &mut section);
        let when = when(walk, &mut section);
        section.finish(walk);
        overlays.push(FileOverlay { from: from.unwrap_or_default(), paths, when });
    }
    overlays
}

/// `[ruler] paths`.
pub(super) fn ruler(walk: &mut Walk, root: &mut Section<'_>) -> Vec<String> {
    let Some(mut section) = root.get("ruler").and_then(|spot| spot.section(walk)) else {
        return Vec::new();
    };
    let paths = paths(walk, &mut section);
    section.finish(walk);
    paths
}

/// Patterns, of which there must be one.
fn paths(walk: &mut Walk, section: &mut Section<'_>) -> Vec<String> {
    let Some(spot) = section.need(walk, "paths") else { return Vec::new() };
    let count = walk.problems.len();
    let paths = pathspecs(walk, &spot);
    if paths.is_empty() && walk.problems.len() == count {
        spot.refuse(walk, "may not be empty.");
    }
    paths
}

fn when(walk: &mut Walk, section: &mut Section<'_>) -> Option<Condition> {
    let when = section.get("when")?.section(walk)?;
    Some(condition(walk, when))
}

//! Reads `[[patch]]` and `[[overlay]]`, which change a commit's files before the build, and
//! `[ruler]`, the files that measure.

use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{Condition, FileOverlay, Patch, PatchSource};
use super::condition::{condition, revision};
use super::pathspecs::pathspecs;

pub(super) fn patches(reader: &mut Reader, root: &mut TableReader<'_>) -> Vec<Patch> {
    let mut patches: Vec<Patch> = Vec::new();
    for mut section in root.sections(reader, "patch") {
        let [file, commit] = ["file", "commit"].map(|key| section.get(key));
        let source = match (file, commit) {
            (Some(file), None) => {
                if file.text(reader).is_some_and(|path| path.starts_with('~')) {
                    file.refuse(
                        reader,
                        "`~` means something only to a shell; write the whole path.",
                    );
                }
                file.text(reader).map(|path| PatchSource::File(path.to_owned()))
            }
            (None, Some(commit)) => revision(reader, &commit).map(PatchSource::Commit),
            (Some(_), Some(both)) => {
                both.refuse(reader, "`file` and `commit` are both given; write another [[patch]].");
                None
            }
            (None, None) => {
                let rest = "; e.g. `file = \"fix.patch\"`, or `commit = \"HEAD\"`";
                reader.report_missing(section.place, &format!("{}.file", section.key), rest);
                None
            }
        };
        let when = when(reader, &mut section);
        section.finish(reader);
        let source = source.unwrap_or_else(|| PatchSource::File(String::new()));
        patches.push(Patch { source, when });
    }
    patches
}

pub(super) fn overlays(reader: &mut Reader, root: &mut TableReader<'_>) -> Vec<FileOverlay> {
    let mut overlays = Vec::new();
    for mut section in root.sections(reader, "overlay") {
        let from = section
            .need(reader, "from", "from = \"HEAD\"")
            .and_then(|field| revision(reader, &field));
        let paths = paths(reader, &mut section);
        let when = when(reader, &mut section);
        section.finish(reader);
        overlays.push(FileOverlay { from: from.unwrap_or_default(), paths, when });
    }
    overlays
}

/// `[ruler] paths`.
pub(super) fn ruler(reader: &mut Reader, root: &mut TableReader<'_>) -> Vec<String> {
    let Some(mut section) = root.get("ruler").and_then(|field| field.section(reader)) else {
        return Vec::new();
    };
    let paths = paths(reader, &mut section);
    section.finish(reader);
    paths
}

/// `paths`: patterns, at least one.
fn paths(reader: &mut Reader, section: &mut TableReader<'_>) -> Vec<String> {
    let line = "paths = [\"tools/perplexity/**\"]";
    let Some(field) = section.need(reader, "paths", line) else { return Vec::new() };
    let count = reader.problems.len();
    let paths = pathspecs(reader, &field);
    if paths.is_empty() && reader.problems.len() == count {
        field.refuse(reader, "may not be empty.");
    }
    paths
}

fn when(reader: &mut Reader, section: &mut TableReader<'_>) -> Option<Condition> {
    let when = section.get("when")?.section(reader)?;
    Some(condition(reader, when))
}

//! Named constants whose value a change sets, adds or removes.

use std::collections::BTreeMap;

use crate::evaluation::{Difference, DifferenceIn, Setup};
use crate::git::ChangedLines;

use super::constant_syntax::{Language, Named};

/// Longest value shown, in characters.
const LONGEST: usize = 200;

/// Drops the constants that neither build used: those of a Makefile in a CMake build, those of a
/// CMake file in a build without CMake, and those of a source file that was not compiled. If
/// nothing is known about a build, all constants are kept.
pub(crate) fn used(found: &mut Vec<Difference>, builds: [&Setup; 2]) {
    found.retain(|one| one.place.as_deref().is_none_or(|path| may_be_used(path, builds)));
}

fn may_be_used(path: &str, builds: [&Setup; 2]) -> bool {
    let is_cmake = builds.iter().any(|build| !build.caches.is_empty());
    // The build files that CMake writes name targets, not files. Only compiler commands name files.
    let is_known = builds.iter().all(|build| !build.files.is_empty());
    match Language::of(path) {
        Some(Language::Make) => !is_cmake,
        Some(Language::Cmake) => is_cmake || !is_known,
        Some(Language::C) if is_known && is_unit(path) => {
            builds.iter().flat_map(|build| build.files.by.keys()).any(|name| is_file(name, path))
        }
        _ => true,
    }
}

/// Whether a compiler is given this file by name, unlike a header.
fn is_unit(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["c", "cc", "cpp", "cxx", "cu", "hip", "m", "mm"].contains(&ending)
}

/// Whether the compiled file of this name is the one at `path` below the source folder.
fn is_file(name: &str, path: &str) -> bool {
    let name = name.strip_prefix("{src}/").unwrap_or(name);
    name == path || name.strip_suffix(path).is_some_and(|start| start.ends_with('/'))
}

/// Assignments of one name in one file that a change removes and adds.
#[derive(Default)]
struct ChangedAssignments {
    removed: Vec<Named>,
    added: Vec<Named>,
}

/// The constants that the change sets to another value, adds or removes. If the change
/// adds or deletes a file, its constants are listed only if they moved and changed their value.
///
/// Lines are read one by one, so the function or `#if` around a line is not known. If a file gives
/// a name several values, old and new values are paired in order.
pub(crate) fn constants(change: &[ChangedLines]) -> Vec<Difference> {
    let mut moved: BTreeMap<(String, usize), ChangedAssignments> = BTreeMap::new();
    for (file, lines) in change.iter().enumerate() {
        let Some(language) = Language::of(&lines.path) else { continue };
        let read = |lines: &[String]| -> Vec<Named> {
            lines.iter().filter_map(|line| language.read(line)).collect()
        };
        for named in read(&lines.removed) {
            let one = moved.entry((named.name.clone(), file)).or_default();
            one.removed.push(named);
        }
        for named in read(&lines.added) {
            let one = moved.entry((named.name.clone(), file)).or_default();
            one.added.push(named);
        }
    }
    moved.values_mut().for_each(without_moved);
    let mut found = Vec::new();
    let mut left: BTreeMap<String, Vec<(usize, ChangedAssignments)>> = BTreeMap::new();
    for ((name, file), mut one) in moved {
        let pairs = one.removed.len().min(one.added.len());
        for (before, now) in one.removed.drain(..pairs).zip(one.added.drain(..pairs)) {
            found.push(difference(&name, [Some(&before), Some(&now)], &change[file].path));
        }
        if !one.removed.is_empty() || !one.added.is_empty() {
            left.entry(name).or_default().push((file, one));
        }
    }
    for (name, places) in left {
        found.extend(across_files(&name, places, change));
    }
    found
}

/// Drops values that are on both sides: only the line or its comment moved.
fn without_moved(one: &mut ChangedAssignments) {
    one.removed.retain(|before| {
        let same = one.added.iter().position(|now| now.value == before.value);
        same.map(|place| one.added.remove(place)).is_none()
    });
}

/// Differences of a name whose old and new values are not paired within one file. A name that one
/// file removes and another file adds has moved.
fn across_files(
    name: &str,
    places: Vec<(usize, ChangedAssignments)>,
    change: &[ChangedLines],
) -> Vec<Difference> {
    let mut removed = Vec::new();
    let mut added = Vec::new();
    for (file, one) in places {
        removed.extend(one.removed.into_iter().map(|named| (file, named)));
        added.extend(one.added.into_iter().map(|named| (file, named)));
    }
    removed.retain(|(_, before)| {
        let same = added.iter().position(|(_, now)| now.value == before.value);
        same.map(|place| added.remove(place)).is_none()
    });
    if let ([(_, before)], [(file, now)]) = (removed.as_slice(), added.as_slice()) {
        return vec![difference(name, [Some(before), Some(now)], &change[*file].path)];
    }
    let gone = removed
        .iter()
        .filter(|(file, named)| !named.is_variable && !change[*file].is_gone)
        .map(|(file, named)| difference(name, [Some(named), None], &change[*file].path));
    let new = added
        .iter()
        .filter(|(file, named)| !named.is_variable && !change[*file].is_new)
        .map(|(file, named)| difference(name, [None, Some(named)], &change[*file].path));
    gone.chain(new).collect()
}

fn difference(name: &str, sides: [Option<&Named>; 2], path: &str) -> Difference {
    let [before, now] = sides.map(|side| side.map(|named| cut(&named.value)));
    let sides = [before.as_deref(), now.as_deref()];
    Difference::named(DifferenceIn::Constant, name, sides).in_place(path)
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests;

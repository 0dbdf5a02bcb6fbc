//! `[[override]]`: takes the overrides out of the tree, and merges each of them once as a check.

use std::path::Path;

use super::super::Condition;
use super::super::document::{Data, Node, Table};
use super::super::merge::{NAMED, merge_over};
use super::super::problem::Problem;
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::condition::condition;

/// Keys that the whole hunt depends on, with advice for the message, or an empty text. No override
/// may set these keys.
pub(in super::super) const WHOLE_HUNT: [(&[&str], &str); 23] = [
    (&["version"], ""),
    (&["inputs"], " Declare a second input and name that one in the override's command."),
    (&["matrix"], ""),
    (&["sweep"], ""),
    (&["guard"], ""),
    (&["level"], ""),
    (&["statistics"], ""),
    (&["environment"], ""),
    (&["override"], ""),
    (&["patch"], " Give the patch a `when` of its own."),
    (&["overlay"], " Give the overlay a `when` of its own."),
    (&["ruler"], ""),
    (&["report"], ""),
    (&["executor"], ""),
    (&["limits"], ""),
    (&["notify"], ""),
    (&["worktree", "dir"], ""),
    (&["worktree", "descend"], ""),
    (&["build", "ignore"], ""),
    (&["build", "paths"], ""),
    (&["build", "confirm"], ""),
    (&["build", "keep"], ""),
    (&["build", "unread"], ""),
];

/// Takes `[[override]]` out of the tree. Returns the conditions and the bodies, in order.
pub(in super::super) fn take_overrides(
    document: &mut Node,
    problems: &mut Vec<Problem>,
) -> (Vec<Condition>, Vec<Node>) {
    let mut reader = Reader::default();
    let taken = take(&mut reader, document);
    problems.append(&mut reader.problems);
    taken
}

/// As [`take_overrides`], with the caller's reader.
pub(in super::super) fn take(
    reader: &mut Reader,
    document: &mut Node,
) -> (Vec<Condition>, Vec<Node>) {
    let taken = document.table_mut().and_then(|table| table.remove("override"));
    let Some(field) = taken else { return (Vec::new(), Vec::new()) };
    let place = field.place.clone();
    let table = Table(vec![field]);
    let mut root = TableReader::new("", &place, &table);
    let mut conditions = Vec::new();
    let mut bodies = Vec::new();
    for mut section in root.sections(reader, "override") {
        let when = section
            .need(reader, "when", "when = { missing = \"tools/perplexity\" }")
            .and_then(|field| field.section(reader));
        conditions.push(when.map(|when| condition(reader, when)).unwrap_or_default());
        bodies.push(body(reader, &section));
    }
    (conditions, bodies)
}

/// The part of an override that is merged: all its keys except `when` and those refused here.
fn body(reader: &mut Reader, section: &TableReader<'_>) -> Node {
    let mut table = Table::default();
    for (key, place, field) in section.entries().filter(|(key, ..)| *key != "when") {
        let value = field.node.clone();
        table.0.push(super::super::document::Entry {
            key: key.to_owned(),
            place: place.clone(),
            value,
        });
    }
    if table.0.is_empty() {
        reader.report_problem(
            section.place,
            &section.key,
            "changes nothing; give a key besides `when`.",
        );
    }
    for (path, cure) in WHOLE_HUNT {
        if let Some(place) = remove(&mut table, path) {
            let key = format!("{}.{}", section.key, path.join("."));
            reader.report_problem(
                &place,
                &key,
                format!("belongs to the whole hunt, not to some commits.{cure}"),
            );
        }
    }
    for list in NAMED {
        if let Some(Node { data: Data::List(_), .. }) = table.get(list) {
            let place = remove(&mut table, &[list]).unwrap_or_default();
            let key = format!("{}.{list}", section.key);
            let what = format!("name the {list} to change: {list}.NAME.command = …");
            reader.report_problem(&place, &key, what);
        }
    }
    Node { place: section.place.clone(), data: Data::Table(table) }
}

fn remove(table: &mut Table, path: &[&str]) -> Option<super::super::Location> {
    match path {
        [] => None,
        [key] => table.remove(key).map(|field| field.place),
        [key, rest @ ..] => remove(table.get_mut(key)?.table_mut()?, rest),
    }
}

/// Merges each override into the tree and reads the result. Problems in `known`, which exist
/// without the override, are not reported again.
pub(in super::super) fn check_overrides(
    document: &Node,
    bodies: &[Node],
    base: &Path,
    known: &[Problem],
) -> Vec<Problem> {
    let mut all = Vec::new();
    for (i, body) in bodies.iter().enumerate() {
        let prefix = format!("override[{}].", i + 1);
        let mut merged = document.clone();
        merge_over(&mut merged, body, &prefix, &mut all);
        let (_, problems) = super::read(&merged, base);
        for mut problem in problems.into_iter().filter(|p| !known.contains(p)) {
            if body.has(&problem.place) {
                problem.key = format!("{prefix}{}", problem.key);
            } else {
                problem.what = format!("with override[{}] applied: {}", i + 1, problem.what);
            }
            all.push(problem);
        }
    }
    all
}

//! `[[override]]`: taken out of the tree, and each laid over it once to see that it can be.

use std::path::Path;

use super::super::Condition;
use super::super::document::{Data, Node, Table};
use super::super::lay::{NAMED, lay_over};
use super::super::problem::Problem;
use super::super::walk::{Section, Spot, Walk};

/// What a hunt as a whole depends on, so that it cannot differ from commit to commit.
pub(in super::super) const WHOLE_HUNT: [(&[&str], &str); 15] = [
    (&["version"], ""),
    (&["inputs"], " Declare a second input and name that one in the override's command."),
    (&["matrix"], ""),
    (&["guard"], ""),
    (&["statistics"], ""),
    (&["environment"], ""),
    (&["override"], ""),
    (&["patch"], " Give the patch a `when` of its own."),
    (&["overlay"], " Give the overlay a `when` of its own."),
    (&["ruler"], ""),
    (&["worktree", "dir"], ""),
    (&["worktree", "descend"], ""),
    (&["build", "ignore"], ""),
    (&["build", "paths"], ""),
    (&["build", "confirm"], ""),
];

/// Takes `[[override]]` out of the tree: conditions and bodies, in order.
pub(in super::super) fn take_overrides(
    document: &mut Node,
    problems: &mut Vec<Problem>,
) -> (Vec<Condition>, Vec<Node>) {
    let mut walk = Walk::default();
    let taken = take(&mut walk, document);
    problems.append(&mut walk.problems);
    taken
}

/// The same on a walk that goes on.
pub(super) fn take(walk: &mut Walk, document: &mut Node) -> (Vec<Condition>, Vec<Node>) {
    let taken = document.table_mut().and_then(|table| table.remove("override"));
    let Some(field) = taken else { return (Vec::new(), Vec::new()) };
    let place = field.place.clone();
    let table = Table(vec![field]);
    let mut root = Section::new("", &place, &table);
    let mut conditions = Vec::new();
    let mut bodies = Vec::new();
    for mut section in root.sections(walk, "override") {
        let when = section.need(walk, "when").and_then(|spot| spot.section(walk));
        conditions.push(when.map(|when| condition(walk, when)).unwrap_or_default());
        bodies.push(body(walk, &section));
    }
    (conditions, bodies)
}

pub(super) fn condition(walk: &mut Walk, mut when: Section<'_>) -> Condition {
    if when.entries().next().is_none() {
        let what =
            "is empty; give one or more of missing, exists, contains, has_ancestor, lacks_ancestor";
        walk.complain(when.place, &when.key, what);
    }
    let path = |walk: &mut Walk, when: &mut Section<'_>, key| {
        when.get(key).and_then(|spot| spot.inner_path(walk))
    };
    let missing = path(walk, &mut when, "missing");
    let exists = path(walk, &mut when, "exists");
    let contains = when.get("contains").and_then(|spot| contains(walk, &spot));
    let has_ancestor = when.get("has_ancestor").and_then(|spot| revision(walk, &spot));
    let lacks_ancestor = when.get("lacks_ancestor").and_then(|spot| revision(walk, &spot));
    when.finish(walk);
    Condition { missing, exists, contains, has_ancestor, lacks_ancestor }
}

fn contains(walk: &mut Walk, spot: &Spot<'_>) -> Option<(String, String)> {
    let items = spot.list(walk)?;
    let [file, text] = items.as_slice() else {
        spot.refuse(walk, format!("expected [FILE, TEXT], found {} items.", items.len()));
        return None;
    };
    let file = file.inner_path(walk);
    let text = text.text(walk);
    Some((file?, text?.to_owned()))
}

pub(super) fn revision(walk: &mut Walk, spot: &Spot<'_>) -> Option<String> {
    let text = spot.text(walk)?;
    if text.starts_with('-') || text.contains("..") || text.contains(char::is_whitespace) {
        spot.refuse(walk, format!("`{text}` is not a revision."));
    }
    Some(text.to_owned())
}

/// What is to be laid over: everything but the condition, and without what is refused.
fn body(walk: &mut Walk, section: &Section<'_>) -> Node {
    let mut table = Table::default();
    for (key, place, spot) in section.entries().filter(|(key, ..)| *key != "when") {
        let value = spot.node.clone();
        table.0.push(super::super::document::Field {
            key: key.to_owned(),
            place: place.clone(),
            value,
        });
    }
    if table.0.is_empty() {
        walk.complain(section.place, &section.key, "changes nothing; give a key besides `when`.");
    }
    for (path, cure) in WHOLE_HUNT {
        if let Some(place) = remove(&mut table, path) {
            let key = format!("{}.{}", section.key, path.join("."));
            walk.complain(
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
            walk.complain(&place, &key, what);
        }
    }
    Node { place: section.place.clone(), data: Data::Table(table) }
}

fn remove(table: &mut Table, path: &[&str]) -> Option<super::super::Place> {
    match path {
        [] => None,
        [key] => table.remove(key).map(|field| field.place),
        [key, rest @ ..] => remove(table.get_mut(key)?.table_mut()?, rest),
    }
}

/// Lays each override over the tree and reads the result. What was wrong without it is
/// `known` and not said again.
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
        lay_over(&mut merged, body, &prefix, &mut all);
        let (_, problems) = super::read(&merged, base);
        for mut problem in problems.into_iter().filter(|p| !known.contains(p)) {
            if body.has(&problem.place) {
                problem.key = format!("{prefix}{}", problem.key);
            } else {
                problem.what = format!("with override[{}] laid over: {}", i + 1, problem.what);
            }
            all.push(problem);
        }
    }
    all
}

//! Tests that imports between files have no cycles. The files of a cycle can only be read, tested
//! and changed together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::modules::{Graph, Modules};
use super::sources;

/// Groups of files that reach each other by imports (strongly connected components).
fn circles(graph: &Graph) -> Vec<BTreeSet<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (file.as_str(), reachable(graph, file))).collect();
    let mut circles: Vec<BTreeSet<&str>> = Vec::new();
    for (file, others) in &reached {
        let is_new = circles.iter().all(|circle| !circle.contains(file));
        if is_new && others.contains(file) {
            let returns = |other: &&&str| reached.get(*other).is_some_and(|o| o.contains(file));
            circles.push(others.iter().filter(returns).copied().collect());
        }
    }
    circles
}

/// The files that a file imports from, directly or not.
fn reachable<'g>(graph: &'g Graph, file: &str) -> BTreeSet<&'g str> {
    let mut found = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for other in graph.get(file).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(other.as_str()) {
                open.push(other);
            }
        }
    }
    found
}

/// The imports of a cycle, one line each: `a.rs -> b.rs: B, b`.
fn show(graph: &Graph, circle: &BTreeSet<&str>) -> String {
    let mut text = format!("{} files in a circle:\n", circle.len());
    for file in circle {
        let imports = graph[*file].iter();
        for (other, names) in imports.filter(|(other, _)| circle.contains(other.as_str())) {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            writeln!(text, "  {file} -> {other}: {names}").unwrap();
        }
    }
    text
}

#[test]
fn no_circle_of_files() {
    let files = sources().into_iter().map(|(_, path, text)| (path.display().to_string(), text));
    let graph = Modules::of(&files.collect()).imports();
    assert!(graph.len() > 100, "the imports were not found: {graph:#?}");
    let wrong: Vec<String> = circles(&graph).iter().map(|circle| show(&graph, circle)).collect();
    assert!(
        wrong.is_empty(),
        "move what both sides of a circle use into a file of its own, or into the lower file:\n{}",
        wrong.join("\n")
    );
}

/// The import cycles of a crate with these files, as text.
fn circles_of(files: &[(&str, &str)]) -> String {
    let files = files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
    let graph = Modules::of(&files.collect()).imports();
    circles(&graph).iter().map(|circle| show(&graph, circle)).collect()
}

#[test]
fn a_circle_is_found_through_re_exports_and_shown_with_its_imports() {
    let text = circles_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod x; mod y; pub use x::{X, X2}; pub use y::*;"),
        ("a/x.rs", "use super::Y; pub struct X; pub struct X2; fn f(y: Y) {}"),
        ("a/y.rs", "use crate::b::{self, Y2}; pub struct Y; fn f() { b::g() }"),
        ("b.rs", "use crate::a::X as Other; pub struct Y2; pub fn g(x: super::a::X2, o: Other) {}"),
    ]);
    let expected = "3 files in a circle:\n  a/x.rs -> a/y.rs: Y\n  a/y.rs -> b.rs: Y2, b, g\n  \
                    b.rs -> a/x.rs: X, X2\n";
    assert_eq!(text, expected);
}

#[test]
fn a_parent_and_a_child_are_a_circle_only_if_both_use_each_other() {
    let child = ("a/x.rs", "use super::A; pub struct X; pub fn f(a: A) {}");
    let circle = |parent: &str| {
        let text = format!("mod x; pub struct A; {parent}");
        !circles_of(&[("lib.rs", "mod a;"), ("a/mod.rs", &text), child]).is_empty()
    };
    assert!(!circle(""));
    assert!(!circle("pub use x::X;"));
    assert!(!circle("pub(super) use x::*;"));
    assert!(circle("use x::X;"));
    assert!(circle("fn g() { x::f(A) }"));
    assert!(circle("pub use x::X; fn g(x: X) {}"));
}

#[test]
fn unit_tests_and_other_crates_make_no_circle() {
    let text = circles_of(&[
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod fixture;"),
        ("a.rs", "use std::fmt; use super::b::B; struct A; #[cfg(test)] mod tests;"),
        ("b.rs", "pub struct B(fmt::A); #[cfg(test)] mod tests { use crate::a::A; }"),
        ("a/tests.rs", "use crate::b::B;"),
        ("fixture.rs", "use crate::a::A;"),
    ]);
    assert_eq!(text, "");
}

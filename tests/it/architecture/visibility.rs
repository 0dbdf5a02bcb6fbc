//! Which items of `src` may be public.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{code, sources};

/// The words of the code that may name public items: tests, benches, examples, fuzzers, and the
/// program itself.
fn words_outside() -> BTreeSet<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = ["tests", "benches", "examples", "fuzz"].map(|name| top.join(name)).to_vec();
    let mut text = fs::read_to_string(top.join("src/main.rs")).unwrap();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // These tests name items in lists.
                folders.extend((!path.ends_with("it/architecture")).then_some(path));
            } else if path.extension().is_some_and(|end| end == "rs") {
                text += &fs::read_to_string(&path).unwrap();
            }
        }
    }
    let is_part = |c: char| !c.is_alphanumeric() && c != '_';
    code(&text).split(is_part).map(str::to_owned).collect()
}

/// The name of a public function or constant that a line declares.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest =
        rest.strip_prefix("const fn ").or_else(|| rest.strip_prefix("fn ")).or_else(|| {
            let rest = rest.strip_prefix("const ").or_else(|| rest.strip_prefix("static "))?;
            Some(rest)
        })?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// The name of a public type that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let (kind, rest) = rest.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "type", "union"].contains(&kind);
    is_type.then(|| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next())?
}

/// Public types that nothing outside of the library names: a public field, variant or function has
/// them in its type, so they cannot be narrower.
const IN_SIGNATURES: &[&str] = &[
    "Ancestors",
    "Belief",
    "CauseSet",
    "ChangePart",
    "CheckoutImpossible",
    "Chunks",
    "CommandError",
    "CommitId",
    "Comparison",
    "Condition",
    "ConfigError",
    "Difference",
    "DumpError",
    "Encoding",
    "EndReason",
    "FileRole",
    "FormName",
    "GitError",
    "GitVersion",
    "GuardForm",
    "LayoutError",
    "LevelTolerance",
    "LoadError",
    "LogitsDifference",
    "LogitsGuard",
    "LogitsLimits",
    "Metric",
    "MissingValue",
    "MovedEdit",
    "Names",
    "ParseCommitIdError",
    "ParseMetricError",
    "Placeholder",
    "PlanError",
    "Rates",
    "ReachedLimit",
    "ResolveError",
    "Resources",
    "Run",
    "SandboxError",
    "Scenario",
    "ScenarioError",
    "TemplateError",
    "Trial",
    "Unreadable",
    "Values",
];

#[test]
fn each_public_type_is_named_outside_of_the_library_or_in_a_signature() {
    let outside = words_outside();
    let mut wrong = Vec::new();
    let mut listed: BTreeSet<&str> = IN_SIGNATURES.iter().copied().collect();
    for (_, path, text) in sources() {
        let names = text.lines().filter_map(declared_type).filter(|name| !outside.contains(*name));
        for name in names {
            if !IN_SIGNATURES.contains(&name) {
                wrong.push(format!("{}: {name}", path.display()));
            }
            listed.remove(name);
        }
    }
    assert!(wrong.is_empty(), "these can be pub(crate): {wrong:#?}");
    assert!(listed.is_empty(), "take these off the list: {listed:?}");
}

/// The compiler finds code that nobody uses only if it is not public.
#[test]
fn each_public_function_is_named_outside_of_the_library() {
    let outside = words_outside();
    let mut wrong = Vec::new();
    for (_, path, text) in sources() {
        let names = text.lines().filter_map(declared).filter(|name| !outside.contains(*name));
        wrong.extend(names.map(|name| format!("{}: {name}", path.display())));
    }
    assert!(wrong.is_empty(), "these can be pub(crate): {wrong:#?}");
}

#[test]
fn declarations_are_read() {
    for line in ["pub fn a(", "    pub const fn a<T>(", "pub const a: u8", "pub static a: u8"] {
        assert_eq!(declared(line), Some("a"), "{line}");
    }
    for line in ["pub(crate) fn a(", "fn a(", "pub struct A", "pub use a::b;"] {
        assert_eq!(declared(line), None, "{line}");
    }
    for line in ["pub struct A(u8);", "    pub enum A<T> {", "pub type A = u8;", "pub trait A: B {"]
    {
        assert_eq!(declared_type(line), Some("A"), "{line}");
    }
    for line in ["pub(crate) struct A;", "struct A;", "pub fn a(", "pub use a::A;"] {
        assert_eq!(declared_type(line), None, "{line}");
    }
}

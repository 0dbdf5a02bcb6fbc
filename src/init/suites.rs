//! Suites of tests, for trees in which no program measures perplexity.

use super::flags::Options;
use super::program::{Build, Program};
use super::programs::{Choice, Reading};
use super::tree::{Origin, Tree};

/// How many others are named beside the one that is taken.
const OTHERS: usize = 8;

/// What is listed, measured or fetched under such a name, rather than checked.
const OTHER_WORDS: [&str; 17] = [
    "bench",
    "benchmark",
    "perf",
    "flamegraph",
    "profile",
    "list",
    "help",
    "show",
    "lib",
    "libs",
    "data",
    "deps",
    "install",
    "clean",
    "update",
    "format",
    "lint",
];

/// How much a target looks like a suite by its name; 0: not at all.
pub(super) fn likeness(name: &str) -> u32 {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |word: &str| words.contains(&word);
    if OTHER_WORDS.iter().any(|word| has(word)) {
        return 0;
    }
    match name.as_str() {
        "test" | "tests" | "check" | "parity" | "ctest" => 3,
        _ if has("parity") => 2,
        _ if has("test") || has("tests") || has("check") => 1,
        _ => 0,
    }
}

/// The suite that stands for the tree: the plainest name, and of several the first.
pub(super) fn choose(tree: &Tree, builds: &[Build]) -> Option<Choice> {
    let suites = builds.iter().flat_map(|build| &build.suites);
    let mut ranked: Vec<(u32, &Program)> = suites.map(|s| (likeness(&s.name), s)).collect();
    ranked.retain(|(rank, _)| *rank > 0);
    // Stable: of several alike the first stays first.
    ranked.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    let mut ranked = ranked.into_iter().map(|(_, program)| program);
    let program = ranked.next()?.clone();
    let mut others: Vec<String> = ranked.map(|suite| suite.name.clone()).collect();
    others.dedup();
    others.truncate(OTHERS);
    let reading = reading(tree, &program);
    Some(Choice { program, options: Options::default(), reading, is_named: true, others })
}

/// What it says of its checks, where the files it runs print that; else whether it passes.
fn reading(tree: &Tree, suite: &Program) -> Reading {
    let place = |prints: fn(&str) -> bool| {
        suite.sources.iter().find_map(|file| {
            let text = tree.text(file)?;
            let line = text.lines().position(prints)?;
            Some(Origin::new(file, line + 1))
        })
    };
    let (state, distance) = (place(prints_a_state), place(prints_a_distance));
    let (states, distances) = (state.is_some(), distance.is_some());
    let from = state.or(distance);
    from.map_or(Reading::Passes, |from| Reading::Checks { states, distances, from })
}

/// Whether a line of a source prints that a check passes, in a way that the parser knows.
fn prints_a_state(line: &str) -> bool {
    let is_either = line.contains("\"PASS\"") && line.contains("\"FAIL\"");
    is_either || ["[PASS]", "[PASSED]", "[OK]"].iter().any(|word| line.contains(word))
}

/// Whether it prints how far a check is off.
fn prints_a_distance(line: &str) -> bool {
    ["max_diff={", "max_diff=%", "max_diff: %"].iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_known_by_their_names() {
        for (name, wanted) in [
            ("test", 3),
            ("check", 3),
            ("layer-parity", 2),
            ("test-kernel-parity", 2),
            ("test_relu", 1),
            ("unittest", 0),
            ("test-libs", 0),
            ("test-bench", 0),
            ("latest", 0),
            ("all", 0),
        ] {
            assert_eq!(likeness(name), wanted, "{name}");
        }
    }

    #[test]
    fn checks_are_known_by_how_they_are_printed() {
        assert!(prints_a_state(r#"printf("  [PASS] %s\n", name);"#));
        assert!(prints_a_distance(r#"print(f"{name}: max_diff={diff:.2e}")"#));
        assert!(prints_a_distance(r#"printf("max_diff: %g\n", d);"#));
        assert!(!prints_a_distance("if (max_diff > 1e-3) pass = 0;"));
        assert!(prints_a_state(r#"printf("%s\n", pass ? "PASS" : "FAIL");"#));
        assert!(!prints_a_state("/* PASS */"));
    }
}

//! Suites of tests, for trees in which no program measures perplexity.

use super::flags::Options;
use super::program::{Build, Program};
use super::programs::{Choice, Reading};
use super::tree::{Origin, Tree};

/// Maximum number of other suites to name beside the chosen one.
const OTHERS: usize = 8;

/// Words in a target's name that mean something else than checking: listing, measuring,
/// fetching.
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

/// How much a target's name looks like a test suite, from 0 (not at all) to 3.
pub(super) fn suite_name_score(name: &str) -> u32 {
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

/// The suite to measure: the one with the plainest name. If several are equal, the first.
pub(super) fn choose(tree: &Tree, builds: &[Build]) -> Option<Choice> {
    let program = ranked(builds).into_iter().next()?.clone();
    let reading = reading(tree, &program);
    let (options, reads) = (Options::default(), Vec::new());
    Some(Choice { program, options, reading, is_named: true, reads })
}

/// The suites, the one with the plainest name first.
fn ranked(builds: &[Build]) -> Vec<&Program> {
    let suites = builds.iter().flat_map(|build| &build.suites);
    let mut ranked: Vec<(u32, &Program)> = suites.map(|s| (suite_name_score(&s.name), s)).collect();
    ranked.retain(|(rank, _)| *rank > 0);
    // The sort is stable: among equals the first stays first.
    ranked.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    ranked.into_iter().map(|(_, program)| program).collect()
}

/// Names of the suites that were not chosen, the plainest first.
pub(super) fn others(builds: &[Build]) -> Vec<String> {
    let mut others: Vec<String> =
        ranked(builds).into_iter().skip(1).map(|suite| suite.name.clone()).collect();
    others.dedup();
    others.truncate(OTHERS);
    others
}

/// How the suite is read: by its checks if the files that it runs print them, else by its exit
/// code.
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

/// Whether a source line prints the state of a check in a form that the parser knows.
fn prints_a_state(line: &str) -> bool {
    let is_either = line.contains("\"PASS\"") && line.contains("\"FAIL\"");
    is_either || ["[PASS]", "[PASSED]", "[OK]"].iter().any(|word| line.contains(word))
}

/// Whether a source line prints the distance of a check.
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
            assert_eq!(suite_name_score(name), wanted, "{name}");
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

//! Invariants of `ARCHITECTURE.md` that the text of the source shows.

use std::fs;
use std::path::Path;

use super::{code, only_in, sources};

/// Fails if a file of these modules has one of these words. Unit tests in files of their own are
/// exempt.
#[track_caller]
fn not_in(modules: &[&str], words: &[&str]) {
    let mut wrong = Vec::new();
    for (module, path, text) in sources() {
        let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs");
        if is_test || !modules.contains(&module.as_str()) {
            continue;
        }
        let code = code(&text);
        let found = words.iter().filter(|word| code.contains(**word));
        wrong.extend(found.map(|word| format!("{}: {word}", path.display())));
    }
    assert!(wrong.is_empty(), "{modules:?} must not use these: {wrong:#?}");
}

fn architecture() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    fs::read_to_string(path).unwrap()
}

/// The texts between single backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn only_git_uses_git2_and_calls_git() {
    only_in(&["git"], &["git2::"]);
    // `process` makes the invocation, and tests it.
    only_in(&["git", "process/invocation.rs"], &["Invocation::git("]);
}

#[test]
fn modules_without_io_do_none() {
    let modules = ["measure", "evaluation", "stats", "search", "differ", "unread"];
    let words = ["std::fs", "std::io", "std::net", "std::env", "File::open", "::now()"];
    not_in(&modules, &words);
}

#[test]
fn a_report_runs_nothing() {
    not_in(&["report"], &["Invocation", "process::run", "process::tool", "oracle::"]);
}

#[test]
fn the_store_keeps_no_verdicts() {
    // The journal has the verdicts that git was given. A worker leaves its verdict in the hunt's
    // folder, for the search that it works for.
    let journal = ["store/journal/event/done.rs", "store/ahead.rs"];
    let mut wrong = Vec::new();
    for (module, path, text) in sources() {
        let name = path.to_string_lossy();
        let code = code(&text);
        let has_verdicts = code.contains("Verdict") || code.contains("Judgement");
        if module == "store" && has_verdicts && !journal.contains(&name.as_ref()) {
            wrong.push(name.into_owned());
        }
    }
    assert!(wrong.is_empty(), "the store has runs, from which verdicts are derived: {wrong:?}");
}

#[test]
fn a_search_speaks_of_older_and_newer() {
    // The user's own bisect, the beginning in the journal, and the two files that translate.
    let edges = [
        "cli/oracle.rs",
        "evaluation/aim.rs",
        "hunt/terms.rs",
        "report/sought.rs",
        "store/journal/event/begun.rs",
    ];
    only_in(&edges, &["swap_if_fix"]);
}

#[test]
fn few_files_of_a_hunt_turn_pairs_around() {
    // They begin or measure a range, or compare the two sides of a commit's step: a guard says what
    // is worse, so its baseline must be the good side, also in a hunt for a fix.
    let places = [
        "hunt/begin/descend.rs",
        "hunt/begin/examine.rs",
        "hunt/confirm/confirmation_runs.rs",
        "hunt/endpoints.rs",
        "hunt/endpoints/merge_bases.rs",
        "hunt/outcome/between_named.rs",
        "hunt/outcome/fork.rs",
        "hunt/outcome/level.rs",
        "hunt/range.rs",
        "hunt/search/range_ends.rs",
        "hunt/shapes.rs",
        "hunt/terms.rs",
        "hunt/verify/claims.rs",
        "report/sought.rs",
    ];
    only_in(&places, &["good_and_bad([", "older_and_newer"]);
}

#[test]
fn the_way_of_a_figure_has_at_most_twelve_files_and_all_exist() {
    let text = architecture();
    let (_, rest) = text.split_once("## From a line of output to a verdict\n").unwrap();
    let (section, _) = rest.split_once("\n## ").unwrap();
    let is_step = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit());
    let is_file = |word: &&str| Path::new(word).extension().is_some_and(|end| end == "rs");
    let steps: Vec<&str> =
        section.lines().filter(is_step).flat_map(quoted).filter(is_file).collect();
    assert!((8..=12).contains(&steps.len()), "{} files: {steps:?}", steps.len());
    for file in quoted(section).into_iter().filter(is_file) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
        assert!(path.is_file(), "{file} is named, but does not exist");
    }
}

#[test]
fn every_path_of_the_source_that_the_document_names_exists() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = architecture();
    let named = quoted(&text).into_iter().filter(|word| {
        word.starts_with("src/") && !word.contains(|c: char| c.is_whitespace() || c == '*')
    });
    let missing: Vec<&str> = named.filter(|path| !top.join(path).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names these, but they do not exist: {missing:?}");
}

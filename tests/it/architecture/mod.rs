//! Tests of what the source must not do.

mod circles;
mod invariants;
mod modules;
mod syntax;
mod uses;
mod visibility;

use std::fs;
use std::path::{Path, PathBuf};

/// Files of `src`, as (module, path, text); files at the top have no module.
fn sources() -> Vec<(String, PathBuf, String)> {
    below("src")
}

/// The same for another folder of this repository.
fn below(folder: &str) -> Vec<(String, PathBuf, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let inner = path.strip_prefix(&top).unwrap();
                let module = inner.parent().unwrap().iter().next();
                let module = module.map(|r| r.to_string_lossy().into_owned()).unwrap_or_default();
                let text = fs::read_to_string(&path).unwrap();
                found.push((module, inner.to_owned(), text));
            }
        }
    }
    assert!(found.len() > 10, "the source was not found");
    found
}

/// The text without comment lines, which may name any module.
fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Fails if a file outside these modules (or files) has one of these words. Unit tests in files of
/// their own are exempt.
#[track_caller]
fn only_in(places: &[&str], words: &[&str]) {
    let mut wrong = Vec::new();
    for (module, path, text) in sources() {
        let name = path.to_string_lossy();
        let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs");
        if is_test || places.iter().any(|place| module == *place || name == *place) {
            continue;
        }
        let code = code(&text);
        for word in words {
            let whole = code.match_indices(word).any(|(place, _)| {
                !code[..place].ends_with(|c: char| c.is_alphanumeric() || c == '_')
            });
            if whole {
                wrong.push(format!("{name}: {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "only {places:?} may use these: {wrong:#?}");
}

#[test]
fn only_the_module_process_starts_programs() {
    only_in(&["process"], &["process::Command", "duct::", "use duct"]);
}

#[test]
fn only_cli_and_ui_print() {
    only_in(&["cli", "ui"], &["println!", "eprintln!", "print!", "eprint!"]);
}

#[test]
fn only_main_and_the_engines_supervisor_end_the_program() {
    only_in(&["main.rs", "process/shim.rs"], &["process::exit("]);
}

#[test]
fn no_test_file_is_forgotten() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in fs::read_dir(tests).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.is_dir(), "{}: belongs into tests/it", path.display());
    }
    let lists = [
        ("tests/it", "main.rs"),
        ("tests/it/architecture", "mod.rs"),
        ("tests/it/commands", "mod.rs"),
        ("tests/it/init", "mod.rs"),
        ("tests/it/kit", "mod.rs"),
        ("tests/it/process", "mod.rs"),
        ("tests/it/scenarios", "mod.rs"),
        ("tests/it/worlds", "mod.rs"),
    ];
    for (folder, list) in lists {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let listed = fs::read_to_string(folder.join(list)).unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let module = path.extension().is_some_and(|e| e == "rs") || path.is_dir();
            if module && path.file_name().unwrap() != list {
                assert!(listed.contains(&format!("mod {name};")), "{list} lacks `mod {name};`");
            }
        }
    }
}

/// `scripts/test --long` runs all ignored tests, and `scripts/test` none of them.
#[test]
fn a_test_is_ignored_only_if_it_is_long() {
    let reasons = ["long: scripts/test --long", "started by other tests"];
    for (_, path, text) in below("src").into_iter().chain(below("tests")) {
        for rest in text.lines().filter_map(|line| line.trim_start().strip_prefix("#[ignore")) {
            let is_known = reasons.iter().any(|reason| rest == format!(" = \"{reason}\"]"));
            assert!(is_known, "{}: #[ignore{rest}", path.display());
        }
    }
}

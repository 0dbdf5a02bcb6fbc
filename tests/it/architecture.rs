//! Tests of what the source must not do.

use std::fs;
use std::path::{Path, PathBuf};

/// Rooms (modules) of `src` and the rooms that each may use. Imports go downward only: cli →
/// init, demo, hunt → oracle → build, measure, report → differ, store → config, git → search →
/// stats, process, ui → evaluation. Types of measured things are in `evaluation`, which uses no
/// other room. A report uses the words of `ui` and prints nothing.
const ROOMS: &[(&str, &str)] = &[
    (
        "cli",
        "init demo hunt oracle build measure report store config git search stats evaluation \
         process ui",
    ),
    ("init", "config git evaluation ui"),
    ("demo", "config git evaluation"),
    ("hunt", "oracle build report differ store config git search stats evaluation process ui"),
    ("oracle", "build measure store config git search stats evaluation process ui"),
    ("build", "differ store config git stats evaluation process"),
    ("differ", "git evaluation"),
    ("measure", "store config git stats evaluation process"),
    ("report", "store search stats ui evaluation"),
    ("store", "config git search stats evaluation process"),
    ("config", "evaluation"),
    ("git", "evaluation process"),
    ("ui", "evaluation"),
    ("process", "evaluation"),
    ("search", "stats evaluation"),
    ("stats", ""),
    ("evaluation", ""),
];

/// Files of `src`, as (room, path, text); files at the top have no room.
fn sources() -> Vec<(String, PathBuf, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let inner = path.strip_prefix(&top).unwrap();
                let room = inner.parent().unwrap().iter().next();
                let room = room.map(|r| r.to_string_lossy().into_owned()).unwrap_or_default();
                let text = fs::read_to_string(&path).unwrap();
                found.push((room, inner.to_owned(), text));
            }
        }
    }
    assert!(found.len() > 10, "the source was not found");
    found
}

/// The text without comment lines, which may name any room.
fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Every room used as `crate::ROOM` or in `crate::{…}`.
fn used_rooms(code: &str) -> Vec<String> {
    let word = |text: &str| {
        text.trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    let mut rooms = Vec::new();
    for (place, _) in code.match_indices("crate::") {
        let rest = &code[place + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            rooms.extend(top_level(group).iter().map(|part| word(part)));
        } else {
            rooms.push(word(rest));
        }
    }
    rooms
}

/// The parts of a `{a::{b, c}, d}` after its first brace: `a::{b, c}` and `d`.
fn top_level(group: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is always one").push(c);
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

#[test]
fn groups_are_taken_apart() {
    let text = "use crate::{store::{A, B}, git};\nlet x = crate::config::load();";
    assert_eq!(used_rooms(text), ["store", "git", "config"]);
}

#[test]
fn imports_go_downward_only() {
    let names: Vec<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    let mut wrong = Vec::new();
    for (room, path, text) in sources() {
        if room.is_empty() {
            continue;
        }
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            wrong.push(format!("{}: the table of rooms lacks `{room}`", path.display()));
            continue;
        };
        for used in used_rooms(&code(&text)) {
            if used != room && !allowed.split(' ').any(|room| room == used) {
                let known = names.contains(&used.as_str());
                let why = if known { "lies above it" } else { "is no room" };
                wrong.push(format!("{}: uses `{used}`, which {why}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Fails if a file outside these rooms (or files) has one of these words. Unit tests in files of
/// their own are exempt.
#[track_caller]
fn only_in(places: &[&str], words: &[&str]) {
    let mut wrong = Vec::new();
    for (room, path, text) in sources() {
        let name = path.to_string_lossy();
        let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs");
        if is_test || places.iter().any(|place| room == *place || name == *place) {
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
fn only_the_room_process_starts_programs() {
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
        ("tests/it/kit", "mod.rs"),
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

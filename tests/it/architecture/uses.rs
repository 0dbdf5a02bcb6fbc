//! Which module of `src` may use which.

use std::collections::{BTreeMap, BTreeSet};

use super::{code, sources};

/// The modules of `src` and the modules that each uses, its unit tests included. Imports go
/// downward only; `ARCHITECTURE.md` has the order. Types of measured things are in `evaluation`,
/// which uses no other module. A report uses the words of `ui` and prints nothing.
const MODULES: &[(&str, &str)] = &[
    (
        "cli",
        "init demo hunt oracle build report slurm store config git search stats evaluation process ui tensor",
    ),
    ("init", "config git evaluation ui"),
    ("demo", "config git evaluation"),
    (
        "hunt",
        "oracle build report unread differ slurm store config git search stats evaluation files process ui",
    ),
    (
        "oracle",
        "build measure slurm tensor store config git search stats evaluation files process ui",
    ),
    ("build", "differ store config git evaluation files process"),
    ("differ", "git evaluation"),
    ("unread", "evaluation"),
    ("measure", "config stats evaluation tensor"),
    ("report", "config differ slurm store git search stats ui evaluation files process"),
    ("slurm", "store config evaluation files process"),
    ("store", "evaluation files process"),
    ("config", "evaluation"),
    ("git", "evaluation files process"),
    ("ui", "evaluation"),
    ("process", "evaluation files"),
    ("search", "stats evaluation"),
    ("stats", ""),
    ("tensor", "evaluation files"),
    ("evaluation", ""),
    ("files", ""),
];

/// Every module of `src` that the code uses as `crate::NAME` or in `crate::{…}`.
fn used_modules(code: &str) -> Vec<String> {
    let word = |text: &str| {
        text.trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    let mut modules = Vec::new();
    for (place, _) in code.match_indices("crate::") {
        let rest = &code[place + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            modules.extend(top_level(group).iter().map(|part| word(part)));
        } else {
            modules.push(word(rest));
        }
    }
    modules
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
    assert_eq!(used_modules(text), ["store", "git", "config"]);
}

#[test]
fn imports_go_downward_only() {
    let names: Vec<&str> = MODULES.iter().map(|(module, _)| *module).collect();
    let mut wrong = Vec::new();
    for (module, path, text) in sources() {
        if module.is_empty() {
            continue;
        }
        let Some((_, allowed)) = MODULES.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{}: the table of modules lacks `{module}`", path.display()));
            continue;
        };
        for used in used_modules(&code(&text)) {
            if used != module && !allowed.split(' ').any(|module| module == used) {
                let known = names.contains(&used.as_str());
                let why = if known { "lies above it" } else { "is no module" };
                wrong.push(format!("{}: uses `{used}`, which {why}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_module_may_use_more_than_it_uses() {
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, _, text) in sources() {
        used.entry(module).or_default().extend(used_modules(&code(&text)));
    }
    let unused: Vec<String> = MODULES
        .iter()
        .flat_map(|(module, allowed)| allowed.split_whitespace().map(move |other| (*module, other)))
        .filter(|(module, other)| !used.get(*module).is_some_and(|used| used.contains(*other)))
        .map(|(module, other)| format!("`{module}` may use `{other}` and does not"))
        .collect();
    assert!(unused.is_empty(), "take these out of the table of modules: {unused:#?}");
}

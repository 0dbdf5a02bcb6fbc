//! The builds of a tree: which build systems it has, and what a draft takes from the one that makes
//! its measures.

use std::rc::Rc;

use crate::ui;

use super::draft::Draft;
use super::notes::Notes;
use super::program::{Build, Recipe, System};
use super::programs::is_certain;
use super::set::Setting;
use super::tree::{Origin, Tree, join, parent};
use super::{InitError, cargo, cmake, ignores, make};

/// Reads the build systems of the tree, each from its main build file. Reading stops at a build
/// system with a program that certainly measures perplexity, unless the user names a target.
pub(super) fn builds(tree: &Tree, settings: &[Setting]) -> Vec<Build> {
    type Read = fn(&Tree, &str) -> Option<Build>;
    // CMake comes first: in a tree with several systems, its files are usually the maintained ones.
    let systems: [Read; 3] = [cmake::read, cargo::read, make::read];
    let roots = tree.roots();
    let is_asked_for = settings.iter().any(|setting| setting.target().is_some());
    let mut builds = Vec::new();
    for read in systems {
        builds.extend(roots.iter().find_map(|root| read(tree, root)));
        if !is_asked_for && builds.last().is_some_and(|build| is_certain(tree, build)) {
            break;
        }
    }
    builds
}

/// Adds to a draft how its measures are built.
pub(super) fn add_build(
    tree: &Tree,
    build: &Build,
    settings: &[Setting],
    draft: &mut Draft,
    notes: &mut Notes,
) -> Result<(), InitError> {
    let file = ui::printable_line(&build.file);
    notes.found.insert(0, format!("build: {}, {file}", build.system.title()));
    draft.build = format!("{}, as {} has it", build.system.title(), build.file);
    let mut words = Vec::new();
    for setting in settings {
        words.extend(setting.build_words(build.system)?);
    }
    let (words, undeclared) = translate_options(build, &words.join(" "));
    draft.undeclared = undeclared;
    let add = |recipe: &mut Recipe| {
        if !words.is_empty() {
            let command = recipe.main_command();
            *command = format!("{command} {words}");
        }
    };
    let mut whole = build.whole.clone();
    add(&mut whole);
    for measured in &mut draft.measures {
        add(&mut measured.program.recipe);
    }
    if let Some(first) = draft.measures.first() {
        draft.configure.clone_from(&first.program.recipe.configure);
    } else {
        draft.configure = whole.configure;
        draft.whole = Some(whole.build);
    }
    let switched = |name: &str| words.contains(&format!("-D{name}="));
    let options = build.options.iter().filter(|(name, _)| !switched(name)).take(12);
    draft.options = options.map(|(name, from)| (name.clone(), from.to_string())).collect();
    draft.offs = build.offs.iter().filter(|off| !switched(&off.option)).cloned().collect();
    draft.links = links(tree, &build.file);
    for (name, from) in &draft.links {
        notes.found.push(format!("linked in from your checkout: {name}, used by {from}"));
    }
    draft.probes = probes(build.system, &words);
    draft.rests_on = rests_on(build, &words, draft);
    draft.reads = Rc::new(ignores::reads(build, draft));
    let is_given = |s: &Setting| s.names_command() || s.names_build();
    draft.unread = ignores::unread(tree, build, draft, !settings.iter().any(is_given));
    Ok(())
}

fn rests_on(build: &Build, words: &str, draft: &Draft) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for measured in &draft.measures {
        files.push(measured.program.from.file.clone());
        files.extend(measured.program.sources.iter().cloned());
    }
    let given = build.switches.iter().filter(|(name, _)| words.contains(&format!("-D{name}")));
    files.extend(given.map(|(_, from)| from.file.clone()));
    files.push(build.file.clone());
    let options = draft.measures.iter().flat_map(|measured| &measured.options_from);
    files.extend(options.map(|(_, from)| from.file.clone()));
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    files
}

/// The user's CMake options with the names that this tree uses, and the options that the tree
/// does not have. A renamed option is found in two ways. A later tree may warn that OLD is now called
/// NEW. Or two names differ only in the prefix before the first `_`, as after a project is
/// renamed.
fn translate_options(build: &Build, words: &str) -> (String, Vec<String>) {
    let mut unknown = Vec::new();
    let mut named = |word: &str| -> Option<String> {
        let (name, value) = word.strip_prefix("-D")?.split_once('=')?;
        let (name, kind) = name.split_once(':').map_or((name, None), |(n, k)| (n, Some(k)));
        let (prefix, _) = name.split_once('_')?;
        if prefix == "CMAKE" || build.is_declared(name) {
            return None;
        }
        let Some(known) = build.called(name) else {
            unknown.push(name.to_owned());
            return None;
        };
        let kind = kind.map_or_else(String::new, |kind| format!(":{kind}"));
        Some(format!("-D{known}{kind}={value}"))
    };
    let words = words.split(' ').map(|word| named(word).unwrap_or_else(|| word.to_owned()));
    (words.collect::<Vec<_>>().join(" "), unknown)
}

/// Untracked environments such as `.venv` that the build file names. Nothing else is linked,
/// since a build could then write to the user's own files.
fn links(tree: &Tree, file: &str) -> Vec<(String, String)> {
    let Some(text) = tree.text(file) else { return Vec::new() };
    let names = [".venv", "venv", "node_modules"];
    let used = names.iter().filter_map(|name| {
        let path = join(parent(file), name);
        let line = text.lines().position(|line| {
            !line.trim_start().starts_with('#') && line.contains(&format!("{name}/"))
        })?;
        let is_there = tree.top().join(&path).is_dir() && tree.below(&path).next().is_none();
        is_there.then(|| (path, Origin::new(file, line + 1).to_string()))
    });
    used.collect()
}

/// Probes that print the compiler's version and the GPUs, if their programs are installed here.
fn probes(system: System, words: &str) -> Vec<&'static str> {
    let mut probes = match system {
        System::Cargo => vec!["rustc --version"],
        System::Cmake | System::Make => vec!["cc --version"],
    };
    if words.contains("CUDA") {
        probes.push("nvidia-smi -L");
    }
    probes.retain(|probe| {
        let program = probe.split(' ').next().unwrap_or_default();
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    });
    probes
}

#[cfg(test)]
mod tests {
    use super::super::tree::tests::tree;
    use super::*;

    fn said(top: &str, words: &str) -> (String, Vec<String>) {
        let text = format!("project(e)\n{top}add_executable(ppl ppl.c)\n");
        let (_folder, tree) = tree(&[("CMakeLists.txt", &text), ("ppl.c", "")]);
        translate_options(&builds(&tree, &[])[0], words)
    }

    #[test]
    fn options_are_called_as_the_tree_calls_them() {
        let top = "option(OLD_CUDA \"\" OFF)\noption(A_FAST \"\" ON)\noption(B_FAST \"\" ON)\n";
        let said = |words: &str| said(top, words);
        let renamed = "-DOLD_CUDA=ON -DOLD_CUDA:BOOL=ON".to_owned();
        assert_eq!(said("-DNEW_CUDA=ON -DX_CUDA:BOOL=ON"), (renamed, vec![]));
        for same in ["-DOLD_CUDA=ON", "-DCMAKE_CUDA=1", "", "-G Ninja"] {
            assert_eq!(said(same), (same.to_owned(), vec![]));
        }
        for (word, name) in [("-DC_FAST=ON", "C_FAST"), ("-DNEW_OTHER=1", "NEW_OTHER")] {
            assert_eq!(said(word), (word.to_owned(), vec![name.to_owned()]));
        }
    }

    #[test]
    fn options_are_called_as_the_tree_says_that_they_were_called() {
        let function = "function(was TYPE OLD)\n  if (${OLD})\n    message(${TYPE} \"${OLD} is deprecated, use ${ARGV2}\")\n  endif()\nendfunction()\n";
        let newer = format!(
            "option(NEW_CUDA \"\" OFF)\n{function}was(FATAL_ERROR OLD_CUBLAS NEW_CUDA)\nwas(WARNING OLD_NET)\n"
        );
        let between = "option(OLD_CUDA \"\" OFF)\noption(OLD_CUBLAS \"\" OFF)\nif (OLD_CUBLAS)\n  message(WARNING \"OLD_CUBLAS is deprecated\")\n  set(OLD_CUDA ON)\nendif()\n";
        assert_eq!(said(&newer, "-DOLD_CUBLAS=ON").0, "-DNEW_CUDA=ON");
        assert_eq!(said(between, "-DNEW_CUDA=ON").0, "-DOLD_CUDA=ON");
        // The renames of later trees hold for earlier ones.
        let read = |top: &str| {
            let text = format!("project(e)\n{top}add_executable(ppl ppl.c)\n");
            let (_folder, tree) = tree(&[("CMakeLists.txt", &text), ("ppl.c", "")]);
            builds(&tree, &[]).remove(0)
        };
        let mut oldest = read("option(OLD_CUBLAS \"\" OFF)\n");
        assert_eq!(translate_options(&oldest, "-DNEW_CUDA=ON").1, ["NEW_CUDA"]);
        oldest.renames = read(between).renames;
        assert_eq!(translate_options(&oldest, "-DNEW_CUDA=ON").0, "-DOLD_CUBLAS=ON");
        oldest.renames = read(&newer).renames;
        assert_eq!(translate_options(&oldest, "-DNEW_CUDA=ON").0, "-DOLD_CUBLAS=ON");
    }
}

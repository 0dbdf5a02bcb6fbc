//! Reads a tree and writes the oracle.toml of a hunt in it.
//!
//! *Invariant:* nothing of the tree is run, not even its build system in a dry run: Makefiles
//! and CMake files are programs. What is tracked is read; what cannot be read is left out and
//! said. A text is given back only after `config` has accepted it.

mod cargo;
mod cmake;
mod cursor;
mod draft;
mod error;
mod flags;
mod inputs;
mod literals;
mod make;
mod pattern;
mod program;
mod programs;
mod set;
mod sources;
mod tree;
mod write;

use std::path::Path;

use toml_edit::DocumentMut;

use crate::config::Config;
use crate::git::Repository;
use crate::ui;

pub use error::InitError;

use draft::{Draft, Measured, measured};
use inputs::{Input, Kind};
use program::{Build, Recipe, System};
use programs::{Choice, Purpose, Reading, choose, nearest};
use set::Setting;
use tree::{Origin, Tree, join};

/// What the user asks for.
#[derive(Debug)]
pub struct Asked<'a> {
    /// Where they stand, absolute.
    pub folder: &'a Path,
    /// Where the file will lie, absolute.
    pub base: &'a Path,
    /// The model, from where they stand.
    pub model: Option<&'a Path>,
    /// The text.
    pub text: Option<&'a Path>,
    /// `KEY=VALUE`, in order.
    pub set: &'a [String],
}

/// A configuration that reads.
#[derive(Debug)]
pub struct Proposal {
    /// Its text.
    pub text: String,
    /// What it rests on, one line each.
    pub found: Vec<String>,
    /// What to look at before trusting it.
    pub unsure: Vec<String>,
}

/// Reads the tree and writes a configuration for it.
///
/// # Errors
/// What is needed is not there, or cannot be told; nothing is invented in its place.
pub fn propose(repository: &Repository, asked: &Asked<'_>) -> Result<Proposal, InitError> {
    let tree = open(repository, asked.folder)?;
    let settings: Vec<Setting> =
        asked.set.iter().map(|written| Setting::parse(written)).collect::<Result<_, _>>()?;
    let builds = builds(&tree);
    let mut notes = Notes::default();
    let draft = draft(&tree, &builds, &settings, asked, &mut notes)?;
    let text = write::toml(&draft);
    let text = lay_in(&text, &settings, draft.measures.is_empty(), asked.base)?;
    Ok(Proposal { text, found: notes.found, unsure: notes.unsure })
}

/// What `propose` would write about, in one line; `None` where it would refuse.
pub fn glance(repository: &Repository, folder: &Path) -> Option<String> {
    let tree = open(repository, folder).ok()?;
    let builds = builds(&tree);
    let choice = choose(&tree, &builds, Purpose::Perplexity)
        .or_else(|| choose(&tree, &builds, Purpose::Speed))?;
    let system = choice.program.recipe.system.title();
    Some(format!("`{}`, built with {system} ({})", choice.program.name, choice.program.from))
}

/// What is told beside the file.
#[derive(Debug, Default)]
struct Notes {
    found: Vec<String>,
    unsure: Vec<String>,
}

fn open(repository: &Repository, folder: &Path) -> Result<Tree, InitError> {
    let tree = Tree::open(repository, folder)?;
    tree.ok_or_else(|| InitError::Bare(repository.common_dir().to_owned()))
}

/// Every build system of the tree, read where it begins.
fn builds(tree: &Tree) -> Vec<Build> {
    type Read = fn(&Tree, &str) -> Option<Build>;
    // Where two build the same program, CMake's way is the one that is kept up.
    let systems: [Read; 3] = [cmake::read, cargo::read, make::read];
    let roots = tree.roots();
    systems.iter().filter_map(|read| roots.iter().find_map(|root| read(tree, root))).collect()
}

fn draft(
    tree: &Tree,
    builds: &[Build],
    settings: &[Setting],
    asked: &Asked<'_>,
    notes: &mut Notes,
) -> Result<Draft, InitError> {
    let is_named = settings.iter().any(Setting::names_command);
    let is_built = settings.iter().any(Setting::names_build);
    if builds.is_empty() && !is_built {
        return Err(InitError::NoBuild(untracked(tree)));
    }
    let mut measures = Vec::new();
    for purpose in [Purpose::Perplexity, Purpose::Speed] {
        if let Some(choice) = choose(tree, builds, purpose) {
            measures.extend(decide(choice, purpose, settings, measures.is_empty(), notes)?);
        }
    }
    if measures.is_empty() && !is_named {
        return Err(no_program(tree, builds));
    }
    let recipe = measures.first().map(|first| first.program.recipe.clone());
    let build = match &recipe {
        Some(recipe) => builds.iter().find(|build| build.system == recipe.system),
        None => builds.first(),
    };
    let mut draft = Draft { measures, ..Draft::default() };
    if let Some(build) = build {
        add_build(tree, build, settings, &mut draft, notes)?;
    }
    add_inputs(tree, settings, asked, &mut draft, notes)?;
    Ok(draft)
}

/// The measure for a program that was chosen. One that is only a comment is left out where it
/// cannot be told how it is called.
fn decide(
    choice: Choice,
    purpose: Purpose,
    settings: &[Setting],
    is_first: bool,
    notes: &mut Notes,
) -> Result<Option<Measured>, InitError> {
    let name = if purpose == Purpose::Perplexity { "ppl" } else { "speed" };
    let is_given = settings.iter().any(|setting| setting.is_command_of(name));
    // A measure that the user writes themselves stands beside no comment of the same name.
    if !is_first && is_given {
        return Ok(None);
    }
    let others = choice.others.clone();
    let measured = match measured(choice, purpose, is_given) {
        Ok(measured) => measured,
        Err(_) if !is_first => return Ok(None),
        Err(error) => return Err(error),
    };
    let program = &measured.program;
    let what = match purpose {
        Purpose::Perplexity => "perplexity",
        Purpose::Speed if is_first => "speed (no program for perplexity was found)",
        Purpose::Speed => "speed, as a comment",
    };
    notes.found.push(format!("{what}: `{}`, {}", program.name, program.from));
    if !is_first {
        return Ok(Some(measured));
    }
    notes.unsure.extend(program.recipe.unsure.iter().cloned());
    if !others.is_empty() {
        notes.unsure.push(format!(
            "`{}` was taken; there is also {}",
            program.name,
            others.join(", ")
        ));
    }
    match &measured.reading {
        Reading::Perplexity(None) => notes.unsure.push(format!(
            "what `{}` prints was not found in its sources: the parser is a guess",
            program.name
        )),
        Reading::Pattern { from, .. } | Reading::Speeds { from, .. } => {
            notes.unsure.push(format!("the pattern was made from what {from} prints"));
        }
        Reading::Perplexity(Some(_)) | Reading::LlamaBench => {}
    }
    Ok(Some(measured))
}

fn add_build(
    tree: &Tree,
    build: &Build,
    settings: &[Setting],
    draft: &mut Draft,
    notes: &mut Notes,
) -> Result<(), InitError> {
    notes
        .found
        .insert(0, format!("build: {}, {}", build.system.title(), ui::printable_line(&build.file)));
    draft.build = format!("{}, as {} has it", build.system.title(), build.file);
    let mut words = Vec::new();
    for setting in settings {
        words.extend(setting.build_words(build.system)?);
    }
    let words = words.join(" ");
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
        draft.configure.extend(first.program.recipe.configure.clone());
    } else {
        draft.configure.extend(whole.configure);
        draft.whole = Some(whole.build);
    }
    let switched = |name: &str| words.contains(&format!("-D{name}="));
    let options = build.options.iter().filter(|(name, _)| !switched(name)).take(12);
    draft.options = options.map(|(name, from)| (name.clone(), from.to_string())).collect();
    draft.links = links(tree, &build.file);
    for (name, from) in &draft.links {
        notes.found.push(format!("linked in from your checkout: {name}, used by {from}"));
    }
    draft.probes = probes(build.system, &words);
    Ok(())
}

/// Environments that are not tracked and that the build file names: nothing else is linked,
/// since what a build writes to would be the user's own.
fn links(tree: &Tree, file: &str) -> Vec<(String, String)> {
    let Some(text) = tree.text(file) else { return Vec::new() };
    let names = [".venv", "venv", "node_modules"];
    let used = names.iter().filter_map(|name| {
        let path = join(tree::parent(file), name);
        let line = text.lines().position(|line| {
            !line.trim_start().starts_with('#') && line.contains(&format!("{name}/"))
        })?;
        let is_there = tree.top().join(&path).is_dir() && tree.below(&path).next().is_none();
        is_there.then(|| (path, Origin::new(file, line + 1).to_string()))
    });
    used.collect()
}

/// What tells two machines' compilers apart, as far as it is installed here.
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

fn add_inputs(
    tree: &Tree,
    settings: &[Setting],
    asked: &Asked<'_>,
    draft: &mut Draft,
    notes: &mut Notes,
) -> Result<(), InitError> {
    let measured: Vec<Kind> = draft.measures.first().map(|m| m.inputs.clone()).unwrap_or_default();
    let is_needed = |kind: Kind| {
        let placeholder = format!("{{inputs.{}}}", kind.name());
        measured.contains(&kind) || settings.iter().any(|s| s.mentions(&placeholder))
    };
    let mut lying = None;
    for (kind, path) in [(Kind::Model, asked.model), (Kind::Text, asked.text)] {
        if settings.iter().any(|setting| setting.names_input(kind.name())) {
            // Declared so that commands may name it; `--set` fills it in.
            let (path, why) = (String::from("-"), String::from("--set"));
            draft.inputs.push(Input { kind, path, why, is_guess: false });
        } else if let Some(path) = path {
            draft.inputs.push(inputs::given(kind, path, asked.folder, asked.base)?);
        } else if is_needed(kind) {
            let found = lying.get_or_insert_with(|| inputs::look(tree));
            let input = inputs::guessed(kind, found, asked.base);
            draft.inputs.push(input.ok_or(InitError::NoInput(kind.name()))?);
        }
    }
    for Input { kind, path, why, is_guess } in &draft.inputs {
        let line = format!("{}: {} ({why})", kind.name(), ui::printable_line(path));
        if *is_guess { notes.unsure.push(line) } else { notes.found.push(line) }
    }
    if lying.is_some_and(|found| found.cut) {
        notes.unsure.push("this checkout has too many files to look at all of them".to_owned());
    }
    Ok(())
}

/// Lays the settings in and lets `config` read the whole.
fn lay_in(
    text: &str,
    settings: &[Setting],
    is_open: bool,
    base: &Path,
) -> Result<String, InitError> {
    // Without a measure of its own it is not whole before something is set.
    if !is_open {
        Config::parse(text, base, "oracle.toml").map_err(InitError::Unsound)?;
    }
    if settings.is_empty() {
        return Ok(text.to_owned());
    }
    let mut document: DocumentMut =
        text.parse().expect("what config has read, or a text without measures, is TOML");
    for setting in settings.iter().filter(|setting| !setting.is_of_the_build()) {
        setting.apply(&mut document)?;
    }
    let text = document.to_string();
    match Config::parse(&text, base, "oracle.toml") {
        Ok(_) => Ok(text),
        Err(error) => {
            let problems = error.problems.iter().map(|p| format!("{}: {}", p.key, p.what));
            Err(InitError::Settings(problems.collect()))
        }
    }
}

/// A build file that lies there and is not tracked.
fn untracked(tree: &Tree) -> Option<String> {
    let names = ["CMakeLists.txt", "Cargo.toml", "Makefile", "makefile", "GNUmakefile"];
    let paths = names.iter().map(|name| join(&tree.here, name));
    paths.into_iter().find(|path| tree.top().join(path).is_file())
}

fn no_program(tree: &Tree, builds: &[Build]) -> InitError {
    let files: Vec<String> = builds.iter().map(|build| ui::printable_line(&build.file)).collect();
    let mut names: Vec<String> =
        builds.iter().flat_map(|b| &b.programs).map(|p| ui::printable_line(&p.name)).collect();
    let count = names.len();
    names.truncate(8);
    let more = if count > names.len() { ", …" } else { "" };
    let looked = if count == 0 {
        format!("{} was read, and declares no program", files.join(" and "))
    } else {
        let programs = ui::text::plural(count, "program");
        format!(
            "none of the {programs} in {} measures perplexity or speed, by its name or by what its sources print: {}{more}",
            files.join(" and "),
            names.join(", ")
        )
    };
    let path = nearest(tree, builds)
        .map_or_else(|| "{build}/PROGRAM".to_owned(), |p| p.recipe.path.clone());
    InitError::NoProgram {
        looked,
        example: format!("{path} -m {{inputs.model}} -f {{inputs.text}}"),
    }
}

//! Finds what a tree can be measured with. This is the part of a draft that comes from the tree
//! itself.

use crate::ui;

use super::InitError;
use super::builds::add_build;
use super::draft::Draft;
use super::measured::{
    Measured, Purpose, example, measured, settings as settings_of, threads, variants,
};
use super::notes::Notes;
use super::program::{Build, quoted};
use super::programs::{self, Choice, ProgramPurpose, Reading, choose, choose_by_output, nearest};
use super::set::Setting;
use super::suites;
use super::tree::{Tree, join};

/// Removes every program and suite except the one that the user names. Removes nothing if an older
/// tree has no program of this name, since the program may have had another name then.
fn retain_target(builds: &mut [Build], settings: &[Setting]) -> Result<(), InitError> {
    let Some((setting, name)) = settings.iter().find_map(|s| Some((s, s.target()?))) else {
        return Ok(());
    };
    let all = || builds.iter().flat_map(|build| build.programs.iter().chain(&build.suites));
    if !all().any(|program| program.name == name) {
        let mut names: Vec<String> = all().map(|p| ui::printable_line(&p.name)).collect();
        names.sort();
        names.dedup();
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        return setting.no_target(&names).map_or(Ok(()), Err);
    }
    for build in builds {
        build.programs.retain(|program| program.name == name);
        build.suites.retain(|suite| suite.name == name);
    }
    Ok(())
}

/// The program or suite to measure in this tree.
pub(super) fn likeliest(
    tree: &Tree,
    builds: &[Build],
    settings: &[Setting],
) -> Option<(Purpose, Choice)> {
    let is_given = settings.iter().any(|s| s.is_command_of(Purpose::Perplexity.name()));
    // A program that prints a perplexity but takes no text has another purpose.
    let is_for_it = |choice: &Choice| {
        choice.is_named || is_given || measured(choice, Purpose::Perplexity, false).is_ok()
    };
    let as_it_is = |purpose, choice: Option<Choice>| Some((purpose, choice?));
    let perplexity = choose(tree, builds, ProgramPurpose::Perplexity);
    let (sure, unsure) = match perplexity {
        Some(choice) if is_for_it(&choice) => (Some(choice), None),
        other => (None, other),
    };
    as_it_is(Purpose::Perplexity, sure)
        .or_else(|| as_it_is(Purpose::Suite, suites::choose(tree, builds)))
        .or_else(|| as_it_is(Purpose::Speed, choose(tree, builds, ProgramPurpose::Speed)))
        .or_else(|| as_it_is(Purpose::Perplexity, unsure))
        .or_else(|| as_it_is(Purpose::Speed, choose_by_output(tree, builds)))
}

/// The measures of a tree and their build commands. Inputs are added later.
pub(super) fn draft(
    tree: &Tree,
    mut builds: Vec<Build>,
    settings: &[Setting],
    notes: &mut Notes,
) -> Result<Draft, InitError> {
    retain_target(&mut builds, settings)?;
    let builds = builds.as_slice();
    let is_named = settings.iter().any(Setting::names_command);
    let is_built = settings.iter().any(Setting::names_build);
    if builds.is_empty() && !is_built {
        return Err(InitError::NoBuild(untracked(tree)));
    }
    let mut measures = Vec::new();
    if let Some((purpose, choice)) = likeliest(tree, builds, settings) {
        // A suite is measured only if the user names no command.
        if purpose != Purpose::Suite || !is_named {
            measures.extend(first(&choice, purpose, settings, notes)?);
            if notes.are_read {
                notes.unsure.extend(others(tree, builds, purpose, &choice));
            }
        }
        if purpose != Purpose::Speed {
            measures.extend(speed(tree, builds, settings, purpose, notes));
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
    Ok(draft)
}

/// The chosen measure, followed by its variants.
fn first(
    choice: &Choice,
    purpose: Purpose,
    settings: &[Setting],
    notes: &mut Notes,
) -> Result<Vec<Measured>, InitError> {
    let is_given = settings.iter().any(|setting| setting.is_command_of(purpose.name()));
    let first = measured(choice, purpose, is_given)?;
    let program = &choice.program;
    let what = match purpose {
        Purpose::Perplexity => "perplexity",
        Purpose::Suite => "a suite of tests (no program for perplexity was found)",
        Purpose::Speed => "speed (no program for perplexity was found)",
    };
    notes.found.push(format!("{what}: `{}`, {}", program.name, program.from));
    if purpose == Purpose::Speed && !choice.is_named {
        notes.unsure.push(format!(
            "`{}` takes a model and prints a speed, but its name does not say that it measures: read its command",
            program.name
        ));
    }
    notes.unsure.extend(program.recipe.unsure.iter().cloned());
    match &choice.reading {
        Reading::Perplexity(None) => notes.unsure.push(format!(
            "what `{}` prints was not found in its sources: the parser is a guess",
            program.name
        )),
        Reading::Pattern { from, .. }
        | Reading::Speeds { from, .. }
        | Reading::Checks { from, .. } => {
            notes.unsure.push(format!("output pattern guessed from {from}"));
        }
        Reading::Perplexity(Some(_)) | Reading::LlamaBench | Reading::Passes => {}
    }
    let mut all = vec![first];
    if purpose == Purpose::Perplexity && !is_given {
        // No variant is offered under the name of a measure that the user sets.
        let is_free = |one: &Measured| !settings.iter().any(|s| s.is_command_of(one.name));
        all.extend(variants(choice).into_iter().chain(settings_of(choice)).filter(is_free));
        // Without other settings, the threads are offered with the main measure.
        if !all.iter().any(|measured| !measured.axes.is_empty()) {
            all[0].axes = threads(choice);
        }
    }
    Ok(all)
}

/// A sentence that names other programs that could be measured.
fn others(tree: &Tree, builds: &[Build], purpose: Purpose, choice: &Choice) -> Option<String> {
    let program = &choice.program;
    let others = match purpose {
        Purpose::Perplexity => programs::others(tree, builds, ProgramPurpose::Perplexity, program),
        Purpose::Speed => programs::others(tree, builds, ProgramPurpose::Speed, program),
        Purpose::Suite => suites::others(builds),
    };
    let names = others.join(", ");
    (!names.is_empty()).then(|| format!("`{}` was taken; there is also {names}", program.name))
}

/// A speed measure to offer as a comment; `None` if no program or no command is found.
fn speed(
    tree: &Tree,
    builds: &[Build],
    settings: &[Setting],
    beside: Purpose,
    notes: &mut Notes,
) -> Option<Measured> {
    if settings.iter().any(|setting| setting.is_command_of(Purpose::Speed.name())) {
        return None;
    }
    let choice =
        choose(tree, builds, ProgramPurpose::Speed).or_else(|| choose_by_output(tree, builds))?;
    let measured = measured(&choice, Purpose::Speed, false).ok()?;
    let program = &measured.program;
    let instead = match beside {
        Purpose::Suite => {
            format!("; `--set build.target={}` measures it instead", quoted(&program.name))
        }
        Purpose::Perplexity | Purpose::Speed => String::new(),
    };
    notes.found.push(format!("speed, as a comment: `{}`, {}{instead}", program.name, program.from));
    Some(measured)
}

/// A build file in the user's folder, for the message when no build file is tracked.
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
        format!("{} declares no program", files.join(" and "))
    } else {
        let programs = match count {
            1 => "the program".to_owned(),
            _ => format!("the {count} programs"),
        };
        format!(
            "the sources and names of {programs} of {} show no perplexity and no speed: {}{more}",
            files.join(" and "),
            names.join(", ")
        )
    };
    let example = match nearest(tree, builds) {
        Some(program) => example(program, &programs::options(tree, program)),
        None => "{build}/PROGRAM …".to_owned(),
    };
    InitError::NoProgram { looked, example }
}

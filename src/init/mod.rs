//! `init`: reads a source tree and writes an oracle.toml for it.
//!
//! *Invariant:* nothing of the tree is run. Even a dry run of the build system would run code,
//! since Makefiles and CMake files are programs. Only tracked files are read. Parts that cannot
//! be read are left out and reported. A text is returned only if `config` accepts it.

mod builds;
mod cargo;
mod cmake;
mod cursor;
mod differs;
mod draft;
mod eras;
mod error;
mod flags;
mod ignores;
mod input_candidates;
mod inputs;
mod literals;
mod make;
mod measured;
mod measures;
mod notes;
mod objects;
mod past;
mod pattern;
mod program;
mod programs;
mod set;
mod sources;
mod submodules;
mod suites;
mod text;
mod toml_text;
mod tree;
mod when;
mod write;

use std::path::Path;

use toml_edit::DocumentMut;

use crate::config::Config;
use crate::git::{Repository, without_hashing};
use crate::ui;

pub(crate) use error::InitError;

use builds::builds;
use draft::Draft;
use input_candidates::Kind;
use inputs::Input;
use measures::{draft, likeliest};
use notes::Notes;
use past::{HistoryFindings, Past};
use set::Setting;
use tree::Tree;

/// The arguments of `init`.
#[derive(Debug)]
pub(crate) struct InitArguments<'a> {
    /// The user's current folder, absolute.
    pub folder: &'a Path,
    /// The folder of the new file, absolute.
    pub base: &'a Path,
    /// The model's path, relative to `folder`.
    pub model: Option<&'a Path>,
    /// The text's path, relative to `folder`.
    pub text: Option<&'a Path>,
    /// The `--set KEY=VALUE` options, in order.
    pub set: &'a [String],
}

/// A configuration that `config` accepts.
#[derive(Debug)]
pub(crate) struct Proposal {
    /// The text of oracle.toml.
    pub text: String,
    /// What the text is based on, one line each.
    pub found: Vec<String>,
    /// Parts of the text that the user should check, one line each.
    pub unsure: Vec<String>,
}

/// Reads the tree and writes a configuration for it.
///
/// # Errors
/// A necessary part cannot be found in the tree. `init` never invents one.
pub(crate) fn propose(
    repository: &Repository,
    asked: &InitArguments<'_>,
) -> Result<Proposal, InitError> {
    let checkout = open(repository, asked.folder)?;
    let settings: Vec<Setting> =
        asked.set.iter().map(|written| Setting::parse(written)).collect::<Result<_, _>>()?;
    let past = Past::open(repository)?;
    let newest = past.as_ref().map_or(Ok(None), |past| past.newest(&checkout))?;
    let mut notes = Notes { are_read: true, ..Notes::default() };
    let tree = newest.as_ref().unwrap_or(&checkout);
    let mut draft = draft(tree, builds(tree, &settings), &settings, &mut notes)?;
    add_inputs(&checkout, &settings, asked, &mut draft, &mut notes)?;
    let mut findings = HistoryFindings::default();
    if let Some(past) = past {
        if newest.is_some() {
            notes.found.insert(0, past.newer()?);
        }
        findings = without_hashing(|| past.find_overrides(&checkout, &draft, &settings))?;
        notes.found.extend(findings.looked.iter().map(|looked| format!("history: {looked}")));
        notes.unsure.append(&mut findings.unsure);
        findings.merge_over(&mut draft);
    }
    if !draft.unread.is_empty() {
        let shown: Vec<&str> = draft.unread.iter().take(4).map(String::as_str).collect();
        let more = if shown.len() < draft.unread.len() { ", …" } else { "" };
        let shown = ui::printable_line(shown.join(", "));
        notes.found.push(format!("ignored, as nothing is read there: {shown}{more}"));
    }
    let text = write::toml(&draft, &findings);
    let text = apply_settings(&text, &settings, draft.measures.is_empty(), asked.base)?;
    Ok(Proposal { text, found: notes.found, unsure: notes.unsure })
}

/// The program that [`propose`] would measure, in one line; `None` if no program is found.
pub(crate) fn program_summary(repository: &Repository, folder: &Path) -> Option<String> {
    let tree = open(repository, folder).ok()?;
    let (_, choice) = likeliest(&tree, &builds(&tree, &[]), &[])?;
    let system = choice.program.recipe.system.title();
    Some(format!("`{}`, built with {system} ({})", choice.program.name, choice.program.from))
}

fn open(repository: &Repository, folder: &Path) -> Result<Tree, InitError> {
    let tree = Tree::open(repository, folder)?;
    tree.ok_or_else(|| InitError::Bare(repository.common_dir().to_owned()))
}

fn add_inputs(
    tree: &Tree,
    settings: &[Setting],
    asked: &InitArguments<'_>,
    draft: &mut Draft,
    notes: &mut Notes,
) -> Result<(), InitError> {
    let measured: Vec<Kind> = draft.measures.first().map(|m| m.inputs.clone()).unwrap_or_default();
    let is_needed = |kind: Kind| {
        let placeholder = format!("{{inputs.{}}}", kind.name());
        measured.contains(&kind) || settings.iter().any(|s| s.mentions(&placeholder))
    };
    let mut searched = None;
    for (kind, path) in [(Kind::Model, asked.model), (Kind::Text, asked.text)] {
        if settings.iter().any(|setting| setting.names_input(kind.name())) {
            // Declared so that commands may name the input. `--set` replaces the path.
            let (path, why) = (String::from("-"), String::from("--set"));
            draft.inputs.push(Input { kind, path, why, is_guess: false });
        } else if let Some(path) = path {
            let mut input = inputs::given(kind, path, asked.folder, asked.base)?;
            if !is_needed(kind) {
                let name = kind.name();
                input.why.push_str("; no command reads it yet");
                notes.unsure.push(format!(
                    "--{name} has no effect until a command names {{inputs.{name}}}: none does"
                ));
            }
            draft.inputs.push(input);
        } else if is_needed(kind) {
            let found = searched.get_or_insert_with(|| input_candidates::look(tree));
            let input = inputs::guessed(kind, found, asked.base);
            draft.inputs.push(input.ok_or_else(|| InitError::NoInput {
                option: kind.name(),
                near: inputs::near_misses(kind, found, asked.folder),
            })?);
        }
    }
    for Input { kind, path, why, is_guess } in &draft.inputs {
        let line = format!("{}: {} ({why})", kind.name(), ui::printable_line(path));
        if *is_guess { notes.unsure.push(line) } else { notes.found.push(line) }
    }
    if searched.is_some_and(|found| found.cut) {
        notes
            .unsure
            .push("not all files of this checkout were searched: there are too many".to_owned());
    }
    Ok(())
}

/// Applies the settings to the text, and has `config` check the result.
fn apply_settings(
    text: &str,
    settings: &[Setting],
    lacks_measures: bool,
    base: &Path,
) -> Result<String, InitError> {
    // Without a measure the text is valid only after the settings are applied.
    if !lacks_measures {
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

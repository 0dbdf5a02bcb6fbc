//! `init`: writes a commented oracle.toml for the current checkout.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;

use crate::config::{Changes, Config};
use crate::evaluation::OptionChange;
use crate::git::Repository;
use crate::init::{self, InitArguments, InitError, Proposal};
use crate::store::publish;
use crate::ui::{Activity, Progress, Ui};

use super::Failed;
use super::args::{Init, Recipe};
use super::locate::{config_path, current_folder, here};

/// Message before a step that takes seconds in a long history.
const READING: &str = "reading this tree, and how older commits were built";

/// `init`.
pub(crate) fn run(args: &Init, ui: Ui) -> Result<u8, Failed> {
    let repository = here()?;
    let to_stdout = args.config.as_os_str() == "-";
    let target = std::path::absolute(&args.config).map_err(|e| Failed::world(e.into(), None))?;
    if !to_stdout && !args.force && fs::symlink_metadata(&target).is_ok() {
        return Err(there(&args.config, OR_FORCE));
    }
    ui.line(READING);
    let proposal = proposed(&repository, &args.recipe, &args.set, &target)?;
    tell(&proposal, ui);
    if to_stdout {
        ui.out(&proposal.text).map_err(Failed::stdout)?;
        return Ok(super::exit::DONE);
    }
    write(&target, args, &proposal.text)?;
    ui.line(&format!("wrote {}", args.config.display()));
    let option = match args.config.to_str() {
        Some("oracle.toml") => String::new(),
        _ => format!(" --config {}", args.config.display()),
    };
    ui.hint(&format!(
        "read it, then: bisect-ppl check{option} --good REV; bisect-ppl measure{option} HEAD tries one commit; bisect-ppl start{option} --good REV hunts"
    ));
    Ok(super::exit::DONE)
}

/// A new configuration, which `start` writes if there is none.
pub(super) struct New {
    /// The parsed configuration.
    pub(super) config: Config,
    /// What this hunt changes in it.
    pub(super) changes: Vec<OptionChange>,
    proposal: Proposal,
    path: PathBuf,
}

impl New {
    /// Proposes a configuration for the path where the commands look for one. `arg`: the words
    /// that this hunt appends, which are not written.
    pub(super) fn propose(
        repository: &Repository,
        (recipe, set, arg): (&Recipe, &[String], &[String]),
        named: Option<&Path>,
    ) -> Result<Self, Failed> {
        let path = config_path(named, Some(repository));
        if fs::symlink_metadata(&path).is_ok() {
            return Err(there(&path, OR_WITHOUT));
        }
        let target = std::path::absolute(&path).map_err(|e| Failed::world(e.into(), None))?;
        // A moving line, so that the first line that stays is the hunt's name.
        let progress = Progress::new(Ui::is_terminal());
        progress.now(Activity::Other(READING.to_owned()), Duration::ZERO);
        let proposal = proposed(repository, recipe, set, &target);
        progress.finish();
        let proposal = proposal?;
        let base = target.parent().unwrap_or(&target);
        let changes = Changes { set: &[], arg };
        let name = path.to_string_lossy();
        let (config, changes) = Config::parse_changed(&proposal.text, changes, base, &name)
            .map_err(|error| Failed::usage(error.into(), None))?;
        Ok(Self { config, changes, proposal, path })
    }

    /// Writes the file. A failure is only a warning: the hunt has its own copy.
    pub(super) fn write(&self, ui: Ui) {
        tell(&self.proposal, ui);
        match create(&self.path, &self.proposal.text) {
            Ok(()) => ui.line(&format!("wrote {}", self.path.display())),
            Err(error) => ui.warn(&format!(
                "cannot write {}: {error}; the hunt uses its own copy",
                self.path.display()
            )),
        }
    }
}

/// The proposed configuration for `target`, which is an absolute path.
fn proposed(
    repository: &Repository,
    recipe: &Recipe,
    set: &[String],
    target: &Path,
) -> Result<Proposal, Failed> {
    let folder = current_folder()?;
    let asked = InitArguments {
        folder: &folder,
        base: target.parent().unwrap_or(&folder),
        model: recipe.model.as_deref(),
        text: recipe.text.as_deref(),
        set,
    };
    init::propose(repository, &asked).map_err(failed)
}

fn tell(proposal: &Proposal, ui: Ui) {
    for found in &proposal.found {
        ui.line(found);
    }
    for unsure in &proposal.unsure {
        ui.warn(unsure);
    }
}

fn write(target: &Path, args: &Init, text: &str) -> Result<(), Failed> {
    if args.force {
        return publish(target, text.as_bytes()).map_err(Failed::store);
    }
    let error = match create(target, text) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(there(&args.config, OR_FORCE));
        }
        Err(error) => error,
    };
    let what = format!("cannot write {}", args.config.display());
    Err(Failed::world(anyhow::Error::from(error).context(what), None))
}

/// Creates a new file. Fails if the file exists by now: somebody else wrote it.
fn create(target: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(target)?;
    file.write_all(text.as_bytes())
}

const OR_FORCE: &str =
    "write elsewhere with -o FILE (- is standard output), or over it with --force";
const OR_WITHOUT: &str = "to hunt with this file, leave out --model and --text, which only serve to write a new one; --set inputs.NAME=FILE changes an input for this hunt; --config FILE writes another file";

fn there(file: &Path, hint: &str) -> Failed {
    let error = anyhow!("{} is there already, and is left as it is", file.display());
    Failed::usage(error, Some(hint.to_owned()))
}

fn failed(error: InitError) -> Failed {
    let hint = error.hint();
    Failed::usage(error.into(), hint)
}

/// A hint for a missing configuration.
pub(crate) fn offer() -> String {
    let found = std::env::current_dir().ok().and_then(|folder| {
        let repository = Repository::discover(&folder).ok()?;
        init::program_summary(&repository, &folder)
    });
    let found = found.map_or_else(String::new, |found| format!(" for {found}"));
    format!(
        "`bisect-ppl init --model F --text F` writes one{found}, and so does `start` with these options; --config FILE names another file"
    )
}

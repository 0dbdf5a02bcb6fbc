//! `init`: a commented oracle.toml for the tree it stands in.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow};

use crate::git::Repository;
use crate::init::{self, Asked, InitError, Proposal};
use crate::store::publish;
use crate::ui::Ui;

use super::args::Init;
use super::{Failed, here};

/// `init`.
pub fn run(args: &Init, ui: Ui) -> Result<u8, Failed> {
    let repository = here()?;
    let folder = std::env::current_dir().map_err(|error| Failed::world(error.into(), None))?;
    let to_stdout = args.config.as_os_str() == "-";
    let target = folder.join(&args.config);
    if !to_stdout && !args.force && fs::symlink_metadata(&target).is_ok() {
        return Err(there(&args.config));
    }
    let base = if to_stdout { folder.as_path() } else { target.parent().unwrap_or(&folder) };
    let asked = Asked {
        folder: &folder,
        base,
        model: args.model.as_deref(),
        text: args.text.as_deref(),
        set: &args.set,
    };
    let proposal = init::propose(&repository, &asked).map_err(failed)?;
    tell(&proposal, ui);
    if to_stdout {
        ui.out(&proposal.text).map_err(|error| Failed::world(error.into(), None))?;
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
    // A file that appeared meanwhile is somebody's work.
    let created = fs::OpenOptions::new().write(true).create_new(true).open(target);
    let mut file = match created {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(there(&args.config));
        }
        Err(error) => {
            let error = Err::<(), _>(error)
                .with_context(|| format!("cannot write {}", args.config.display()));
            return error.map_err(|error| Failed::world(error, None));
        }
        Ok(file) => file,
    };
    file.write_all(text.as_bytes())
        .with_context(|| format!("cannot write {}", args.config.display()))
        .map_err(|error| Failed::world(error, None))
}

fn there(file: &Path) -> Failed {
    let error = anyhow!("{} is there already, and is left as it is", file.display());
    Failed::usage(
        error,
        Some(
            "write elsewhere with -o FILE (- is standard output), or over it with --force"
                .to_owned(),
        ),
    )
}

fn failed(error: InitError) -> Failed {
    let hint = error.hint();
    Failed::usage(error.into(), hint)
}

/// What to do where there is no configuration.
pub fn offer() -> String {
    let found = std::env::current_dir().ok().and_then(|folder| {
        let repository = Repository::discover(&folder).ok()?;
        init::glance(&repository, &folder)
    });
    let found = found.map_or_else(String::new, |found| format!(" for {found}"));
    format!("`bisect-ppl init --model F --text F` writes one{found}; --config FILE names another")
}

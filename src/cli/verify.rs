//! `verify`: measures the first bad commits of a report again, here.

mod lines;

use std::cell::RefCell;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;

use crate::hunt::{Conclusion, HuntError, Prepared, Verification, VerifyAsked};
use crate::process::Stop;
use crate::report::{self, Report};
use crate::ui::{Ui, plain_json, text, yes_or_no};

use super::args;
use super::locate::here;
use super::watch::Watch;
use super::{Failed, exit};

/// The largest report that is read. Reports of long hunts have a few MiB.
const MOST_BYTES: u64 = 256 << 20;

/// How long the question waits for an answer.
const PATIENCE: Duration = Duration::from_mins(10);

/// `verify`.
pub(crate) fn run(args: &args::Verify, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let report = read(&args.report)?;
    let asked = VerifyAsked {
        inputs: args.inputs.iter().map(|typed| input(typed)).collect::<Result<_, _>>()?,
        set: args.set.clone(),
        fix: args.fix.clone(),
    };
    let repository = here()?;
    let prepared = Prepared::new(&repository, report, &asked).map_err(failed)?;
    agree(args, &prepared, ui, stop)?;
    let watch = RefCell::new(None);
    let result = prepared.verify(&repository, stop, &|hunt| {
        watch.replace(Some(Watch::begin(hunt, ui)));
    });
    if let Some(watch) = watch.take() {
        watch.end();
    }
    let found = result.map_err(failed)?;
    let out = if args.json { json(&found) } else { lines::text(&found) };
    if args.json { ui.out(&out) } else { ui.answer(&out) }.map_err(Failed::stdout)?;
    Ok(match found.verdict {
        Conclusion::Holds => exit::DONE,
        Conclusion::DoesNotHold => exit::FAILED,
        Conclusion::Undecided => exit::UNDECIDED,
    })
}

/// Shows what would be run, and asks. Somebody else wrote these commands.
fn agree(args: &args::Verify, prepared: &Prepared, ui: Ui, stop: &Stop) -> Result<(), Failed> {
    ui.always(&format!("{} builds and runs this here, as you:", args.report.display()));
    for line in prepared.commands() {
        ui.always(&format!("  {}", text::line(line)));
    }
    if args.yes {
        return Ok(());
    }
    let question = "Do you trust whoever sent this report, and should it run?";
    match yes_or_no(question, PATIENCE, || stop.is_requested()) {
        Some(true) => Ok(()),
        Some(false) => Err(Failed::usage(anyhow!("nothing was run"), None)),
        None if stop.is_requested() => Err(failed(HuntError::Stopped)),
        None => Err(Failed::usage(
            anyhow!("nothing was run: nobody agreed to these commands"),
            Some("read them, then add --yes".to_owned()),
        )),
    }
}

/// The report in a file.
fn read(path: &Path) -> Result<Report, Failed> {
    if report::is_bundle(path) {
        return Ok(super::report::unpack(path)?.report.clone());
    }
    let unreadable = |what: String| {
        let hint = "verify reads the report.json of a hunt, as `bisect-ppl report --format json` \
                    prints it, or a bundle";
        Failed::usage(anyhow!("cannot read {}: {what}", path.display()), Some(hint.to_owned()))
    };
    let file = std::fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(unreadable(format!("it is larger than {}", text::bytes(MOST_BYTES))));
    }
    report::from_json(&bytes).map_err(unreadable)
}

/// `NAME=PATH` of `--input`; the path starts from the current folder.
fn input(typed: &str) -> Result<(String, PathBuf), Failed> {
    let refused = |what: &str| {
        let hint = "write NAME=PATH, as in --input model=/data/model.gguf".to_owned();
        Failed::usage(anyhow!("--input {typed}: {what}"), Some(hint))
    };
    let (name, path) = typed.split_once('=').ok_or_else(|| refused("the path is missing"))?;
    if name.is_empty() || path.is_empty() {
        return Err(refused("a name or a path is missing"));
    }
    let path = std::path::absolute(path).map_err(|error| refused(&error.to_string()))?;
    Ok((name.to_owned(), path))
}

/// The error of a verification that stopped. The same command resumes it.
fn failed(error: HuntError) -> Failed {
    Failed::hunt(error).going_on("`bisect-ppl verify` with the same arguments")
}

fn json(found: &Verification) -> String {
    let text = serde_json::to_string_pretty(found).expect("a verification is plain data");
    plain_json(&text) + "\n"
}

//! `report`: makes a hunt's report again from its stored data.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::process::open_page;
use crate::report::{self, BundleError, Report, Unpacked};
use crate::ui::Ui;

use super::args;
use super::ended::report_failed;
use super::locate::hunt_here;
use super::{Failed, exit, output};

/// `report`.
pub(crate) fn run(args: &args::Report, ui: Ui) -> Result<u8, Failed> {
    if let Some(bundle) = bundle_of(args) {
        let unpacked = unpack(&bundle)?;
        return of_bundle(args, &unpacked, ui);
    }
    let (_, hunt) = hunt_here(args.hunt.as_deref())?;
    let report = Report::of(&hunt).map_err(report_failed)?;
    if let Some(file) = &args.bundle {
        let bundle = report::pack(&hunt, &report).map_err(report_failed)?;
        output::write(file, bundle)?;
        return Ok(exit::DONE);
    }
    if args.open {
        return open(args, &report, ui);
    }
    if args.diff {
        let diff = report::diff(&hunt, &report).map_err(report_failed)?;
        return put(args, &diff.ok_or_else(|| no_diff(&report))?, ui);
    }
    let format = format(args.format);
    let file = match &args.output {
        Some(path) => absolute(path)?,
        None => stdout_file()?,
    };
    put(args, &format.render(&report, &file), ui)
}

/// The bundle to read: the one of `--from`, or the hunt's name if that is a file.
fn bundle_of(args: &args::Report) -> Option<PathBuf> {
    let named = || args.hunt.as_ref().map(PathBuf::from).filter(|path| report::is_bundle(path));
    args.from.clone().or_else(named).filter(|_| args.bundle.is_none())
}

/// Unpacks a bundle into a temporary folder.
pub(super) fn unpack(path: &Path) -> Result<Unpacked, Failed> {
    report::unpack(path).map_err(|error| {
        let hint = match &error {
            BundleError::Report(_) => None,
            BundleError::Io { .. } | BundleError::Refused { .. } => {
                Some("name a complete file that `bisect-ppl report --bundle` wrote".to_owned())
            }
        };
        Failed::usage(error.into(), hint)
    })
}

/// The report of a bundle. Its links are relative, and work if the bundle is unpacked beside it.
fn of_bundle(args: &args::Report, unpacked: &Unpacked, ui: Ui) -> Result<u8, Failed> {
    let Unpacked { hunt, report, .. } = unpacked;
    if args.open {
        if args.output.is_none() {
            let hint = "name the page to write and to open: -o report.html".to_owned();
            return Err(Failed::usage(anyhow!("a bundle has no folder for the page"), Some(hint)));
        }
        return open(args, report, ui);
    }
    if args.diff {
        let diff = report::diff(hunt, report).map_err(report_failed)?;
        return put(args, &diff.ok_or_else(|| no_diff(report))?, ui);
    }
    let beside = report.folder.join("report");
    put(args, &format(args.format).render(report, &beside), ui)
}

fn put(args: &args::Report, text: &str, ui: Ui) -> Result<u8, Failed> {
    match &args.output {
        Some(path) => output::write(path, text)?,
        None => ui.out(text).map_err(Failed::stdout)?,
    }
    Ok(exit::DONE)
}

/// Writes the HTML report, by default to its place in the hunt's folder, prints its path and opens
/// it.
fn open(args: &args::Report, report: &Report, ui: Ui) -> Result<u8, Failed> {
    let page = match &args.output {
        Some(path) => absolute(path)?,
        None => report.folder.join("report.html"),
    };
    output::write(&page, report::Format::Html.render(report, &page))?;
    ui.out(&format!("{}\n", page.display())).map_err(Failed::stdout)?;
    if open_page(&page) {
        return Ok(exit::DONE);
    }
    Err(Failed::world(
        anyhow!("no browser could be started for {}", page.display()),
        Some("set BROWSER to a browser's command, or open the file yourself".to_owned()),
    ))
}

/// The file that standard output is redirected to. If it is no file, or the system does not say
/// which one, a name in the current folder.
fn stdout_file() -> Result<PathBuf, Failed> {
    let told = std::fs::read_link("/proc/self/fd/1").ok();
    let file = told.filter(|path| path.is_absolute() && path.is_file());
    file.map_or_else(|| absolute(Path::new("report")), Ok)
}

fn absolute(path: &Path) -> Result<PathBuf, Failed> {
    std::path::absolute(path).map_err(|error| Failed::world(error.into(), None))
}

fn no_diff(report: &Report) -> Failed {
    let named = report.culprits.first().map(|first| &first.commit);
    let Some(commit) = named.or(report.candidates.first()) else {
        return Failed::unmet(anyhow!("hunt {} names no commit", report.hunt));
    };
    let (hunt, commit) = (&report.hunt, commit.short());
    Failed::unmet(anyhow!("hunt {hunt} stored no diff; `git show {commit}` prints it"))
}

/// Converts the format of the command line.
fn format(typed: args::Format) -> report::Format {
    match typed {
        args::Format::Md => report::Format::Md,
        args::Format::Html => report::Format::Html,
        args::Format::Issue => report::Format::Issue,
        args::Format::Json => report::Format::Json,
    }
}

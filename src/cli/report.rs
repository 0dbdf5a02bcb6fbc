//! `report`: makes a hunt's report again from its stored data.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::process::open_page;
use crate::report::{self, Report};
use crate::ui::Ui;

use super::args;
use super::locate::hunt_here;
use super::start::report_failed;
use super::{Failed, exit, output};

/// `report`.
pub(crate) fn run(args: &args::Report, ui: Ui) -> Result<u8, Failed> {
    let (_, hunt) = hunt_here(args.hunt.as_deref())?;
    let report = Report::of(&hunt).map_err(report_failed)?;
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
    output::write(&page, &report::Format::Html.render(report, &page))?;
    ui.out(&format!("{}\n", page.display())).map_err(Failed::stdout)?;
    if open_page(&page) {
        return Ok(exit::DONE);
    }
    Err(Failed::world(
        anyhow!("no browser could be started for {}", page.display()),
        Some("set BROWSER to a browser's command, or open the file yourself".to_owned()),
    ))
}

/// The file that standard output is redirected to; a name in the current folder if the system does
/// not tell it, or if it is none.
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

//! `report`: makes a hunt's report again from its stored data.

use crate::report::{self, Report};
use crate::ui::Ui;

use super::args;
use super::locate::hunt_here;
use super::start::report_failed;
use super::{Failed, exit, output};

/// `report`.
pub fn run(args: &args::Report, ui: Ui) -> Result<u8, Failed> {
    let (_, hunt) = hunt_here(args.hunt.as_deref())?;
    let format = format(args.format);
    let report = Report::of(&hunt).map_err(report_failed)?;
    match &args.output {
        Some(path) => {
            let absolute =
                std::path::absolute(path).map_err(|error| Failed::world(error.into(), None))?;
            output::write(path, &format.render(&report, Some(&absolute)))?;
        }
        None => ui.out(&format.render(&report, None)).map_err(Failed::stdout)?,
    }
    Ok(exit::DONE)
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

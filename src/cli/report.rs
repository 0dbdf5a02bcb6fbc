//! `report`: a hunt's report again, from what it stored.

use crate::report::{self, Report};
use crate::store::publish;
use crate::ui::Ui;

use super::args;
use super::start::report_failed;
use super::{Failed, exit, hunt_here};

/// `report`.
pub fn run(args: &args::Report, ui: Ui) -> Result<u8, Failed> {
    let (_, hunt) = hunt_here(args.hunt.as_deref())?;
    let format = format(args.format);
    let report = Report::of(&hunt).map_err(report_failed)?;
    match &args.output {
        Some(path) => {
            let path =
                std::path::absolute(path).map_err(|error| Failed::world(error.into(), None))?;
            let text = format.render(&report, Some(&path));
            publish(&path, text.as_bytes()).map_err(Failed::store)?;
        }
        None => ui
            .out(&format.render(&report, None))
            .map_err(|error| Failed::world(error.into(), None))?,
    }
    Ok(exit::DONE)
}

/// What was typed for a format, as what it is.
fn format(typed: args::Format) -> report::Format {
    match typed {
        args::Format::Md => report::Format::Md,
        args::Format::Html => report::Format::Html,
        args::Format::Issue => report::Format::Issue,
        args::Format::Json => report::Format::Json,
    }
}

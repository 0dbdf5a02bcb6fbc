//! `report`: a hunt's report again, from what it stored.

use crate::report::Report;
use crate::ui::Ui;

use super::args;
use super::start::report_failed;
use super::{Failed, exit, hunt_here, output, unavailable};

/// `report`.
pub fn run(args: &args::Report, ui: Ui) -> Result<u8, Failed> {
    let format = unavailable::format(args.format)?;
    let (_, hunt) = hunt_here(args.hunt.as_deref())?;
    let report = Report::of(&hunt).map_err(report_failed)?;
    let text = format.render(&report);
    match &args.output {
        Some(path) => output::write(path, &text)?,
        None => ui.out(&text).map_err(Failed::stdout)?,
    }
    Ok(exit::DONE)
}

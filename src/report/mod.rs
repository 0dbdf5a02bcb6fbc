//! A view of a hunt, made from its folder and journal alone; runs nothing.

mod convert;
mod cost;
mod gather;
mod guards;
mod json;
mod markdown;
mod measured;
mod model;
mod plan;
mod reproduce;
mod terminal;
#[cfg(test)]
mod tests;
mod words;

use std::os::unix::fs::PermissionsExt;

use crate::store::{HuntDir, StoreError, publish};

pub use json::json;
pub use markdown::markdown;
pub use model::{
    AccountLine, BuildLine, Commands, EffectLine, Endpoint, FirstBad, GuardLine, MeasuredCommit,
    Report, Rise, SCHEMA, SampleLine, SearchLine, TargetFailure, Totals,
};
pub use plan::{long_plan, plan};
pub use reproduce::{Recipe, RecipeMeasure, reproduce};
pub use terminal::terminal_answer;

/// A report that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The hunt's folder cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal has no beginning.
    #[error("hunt {0} has not begun: its journal says nothing yet")]
    NotBegun(String),
    /// A word of a command that no shell can hold.
    #[error("{0:?} cannot be written in a shell script")]
    Unquotable(String),
}

impl ReportError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Store(error) => return error.hint(),
            Self::NotBegun(_) => {
                "start a new hunt; `bisect-ppl store gc` removes what has not begun".to_owned()
            }
            Self::Unquotable(_) => {
                "take the NUL character out of the command in oracle.toml".to_owned()
            }
        })
    }
}

/// The forms a report can be rendered in from the journal alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Md,
    /// For programs.
    Json,
}

impl Format {
    /// The report in this form.
    pub fn render(self, report: &Report) -> String {
        match self {
            Self::Md => markdown(report),
            Self::Json => json(report),
        }
    }
}

/// Writes `report.json`, `report.md` and `reproduce.sh` into the hunt's folder, each whole or
/// not at all, and returns what they say.
pub fn write_all(hunt: &HuntDir, recipe: &Recipe) -> Result<Report, ReportError> {
    let report = Report::of(hunt)?;
    let folder = hunt.path();
    publish(&folder.join("report.json"), json(&report).as_bytes())?;
    publish(&folder.join("report.md"), markdown(&report).as_bytes())?;
    let script = folder.join("reproduce.sh");
    publish(&script, reproduce(&report, recipe)?.as_bytes())?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
        .map_err(|source| StoreError::Io { path: script, source })?;
    Ok(report)
}

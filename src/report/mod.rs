//! Reports on a hunt, made from its folder and journal alone. Nothing here builds or measures.

mod ahead;
mod bundle;
mod candidates;
mod cause;
mod certainty;
mod change;
mod commands;
mod convert;
mod cost;
mod course;
mod differences;
mod doubts;
mod driven;
mod environment;
mod error;
mod facts;
mod gather;
mod gathered;
mod generated;
mod git_folder;
mod guards;
mod hosts;
mod html;
mod inquiry;
mod inside;
mod json;
mod levels;
mod limits;
mod links;
mod logits;
mod markdown;
mod matrix;
mod measured;
mod merge;
mod model;
mod neighbours;
mod next_steps;
mod notice;
mod pace;
mod places;
mod plan;
mod plot;
mod posterior;
mod printed;
mod put_back;
mod range;
mod recheck;
mod repeats;
mod reproduce;
mod shapes;
mod short;
mod sought;
mod steps;
mod tables;
mod tensors;
mod terminal;
#[cfg(test)]
mod tests;
mod time_out;
mod timed;
mod undone_steps;
mod unread;
mod usage;
mod words;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::store::{HuntDir, StoreError, publish};

pub(crate) use bundle::{BundleError, Unpacked, is_bundle, pack, unpack};
pub(crate) use cause::{shown as trial_shown, tested as trial_tested, values as trial_values};
pub(crate) use change::{by_relevance, diff, relevance};
pub(crate) use course::course;
pub(crate) use environment::environment;
pub(crate) use error::ReportError;
pub(crate) use git_folder::in_words as git_folder_change;
pub(crate) use html::{LivePage, Now, html};
pub(crate) use json::{from_json, json};
pub(crate) use levels::level_in_words;
pub(crate) use limits::{Clock, limits_in_words, limits_left};
pub(crate) use links::Logs;
pub(crate) use markdown::{issue, markdown};
pub(crate) use model::{EffectLine, Endpoint, FirstBad, MeasuredCommit, Recheck, Report};
pub(crate) use neighbours::announced as neighbours;
pub(crate) use notice::Notice;
pub(crate) use pace::Pace;
pub(crate) use plan::{long_plan, plan, plan_parts};
pub(crate) use printed::telling;
pub(crate) use put_back::{files as put_back_files, in_words as put_back_in_words};
pub(crate) use reproduce::{
    Recipe, RecipeLayer, RecipeMeasure, RecipePart, RecipePrepare, RecipeWord, reproduce, sides,
};
pub(crate) use shapes::cell_in_words;
pub(crate) use tensors::in_words as tensors_in_words;
pub(crate) use terminal::{inside_answer, printed_lines, terminal_answer};
pub(crate) use unread::in_words as unread;
pub(crate) use usage::{Usage, hours};
pub(crate) use words::same_program;

/// Formats of a report that need only the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Markdown.
    Md,
    /// A page for a browser.
    Html,
    /// For an issue tracker, short and without links.
    Issue,
    /// `report.json`, for programs.
    Json,
}

impl Format {
    /// The report in this format. `file` is the path that the text will be written to.
    pub(crate) fn render(self, report: &Report, file: &Path) -> String {
        match self {
            Self::Md => markdown(report, &Logs::for_file(report, file)),
            Self::Html => html(report, &Logs::for_file(report, file)),
            Self::Issue => issue(report),
            Self::Json => json(report),
        }
    }
}

/// Writes `report.json`, `report.md`, `report.html` and `reproduce.sh` into the hunt's folder,
/// each one atomically. Returns the report.
pub(crate) fn write_all(hunt: &HuntDir, recipes: &[Recipe; 2]) -> Result<Report, ReportError> {
    let report = Report::at_rest(hunt)?;
    let folder = hunt.path();
    publish(&folder.join("report.json"), json(&report).as_bytes())?;
    publish(&folder.join("report.md"), markdown(&report, &Logs::beside(&report)).as_bytes())?;
    let script = folder.join("reproduce.sh");
    publish(&script, reproduce(&report, recipes)?.as_bytes())?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
        .map_err(|source| StoreError::Io { path: script, source })?;
    // Written last, since the page links to the other files if they exist.
    publish(&folder.join("report.html"), html(&report, &Logs::beside(&report)).as_bytes())?;
    Ok(report)
}

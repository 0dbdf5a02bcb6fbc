//! A view of a hunt, made from its folder and journal alone; runs nothing.

mod convert;
mod cost;
mod gather;
mod guards;
mod json;
mod markdown;
mod measured;
mod model;
mod terminal;
#[cfg(test)]
mod tests;
mod words;

use crate::store::StoreError;

pub use json::json;
pub use markdown::markdown;
pub use model::{
    AccountLine, BuildLine, Commands, EffectLine, Endpoint, FirstBad, GuardLine, MeasuredCommit,
    Report, Rise, SCHEMA, SampleLine, SearchLine, TargetFailure, Totals,
};
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
}

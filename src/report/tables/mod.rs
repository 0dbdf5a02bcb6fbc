//! Tables that several formats of the report share. Cells hold raw text: each format escapes the
//! text in its own way.

mod answer;
mod ends;
mod samples;
mod setting;

use crate::evaluation::{CommitId, Phase, Verdict};

pub(super) use answer::{candidates, contributions, effects, files, likely};
pub(super) use ends::{Spread, endpoints, noise, repeats, spreads};
pub(super) use samples::{apart, figure, measured, resources, skipped};
pub(super) use setting::{guards, inputs};

/// A table; each row has one cell per column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    /// Titles of the columns.
    pub(super) columns: Vec<String>,
    /// The rows, as cells.
    pub(super) rows: Vec<Vec<Cell>>,
}

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Plain text.
    Text(String),
    /// A commit by its full id.
    Name(CommitId),
    /// A commit by its short id and its subject, which is empty if not known.
    Commit(CommitId, String),
    /// Lines added and removed; neither for a binary file.
    Lines(Option<usize>, Option<usize>),
    /// A verdict.
    Verdict(Verdict),
    /// Values with links to logs, by the phase of their runs.
    Samples(Vec<(Phase, Vec<Output>)>),
    /// Links to logs.
    Outputs(Vec<Output>),
}

/// A text with a link to the log that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// The text.
    pub(super) words: String,
    /// The log, relative to the hunt's folder.
    pub(super) log: String,
    /// Whether this is a cache hit.
    pub(super) reused: bool,
}

impl Table {
    pub(super) fn new<const N: usize>(
        columns: [&str; N],
        rows: impl Iterator<Item = [Cell; N]>,
    ) -> Self {
        Self { columns: columns.map(str::to_owned).to_vec(), rows: rows.map(Vec::from).collect() }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

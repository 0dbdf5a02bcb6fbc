//! Tables that more than one form of the report shows. What stands in a cell is somebody's
//! text as it is: each form escapes it in its own way.

mod answer;
mod ends;
mod samples;
mod setting;

use crate::evaluation::{CommitId, Phase, Verdict};

pub(super) use answer::{candidates, contributions, effects, files, likely};
pub(super) use ends::{endpoints, noise, repeats};
pub(super) use samples::{apart, figure, measured, resources, skipped};
pub(super) use setting::{guards, inputs};

/// A table; rows have as many cells as there are columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    /// Titles.
    pub(super) columns: Vec<String>,
    /// Cells.
    pub(super) rows: Vec<Vec<Cell>>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Words.
    Text(String),
    /// A commit by its full name.
    Name(CommitId),
    /// A commit by its short name and its subject, where that is known.
    Commit(CommitId, String),
    /// Lines added and removed; neither for a binary file.
    Lines(Option<usize>, Option<usize>),
    /// A verdict.
    Verdict(Verdict),
    /// Figures, by what they were measured for.
    Samples(Vec<(Phase, Vec<Output>)>),
    /// Places to look at.
    Outputs(Vec<Output>),
}

/// Words that lead to the output they were read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// The words.
    pub(super) words: String,
    /// The log, relative to the hunt.
    pub(super) log: String,
    /// Taken from the store.
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

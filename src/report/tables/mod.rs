//! Tables that several formats of the report share. Cells contain raw text, and each format escapes
//! it in its own way.

mod answer;
mod builds;
mod ends;
mod samples;
mod setting;

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Phase, Verdict};

pub(super) use answer::{candidates, contributions, effects, files, likely, open_steps};
pub(super) use builds::builds;
pub(super) use ends::{Spread, endpoints, noise, repeats, spreads};
pub(super) use samples::{apart, figure, measured, resources, skipped};
pub(super) use setting::{changes, guards, inputs};

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
    /// A commit by its short id and its subject, which is empty if unknown.
    Commit(CommitId, String),
    /// Numbers of added and removed lines; none for a binary file.
    Lines(Option<usize>, Option<usize>),
    /// A verdict.
    Verdict(Verdict),
    /// Values with links to logs, by the phase of their runs.
    Samples(Vec<(Phase, Vec<Output>)>),
    /// Links to logs.
    Outputs(Vec<Output>),
}

/// A text with a link to its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// The text.
    pub(super) words: String,
    /// The log, relative to the hunt's folder.
    pub(super) log: String,
    /// Set for a cache hit: words that say so, with its date.
    pub(super) stored: Option<String>,
}

impl Table {
    pub(super) fn new<const N: usize>(
        columns: [&str; N],
        rows: impl Iterator<Item = [Cell; N]>,
    ) -> Self {
        Self { columns: columns.map(str::to_owned).to_vec(), rows: rows.map(Vec::from).collect() }
    }

    /// The table without columns that are empty in every row. The first column stays.
    pub(super) fn filled(self) -> Self {
        let is_filled = |at: &usize| {
            *at == 0
                || self.rows.iter().any(|row| row.get(*at).is_some_and(|cell| !cell.is_empty()))
        };
        let kept: Vec<usize> = (0..self.columns.len()).filter(is_filled).collect();
        let pick = |row: &Vec<Cell>| kept.iter().map(|at| row[*at].clone()).collect();
        Self {
            columns: kept.iter().map(|at| self.columns[*at].clone()).collect(),
            rows: self.rows.iter().map(pick).collect(),
        }
    }
}

impl Cell {
    /// Links to the logs of these runs and builds, if known.
    pub(super) fn logs<'a>(
        attempts: impl IntoIterator<Item = &'a String>,
        known: &BTreeMap<String, String>,
    ) -> Self {
        let logs = attempts.into_iter().filter_map(|attempt| known.get(attempt));
        let link =
            |log: &String| Output { words: "log".to_owned(), log: log.clone(), stored: None };
        Self::Outputs(logs.map(link).collect())
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Samples(phases) => phases.is_empty(),
            Self::Outputs(outputs) => outputs.is_empty(),
            Self::Name(_) | Self::Commit(..) | Self::Lines(..) | Self::Verdict(_) => false,
        }
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

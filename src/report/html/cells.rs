//! Tables as the page shows them.

use askama::Template;

use crate::evaluation::Verdict;
use crate::report::links::Logs;
use crate::report::tables::{Cell, Output, Table};
use crate::report::words;
use crate::ui::text;

/// A table with more rows than this is closed at first.
const MOST_OPEN_ROWS: usize = 16;

/// A table in a box that scrolls if the table is too wide.
#[derive(Default, Template)]
#[template(path = "table.html", whitespace = "minimize")]
pub(super) struct TableView {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<CellView>>,
}

/// A cell.
pub(super) enum CellView {
    /// Plain text.
    Text(String),
    /// A full commit id, and its page.
    Name(String, Option<String>),
    /// A short commit id, its page, and a subject.
    Commit(String, Option<String>, String),
    /// Lines added and removed.
    Lines(String, String),
    /// A verdict.
    Verdict(VerdictView),
    /// Links in groups, each with a label that may be empty.
    Outputs(Vec<(String, Vec<OutputView>)>),
}

/// A verdict as a word and a mark. Colour and shape both differ, so nobody has to tell colours
/// apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VerdictView {
    pub(super) word: &'static str,
    pub(super) mark: &'static str,
}

/// A text with a link to its log.
pub(super) struct OutputView {
    pub(super) words: String,
    /// `None` if the log is gone.
    pub(super) href: Option<String>,
    pub(super) stored: Option<String>,
}

impl TableView {
    pub(super) fn new(table: &Table, logs: &Logs) -> Self {
        let row = |row: &Vec<Cell>| row.iter().map(|cell| CellView::new(cell, logs)).collect();
        Self { columns: table.columns.clone(), rows: table.rows.iter().map(row).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the table is long on a phone, where each cell is a line.
    pub(super) fn is_long(&self) -> bool {
        self.rows.len() > MOST_OPEN_ROWS
    }
}

impl CellView {
    fn new(cell: &Cell, logs: &Logs) -> Self {
        let outputs = |outputs: &Vec<Output>| -> Vec<_> {
            outputs.iter().map(|output| OutputView::new(output, logs)).collect()
        };
        match cell {
            Cell::Text(words) => Self::Text(text::line(words)),
            Cell::Name(commit) => Self::Name(commit.to_string(), logs.commit(commit)),
            Cell::Commit(commit, subject) => {
                let page = logs.commit(commit);
                Self::Commit(commit.short().to_owned(), page, text::line(subject))
            }
            Cell::Lines(None, None) => Self::Text(words::changed_lines(None, None)),
            Cell::Lines(added, removed) => {
                let count = |sign, lines: &Option<usize>| format!("{sign}{}", lines.unwrap_or(0));
                Self::Lines(count('+', added), count('\u{2212}', removed))
            }
            Cell::Verdict(verdict) => Self::Verdict(VerdictView::of(*verdict)),
            Cell::Samples(phases) => {
                let group = |(phase, all): &(_, Vec<_>)| (format!("{phase}"), outputs(all));
                Self::Outputs(phases.iter().map(group).collect())
            }
            Cell::Outputs(all) => Self::Outputs(vec![(String::new(), outputs(all))]),
        }
    }
}

impl OutputView {
    pub(super) fn new(output: &Output, logs: &Logs) -> Self {
        let words = text::line(&output.words);
        Self {
            words: if words.is_empty() { "(empty)".to_owned() } else { words },
            href: logs.href(&output.log),
            stored: output.stored.clone(),
        }
    }
}

impl VerdictView {
    pub(super) fn of(verdict: Verdict) -> Self {
        let (word, mark) = match verdict {
            Verdict::Good => ("good", "\u{25cf}"),
            Verdict::Bad => ("bad", "\u{25b2}"),
            Verdict::Skip => ("skip", "\u{2715}"),
            Verdict::Unknown => ("unknown", "\u{25c7}"),
        };
        Self { word, mark }
    }
}

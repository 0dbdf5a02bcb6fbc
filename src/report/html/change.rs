//! The diff of a first bad commit or of a candidate, one part for each file.

use crate::report::change::{LineKind, MARK, Shown, folded, name, shown};
use crate::report::links::Logs;
use crate::report::model::{CandidateLine, Change, FirstBad};
use crate::report::tables;
use crate::ui::text;

use super::cells::TableView;

/// The change of a commit.
#[derive(Default)]
pub(super) struct ChangeView {
    pub(super) files: Vec<FileView>,
    /// The files without a diff: all of them if no diff is stored.
    pub(super) others: TableView,
}

/// A candidate and its change.
pub(super) struct CandidateView {
    pub(super) commit: String,
    pub(super) page: Option<String>,
    pub(super) subject: String,
    pub(super) origin: String,
    pub(super) change: ChangeView,
}

impl CandidateView {
    pub(super) fn of(candidate: &CandidateLine, logs: &Logs) -> Self {
        let CandidateLine { info, change } = candidate;
        Self {
            commit: info.commit.short().to_owned(),
            page: logs.commit(&info.commit),
            subject: text::line(&info.subject),
            origin: text::line(&format!("{}, {}", info.author, info.date)),
            change: ChangeView::new(folded(change), change, logs),
        }
    }
}

/// The diff of a file.
pub(super) struct FileView {
    pub(super) name: String,
    pub(super) added: usize,
    pub(super) removed: usize,
    pub(super) is_open: bool,
    /// Class and text of each line.
    pub(super) lines: Vec<(&'static str, String)>,
    pub(super) cut: usize,
}

impl ChangeView {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.others.is_empty()
    }

    pub(super) fn of(first: &FirstBad, logs: &Logs) -> Self {
        let Some(change) = &first.change else {
            let others = TableView::new(&tables::files(&first.files), logs);
            return Self { files: Vec::new(), others };
        };
        Self::new(shown(change), change, logs)
    }

    fn new<'c>(shown: impl Iterator<Item = Shown<'c>>, change: &Change, logs: &Logs) -> Self {
        let view = |shown: Shown<'_>| FileView {
            name: text::line(&name(shown.file)),
            added: shown.file.added,
            removed: shown.file.removed,
            is_open: shown.is_open,
            lines: shown.lines.iter().map(|line| (class(line), text::lines(line))).collect(),
            cut: shown.cut,
        };
        Self {
            files: shown.map(view).collect(),
            others: TableView::new(&tables::files(&change.left_out), logs),
        }
    }
}

fn class(line: &str) -> &'static str {
    match LineKind::of(line) {
        _ if line == MARK => "mark",
        LineKind::Added => "added",
        LineKind::Removed => "removed",
        LineKind::Header => "hunk",
        LineKind::Context => "same",
    }
}

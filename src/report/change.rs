//! The change of a first bad commit or of a candidate: its diff, with the relevant files first.

use std::borrow::Cow;

use crate::differ;
use crate::evaluation::{Cause, CommitInfo, Differences, Outcome, PartOf, TouchedFile};
use crate::git::{FileDiff, read_diff};
use crate::store::{HuntDir, StoreError};

use crate::ui::text;

use super::ReportError;
use super::model::{CandidateLine, Change, FirstBad, Report};
use super::words::other_culprits;

/// A diff of at most this many lines is shown completely.
const SHORT: usize = 80;

/// The mark above a part that makes the step. A line of its own: at the end of a long line nobody
/// would see it.
pub(super) const MARK: &str = "↓ makes the step";

/// Maximum lines of one file in a page. `report --diff` shows all.
const LONG: usize = 400;

/// A file of a change, for a page.
pub(super) struct Shown<'c> {
    pub(super) file: &'c FileDiff,
    /// Whether the lines are shown at once; otherwise they are folded.
    pub(super) is_open: bool,
    /// The first lines of its diff.
    pub(super) lines: &'c [String],
    /// How many lines are left out.
    pub(super) cut: usize,
}

/// The kind of a line in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Added.
    Added,
    /// Removed.
    Removed,
    /// The header of a hunk, or a remark.
    Header,
    /// The same on both sides.
    Context,
}

impl LineKind {
    /// The kind of a line of [`FileDiff::lines`].
    pub(super) fn of(line: &str) -> Self {
        match line.chars().next() {
            Some('+') => Self::Added,
            Some('-') => Self::Removed,
            Some(' ') | None => Self::Context,
            Some(_) => Self::Header,
        }
    }
}

/// The stored diff of a first bad commit; `None` if an older program published the answer.
pub(super) fn read(hunt: &HuntDir, first: &FirstBad) -> Result<Option<Change>, StoreError> {
    let diff = hunt.diff(&first.commit)?;
    Ok(diff.map(|diff| of(&diff, &first.files, first.differences.as_ref())))
}

/// Marks the parts that make the step, and moves their files to the top.
pub(super) fn mark(change: &mut Change, cause: &Cause) {
    let parts = || cause.sets.iter().filter(|set| set.is_minimal).flat_map(|set| &set.parts);
    for file in &mut change.files {
        let headers = file.lines.iter().enumerate().filter(|(_, line)| line.starts_with("@@ "));
        let headers: Vec<usize> = headers.map(|(place, _)| place).collect();
        let mut places: Vec<usize> = parts()
            .filter(|part| part.path == file.path)
            .filter_map(|part| match part.of {
                PartOf::Hunk { number, .. } => headers.get(number - 1).copied(),
                // The diff of a new file is one hunk, which has all lines in order.
                PartOf::Edit { line, .. } if line < LONG => {
                    headers.first().map(|header| (header + line).min(file.lines.len()))
                }
                _ => Some(0),
            })
            .collect();
        // From the end on, so that a mark does not move the places before it.
        places.sort_unstable();
        for place in places.into_iter().rev() {
            file.lines.insert(place, MARK.to_owned());
        }
    }
    change.files.sort_by_key(|file| parts().all(|part| part.path != file.path));
}

/// The candidates of the answer whose diffs are stored, the most likely first.
pub(super) fn of_candidates(
    hunt: &HuntDir,
    report: &Report,
) -> Result<Vec<CandidateLine>, StoreError> {
    if report.outcome != Outcome::Candidates {
        return Ok(Vec::new());
    }
    let stored = hunt.candidates()?;
    let mut lines = Vec::new();
    for commit in &report.candidates {
        let Some(candidate) = stored.iter().find(|one| one.info.commit == *commit) else {
            continue;
        };
        let Some(diff) = hunt.candidate_diff(commit)? else { continue };
        let change = of(&diff, &candidate.files, None);
        lines.push(CandidateLine { info: candidate.info.clone(), change });
    }
    Ok(lines)
}

/// The change with this diff. `touched`: the files of the whole change.
fn of(diff: &[u8], touched: &[TouchedFile], differences: Option<&Differences>) -> Change {
    let mut files = read_diff(&String::from_utf8_lossy(diff));
    files.sort_by_key(|file| relevance(&file.path, differences));
    let is_in = |path: &str| {
        files.iter().any(|file| file.path == path || file.renamed_from.as_deref() == Some(path))
    };
    let left_out = touched.iter().filter(|file| !is_in(&file.path)).cloned().collect();
    Change { files, left_out }
}

/// The files for a page. All lines are open if the diff is short. Otherwise the most relevant files
/// are open as long as they are short together, and the others are folded.
pub(super) fn shown(change: &Change) -> impl Iterator<Item = Shown<'_>> {
    let mut room = SHORT;
    change.files.iter().map(move |file| {
        let is_open = file.lines.len() <= room;
        room = if is_open { room - file.lines.len() } else { 0 };
        let lines = &file.lines[..file.lines.len().min(LONG)];
        Shown { file, is_open, lines, cut: file.lines.len() - lines.len() }
    })
}

/// The same with all files folded.
pub(super) fn folded(change: &Change) -> impl Iterator<Item = Shown<'_>> {
    shown(change).map(|shown| Shown { is_open: false, ..shown })
}

/// The files that a commit touches, the most relevant first.
pub(crate) fn by_relevance<'f>(
    files: &'f [TouchedFile],
    differences: Option<&Differences>,
) -> Vec<&'f TouchedFile> {
    let mut files: Vec<_> = files.iter().collect();
    files.sort_by_key(|file| relevance(&file.path, differences));
    files
}

/// The rank of a file by relevance: files that a clue names, code, other files, tests and
/// documents.
pub(crate) fn relevance(path: &str, differences: Option<&Differences>) -> u8 {
    let found = differences.map(|all| all.found.as_slice()).unwrap_or_default();
    let is_named = |side: &Option<String>| side.as_deref() == Some(path);
    if found.iter().any(|one| is_named(&one.place) || is_named(&one.name)) {
        return 0;
    }
    let aside = ["test", "tests", "doc", "docs", "examples"];
    if path.split('/').any(|part| aside.contains(&part)) {
        3
    } else if differ::is_code(path) {
        1
    } else {
        2
    }
}

/// A path for a heading: `new.c (was old.c)` for a renamed file.
pub(super) fn name(file: &FileDiff) -> Cow<'_, str> {
    match &file.renamed_from {
        Some(from) => format!("{} (was {from})", file.path).into(),
        None => file.path.as_str().into(),
    }
}

/// The diffs of all first bad commits, the main one first, and of the candidates, in the form of
/// `git show`: each below the commit, its author, date and subject, without control characters.
/// `None` if no diff is stored.
pub(crate) fn diff(hunt: &HuntDir, report: &Report) -> Result<Option<String>, ReportError> {
    let mut parts = Vec::new();
    for first in report.culprit.iter().chain(other_culprits(report)) {
        let Some(diff) = hunt.diff(&first.commit)? else { continue };
        let FirstBad { commit, author, date, subject, .. } = first.clone();
        parts.push(one_diff(&CommitInfo { commit, subject, author, date }, &diff));
    }
    for CandidateLine { info, .. } in &report.candidate_changes {
        let Some(diff) = hunt.candidate_diff(&info.commit)? else { continue };
        parts.push(one_diff(info, &diff));
    }
    Ok((!parts.is_empty()).then(|| parts.join("\n")))
}

fn one_diff(info: &CommitInfo, diff: &[u8]) -> String {
    let CommitInfo { commit, subject, author, date } = info;
    let [author, date, subject] = [author, date, subject].map(|words| text::line(words));
    let diff = text::lines(&String::from_utf8_lossy(diff));
    format!("commit {commit}\nAuthor: {author}\nDate:   {date}\n\n    {subject}\n\n{diff}")
}

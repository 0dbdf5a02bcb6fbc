//! The plot of how a search narrowed the range: one row per step.

use crate::evaluation::{CommitId, Verdict};
use crate::report::model::{Report, SearchLine, StepLine};
use crate::report::range::{PlaceSpan, Range, spans};
use crate::report::sought::Sought;
use crate::store::journal::SearchMethod;
use crate::ui::text;

use super::Drawing;
use super::canvas::{Anchor, Canvas, drawing, width_of};
use super::palette::{BAND, INK, MARKED, MUTED, RULE};

/// Maximum rows of a drawing. The table has all rows.
const MOST: usize = 64;

/// Height of a row.
const ROW: i32 = 20;

const BOTTOM: i32 = 34;

/// The rows of all searches of a hunt.
pub(in crate::report) struct Narrowing {
    sought: Sought,
    /// The place of the newer endpoint.
    last: usize,
    /// The older and the newer endpoint.
    ends: [CommitId; 2],
    /// The rows, in order of time.
    pub(in crate::report) rows: Vec<NarrowingRow>,
}

/// One row.
pub(in crate::report) struct NarrowingRow {
    /// The event that the row shows.
    pub(in crate::report) what: What,
    /// The places in question before the event.
    open: Vec<PlaceSpan>,
    /// The subject of the judged or confirmed commit; empty if unknown.
    subject: String,
    /// How many commits are in question after the event. `None` if a path filter leaves out some,
    /// or for a confirmed commit.
    pub(in crate::report) left: Option<usize>,
}

/// The event of a row.
pub(in crate::report) enum What {
    /// A search begins; its number.
    Range(usize),
    /// A commit was judged; its place, if known.
    Step(StepLine, Option<usize>),
    /// A first bad commit was confirmed; its place, if known.
    Found(CommitId, Option<usize>),
}

impl Narrowing {
    /// The rows of a report; `None` if the range is unknown or no search narrows it.
    pub(in crate::report) fn of(report: &Report, range: &Range) -> Option<Self> {
        // A posterior search does not narrow a range. Its posterior has its own plot.
        let narrows = |search: &&SearchLine| search.method != Some(SearchMethod::Posterior);
        let mut searches = report.searches.iter().filter(narrows).peekable();
        if !range.is_known() || searches.peek().is_none() {
            return None;
        }
        let mut rows = Vec::new();
        let sought = Sought::of(report);
        for search in searches {
            let [old, mut newest] = sought.ends(search).map(CommitId::clone);
            let mut olds = vec![old];
            let is_whole = search.paths.is_empty();
            let mut open = range.open(&olds, &newest);
            let before = spans(&open);
            let left = |open: &[bool]| is_whole.then(|| open.iter().filter(|open| **open).count());
            rows.push(NarrowingRow {
                what: What::Range(search.search_number),
                open: before,
                subject: String::new(),
                left: Some(search.commits),
            });
            for step in
                report.steps.iter().filter(|step| step.search_number == search.search_number)
            {
                let before = spans(&open);
                match step.verdict {
                    Verdict::Skip | Verdict::Unknown => {}
                    verdict if sought.is_older(verdict) => olds.push(step.commit.clone()),
                    _ => newest = step.commit.clone(),
                }
                open = range.open(&olds, &newest);
                let what = What::Step(step.clone(), range.place(&step.commit));
                let subject = report.subject(&step.commit).to_owned();
                rows.push(NarrowingRow { what, open: before, subject, left: left(&open) });
            }
        }
        for first in &report.culprits {
            let place = range.place(&first.commit);
            let open = place.map(|place| (place, place)).into_iter().collect();
            let what = What::Found(first.commit.clone(), place);
            rows.push(NarrowingRow { what, open, subject: first.subject.clone(), left: None });
        }
        let ends = [0, range.last()].map(|place| range.commit(place).clone());
        Some(Self { sought, last: range.last(), ends, rows })
    }

    /// The drawing.
    pub(in crate::report) fn draw(&self, width: u32) -> Drawing {
        let wide = i32::try_from(width).unwrap_or(i32::MAX);
        let rows = &self.rows[..self.rows.len().min(MOST)];
        let bottom = ROW * i32::try_from(rows.len()).unwrap_or(0) + 4;
        let right = width_of(&self.last.to_string()).max(28) + 12;
        let axis = Axis {
            left: 86,
            right: wide - right,
            last: self.last,
            ends: &self.ends,
            sought: self.sought,
        };
        drawing(width, u32::try_from(bottom + BOTTOM).unwrap_or(0), |canvas| {
            for (at, row) in (0..).zip(rows) {
                row.draw(canvas, &axis, ROW * at + ROW / 2);
            }
            axis.draw(canvas, bottom);
        })
    }

    /// Whether the drawing leaves rows out.
    pub(in crate::report) fn is_cut(&self) -> bool {
        self.rows.len() > MOST
    }

    /// The drawing as text.
    pub(in crate::report) fn in_words(&self) -> String {
        let said = self.rows.iter().take(MOST).map(|row| row.in_words(self.sought));
        said.collect::<Vec<_>>().join(" ")
    }
}

impl NarrowingRow {
    /// The row's label.
    pub(in crate::report) fn name(&self) -> String {
        match &self.what {
            What::Range(0) => "range".to_owned(),
            What::Range(number) => format!("search {}", number + 1),
            What::Step(step, _) => step.commit.short().to_owned(),
            What::Found(commit, _) => commit.short().to_owned(),
        }
    }

    fn in_words(&self, sought: Sought) -> String {
        let left = self.left.map(|left| format!(", {left} left")).unwrap_or_default();
        match &self.what {
            What::Range(_) => {
                format!("{}: {}.", self.name(), text::plural(self.left.unwrap_or(0), "commit"))
            }
            What::Step(step, _) => format!("{} is {}{left}.", step.commit.short(), step.verdict),
            What::Found(commit, _) => format!("The {}: {}.", sought.commit(), commit.short()),
        }
    }

    fn tip(&self, sought: Sought) -> String {
        let subject = text::line(&self.subject);
        format!("{} {subject}\n{}", self.name(), self.in_words(sought))
    }

    fn draw(&self, canvas: &Canvas<'_>, axis: &Axis<'_>, y: i32) {
        let colour = if matches!(self.what, What::Step(..)) { INK } else { MUTED };
        canvas.text(&self.name(), (axis.left - 8, y), Anchor::End, colour);
        canvas.line((axis.left, y), (axis.right, y), RULE);
        let is_answer = matches!(self.what, What::Found(..));
        for &(from, to) in &self.open {
            let (from, to) = (axis.edge(from), axis.edge(to + 1));
            let colour = if is_answer { MARKED } else { BAND };
            canvas.bar((from, y - 7), (to.max(from + 2), y + 7), colour);
        }
        match &self.what {
            What::Step(step, Some(place)) => {
                canvas.mark(step.verdict, (axis.x(*place), y), 4, &self.tip(axis.sought));
            }
            What::Found(_, Some(place)) => {
                let [_, newer] = axis.sought.verdicts();
                canvas.mark(newer, (axis.x(*place), y), 4, &self.tip(axis.sought));
            }
            _ => {}
        }
        if let Some(left) = self.left {
            canvas.text(&left.to_string(), (axis.right + 8, y), Anchor::Start, MUTED);
        }
    }
}

/// The horizontal axis: places in the range, to scale.
struct Axis<'n> {
    left: i32,
    right: i32,
    last: usize,
    ends: &'n [CommitId; 2],
    sought: Sought,
}

impl Axis<'_> {
    /// Left edge of a place, in pixels.
    fn edge(&self, place: usize) -> i32 {
        let wide = i64::from(self.right - self.left);
        let count = i64::try_from(self.last + 1).unwrap_or(i64::MAX);
        let place = i64::try_from(place).unwrap_or(i64::MAX).min(count);
        self.left + i32::try_from(wide * place / count).unwrap_or(0)
    }

    fn x(&self, place: usize) -> i32 {
        i32::midpoint(self.edge(place), self.edge(place + 1))
    }

    fn draw(&self, canvas: &Canvas<'_>, y: i32) {
        canvas.line((self.left, y), (self.right, y), MUTED);
        let [older, newer] = self.ends.each_ref().map(CommitId::short);
        let [first, last] = self.sought.verdicts();
        let long = [format!("{first} {older}"), format!("{newer} {last}")];
        let short = [first.to_string(), last.to_string()];
        let wide: i32 = long.iter().map(|label| width_of(label)).sum();
        let labels = if wide < self.right - self.left { long } else { short };
        let ends = [(0, Anchor::Start), (self.last, Anchor::End)];
        for ((place, anchor), label) in ends.into_iter().zip(labels) {
            let x = self.x(place);
            canvas.line((x, y), (x, y + 4), MUTED);
            canvas.text(&label, (self.edge(place + usize::from(place > 0)), y + 12), anchor, MUTED);
        }
        let axis = "commits in order of history";
        canvas.text(axis, (i32::midpoint(self.left, self.right), y + 25), Anchor::Middle, MUTED);
        canvas.text("left", (self.right + 8, y + 12), Anchor::Start, MUTED);
    }
}

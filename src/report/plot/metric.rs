//! The plot of a metric over the measured commits.

use std::collections::{BTreeMap, HashSet};

use crate::ui::text;

use super::Drawing;
use super::canvas::{Anchor, Canvas, Row, drawing, width_of};
use super::levels::{Level, Levels, Point, Role};
use super::palette::{BAND, INK, MARKED, MUTED, RULE};
use super::scale::Scale;

/// Height of the part with numbers.
const PLOT: i32 = 200;

/// Height of a row for samples without a number: the name, then the marks.
const ROW: i32 = 34;

/// Height of the top margin, which names the marked commits.
const TOP: i32 = 22;

/// Height of the bottom margin with the places and the axis title.
const BOTTOM: i32 = 40;

/// Width from which lines have a name beside the plot.
const ROOMY: i32 = 600;

/// How a level is drawn: solid if it was measured, dashed if it is a limit or a threshold.
enum Stroke {
    Solid,
    Dashed,
}

/// The positions of the plot's parts.
struct Layout {
    left: i32,
    right: i32,
    /// The edge between the rows and the numbers.
    top: i32,
    bottom: i32,
    commits: i32,
}

impl Levels {
    /// The plot.
    pub(in crate::report) fn draw(&self, width: u32) -> Drawing {
        let wide = i32::try_from(width).unwrap_or(i32::MAX);
        let rows = ROW * i32::try_from(self.words.len()).unwrap_or(0);
        let numbers = self.numbers();
        let top = TOP + rows;
        let bottom = if numbers.is_empty() { top } else { top + PLOT };
        let scale = Scale::over(&numbers, bottom, top);
        let ticks = scale.as_ref().map(Scale::ticks).unwrap_or_default();
        let widest = ticks.iter().map(|(_, label)| width_of(label)).max().unwrap_or(0);
        let layout = Layout {
            left: widest + 10,
            right: wide - if wide >= ROOMY && scale.is_some() { 66 } else { 6 },
            top,
            bottom,
            commits: i32::try_from(self.commits.len()).unwrap_or(i32::MAX),
        };
        let height = u32::try_from(bottom + BOTTOM).unwrap_or(0);
        drawing(width, height, |canvas| {
            self.mark_answers(canvas, &layout);
            if let Some(scale) = &scale {
                self.lines(canvas, &layout, scale, &ticks);
            }
            self.name_rows(canvas, &layout);
            for (at, commit) in (0..).zip(&self.commits) {
                if let Some(scale) = scale.as_ref().filter(|_| !self.is_rate) {
                    median(canvas, &layout, scale, at, commit);
                }
                samples(canvas, &layout, scale.as_ref(), at, commit);
            }
            self.places(canvas, &layout);
        })
    }

    /// The plot as text.
    pub(in crate::report) fn in_words(&self) -> String {
        let line = |value: Option<f64>, name: &str| {
            value.map_or_else(String::new, |value| format!(" {name} {}.", text::figure(value)))
        };
        format!(
            "{} in {} of {}, in order of history.{}{} Every value stands in the table of measured \
             commits.",
            self.metric,
            text::plural(self.samples(), "sample"),
            text::plural(self.commits.len(), "commit"),
            line(self.baseline, "Baseline"),
            format_args!("{}{}", line(self.bad, "Bad end"), line(self.limit, "Threshold")),
        )
    }

    /// Whether the scale is logarithmic.
    pub(in crate::report) fn is_logarithmic(&self) -> bool {
        Scale::over(&self.numbers(), 1, 0).is_some_and(|scale| scale.is_logarithmic())
    }

    fn mark_answers(&self, canvas: &Canvas<'_>, layout: &Layout) {
        let mut row = Row::default();
        for (at, commit) in (0..).zip(&self.commits).filter(|(_, c)| c.role != Role::None) {
            let reach = (layout.spread(at, commit) / 2 + 9).max(14).min(layout.slot_width(at) / 2);
            let reach = reach.max(2);
            let middle = layout.middle(at);
            canvas.bar((middle - reach, TOP - 4), (middle + reach, layout.bottom), MARKED);
            let name = if commit.role == Role::Found { self.sought } else { "candidate" };
            let half = width_of(name) / 2;
            let middle = middle.clamp(half, (layout.right - half).max(half));
            if row.take(name, middle) {
                canvas.text(name, (middle, TOP / 2), Anchor::Middle, INK);
            }
        }
    }

    /// Draws the tolerance as a band, the ticks, and the lines for baseline and limits.
    fn lines(&self, canvas: &Canvas<'_>, layout: &Layout, scale: &Scale, ticks: &[(i32, String)]) {
        if let (Some(baseline), Some(limit)) = (self.baseline, self.limit) {
            canvas.bar((layout.left, scale.y(baseline)), (layout.right, scale.y(limit)), BAND);
        }
        for (y, label) in ticks {
            canvas.line((layout.left, *y), (layout.right, *y), RULE);
            canvas.text(label, (layout.left - 6, *y), Anchor::End, MUTED);
        }
        canvas.line((layout.left, layout.top), (layout.left, layout.bottom), RULE);
        let lines = [
            (self.baseline, "baseline", Stroke::Solid),
            (self.bad, "bad end", Stroke::Solid),
            (self.limit, "threshold", Stroke::Dashed),
            (self.threshold, "between", Stroke::Dashed),
        ];
        let mut named: Vec<i32> = Vec::new();
        for (value, name, stroke) in lines {
            let Some(value) = value else { continue };
            let y = scale.y(value);
            match stroke {
                Stroke::Solid => canvas.line((layout.left, y), (layout.right, y), MUTED),
                Stroke::Dashed => canvas.dashes((layout.left, y), layout.right, INK),
            }
            let is_free = named.iter().all(|other| (other - y).abs() >= 12);
            if is_free && layout.is_roomy() {
                canvas.text(name, (layout.right + 6, y), Anchor::Start, MUTED);
                named.push(y);
            }
        }
    }

    fn name_rows(&self, canvas: &Canvas<'_>, layout: &Layout) {
        for (row, word) in (0..).zip(&self.words) {
            let y = row_marks(row);
            canvas.line((layout.left, y + 11), (layout.right, y + 11), RULE);
            canvas.text(word, (layout.left + 2, y - 14), Anchor::Start, MUTED);
        }
    }

    fn places(&self, canvas: &Canvas<'_>, layout: &Layout) {
        let y = layout.bottom;
        canvas.line((layout.left, y), (layout.right, y), MUTED);
        let mut row = Row::default();
        // Labels go to the found commits, then to the ends, then to other commits if there is room.
        let marked = |at: &usize| self.commits[*at].role == Role::Found;
        let all = 0..self.commits.len();
        let ends = [0, self.commits.len() - 1];
        let order = all.clone().filter(marked).chain(ends).chain(all);
        let mut done = HashSet::new();
        for at in order.filter(|at| done.insert(*at)) {
            let commit = &self.commits[at];
            let middle = layout.middle(i32::try_from(at).unwrap_or(0));
            // Otherwise the left edge would cut off half of the first label.
            let half = width_of(commit.commit.short()) / 2;
            let centre = middle.clamp(half, (layout.right - half).max(half));
            let label = commit.commit.short();
            if row.take(label, centre) {
                let colour = if commit.role == Role::None { MUTED } else { INK };
                canvas.line((middle, y), (middle, y + 4), MUTED);
                canvas.text(label, (centre, y + 12), Anchor::Middle, colour);
            }
        }
        canvas.text(
            "measured commits in order of history",
            (i32::midpoint(layout.left, layout.right), y + 29),
            Anchor::Middle,
            MUTED,
        );
    }
}

impl Layout {
    fn slot(&self, at: i32) -> (i32, i32) {
        let wide = i64::from(self.right - self.left);
        let edge = |at: i32| {
            let offset = wide * i64::from(at) / i64::from(self.commits.max(1));
            self.left + i32::try_from(offset).unwrap_or(0)
        };
        (edge(at), edge(at + 1))
    }

    fn slot_width(&self, at: i32) -> i32 {
        let (from, to) = self.slot(at);
        to - from
    }

    /// Distance from a commit's first sample to its last one, in pixels.
    fn spread(&self, at: i32, commit: &Level) -> i32 {
        let count = i32::try_from(commit.points.len()).unwrap_or(i32::MAX);
        (self.slot_width(at) * 6 / 10).min(9 * (count - 1))
    }

    fn middle(&self, at: i32) -> i32 {
        let (from, to) = self.slot(at);
        i32::midpoint(from, to)
    }

    fn is_roomy(&self) -> bool {
        self.right - self.left >= ROOMY - 180
    }
}

fn row_marks(row: i32) -> i32 {
    TOP + ROW * row + 22
}

/// Draws a commit's median as a dash behind its samples.
fn median(canvas: &Canvas<'_>, layout: &Layout, scale: &Scale, at: i32, commit: &Level) {
    let Some(median) = commit.median() else { return };
    let (middle, y) = (layout.middle(at), scale.y(median));
    let reach = (layout.spread(at, commit) / 2 + 7).min(layout.slot_width(at) / 2).max(2);
    canvas.stroke((middle - reach, y), (middle + reach, y), INK);
}

/// Draws a commit's samples side by side, in the order of the runs, so that all are visible.
fn samples(canvas: &Canvas<'_>, layout: &Layout, scale: Option<&Scale>, at: i32, commit: &Level) {
    let size = match layout.slot_width(at) {
        0..5 => 2,
        5..9 => 3,
        _ => 4,
    };
    let count = i32::try_from(commit.points.len()).unwrap_or(i32::MAX);
    let spread = layout.spread(at, commit);
    // Samples at the same place share a mark.
    let mut marks: BTreeMap<(i32, i32), Vec<&str>> = BTreeMap::new();
    for (number, sample) in (0..).zip(&commit.points) {
        let offset = if count > 1 { spread * number / (count - 1) - spread / 2 } else { 0 };
        let x = layout.middle(at) + offset;
        let y = match (sample.point, scale) {
            (Point::Number(number), Some(scale)) => scale.y(number),
            (Point::Number(_), None) => continue,
            (Point::Word(row), _) => row_marks(i32::try_from(row).unwrap_or(0)),
        };
        marks.entry((x, y)).or_default().push(&sample.words);
    }
    let name = text::commit(&commit.commit, &commit.subject);
    for (place, said) in marks {
        let tip = format!("{name}\n{}\n{}", said.join("\n"), commit.verdict);
        canvas.mark(commit.verdict, place, size, &tip);
    }
}

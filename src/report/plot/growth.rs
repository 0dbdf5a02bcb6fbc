//! The plot of how the difference of two models grows along the layers or the training steps.

use crate::evaluation::{TensorChange, TensorGrowth, Verdict};
use crate::ui::text;

use super::Drawing;
use super::canvas::{Anchor, Canvas, Row, drawing, width_of};
use super::palette::{BAD, MUTED, RULE};
use super::scale::Scale;

/// Height of the part with numbers.
const PLOT: i32 = 180;

/// Height of the margins.
const TOP: i32 = 12;
const BOTTOM: i32 = 40;

/// The relative differences of one measure.
pub(in crate::report) struct Growth<'a> {
    change: &'a TensorChange,
    /// The points to draw. Zero has no place on a logarithmic scale.
    points: Vec<&'a TensorGrowth>,
}

impl<'a> Growth<'a> {
    /// The growth that a comparison found; `None` if fewer than two points are above zero.
    pub(in crate::report) fn of(change: &'a TensorChange) -> Option<Self> {
        let is_above = |point: &&TensorGrowth| point.relative > 0.0 && point.relative.is_finite();
        let all = &change.comparison.growth;
        let points: Vec<_> = all.iter().filter(is_above).collect();
        if points.len() < 2 || change.comparison.first.is_none() {
            return None;
        }
        let growth = Self { change, points };
        if growth.is_logarithmic() {
            return Some(growth);
        }
        let is_drawn = |point: &&TensorGrowth| point.relative.is_finite();
        Some(Self { change, points: all.iter().filter(is_drawn).collect() })
    }

    /// Whether the scale is logarithmic.
    pub(in crate::report) fn is_logarithmic(&self) -> bool {
        self.scale(1, 0).is_some_and(|scale| scale.is_logarithmic())
    }

    fn scale(&self, bottom: i32, top: i32) -> Option<Scale> {
        let values: Vec<f64> = self.points.iter().map(|point| point.relative).collect();
        Scale::over(&values, bottom, top)
    }

    /// The plot as text.
    pub(in crate::report) fn in_words(&self) -> String {
        let axis = self.change.comparison.axis;
        let point = |point: &TensorGrowth| {
            format!("{axis} {}: {}", point.at, text::rounded(point.relative))
        };
        self.change.comparison.growth.iter().map(point).collect::<Vec<_>>().join(", ")
    }

    /// The plot.
    pub(in crate::report) fn draw(&self, width: u32) -> Drawing {
        let wide = i32::try_from(width).unwrap_or(i32::MAX);
        let (top, bottom) = (TOP, TOP + PLOT);
        let height = u32::try_from(bottom + BOTTOM).unwrap_or(0);
        drawing(width, height, |canvas| {
            let Some(scale) = self.scale(bottom, top) else { return };
            let ticks = scale.ticks();
            let left = ticks.iter().map(|(_, label)| width_of(label)).max().unwrap_or(0) + 10;
            for (y, label) in &ticks {
                canvas.line((left, *y), (wide - 6, *y), RULE);
                canvas.text(label, (left - 6, *y), Anchor::End, MUTED);
            }
            self.points(canvas, &scale, (left + 12, wide - 18), bottom);
        })
    }

    fn points(&self, canvas: &Canvas<'_>, scale: &Scale, (left, right): (i32, i32), bottom: i32) {
        let all = &self.change.comparison.growth;
        let [first, last] = [all.first(), all.last()].map(|point| point.map_or(0, |one| one.at));
        let span = f64::from((last - first).max(1));
        let x = |at: u32| {
            let part = f64::from(at - first) / span;
            #[expect(clippy::cast_possible_truncation, reason = "a plot has some hundred pixels")]
            let across = (part * f64::from(right - left)).round() as i32;
            left + across
        };
        for pair in self.points.windows(2) {
            let at = |point: &TensorGrowth| (x(point.at), scale.y(point.relative));
            canvas.stroke(at(pair[0]), at(pair[1]), BAD);
        }
        let axis = self.change.comparison.axis;
        for point in &self.points {
            let (name, value) = (text::line(&point.name), text::rounded(point.relative));
            let tip = format!("{axis} {}, {name}: {value}", point.at);
            canvas.mark(Verdict::Bad, (x(point.at), scale.y(point.relative)), 4, &tip);
        }
        let mut labels = Row::default();
        for point in all {
            let label = point.at.to_string();
            if labels.take(&label, x(point.at)) {
                canvas.text(&label, (x(point.at), bottom + 14), Anchor::Middle, MUTED);
            }
        }
        canvas.text(
            &axis.to_string(),
            (i32::midpoint(left, right), bottom + 30),
            Anchor::Middle,
            MUTED,
        );
    }
}

//! The shapes and texts of a plot, in pixels.

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle};

use crate::evaluation::Verdict;

use super::Drawing;
use super::palette::{BAD, GOOD, SKIP};

/// A point in pixels: x to the right, y down.
pub(super) type At = (i32, i32);

/// Width of a character of small text, in pixels. A safe guess, since the reader's font is not
/// known.
const CHARACTER: usize = 7;

/// Font size for 11 pixels: plotters divides the size by 1.24.
const SMALL: f64 = 13.6;

/// Horizontal alignment of a text at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// The text begins at the point.
    Start,
    /// The text is centred at the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// An SVG drawing under construction.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Makes a drawing of the given size in pixels.
pub(super) fn drawing(width: u32, height: u32, draw: impl FnOnce(&Canvas<'_>)) -> Drawing {
    let mut svg = String::new();
    {
        let canvas =
            Canvas { area: SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area() };
        draw(&canvas);
        canvas.area.present().expect("a string takes everything");
    }
    Drawing { svg, width, height }
}

/// Upper estimate of the width of small text, in pixels.
pub(super) fn width_of(text: &str) -> i32 {
    i32::try_from(text.chars().count() * CHARACTER).unwrap_or(i32::MAX)
}

impl Canvas<'_> {
    fn draw<E>(&self, element: &E)
    where
        for<'e> &'e E: PointCollection<'e, At>,
        for<'s> E: Drawable<SVGBackend<'s>>,
    {
        self.area.draw(element).expect("a string takes everything");
    }

    /// A filled rectangle between two corners.
    pub(super) fn bar(&self, from: At, to: At, colour: RGBColor) {
        self.draw(&Rectangle::new([from, to], colour.filled()));
    }

    /// A thin line.
    pub(super) fn line(&self, from: At, to: At, colour: RGBColor) {
        self.draw(&PathElement::new([from, to], colour));
    }

    /// A thick line for data.
    pub(super) fn stroke(&self, from: At, to: At, colour: RGBColor) {
        self.draw(&PathElement::new([from, to], colour.stroke_width(2)));
    }

    /// A horizontal line of dashes.
    pub(super) fn dashes(&self, (left, y): At, right: i32, colour: RGBColor) {
        let mut x = left;
        while x < right {
            self.line((x, y), ((x + 5).min(right), y), colour);
            x += 9;
        }
    }

    /// Small text, vertically centred at the point.
    pub(super) fn text(&self, words: &str, at: At, anchor: Anchor, colour: RGBColor) {
        let across = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style = TextStyle::from(("sans-serif", SMALL).into_font())
            .color(&colour)
            .pos(Pos::new(across, VPos::Center));
        self.draw(&Text::new(words.to_owned(), at, style));
    }

    /// The mark of a verdict. Colour and shape both differ, so nobody has to tell colours apart.
    pub(super) fn mark(&self, verdict: Verdict, (x, y): At, size: i32) {
        match verdict {
            Verdict::Good => self.draw(&Circle::new((x, y), size, GOOD.filled())),
            Verdict::Bad => {
                let (half, rise) = (size + 1, size + 1);
                let corners = vec![(x, y - rise), (x - half, y + size), (x + half, y + size)];
                self.draw(&Polygon::new(corners, BAD.filled()));
            }
            Verdict::Skip => {
                let stroke = ShapeStyle { color: SKIP.to_rgba(), filled: false, stroke_width: 2 };
                for side in [-1, 1] {
                    let ends = [(x - size * side, y - size), (x + size * side, y + size)];
                    self.draw(&PathElement::new(ends, stroke));
                }
            }
            Verdict::Unknown => {
                let reach = size + 1;
                let around = [
                    (x, y - reach),
                    (x + reach, y),
                    (x, y + reach),
                    (x - reach, y),
                    (x, y - reach),
                ];
                // A thick line would fill a small mark.
                let stroke_width = if size > 3 { 2 } else { 1 };
                let stroke = ShapeStyle { color: SKIP.to_rgba(), filled: false, stroke_width };
                self.draw(&PathElement::new(around, stroke));
            }
        }
    }
}

/// A row of labels that must not overlap: the first label gets the place.
#[derive(Default)]
pub(super) struct Row {
    taken: Vec<(i32, i32)>,
}

impl Row {
    /// Reserves the place of a text centred at `middle`. Returns false if part of the place is
    /// taken.
    pub(super) fn take(&mut self, text: &str, middle: i32) -> bool {
        let half = width_of(text) / 2 + 3;
        let (from, to) = (middle - half, middle + half);
        let is_free = self.taken.iter().all(|&(start, end)| to < start || from > end);
        if is_free {
            self.taken.push((from, to));
        }
        is_free
    }
}

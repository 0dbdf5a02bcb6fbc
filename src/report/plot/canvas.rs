//! The shapes and texts of a plot, in pixels.

use std::cell::RefCell;
use std::fmt::Write as _;

use askama::filters::{Html, escape};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Drawable, PathElement, PointCollection, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, TextStyle};

use crate::evaluation::Verdict;

use super::Drawing;
use super::palette::{BAD, GOOD, SKIP};

/// A point in pixels: x to the right, y down.
pub(super) type At = (i32, i32);

/// Width of a character of small text, in pixels. A safe guess, since the reader's font is unknown.
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
    /// Shapes with a tooltip, as SVG: plotters has no tooltips.
    tipped: RefCell<String>,
}

/// Makes a drawing of the given size in pixels.
pub(super) fn drawing(width: u32, height: u32, draw: impl FnOnce(&Canvas<'_>)) -> Drawing {
    let mut svg = String::new();
    let tipped = {
        let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        let canvas = Canvas { area, tipped: RefCell::default() };
        draw(&canvas);
        canvas.area.present().expect("a string takes everything");
        canvas.tipped.into_inner()
    };
    // Tooltips come last, so that nothing covers them.
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    svg.insert_str(end, &tipped);
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

    /// The mark of a verdict, with a tooltip. Both colour and shape differ, so nobody has to
    /// tell colours apart.
    pub(super) fn mark(&self, verdict: Verdict, (x, y): At, size: i32, tip: &str) {
        let reach = size + 1;
        let shape = match verdict {
            Verdict::Good => {
                format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{size}\" fill=\"{}\"/>", hex(GOOD))
            }
            Verdict::Bad => format!(
                "<polygon points=\"{x},{} {},{} {},{}\" fill=\"{}\"/>",
                y - reach,
                x - reach,
                y + size,
                x + reach,
                y + size,
                hex(BAD)
            ),
            Verdict::Skip => format!(
                "<path d=\"M{0} {1}L{2} {3}M{0} {3}L{2} {1}\" stroke=\"{4}\" stroke-width=\"2\"/>",
                x - size,
                y - size,
                x + size,
                y + size,
                hex(SKIP)
            ),
            // A thick line would fill a small mark.
            Verdict::Unknown => format!(
                "<path d=\"M{x} {}L{} {y}L{x} {}L{} {y}Z\" fill=\"none\" stroke=\"{}\" \
                 stroke-width=\"{}\"/>",
                y - reach,
                x + reach,
                y + reach,
                x - reach,
                hex(SKIP),
                if size > 3 { 2 } else { 1 }
            ),
        };
        self.tipped(tip, &shape);
    }

    /// A tooltip for a rectangle between two corners, which itself is invisible.
    pub(super) fn tip(&self, (left, top): At, (right, bottom): At, tip: &str) {
        let (width, height) = (right - left, bottom - top);
        self.tipped(
            tip,
            &format!(
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
                 fill-opacity=\"0\"/>"
            ),
        );
    }

    fn tipped(&self, tip: &str, shape: &str) {
        let tip = escape(tip, Html).expect("a string takes everything");
        let _ = write!(self.tipped.borrow_mut(), "<g><title>{tip}</title>{shape}</g>");
    }
}

/// A colour as the page's style sheet names it.
pub(in crate::report) fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// A row of labels that must not overlap. Of two labels at one place, the earlier one stays.
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

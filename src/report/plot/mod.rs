//! Plots as SVG, drawn in pixels of a given width; text and marks keep their size, so a narrow
//! screen gets a drawing of its own.

mod canvas;
mod levels;
mod metric;
mod narrowing;
mod palette;
mod posterior;
mod scale;

pub(super) use levels::{Levels, shown};
pub(super) use narrowing::{Narrowing, What};
pub(super) use palette::KEYS;
pub(super) use posterior::Weighing;

/// A drawing, with what it says in words.
pub(super) struct Drawing {
    /// The whole `<svg>`.
    pub(super) svg: String,
    /// Pixels.
    pub(super) width: u32,
    /// Pixels.
    pub(super) height: u32,
}

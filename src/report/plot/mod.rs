//! Plots as SVG, drawn for a given width in pixels. Text and marks do not scale, so a narrow
//! screen needs its own drawing.

mod canvas;
mod growth;
mod levels;
mod metric;
mod narrowing;
mod palette;
mod posterior;
mod scale;

pub(super) use canvas::hex;
pub(super) use growth::Growth;
pub(super) use levels::{Levels, shown};
pub(super) use narrowing::{Narrowing, What};
pub(super) use palette::KEYS;
pub(super) use posterior::PosteriorPlot;

/// A drawing as SVG.
pub(super) struct Drawing {
    /// The whole `<svg>` element.
    pub(super) svg: String,
    /// Width in pixels.
    pub(super) width: u32,
    /// Height in pixels.
    pub(super) height: u32,
}

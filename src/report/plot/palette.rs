//! The colours of plots, by meaning.
//!
//! Plots are drawn in the colours of the light scheme. A page replaces each colour by the CSS
//! variable of the same name (`[fill="#0B62A8"]{fill:var(--good)}`), so one drawing serves light,
//! dark and print.

use plotters::style::RGBColor;

/// Text.
pub(super) const INK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
/// Labels and notes.
pub(super) const MUTED: RGBColor = RGBColor(0x59, 0x63, 0x6E);
/// Axes.
pub(super) const RULE: RGBColor = RGBColor(0xD1, 0xD9, 0xE0);
/// The commits in question, or the tolerance.
pub(super) const BAND: RGBColor = RGBColor(0xDD, 0xE6, 0xEE);
/// Good: blue. Colour-blind readers can also distinguish it from vermilion.
pub(super) const GOOD: RGBColor = RGBColor(0x0B, 0x62, 0xA8);
/// Bad: vermilion.
pub(super) const BAD: RGBColor = RGBColor(0xBC, 0x3B, 0x0A);
/// Untestable, or not judged.
pub(super) const SKIP: RGBColor = RGBColor(0x6B, 0x5F, 0x7A);
/// Background of the answer's commits.
pub(super) const MARKED: RGBColor = RGBColor(0xF9, 0xE4, 0xC8);

/// Each colour with the name of its CSS variable.
pub(in crate::report) const KEYS: [(RGBColor, &str); 8] = [
    (INK, "ink"),
    (MUTED, "muted"),
    (RULE, "rule"),
    (BAND, "band"),
    (GOOD, "good"),
    (BAD, "bad"),
    (SKIP, "skip"),
    (MARKED, "marked"),
];

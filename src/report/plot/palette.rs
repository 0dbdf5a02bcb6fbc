//! Colours by what they mean.
//!
//! A plot is drawn in these very colours, which are those of the light scheme. A page gives
//! each of them the CSS variable named beside it (`[fill="#1F6FB2"] { fill: var(--good) }`), so
//! that one drawing does for light, dark, and print.

use plotters::style::RGBColor;

/// Text.
pub(super) const INK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
/// Text that explains.
pub(super) const MUTED: RGBColor = RGBColor(0x59, 0x63, 0x6E);
/// Axes.
pub(super) const RULE: RGBColor = RGBColor(0xD1, 0xD9, 0xE0);
/// What is in question, or tolerated.
pub(super) const BAND: RGBColor = RGBColor(0xDD, 0xE6, 0xEE);
/// Good: blue, which everybody can tell from the next.
pub(super) const GOOD: RGBColor = RGBColor(0x0B, 0x62, 0xA8);
/// Bad: vermilion.
pub(super) const BAD: RGBColor = RGBColor(0xBC, 0x3B, 0x0A);
/// Not testable, or not judged.
pub(super) const SKIP: RGBColor = RGBColor(0x6B, 0x5F, 0x7A);
/// Where the answer stands.
pub(super) const MARKED: RGBColor = RGBColor(0xF9, 0xE4, 0xC8);

/// Each colour as an attribute of SVG has it, and the page's variable for it.
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

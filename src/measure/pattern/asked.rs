//! Whether a pattern asks for a text that it matches, or would match any text there.

use regex::{Match, Regex};

/// Whether the pattern asks for the text between two places of the line: with letters `x` in place
/// of this text, the pattern's group no longer matches at `found`, or the pattern does not match.
pub(super) fn asks_for(
    (regex, index): (&Regex, usize),
    line: &str,
    [start, end]: [usize; 2],
    found: Match<'_>,
) -> bool {
    let changed = format!("{}{}{}", &line[..start], "x".repeat(end - start), &line[end..]);
    let mut others = regex.captures_iter(&changed).filter_map(|captures| captures.get(index));
    !others.any(|other| other.range() == found.range())
}

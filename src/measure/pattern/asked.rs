//! Whether a pattern asks for a text that it matches, or would match any text there.

use regex::{Match, Regex};

/// Whether the pattern asks for the text between two places of the line: with letters `x` in place
/// of this text, the pattern's group no longer matches at `found`, or the pattern does not match.
pub(super) fn asks_for(
    by: (&Regex, usize),
    line: &str,
    place: [usize; 2],
    found: Match<'_>,
) -> bool {
    needs(by, line, place, found, |_| true)
}

/// Whether the pattern asks for letters or digits between two places of the line.
pub(super) fn asks_for_words(
    by: (&Regex, usize),
    line: &str,
    place: [usize; 2],
    found: Match<'_>,
) -> bool {
    needs(by, line, place, found, char::is_alphanumeric)
}

/// Whether the group has another match if an `x` replaces each byte of some characters.
fn needs(
    (regex, index): (&Regex, usize),
    line: &str,
    [start, end]: [usize; 2],
    found: Match<'_>,
    is_replaced: impl Fn(char) -> bool,
) -> bool {
    let mut changed = line[..start].to_owned();
    for character in line[start..end].chars() {
        if is_replaced(character) {
            changed.extend(std::iter::repeat_n('x', character.len_utf8()));
        } else {
            changed.push(character);
        }
    }
    changed.push_str(&line[end..]);
    let mut others = regex.captures_iter(&changed).filter_map(|captures| captures.get(index));
    !others.any(|other| other.range() == found.range())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_the_pattern_are_asked_for() {
        let asked = |pattern: &str, text: &str| {
            let line = "ppl = é, lr 3";
            let regex = Regex::new(pattern).unwrap();
            let found = regex.captures(line).unwrap().get(1).unwrap();
            let start = line.find(text).unwrap();
            let place = [start, start + text.len()];
            let by = (&regex, 1);
            [asks_for(by, line, place, found), asks_for_words(by, line, place, found)]
        };
        assert_eq!(asked("ppl.*?([0-9]+)", "ppl"), [true, true]);
        assert_eq!(asked("ppl.*?([0-9]+)", " = é, lr "), [false, false]);
        assert_eq!(asked("ppl.* ([0-9]+)", " = é, lr "), [true, false]);
        assert_eq!(asked("ppl.*lr ([0-9]+)", " = é, lr "), [true, true]);
    }
}

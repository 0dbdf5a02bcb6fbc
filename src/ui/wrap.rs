//! Breaks lines at words. A terminal breaks a long line inside of a word.

/// Fewest columns that lines are broken for: in less, every word would have its own line.
const NARROW: usize = 40;

/// Breaks each line of more than `columns` characters at spaces. The rest is indented by two more
/// spaces than the line. A word that is longer than a line, such as a path, stays whole.
pub(crate) fn wrap(text: &str, columns: usize) -> String {
    let columns = columns.max(NARROW);
    let mut wrapped = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let end = if line.ends_with('\n') { "\n" } else { "" };
        wrapped.push_str(&broken(line.trim_end_matches('\n'), columns));
        wrapped.push_str(end);
    }
    wrapped
}

fn broken(line: &str, columns: usize) -> String {
    let before = line.chars().take_while(|c| *c == ' ').count();
    let indent = " ".repeat(before.min(columns / 2) + 2);
    let mut lines = String::new();
    let mut rest = line.to_owned();
    while let Some(at) = breaking(&rest, columns, &indent) {
        lines.push_str(rest[..at].trim_end());
        lines.push('\n');
        rest = format!("{indent}{}", rest[at..].trim_start());
    }
    lines + &rest
}

/// The byte of the space to break a line at: the last one that leaves at most `columns`
/// characters before it, else the first one. `None` if the line fits or has no such space.
fn breaking(line: &str, columns: usize, indent: &str) -> Option<usize> {
    if line.chars().count() <= columns {
        return None;
    }
    // A break in the spaces at the beginning would leave an empty line.
    let first = line.len() - line.trim_start().len();
    let spaces = line.char_indices().enumerate().filter(|(_, (at, c))| *c == ' ' && *at > first);
    let spaces: Vec<(usize, usize)> = spaces.map(|(count, (at, _))| (count, at)).collect();
    let fits = spaces.iter().rev().find(|(count, _)| *count <= columns && *count > indent.len());
    fits.or(spaces.first()).map(|(_, at)| *at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_break_at_words_and_keep_their_indent() {
        let text = "hint: swap --good and --bad, or hunt the commit that mended something\nshort\n";
        insta::assert_snapshot!(wrap(text, 40), @r"
        hint: swap --good and --bad, or hunt the
          commit that mended something
        short
        ");
        let path = format!("  log: {}/log of a run", "x".repeat(50));
        assert_eq!(wrap(&path, 40), format!("  log:\n    {}/log\n    of a run", "x".repeat(50)));
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_lines_fit(text in "[a-z \n]{0,300}", columns in 40_usize..120) {
            let wrapped = wrap(&text, columns);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&text), words(&wrapped));
            for line in wrapped.lines().filter(|line| line.chars().count() > columns) {
                prop_assert_eq!(line.split_whitespace().count(), 1, "{:?}", line);
            }
        }
    }
}

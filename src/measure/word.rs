//! Turns names of checks and tasks into parts of a metric's name.

/// Maximum length of a name, in characters; the log has the full name.
const LONGEST: usize = 96;

/// Keeps letters, digits and `-`, and turns each run of other characters between them into one
/// `_`; `-` at either end is cut. May be empty.
pub(super) fn word(text: &str) -> String {
    let mut word = String::new();
    let mut gap = false;
    for c in text.chars() {
        if c.is_alphanumeric() || c == '-' {
            if std::mem::take(&mut gap) && !word.is_empty() {
                word.push('_');
            }
            word.push(c);
        } else {
            gap = true;
        }
        if word.chars().count() >= LONGEST {
            break;
        }
    }
    word.chars().take(LONGEST).collect::<String>().trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::evaluation::Metric;

    #[test]
    fn names_stay_readable() {
        for (text, expected) in [
            ("Fast (sigmoid)", "Fast_sigmoid"),
            ("  d_input: ", "d_input"),
            ("layer.0.wq [M=4]", "layer_0_wq_M_4"),
            ("exact_match,strict-match", "exact_match_strict-match"),
            ("---", ""),
            ("Δp", "Δp"),
        ] {
            assert_eq!(word(text), expected);
        }
    }

    proptest! {
        #[test]
        fn a_word_is_a_valid_part_of_a_metrics_name(text in ".{0,200}") {
            let word = word(&text);
            prop_assert!(word.chars().count() <= LONGEST);
            let metric = format!("m.{word}").parse::<Metric>();
            prop_assert!(word.is_empty() || metric.is_ok(), "{}", word);
        }
    }
}

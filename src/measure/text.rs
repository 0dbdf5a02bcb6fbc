//! Generated text: its length, and how much it repeats itself. A model that fell into a loop still
//! prints fluent words, so people should look at the text too.

use std::collections::BTreeSet;

use crate::evaluation::{Metric, Reading, Value};

/// Maximum length of a text that a reading keeps and that is compared, in characters.
const MOST_CHARACTERS: usize = 200_000;

/// The reading of a run that ended with exit code 0. Words are what white space separates.
///
/// - `words`: how many.
/// - `distinct_1`, `distinct_2`: distinct words and pairs of words, as a share of all of them (J. Li
///   et al., "A Diversity-Promoting Objective Function for Neural Conversation Models", NAACL 2016).
/// - `repeated_4`: the share of the sequences of four words that occurred before: 1 − distinct-4
///   (S. Welleck et al., "Neural Text Generation with Unlikelihood Training", ICLR 2020).
///
/// If a text is too short for one of these, that metric is missing.
pub(super) fn read(measure: &str, text: &str) -> Reading {
    let words: Vec<&str> = text.split_whitespace().collect();
    let figures = [
        ("words", Some(words.len() as f64)),
        ("distinct_1", distinct(&words, 1)),
        ("distinct_2", distinct(&words, 2)),
        ("repeated_4", distinct(&words, 4).map(|distinct| 1.0 - distinct)),
    ];
    let value = |(name, figure): (&str, Option<f64>)| {
        Some((Metric::named(measure, name), Value::Number(figure?)))
    };
    let kept: String = text.trim_end().chars().take(MOST_CHARACTERS).collect();
    Reading {
        values: figures.into_iter().filter_map(value).collect(),
        text: Some(kept),
        ..Reading::default()
    }
}

/// Distinct sequences of `n` words, as a share of all of them.
fn distinct(words: &[&str], n: usize) -> Option<f64> {
    let all = words.windows(n);
    let count = all.len();
    let distinct: BTreeSet<&[&str]> = all.collect();
    (count > 0).then(|| distinct.len() as f64 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(text: &str, name: &str) -> Option<f64> {
        read("t", text).values.get(&Metric::named("t", name))?.number()
    }

    #[test]
    fn a_loop_has_few_distinct_words() {
        let prose = "the cat sat on the mat and looked at the dog";
        assert_eq!(figure(prose, "words"), Some(11.0));
        assert_eq!(figure(prose, "distinct_1"), Some(9.0 / 11.0));
        assert_eq!(figure(prose, "distinct_2"), Some(1.0));
        assert_eq!(figure(prose, "repeated_4"), Some(0.0));
        let looped = "and so on ".repeat(20);
        assert_eq!(figure(&looped, "distinct_1"), Some(3.0 / 60.0));
        assert_eq!(figure(&looped, "repeated_4"), Some(1.0 - 3.0 / 57.0));
    }

    #[test]
    fn a_short_text_lacks_the_metrics_that_need_more_words() {
        assert_eq!(figure("", "words"), Some(0.0));
        assert_eq!(figure("", "distinct_1"), None);
        assert_eq!(figure("one two three", "repeated_4"), None);
        assert_eq!(read("t", "one\ntwo \n\n").text.as_deref(), Some("one\ntwo"));
    }

    #[test]
    fn a_long_text_is_cut_and_counted_whole() {
        let reading = read("t", &"ä ".repeat(MOST_CHARACTERS));
        assert_eq!(reading.text.unwrap().chars().count(), MOST_CHARACTERS);
        let words = &reading.values[&Metric::named("t", "words")];
        assert_eq!(*words, Value::Number(MOST_CHARACTERS as f64));
    }
}

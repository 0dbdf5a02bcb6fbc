//! Sentences and tables about facts that differ between the first bad commit and its parent, and
//! about the texts that both generate.

use crate::evaluation::{FactChange, GeneratedText, TextPair};
use crate::ui::text;

use super::model::Report;
use super::tables::{Cell, Table};

/// The heading of the facts' table.
pub(super) const FACTS: &str = "Facts that differ between parent and commit";

/// The heading of the texts and their table.
pub(super) const TEXTS: &str = "Generated text, parent and commit";

/// Maximum facts with a line of their own.
const MOST_FACTS: usize = 4;

/// Label and words of each fact.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let changes = report.inquiry.facts.iter().take(MOST_FACTS);
    let mut lines: Vec<_> = changes.map(|change| ("Fact", change_in_words(change))).collect();
    if report.inquiry.facts.len() > MOST_FACTS {
        lines.push(("Fact", format!("and {} more", report.inquiry.facts.len() - MOST_FACTS)));
    }
    lines.extend(texts_in_words(&report.inquiry.texts).map(|words| ("Text", words)));
    lines
}

/// The fact that differs, if there is only one.
pub(super) fn in_short(report: &Report) -> Option<String> {
    let [change] = report.inquiry.facts.as_slice() else { return None };
    Some(change_in_words(change))
}

/// `launch: 384,1,1 → 128,1,1`.
fn change_in_words(change: &FactChange) -> String {
    let of = |side: &Option<String>| side.as_deref().map_or_else(|| "none".to_owned(), text::line);
    format!("{}: {} → {}", change.metric, of(&change.parent), of(&change.commit))
}

/// `3 of 4 texts differ; prose repeats itself: 41 % of its sequences of four words, 2 % before`.
fn texts_in_words(texts: &[TextPair]) -> Option<String> {
    if texts.is_empty() {
        return None;
    }
    let differing = texts.iter().filter(|pair| pair.differs).count();
    let all = text::plural(texts.len(), "text");
    let mut parts = vec![match differing {
        0 => format!("{all}, equal at parent and commit"),
        1 if texts.len() == 1 => "the generated text differs".to_owned(),
        _ => format!("{differing} of {all} differ"),
    }];
    if texts.iter().any(|pair| pair.varies) {
        parts.push("some vary from run to run by themselves".to_owned());
    }
    for pair in texts.iter().filter(|pair| pair.repeats_itself()) {
        let share = |one: &GeneratedText| percent(one.repeated_4.unwrap_or(0.0));
        parts.push(format!(
            "{} repeats itself: {} of its sequences of four words, {} before",
            title(pair),
            share(&pair.commit),
            share(&pair.parent)
        ));
    }
    Some(parts.join("; "))
}

/// A measure with the kind of its prompt.
pub(super) fn title(pair: &TextPair) -> String {
    let category = pair.category.as_ref().filter(|category| **category != pair.measure);
    let category = category.map(|category| format!(" ({})", text::line(category)));
    format!("{}{}", text::line(&pair.measure), category.unwrap_or_default())
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// The facts that differ.
pub(super) fn facts_table(report: &Report) -> Table {
    let rows = report.inquiry.facts.iter().map(|change| {
        let of = |side: &Option<String>| {
            Cell::Text(side.as_deref().map_or_else(|| "–".to_owned(), text::line))
        };
        [
            Cell::Text(change.metric.to_string()),
            of(&change.parent),
            of(&change.commit),
            Cell::logs(&change.attempts, &report.inquiry_logs),
        ]
    });
    Table::new(["fact", "parent", "commit", "output"], rows)
}

/// Length and repetition of each text.
pub(super) fn texts_table(report: &Report) -> Table {
    let rows = report.inquiry.texts.iter().map(|pair| {
        let TextPair { parent, commit, .. } = pair;
        let both = |of: &dyn Fn(&GeneratedText) -> Option<String>| {
            let of = |one| of(one).unwrap_or_else(|| "–".to_owned());
            Cell::Text(format!("{} → {}", of(parent), of(commit)))
        };
        let first = pair.first_other_word;
        [
            Cell::Text(title(pair)),
            both(&|one| Some(text::figure(one.words))),
            both(&|one| Some(text::rounded(one.distinct_1?))),
            both(&|one| Some(text::rounded(one.distinct_2?))),
            both(&|one| Some(percent(one.repeated_4?))),
            Cell::Text(first.map_or_else(|| "–".to_owned(), |word| word.to_string())),
            Cell::logs([&parent.attempt, &commit.attempt], &report.inquiry_logs),
        ]
    });
    let heads =
        ["prompt", "words", "distinct-1", "distinct-2", "repeated", "first other word", "output"];
    Table::new(heads, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Metric;

    fn generated(words: &str, repeated_4: f64) -> GeneratedText {
        GeneratedText {
            text: words.to_owned(),
            words: 40.0,
            distinct_1: Some(0.5),
            distinct_2: Some(0.75),
            repeated_4: Some(repeated_4),
            attempt: String::new(),
        }
    }

    fn pair(name: &str, commit: GeneratedText) -> TextPair {
        let category = Some("prose".to_owned());
        let parent = generated("a", 0.02);
        let differs = parent.text != commit.text;
        TextPair {
            measure: name.to_owned(),
            category,
            differs,
            varies: false,
            first_other_word: differs.then_some(1),
            parent,
            commit,
        }
    }

    #[test]
    fn a_loop_is_told_with_both_shares() {
        let texts = [pair("story", generated("b b", 0.41)), pair("prose", generated("a", 0.02))];
        assert_eq!(
            texts_in_words(&texts).unwrap(),
            "1 of 2 texts differ; story (prose) repeats itself: 41 % of its sequences of four \
             words, 2 % before"
        );
        assert_eq!(texts_in_words(&texts[1..]).unwrap(), "1 text, equal at parent and commit");
        assert_eq!(texts_in_words(&[]), None);
    }

    #[test]
    fn a_fact_that_is_gone_is_told() {
        let change = FactChange {
            metric: Metric::of("launch"),
            parent: Some("384,1,1".to_owned()),
            commit: None,
            attempts: Vec::new(),
        };
        assert_eq!(change_in_words(&change), "launch: 384,1,1 → none");
    }
}

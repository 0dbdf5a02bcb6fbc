//! What the engine prints about itself, and the text that it generates, at the first bad commit and
//! its parent. Nothing of this is judged. A changed fact, such as a launch configuration, may be
//! the cause, and a reader can see that a generated text is wrong.

use std::collections::BTreeSet;

use crate::config::{Measure, MeasureKind, Parser};
use crate::evaluation::{FactChange, Finding, GeneratedText, Metric, Reading, TextPair};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::Pair;
use crate::oracle::Sample;

/// Runs of each commit. Values that differ between runs of one commit show no change.
const RUNS: usize = 2;

/// Maximum number of characters of a generated text that the answer keeps.
const MOST_CHARACTERS: usize = 4000;

/// The runs of parent and commit, equally many of each.
struct Runs {
    parents: Vec<Sample>,
    commits: Vec<Sample>,
}

impl Driver<'_> {
    /// Adds to a finding the facts that differ between the main first bad commit and its parent,
    /// and the texts of both.
    pub(crate) fn add_printed(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(pair) = self.pair_to_compare(&finding)? else { return Ok(finding) };
        for measure in &pair.recipe.measures {
            let is_fact = measure.kind == MeasureKind::Fact;
            if !is_fact && !matches!(measure.parser, Parser::Text { .. }) {
                continue;
            }
            let what = format!("{} was not compared", measure.name);
            let asked = self.runs_of_both(&pair, &measure.name);
            let Some(runs) = self.unless_ended(asked, &mut finding, &what)? else { break };
            if is_fact {
                finding.inquiry.facts.extend(changes(&runs));
            } else {
                finding.inquiry.texts.extend(texts(measure, &runs));
            }
        }
        Ok(finding)
    }

    fn runs_of_both(&mut self, pair: &Pair, measure: &str) -> Result<Runs, HuntError> {
        Ok(Runs {
            parents: self.measure_extra(&pair.parent, measure, RUNS, None)?.of(measure).to_vec(),
            commits: self.measure_extra(&pair.commit, measure, RUNS, None)?.of(measure).to_vec(),
        })
    }
}

/// The readings of all runs; `None` if one of them failed, or if there are none.
fn readings(samples: &[Sample]) -> Option<Vec<&Reading>> {
    let all: Option<Vec<_>> = samples.iter().map(|sample| sample.result.as_ref().ok()).collect();
    all.filter(|all| !all.is_empty())
}

/// The facts that differ between parent and commit, but not between runs of one of them.
fn changes(runs: &Runs) -> Vec<FactChange> {
    let (Some(before), Some(after)) = (readings(&runs.parents), readings(&runs.commits)) else {
        return Vec::new();
    };
    let all = before.iter().chain(&after).flat_map(|reading| reading.values.keys());
    let metrics: BTreeSet<&Metric> = all.collect();
    let of = |readings: &[&Reading], metric: &Metric| -> Option<Option<String>> {
        let mut values = readings.iter().map(|reading| reading.values.get(metric));
        let first = values.next()?;
        values.all(|value| value == first).then(|| first.map(ToString::to_string))
    };
    let attempts = || runs.parents.iter().chain(&runs.commits).map(|run| run.attempt.clone());
    let change = |metric: &Metric| {
        let (parent, commit) = (of(&before, metric)?, of(&after, metric)?);
        (parent != commit).then(|| FactChange {
            metric: metric.clone(),
            parent,
            commit,
            attempts: attempts().collect(),
        })
    };
    metrics.into_iter().filter_map(change).collect()
}

fn texts(measure: &Measure, runs: &Runs) -> Option<TextPair> {
    let Parser::Text { category } = &measure.parser else { return None };
    let (before, after) = (readings(&runs.parents)?, readings(&runs.commits)?);
    let text = |reading: &Reading| reading.text.clone().unwrap_or_default();
    let varies = |readings: &[&Reading]| readings.iter().any(|it| text(it) != text(readings[0]));
    let [parent, commit] = [text(before[0]), text(after[0])];
    Some(TextPair {
        measure: measure.name.clone(),
        category: category.clone(),
        differs: parent != commit,
        varies: varies(&before) || varies(&after),
        first_other_word: first_other_word(&parent, &commit),
        parent: generated(measure, before[0], &runs.parents[0])?,
        commit: generated(measure, after[0], &runs.commits[0])?,
    })
}

fn generated(measure: &Measure, reading: &Reading, sample: &Sample) -> Option<GeneratedText> {
    let of = |name| reading.values.get(&Metric::named(&measure.name, name))?.number();
    Some(GeneratedText {
        text: reading.text.as_deref()?.chars().take(MOST_CHARACTERS).collect(),
        words: of("words")?,
        distinct_1: of("distinct_1"),
        distinct_2: of("distinct_2"),
        repeated_4: of("repeated_4"),
        attempt: sample.attempt.clone(),
    })
}

/// The first word that differs, counted from 1; `None` if all words are equal.
fn first_other_word(parent: &str, commit: &str) -> Option<usize> {
    let (mut parent, mut commit) = (parent.split_whitespace(), commit.split_whitespace());
    let mut place = 1;
    loop {
        match (parent.next(), commit.next()) {
            (None, None) => return None,
            (a, b) if a != b => return Some(place),
            _ => place += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_other_word_is_counted_from_one() {
        assert_eq!(first_other_word("a b c", "a b d"), Some(3));
        assert_eq!(first_other_word("a b", "a b c"), Some(3));
        assert_eq!(first_other_word("a b", "a  b"), None);
        assert_eq!(first_other_word("a b", "a b"), None);
    }
}

//! Parses the results of EleutherAI's lm-evaluation-harness: `results.TASK."acc,none"`, and
//! before version 0.4 `results.TASK.acc`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::evaluation::{Failure, Metric, PrintedUnits, Reading, Unreadable, Value};

use super::json::{document_in, no_document};
use super::value::{finite, number_in, reading};
use super::word::word;

/// The reading of a run that ended with exit code 0. A metric's name is `TASK-acc`, or, with a
/// filter other than `none`, `TASK-exact_match-strict-match`.
pub(super) fn read(measure: &str, text: &str) -> Result<Reading, Failure> {
    let document = document_in(text).ok_or_else(|| no_document(text))?;
    let results = document.get("results").and_then(Json::as_object).ok_or_else(|| {
        Failure::unreadable(Unreadable::NoResults, "the document has no table `results`".to_owned())
    })?;
    let mut values: BTreeMap<Metric, Result<Value, Failure>> = BTreeMap::new();
    let mut tasks = BTreeSet::new();
    for (task, figures) in results {
        for (key, figure) in figures.as_object().into_iter().flatten() {
            let metric = Metric::named(measure, &named(task, key));
            let Some(value) = value(&metric, key, figure) else { continue };
            tasks.insert(task.clone());
            if values.insert(metric.clone(), value).is_some() {
                let what = format!("{metric} names two results");
                return Err(Failure::unreadable(Unreadable::Twice(metric.to_string()), what));
            }
        }
    }
    if values.is_empty() {
        let what = "no task in `results` has a number".to_owned();
        return Err(Failure::unreadable(Unreadable::NoResults, what));
    }
    // The numbers have no unit. One version of a task may count in shares, another in per cent.
    let without_unit = |metric: &Metric| {
        let none: PrintedUnits = std::iter::once(String::new()).collect();
        (metric.clone(), none)
    };
    let units = values.keys().map(without_unit).collect();
    Ok(Reading { checks: Some(tasks.into_iter().collect()), units, ..reading(values)? })
}

fn named(task: &str, key: &str) -> String {
    let (figure, filter) = key.split_once(',').unwrap_or((key, "none"));
    let name = format!("{}-{}", word(task), word(figure));
    if filter == "none" { name } else { format!("{name}-{}", word(filter)) }
}

/// `None` for an entry that is not a number (an alias), and for a standard error that could not be
/// computed: with one sample it is NaN or `N/A`, which says nothing about the answers.
fn value(metric: &Metric, key: &str, figure: &Json) -> Option<Result<Value, Failure>> {
    let is_number = |text: &str| crate::evaluation::parse_number(text).is_some();
    let value = match figure {
        Json::Number(number) => finite(metric, number.as_f64()?),
        // A bare NaN arrives as a string: [`document_in`] quotes it.
        Json::String(text) if is_number(text) => number_in(metric, text),
        _ => return None,
    };
    if key.contains("_stderr") && value.is_err() { None } else { Some(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::FailureKind;

    const RESULTS: &str = r#"{
  "results": {
    "arc_challenge": { "alias": "arc_challenge", "acc,none": 0.25, "acc_stderr,none": 0.01,
                       "acc_norm,none": 0.375 },
    "gsm8k": { "alias": "gsm8k", "exact_match,strict-match": 0.5,
               "exact_match_stderr,strict-match": "N/A", "exact_match,flexible-extract": 0.625 },
    "wikitext": { "alias": " - wikitext", "word_perplexity,none": 17.5,
                  "word_perplexity_stderr,none": NaN }
  },
  "n-shot": { "gsm8k": 5 }
}"#;

    fn values(text: &str) -> Vec<(String, f64)> {
        let values = read("eval", text).unwrap().values;
        let values = values.iter();
        values.map(|(metric, value)| (metric.to_string(), value.number().unwrap())).collect()
    }

    #[test]
    fn each_figure_of_each_task_has_a_name() {
        let expected = [
            ("eval.arc_challenge-acc", 0.25),
            ("eval.arc_challenge-acc_norm", 0.375),
            ("eval.arc_challenge-acc_stderr", 0.01),
            ("eval.gsm8k-exact_match-flexible-extract", 0.625),
            ("eval.gsm8k-exact_match-strict-match", 0.5),
            ("eval.wikitext-word_perplexity", 17.5),
        ];
        assert_eq!(values(RESULTS), expected.map(|(name, x)| (name.to_owned(), x)));
        let tasks = read("eval", RESULTS).unwrap().checks.unwrap();
        assert_eq!(tasks.into_iter().collect::<Vec<_>>(), ["arc_challenge", "gsm8k", "wikitext"]);
        let old = r#"{"results": {"hellaswag": {"acc": 0.5, "acc_stderr": 0.01}}, "versions": {}}"#;
        assert_eq!(values(old)[0], ("eval.hellaswag-acc".to_owned(), 0.5));
    }

    #[test]
    fn a_share_and_per_cent_are_two_scales() {
        let one = |share: &str| {
            read("eval", &format!(r#"{{"results": {{"squad": {{"f1": {share}}}}}}}"#)).unwrap()
        };
        let (metric, share) = (Metric::named("eval", "squad-f1"), one("0.8125"));
        let factor = |reading: Reading| {
            reading.hidden_factor(&metric, &share.units[&metric], share.values[&metric].number())
        };
        assert_eq!(factor(one("81.25")), Some(100.0));
        assert_eq!(factor(one("0.5")), None);
    }

    #[test]
    fn nan_is_bad_and_what_has_no_results_unreadable() {
        let failure = |text: &str| read("eval", text).unwrap_err();
        let nan = failure(&RESULTS.replace("0.375", "NaN"));
        assert_eq!(nan.detail, "eval.arc_challenge-acc_norm is nan");
        for text in ["{}", r#"{"results": {"a": {"alias": "a"}}}"#, "", "{\"results\": {"] {
            assert_eq!(failure(text).kind, FailureKind::Unreadable, "{text}");
        }
        let twice = r#"{"results": {"a.b": {"acc": 1}, "a b": {"acc": 2}}}"#;
        assert_eq!(failure(twice).detail, "eval.a_b-acc names two results");
    }
}

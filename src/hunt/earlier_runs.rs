//! Runs that earlier hunts made: whether they can be compared with other runs. Something outside
//! that no key contains may have changed since: a library under another file name, a Python
//! package, the second file of a model, the machine's power mode.

use std::collections::BTreeSet;

use crate::evaluation::{Guard, Metric, Value};
use crate::oracle::{Observation, Sample};
use crate::ui::text;

use super::HuntError;
use super::driver::Driver;

impl Driver<'_> {
    /// The hunts whose runs count as made now: this one, and for a hunt inside a dependency the
    /// outer one, which it follows at once.
    pub(crate) fn own_hunts(&self) -> Vec<String> {
        let outer = self.begun.within.as_ref().map(|within| within.hunt.clone());
        [self.hunt.id().to_owned()].into_iter().chain(outer).collect()
    }

    /// The stored runs of the good and of the bad endpoint. Makes no runs.
    pub(crate) fn known_runs_of_ends(
        &mut self,
        measures: &[String],
    ) -> Result<[Observation; 2], HuntError> {
        let good = self.begun.good.commit.clone();
        let bad = self.begun.bad.commit.clone();
        Ok([self.known_runs(&good, measures)?, self.known_runs(&bad, measures)?])
    }
}

/// The metrics of one measure that these guards limit.
pub(crate) fn metrics_of<'g>(
    guards: impl IntoIterator<Item = &'g Guard>,
    measure: &str,
) -> Vec<&'g Metric> {
    let metrics = guards.into_iter().map(|guard| &guard.metric);
    metrics.filter(|metric| metric.measure == measure).collect()
}

/// Whether one of these hunts made the run.
pub(crate) fn is_made_by(sample: &Sample, hunts: &[String]) -> bool {
    sample.hunt.as_ref().is_some_and(|hunt| hunts.contains(hunt))
}

/// The hunts that made these runs, without `own`; `None` stands for runs without a hunt.
pub(crate) fn earlier_hunts<'s>(
    samples: &'s [Sample],
    own: &[String],
) -> BTreeSet<Option<&'s str>> {
    let earlier = samples.iter().filter(|sample| !is_made_by(sample, own));
    earlier.map(|sample| sample.hunt.as_deref()).collect()
}

/// The one earlier hunt that made all stored runs of a measure at both commits. It made them in
/// turn, so they can be compared with each other, whatever changed since.
fn only_hunt<'o>(both: [&'o Observation; 2], measure: &str, own: &[String]) -> Option<&'o str> {
    let [one, other] = both.map(|seen| earlier_hunts(seen.of(measure), own));
    if one != other || one.len() != 1 {
        return None;
    }
    one.into_iter().next().flatten()
}

/// An earlier hunt that has runs of a measure at both commits, and whose runs show what all other
/// stored runs show. Then the metrics show no change between these hunts.
pub(crate) fn common_hunt<'o>(
    both: [&'o Observation; 2],
    measure: &str,
    metrics: &[&Metric],
    own: &[String],
) -> Option<&'o str> {
    let [one, other] = both.map(|seen| earlier_hunts(seen.of(measure), own));
    let mut shared = one.intersection(&other).copied().flatten();
    shared.find(|hunt| both.iter().all(|seen| agrees(seen.of(measure), hunt, metrics, own)))
}

/// Whether the first run of this hunt shows what the runs of other earlier hunts show.
fn agrees(samples: &[Sample], hunt: &str, metrics: &[&Metric], own: &[String]) -> bool {
    let earlier = samples.iter().filter(|sample| !is_made_by(sample, own));
    let (its, others): (Vec<&Sample>, Vec<&Sample>) =
        earlier.partition(|sample| sample.hunt.as_deref() == Some(hunt));
    others.is_empty() || its.first().is_some_and(|one| difference(&others, one, metrics).is_none())
}

/// Whether all runs of a measure at both commits were made now (by `own`), or all by one earlier
/// hunt.
pub(crate) fn are_of_one_hunt(both: [&Observation; 2], measure: &str, own: &[String]) -> bool {
    let is_own = |sample: &Sample| is_made_by(sample, own);
    let mut samples = both.iter().flat_map(|seen| seen.of(measure));
    match samples.next() {
        None => true,
        Some(first) if is_own(first) => samples.all(is_own),
        Some(_) => !samples.any(is_own) && only_hunt(both, measure, own).is_some(),
    }
}

/// How a fresh run differs from earlier runs of the same commit, in words; `None` if it shows what
/// they show: a failure like one of theirs, or values among theirs.
pub(crate) fn difference(
    earlier: &[&Sample],
    fresh: &Sample,
    metrics: &[&Metric],
) -> Option<String> {
    let is_alike = |one: &&Sample| match (&one.result, &fresh.result) {
        (Ok(_), Ok(_)) => true,
        (Err(before), Err(now)) => before.is_same_failure(now),
        _ => false,
    };
    let alike: Vec<&Sample> = earlier.iter().copied().filter(is_alike).collect();
    if alike.is_empty() {
        return Some(match &fresh.result {
            Ok(_) => "a run failed, and works now".to_owned(),
            Err(failure) => format!("a run did not fail as it does now ({})", failure.detail),
        });
    }
    metrics.iter().find_map(|metric| {
        let before: Vec<Value> = alike.iter().filter_map(|one| one.value(metric)).collect();
        let now = fresh.value(metric);
        match (before.first(), &now) {
            (None, None) => None,
            (Some(_), Some(now)) if is_among(now, &before) => None,
            (first, now) => {
                let shown =
                    |value: Option<&Value>| value.map_or_else(|| "missing".to_owned(), text::value);
                Some(format!("{metric} was {}, and is {} now", shown(first), shown(now.as_ref())))
            }
        }
    })
}

/// Whether a value is one of the known ones. If these vary, it may also lie as far beyond them as
/// they are apart.
fn is_among(value: &Value, known: &[Value]) -> bool {
    if known.contains(value) {
        return true;
    }
    let Some(x) = value.number() else { return false };
    let numbers = || known.iter().filter_map(Value::number);
    let low = numbers().fold(f64::INFINITY, f64::min);
    let high = numbers().fold(f64::NEG_INFINITY, f64::max);
    let scatter = high - low;
    scatter > 0.0 && x >= low - scatter && x <= high + scatter
}

/// The days on which these stored runs were made.
pub(crate) fn days_of(samples: &[&Sample]) -> String {
    let dates = samples.iter().filter_map(|sample| sample.stored_at.as_deref());
    days(dates).unwrap_or_else(|| "an unknown day".to_owned())
}

/// The days of RFC 3339 dates: `2026-01-02`, or the first `to` the last; `None` without any.
pub(crate) fn days<'d>(dates: impl Iterator<Item = &'d str>) -> Option<String> {
    let days: BTreeSet<&str> = dates.filter_map(|date| date.get(..10)).collect();
    let (first, last) = (days.first()?, days.last()?);
    Some(if first == last { (*first).to_owned() } else { format!("{first} to {last}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::FailureKind;
    use crate::oracle::fixture::{failed, ppl, seen};

    fn by(hunt: Option<&str>, x: f64) -> Sample {
        Sample { hunt: hunt.map(str::to_owned), ..ppl(x) }
    }

    fn told(earlier: &[f64], fresh: f64) -> Option<String> {
        let earlier: Vec<Sample> = earlier.iter().copied().map(ppl).collect();
        let metric = Metric::of("ppl");
        difference(&earlier.iter().collect::<Vec<_>>(), &ppl(fresh), &[&metric])
    }

    #[test]
    fn only_runs_of_one_hunt_at_both_ends_can_be_compared_as_they_are() {
        let only = |at_good: &[Option<&str>], at_bad: &[Option<&str>]| {
            let ends = [at_good, at_bad]
                .map(|hunts| seen('a', "ppl", hunts.iter().map(|hunt| by(*hunt, 7.0))));
            only_hunt([&ends[0], &ends[1]], "ppl", &["now".to_owned()]).map(str::to_owned)
        };
        let [old, older, now] = [Some("old"), Some("older"), Some("now")];
        assert_eq!(only(&[old, old], &[old]).as_deref(), Some("old"));
        assert_eq!(only(&[old, now], &[now, old]).as_deref(), Some("old"));
        assert_eq!(only(&[old], &[older]), None);
        assert_eq!(only(&[old, older], &[old, older]), None);
        assert_eq!(only(&[old], &[now]), None);
        assert_eq!(only(&[None], &[None]), None, "nobody knows when `measure` made which run");
        assert_eq!(only(&[now], &[now]), None);
    }

    #[test]
    fn runs_of_one_hunt_at_both_ends_vouch_for_others_that_show_the_same() {
        let common = |at_good: &[(&str, f64)], at_bad: &[(&str, f64)]| {
            let ends = [at_good, at_bad].map(|runs| {
                seen('a', "ppl", runs.iter().map(|(hunt, value)| by(Some(hunt), *value)))
            });
            let (metric, own) = (Metric::of("ppl"), ["now".to_owned()]);
            common_hunt([&ends[0], &ends[1]], "ppl", &[&metric], &own).map(str::to_owned)
        };
        let good = [("old", 7.0), ("later", 7.0)];
        assert_eq!(common(&good, &[("later", 8.0)]).as_deref(), Some("later"));
        assert_eq!(
            common(&good, &[("other", 9.0), ("later", 8.0)]),
            None,
            "it shows another value"
        );
        assert_eq!(common(&[("old", 7.0)], &[("later", 8.0)]), None, "no hunt measured both");
        assert_eq!(common(&[("old", 7.0)], &[("old", 8.0)]).as_deref(), Some("old"));
        assert_eq!(common(&[("now", 7.0)], &[("now", 8.0)]), None);
    }

    #[test]
    fn runs_of_two_hunts_are_not_of_one() {
        let are = |at_good: &[Option<&str>], at_bad: &[Option<&str>]| {
            let [good, bad] = [at_good, at_bad]
                .map(|hunts| seen('a', "ppl", hunts.iter().map(|hunt| by(*hunt, 7.0))));
            are_of_one_hunt([&good, &bad], "ppl", &["now".to_owned()])
        };
        let [old, older, now] = [Some("old"), Some("older"), Some("now")];
        assert!(are(&[], &[]) && are(&[now, now], &[now]) && are(&[old], &[old, old]));
        assert!(!are(&[old, now], &[old, now]) && !are(&[now], &[old]) && !are(&[old], &[now]));
        assert!(!are(&[old], &[older]) && !are(&[None], &[None]));
    }

    #[test]
    fn a_value_that_repeats_must_be_the_same_and_one_that_varies_may_vary() {
        assert_eq!(told(&[7.0, 7.0], 7.0), None);
        assert_eq!(told(&[7.0, 7.0], 6.5).as_deref(), Some("ppl was 7, and is 6.5 now"));
        assert_eq!(told(&[100.0, 101.0], 101.5), None);
        assert_eq!(told(&[100.0, 101.0], 98.9).as_deref(), Some("ppl was 100, and is 98.9 now"));
        assert!(told(&[7.0], 7.1).is_some(), "one run does not show how values vary");
        assert!(told(&[7.0, 7.1], f64::NAN).is_some());
    }

    #[test]
    fn a_failure_must_be_one_of_theirs() {
        let fails = |what| failed(FailureKind::Crash, what);
        let told = |earlier: &[Sample], fresh: &Sample| {
            difference(&earlier.iter().collect::<Vec<_>>(), fresh, &[&Metric::of("ppl")])
        };
        assert_eq!(told(&[fails("11")], &fails("11")), None);
        assert!(told(&[fails("11")], &fails("6")).is_some());
        assert_eq!(told(&[fails("11")], &ppl(7.0)).unwrap(), "a run failed, and works now");
        assert!(told(&[ppl(7.0)], &fails("11")).unwrap().starts_with("a run did not fail"));
        assert_eq!(told(&[fails("11"), ppl(7.0)], &ppl(7.0)), None);
    }

    #[test]
    fn the_days_are_those_of_the_oldest_and_the_newest_run() {
        let at = |day: &str| Sample { stored_at: Some(format!("{day}T03:04:05Z")), ..ppl(7.0) };
        let runs = ["2026-01-05", "2026-01-02", "2026-01-02"].map(at);
        assert_eq!(days_of(&[&runs[1], &runs[2]]), "2026-01-02");
        assert_eq!(days_of(&runs.iter().collect::<Vec<_>>()), "2026-01-02 to 2026-01-05");
        assert_eq!(days_of(&[]), "an unknown day");
    }
}

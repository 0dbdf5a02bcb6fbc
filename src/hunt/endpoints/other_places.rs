//! Metrics whose values come from different places of the output at both endpoints. Pure.

use crate::evaluation::Guard;
use crate::oracle::Observation;

/// A sentence for each guarded metric whose value comes from another place of the output at the bad
/// end: the two values may be of different things.
pub(super) fn other_places(good: &Observation, bad: &Observation, guards: &[Guard]) -> Vec<String> {
    let moved = |guard: &Guard| {
        let metric = &guard.metric;
        let by_words = || {
            let (at_good, at_bad) = (good.forms(metric)?, bad.forms(metric)?);
            at_good.common(&at_bad).is_none().then_some([at_good, at_bad])
        };
        let by_things = || good.places(metric)?.told_apart(&bad.places(metric)?);
        let [at_good, at_bad] = by_words().or_else(by_things)?;
        Some(format!(
            "{metric} comes from another place of the output at the bad end ({at_bad}) than at the \
             good end ({at_good}), and the two may show different things"
        ))
    };
    let mut told: Vec<String> = guards.iter().filter_map(moved).collect();
    // A metric may have several guards.
    told.dedup();
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Metric, ValuePlaces};
    use crate::oracle::fixture::{at, guard};

    #[test]
    fn ends_whose_value_moved_are_told() {
        let guards = [GuardForm::Max(9.0), GuardForm::MaxIncrease(0.1)].map(guard);
        let printed = |digit: char, forms: &[&str]| {
            let mut seen = at(digit, &vec![7.0; forms.len()]);
            for (sample, form) in seen.samples.get_mut("ppl").unwrap().iter_mut().zip(forms) {
                let forms = std::iter::once((*form).to_owned()).collect();
                sample.result.as_mut().unwrap().forms.insert(Metric::of("ppl"), forms);
            }
            seen
        };
        let good = printed('1', &["ppl VALUE"; 2]);
        let told = |bad: &[&str]| other_places(&good, &printed('2', bad), &guards);
        let said = told(&["reference ppl VALUE"; 2]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("(`reference ppl VALUE`) than at the good end (`ppl VALUE`)"));
        assert!(told(&["ppl VALUE"; 2]).is_empty());
        let other = printed('2', &["v2 ppl VALUE"]);
        assert!(other_places(&printed('1', &["v1 ppl VALUE"]), &other, &guards).is_empty());
        assert!(told(&["ppl VALUE", "reference ppl VALUE"]).is_empty(), "it varies by itself");
        assert!(other_places(&good, &at('2', &[7.0]), &guards).is_empty());
    }

    #[test]
    fn ends_whose_values_are_of_different_things_are_told() {
        let printed = |digit: char, own: &str, other: &str| {
            let mut seen = at(digit, &[7.0; 2]);
            let places = ValuePlaces::of_names(own, &[other]);
            for sample in seen.samples.get_mut("ppl").unwrap() {
                sample.result.as_mut().unwrap().places.insert(Metric::of("ppl"), places.clone());
            }
            seen
        };
        let told = |own: &str, other: &str| {
            let bad = printed('2', own, other);
            other_places(&printed('1', "q4", "f16"), &bad, &[guard(GuardForm::Max(9.0))])
        };
        let said = told("f16", "q4");
        assert!(said[0].contains("(`f16`) than at the good end (`q4`)"), "{said:?}");
        assert!(told("q4", "f16").is_empty() && told("q8", "bf16").is_empty());
    }
}
